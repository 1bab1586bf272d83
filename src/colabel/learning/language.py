"""Texts as tokens, and the weights of a pretrained GPT-2: from a folder, or a hub's repository.

Nothing is downloaded unless `local_files_only` is False; then three files are fetched by name, and
the hub learns which, and your address. Weights are safetensors, never pickle; no code of a
repository runs. Sites learn nothing from each other here.

A model plan names an architecture only (`ModelPlan(name="gpt2", shape=(length,), …)`). Pretrained
weights are parameters like any others: the state that federated training begins with, which the
server sends, or what each site's learner loads before co-training:

    weights = pretrained("gpt2", plan)
    train_sites(sites, training_plan, state=State(weights))
    learner.load(weights)
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from colabel.errors import InputError, Problem
from colabel.features.optional import require
from colabel.learning.models import ModelPlan, make
from colabel.learning.models.language import PADDING
from colabel.learning.parameters import Parameters, read

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS, VOCABULARY = "model.safetensors", "tokenizer.json"
_BODY, _HEAD = "features.model.", "head.weight"


def tokeniser(where: str | Path, *, local_files_only: bool = True) -> "Tokenizer":
    """The one that belongs to a model."""
    path = _file(where, VOCABULARY, local_files_only)
    try:
        found: Tokenizer = require("tokenizers", "text").Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        raise InputError(Problem(f"{path} is no tokeniser: {error}", "Fetch it again.")) from None
    found.no_truncation()
    found.no_padding()
    return found


def tokens(
    texts: Sequence[str] | NDArray[np.generic], tokenizer: "Tokenizer", length: int
) -> NDArray[np.int64]:
    """(n, length) tokens: the beginning of each text, then −1. All sites must take the same."""
    if isinstance(texts, str) or length < 1:
        what = f"{'one text' if isinstance(texts, str) else 'texts'}, to {length} tokens each"
        raise InputError(Problem(what, "Give a list of texts, and a length of 1 or more."))
    points = np.full((len(texts), length), PADDING, np.int64)
    found = tokenizer.encode_batch([str(text) for text in texts])
    for row, text in zip(points, found, strict=True):
        row[: len(text.ids)] = text.ids[:length]
    return points


def pretrained(
    where: str | Path, plan: ModelPlan, *, local_files_only: bool = True, seed: int = 0
) -> Parameters:
    """A model's parameters with pretrained weights in them; the head is drawn by the seed, unless
    the file has one for as many classes.
    """
    path = _file(where, WEIGHTS, local_files_only)
    own, found = read(make(plan, seed)), _renamed(_load(path))
    head = found.pop(_HEAD, None)
    body = {name for name in own if name.startswith(_BODY)}
    wrong = [name for name in body if name not in found or found[name].shape != own[name].shape]
    if wrong or not body:
        name = min(wrong, default="any")
        has = found[name].shape if name in found else "none"
        what = f"{path} has no weights for {plan.name!r}: of {name} it has {has}"
        raise InputError(Problem(what, "Take the weights of this architecture."))
    chosen = {name: found[name] if name in body else held for name, held in own.items()}
    if head is not None and _HEAD in own and head.shape == own[_HEAD].shape:
        chosen[_HEAD] = head
    return chosen


def _renamed(held: dict[str, NDArray[Any]]) -> Parameters:
    """By our names: files hold GPT2Model, or one that speaks or classifies around it."""
    found = {}
    for name, array in held.items():
        plain = name.removeprefix("transformer.")
        ours = _HEAD if plain == "score.weight" else _BODY + plain
        found[ours] = array.astype(np.float32)
    return found


def _load(path: Path) -> dict[str, NDArray[Any]]:
    files, errors = require("safetensors.torch", "text"), require("safetensors", "text")
    try:
        held: dict[str, torch.Tensor] = files.load_file(path)
    except errors.SafetensorError as error:
        raise InputError(Problem(f"{path} cannot be read: {error}", "Fetch it again.")) from None
    return {name: tensor.float().numpy() for name, tensor in held.items()}


def _file(where: str | Path, name: str, local_files_only: bool) -> Path:
    """A file of a folder, or of a repository (from this machine's cache, or fetched)."""
    if Path(where).is_dir():
        path = Path(where) / name
        if not path.is_file():
            fix = f"Put {name} there; other formats are not read."
            raise InputError(Problem(f"there is no {name} in {where}", fix))
        return path
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    hub = require("huggingface_hub", "text")
    hub.constants.HF_HUB_DISABLE_TELEMETRY = True  # it may have been imported before
    try:
        return Path(hub.hf_hub_download(str(where), name, local_files_only=local_files_only))
    except (OSError, ValueError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        fix = "Give a folder that holds it, or local_files_only=False to let it be downloaded."
        raise InputError(Problem(f"no {name} of {where}: {first}", fix)) from None

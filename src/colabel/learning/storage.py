"""A trained model on file: its arrays as safetensors, and how to use them as JSON. No pickle."""

import json
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.data import write_atomically
from colabel.errors import InputError, Problem
from colabel.features.optional import require
from colabel.learning.judging import answer
from colabel.learning.models import ModelPlan, Network, make
from colabel.learning.parameters import Parameters, shapes, write
from colabel.learning.terms import AnyTerm
from colabel.learning.terms.base import Shared
from colabel.learning.work import as_tensor

FORMAT = 1
_MODEL = "model"


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """What beside its arrays a model is; `terms`: those of its loss, of which some may predict."""

    model: ModelPlan
    classes: tuple[str, ...]
    terms: tuple[AnyTerm, ...] = ()
    format: int = FORMAT


class Stored(NamedTuple):
    """A model as read from file, with what its terms need to predict."""

    network: Network
    card: Card
    kept: Shared

    def predict(self, points: NDArray[np.generic]) -> NDArray[np.float32]:
        """The probability of each class for each point."""
        found = answer(self.network, as_tensor(points), self.card.model, self.card.terms, self.kept)
        probabilities: NDArray[np.float32] = found.numpy()
        return probabilities


def write_model(
    parameters: Path, card: Path, values: Parameters, kept: Shared, about: Card
) -> None:
    """Write both files, each completely or not at all."""
    numpy_file = require("safetensors.numpy", "torch")
    needed = {name for term in about.terms for name in term.predicts_by if name in kept}
    parts = {_MODEL: values, **{name: kept[name] for name in sorted(needed)}}
    arrays = {
        json.dumps([what, name]): np.ascontiguousarray(held)
        for what, part in parts.items()
        for name, held in part.items()
    }
    described = msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n"
    for path, content in ((parameters, numpy_file.save(arrays)), (card, described)):
        _put(path, content)


def read_model(parameters: Path, card: Path) -> Stored:
    """Read both back; refuse what does not belong together."""
    numpy_file, safetensors = require("safetensors.numpy", "torch"), require("safetensors", "torch")
    again = "Write the model again."
    try:
        about = msgspec.json.decode(card.read_bytes(), type=Card)
        arrays = numpy_file.load(parameters.read_bytes())
    except (OSError, msgspec.MsgspecError, safetensors.SafetensorError) as error:
        raise InputError(Problem(f"no model can be read: {error}", again)) from None
    network = make(about.model)
    parts: dict[str, Parameters] = {_MODEL: {}}
    for key, held in arrays.items():
        what, name = json.loads(key)
        parts.setdefault(what, {})[name] = held
    values = parts.pop(_MODEL)
    if about.format != FORMAT or {n: held.shape for n, held in values.items()} != shapes(network):
        what = f"{parameters} and {card} do not belong together"
        raise InputError(Problem(what, again))
    write(network, values)
    network.eval()
    return Stored(network, about, parts)


def _put(path: Path, content: bytes) -> None:
    def put(stream: BinaryIO) -> None:
        stream.write(content)

    write_atomically(path, put)

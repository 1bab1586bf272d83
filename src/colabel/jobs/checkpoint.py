"""What a training run can go on from: the server's state and what sites remember of the rounds.

One file: arrays as safetensors, all else as JSON in its header. Keys and masks are not in it: who
goes on begins a new session, with new ones. The memory of the sites is in it, because here all
sites are in one process; it is as confidential as their data.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np

from colabel.data import write_atomically
from colabel.errors import InputError, Problem
from colabel.features.optional import require
from colabel.federation.own_training import TermMemory
from colabel.federation.training import State
from colabel.privacy.ledger import Ledger

FORMAT = 1
Events = tuple[Mapping[str, Any], ...]
_ARRAYS = ("model", "best", "once")
_GROUPS = ("kept", "best_kept")


@dataclass(frozen=True)
class Checkpoint:
    """A run after some round; `memories` by site."""

    state: State
    memories: Mapping[str, TermMemory] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    history: Events = ()


class _Header(msgspec.Struct):
    """What is not an array; `places`: where arrays stand and what they are called, in order."""

    round: int
    best_score: float
    places: list[tuple[tuple[str, ...], list[str]]]
    ledger: Ledger
    history: list[dict[str, Any]]
    plan: str
    format: int = FORMAT


def write_checkpoint(path: Path, checkpoint: Checkpoint, plan: str) -> None:
    """Write it, completely or not at all. `plan`: a digest of what was run, to know it again."""
    numpy_file = require("safetensors.numpy", "torch")
    groups = dict(_groups(checkpoint))
    header = _Header(
        checkpoint.state.round,
        checkpoint.state.best_score,
        [(place, list(held)) for place, held in groups.items()],
        checkpoint.ledger,
        [dict(event) for event in checkpoint.history],
        plan,
    )
    arrays = {
        _key(place, name): np.ascontiguousarray(array)
        for place, held in groups.items()
        for name, array in held.items()
    }
    written: bytes = numpy_file.save(arrays, {"checkpoint": msgspec.json.encode(header).decode()})

    def write(stream: BinaryIO) -> None:
        stream.write(written)

    write_atomically(path, write)


def read_checkpoint(path: Path, plan: str) -> Checkpoint:
    """Read it back; refuse one of another plan, or that cannot be read."""
    safetensors = require("safetensors", "torch")
    again = "Start the run again, into a new folder."
    if not path.is_file():
        raise InputError(Problem(f"there is no {path}: nothing to go on from", again))
    try:
        with safetensors.safe_open(str(path), "numpy") as stored:
            header = msgspec.json.decode(stored.metadata()["checkpoint"], type=_Header)
            groups = {
                place: {name: stored.get_tensor(_key(place, name)) for name in names}
                for place, names in header.places
            }
    except (safetensors.SafetensorError, msgspec.MsgspecError, KeyError, TypeError) as error:
        raise InputError(Problem(f"{path} is no checkpoint: {error}", again)) from None
    if header.format != FORMAT:
        what = f"{path} has format {header.format}, this colabel reads {FORMAT}"
        raise InputError(Problem(what, "Use the version that wrote it, or run again."))
    if header.plan != plan:
        what = f"{path} belongs to other settings than these"
        raise InputError(Problem(what, "Go on with the settings that the run began with."))
    return _checkpoint(header, groups)


def _key(place: tuple[str, ...], name: str) -> str:
    return json.dumps([*place, name])


def rounds_in(path: Path) -> int:
    """After how many rounds a checkpoint was written; 0 if there is none that can be read."""
    safetensors = require("safetensors", "torch")
    try:
        with safetensors.safe_open(str(path), "numpy") as stored:
            return msgspec.json.decode(stored.metadata()["checkpoint"], type=_Header).round
    except (OSError, safetensors.SafetensorError, msgspec.MsgspecError, KeyError, TypeError):
        return 0


def _groups(checkpoint: Checkpoint) -> Mapping[tuple[str, ...], Mapping[str, Any]]:
    """All arrays, by where they stand."""
    state = checkpoint.state
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for kind in _ARRAYS:
        if (held := getattr(state, kind)) is not None:
            found[kind,] = held
    for kind in _GROUPS:
        for what, held in getattr(state, kind).items():
            found[kind, what] = held
    for site, memory in checkpoint.memories.items():
        for what, held in memory.arrays.items():
            found["memory", site, what] = held
    return found


def _checkpoint(header: _Header, groups: Mapping[tuple[str, ...], dict[str, Any]]) -> Checkpoint:
    memories: dict[str, dict[str, Any]] = {}
    for place, held in groups.items():
        if place[0] == "memory":
            memories.setdefault(place[1], {})[place[2]] = held
    state = State(
        model=groups["model",],
        kept=_named("kept", groups),
        round=header.round,
        best=groups.get(("best",)),
        best_score=header.best_score,
        best_kept=_named("best_kept", groups),
        once=groups.get(("once",)),
    )
    kept = {site: TermMemory(arrays) for site, arrays in memories.items()}
    return Checkpoint(state, kept, header.ledger, tuple(header.history))


def _named(kind: str, groups: Mapping[tuple[str, ...], dict[str, Any]]) -> dict[str, Any]:
    return {place[1]: held for place, held in groups.items() if place[0] == kind}

"""What `run.json` holds, and how the files of a run folder are read back."""

from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from colabel.errors import InputError, Problem

FORMAT = 1
RECORD = "run.json"

Status = Literal["running", "finished", "failed", "interrupted"]
Thing = TypeVar("Thing")


class RunRecord(msgspec.Struct, kw_only=True):
    """One run: what was asked, by which program, on what, and how it ended."""

    verb: str
    started: str
    settings: dict[str, Any]
    seeds: dict[str, int | None]
    versions: dict[str, str]
    machine: dict[str, str | int]
    inputs: dict[str, str]
    status: Status = "running"
    seconds: float | None = None
    error: str | None = None
    format: int = FORMAT


def read_record(folder: Path) -> RunRecord:
    """The record of a run folder, or an `InputError` that says why there is none."""
    if not folder.is_dir():
        raise InputError(Problem(f"{folder} is not a folder", "Name the folder of a run."))
    if not (folder / RECORD).is_file():
        what = f"{folder} holds no {RECORD}: it is not the folder of a run"
        raise InputError(Problem(what, "Name a folder that colabel wrote (--run-dir)."))
    return read_json(folder / RECORD, RunRecord)


def read_json(path: Path, kind: type[Thing]) -> Thing:
    """A file of a run folder, checked for its form and its format number."""
    again = "Run the command again into a new folder."
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        what = f"{path} is missing: the run did not come to its end"
        raise InputError(Problem(what, again)) from None
    try:
        written = msgspec.json.decode(data, type=_Numbered).format
        if written != FORMAT:
            what = f"{path} has format {written}, this colabel reads {FORMAT}"
            raise InputError(Problem(what, "Use the version that wrote it, or run again."))
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(Problem(f"{path} cannot be read: {error}", again)) from None


class _Numbered(msgspec.Struct):
    """Any file of a run folder, as far as its format number."""

    format: int

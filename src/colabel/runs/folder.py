"""A run folder while its run goes on: events are appended, everything else appears as a whole."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa

from colabel.data import Sites, write_atomically
from colabel.errors import InputError, Problem
from colabel.privacy.ledger import Ledger
from colabel.runs.facts import environment, fingerprints
from colabel.runs.labels import write_table
from colabel.runs.record import FORMAT, RECORD, RunRecord, read_record

EVENTS = "events.jsonl"
LEDGER = "ledger.json"
RESULTS = "results.json"
LABELS = "labels.parquet"
REPORT = "report.html"
CHECKPOINT = "checkpoint.safetensors"
MODEL = "model.safetensors"
MODEL_CARD = "model.json"
AUDIT, AUDIT_PLOT = "audit.json", "audit.svg"
TRAIN = "train"  # the verb of runs that train a model
COTRAIN = "cotrain"  # and of those in which every site trains its own
_OURS = (
    *(RECORD, EVENTS, LEDGER, RESULTS, LABELS, REPORT, CHECKPOINT, MODEL, MODEL_CARD),
    *(AUDIT, AUDIT_PLOT),
)


class StoredLedger(msgspec.Struct):
    """What `ledger.json` holds."""

    ledger: Ledger
    format: int = FORMAT


def new_folder_name(verb: str) -> Path:
    """A folder under `runs/` named after the verb and the time, not in use."""
    stem = f"{verb}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = (Path("runs") / (stem + (f"-{i}" if i else "")) for i in range(10_000))
    return next(name for name in names if not name.exists())


class RunFolder:
    """Writes one run. Make one with `start`, then work inside `recording`."""

    def __init__(self, path: Path, record: RunRecord) -> None:
        self.path, self.record = path, record
        self._began, self._before = time.perf_counter(), 0.0

    @classmethod
    def start(
        cls,
        path: Path,
        verb: str,
        *,
        settings: Mapping[str, Any],
        seeds: Mapping[str, int | None],
        sites: Sites,
        force: bool = False,
    ) -> "RunFolder":
        """Make the folder and write `run.json` with the status "running"."""
        _clear(path, force)
        versions, machine = environment()
        record = RunRecord(
            verb=verb,
            started=_now(),
            settings=dict(settings),
            seeds=dict(seeds),
            versions=versions,
            machine=machine,
            inputs=fingerprints(sites),
        )
        run = cls(path, record)
        run._write_json(RECORD, record)
        (path / EVENTS).touch()
        return run

    @classmethod
    def resume(
        cls, path: Path, verb: str, *, settings: Mapping[str, Any], sites: Sites
    ) -> "RunFolder":
        """Go on with a run that did not come to its end, with the same settings and data."""
        record = read_record(path)
        again = "Start a new run, in another folder."
        if record.verb != verb or record.status == "finished":
            what = f"the run in {path} is a {record.verb} that is {record.status}"
            raise InputError(Problem(what, again))
        if record.settings != dict(settings):
            changed = [
                key
                for key in {*record.settings, *settings}
                if record.settings.get(key) != settings.get(key)
            ]
            what = f"the run in {path} began with other settings: {', '.join(sorted(changed))}"
            raise InputError(Problem(what, "Go on with the same, or start a new run."))
        if record.inputs != fingerprints(sites):
            raise InputError(Problem(f"the run in {path} began with other data", again))
        run = cls(path, record)
        run._before = record.seconds or 0.0
        record.status, record.error = "running", None
        run._write_json(RECORD, record)
        run.listen({"event": "resumed"})
        return run

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Note in `run.json` if what happens inside fails."""
        try:
            yield
        except BaseException as error:
            said = str(error) or type(error).__name__
            status = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            self.listen({"event": status, "error": said})
            self._end(status, said)
            raise

    def listen(self, event: Mapping[str, Any]) -> None:
        """Append one event; it is on file when this returns."""
        with (self.path / EVENTS).open("ab") as stream:
            stream.write(msgspec.json.encode({"time": _now(), **event}) + b"\n")

    def finish(
        self, results: msgspec.Struct, ledger: Ledger, labels: pa.Table | None = None
    ) -> None:
        """Write what came out."""
        self._write_json(LEDGER, StoredLedger(ledger))
        if labels is not None:
            write_table(self.path / LABELS, labels)
        self._write_json(RESULTS, results)
        self.listen({"event": "finished"})
        self._end("finished", None)

    def _end(self, status: Any, error: str | None) -> None:
        self.record.status, self.record.error = status, error
        self.record.seconds = round(self._before + time.perf_counter() - self._began, 3)
        self._write_json(RECORD, self.record)

    def _write_json(self, name: str, thing: msgspec.Struct) -> None:
        text = msgspec.json.format(msgspec.json.encode(thing), indent=1) + b"\n"

        def write(stream: BinaryIO) -> None:
            stream.write(text)

        write_atomically(self.path / name, write)


def check_folder(path: Path, force: bool) -> None:
    """Refuse a folder that is in use, unless it is an old run and may be replaced."""
    if path.exists() and not path.is_dir():
        raise InputError(Problem(f"{path} is a file", "Name a folder for the run."))
    if not path.is_dir() or not any(path.iterdir()):
        return
    if not (path / RECORD).is_file():
        what = f"the folder {path} is not empty and not the folder of a run"
        raise InputError(Problem(what, "Name another folder; it is never overwritten."))
    if not force:
        what = f"the folder {path} holds a run already"
        raise InputError(Problem(what, "Name another folder, or replace the run with --force."))


def _clear(path: Path, force: bool) -> None:
    check_folder(path, force)
    path.mkdir(parents=True, exist_ok=True)
    for name in _OURS:
        (path / name).unlink(missing_ok=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

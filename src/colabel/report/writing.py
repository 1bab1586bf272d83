"""From a run folder to `report.html`: one file, no script, nothing loaded from anywhere."""

from pathlib import Path
from typing import BinaryIO

from colabel.data import write_atomically
from colabel.errors import InputError, Problem
from colabel.report.cotraining_page import render_cotraining
from colabel.report.cotraining_results import CotrainingResults
from colabel.report.page import render
from colabel.report.results import Results
from colabel.report.training_page import render_training
from colabel.report.training_results import TrainingResults
from colabel.runs.folder import COTRAIN, LEDGER, REPORT, RESULTS, TRAIN, StoredLedger
from colabel.runs.record import RECORD, read_json, read_record


def write_report(folder: Path) -> Path:
    """Make `report.html` of a finished run, from the other files of its folder."""
    record = read_record(folder)
    if record.status != "finished":
        what = f"the run in {folder} is {record.status}" + (
            f": {record.error}" if record.error else ""
        )
        raise InputError(Problem(what, f"Let it finish, or run again; {RECORD} says what it was."))
    ledger = read_json(folder / LEDGER, StoredLedger).ledger
    if record.verb == TRAIN:
        training = read_json(folder / RESULTS, TrainingResults)
        html = render_training(record, training, ledger).encode()
    elif record.verb == COTRAIN:
        cotraining = read_json(folder / RESULTS, CotrainingResults)
        html = render_cotraining(record, cotraining, ledger).encode()
    else:
        html = render(record, read_json(folder / RESULTS, Results), ledger).encode()

    def write(stream: BinaryIO) -> None:
        stream.write(html)

    write_atomically(folder / REPORT, write)
    return folder / REPORT

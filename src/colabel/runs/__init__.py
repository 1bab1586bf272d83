"""The run folder: what a run was, what happened, and what came out.

run.json       settings, versions, machine, seeds, fingerprints of the input, status
events.jsonl   every event of the engine, one line each, appended while the run goes on
checkpoint.safetensors   of a training run that did not come to its end: what it can go on from
model.safetensors, model.json   of a training run: the model that is kept, and how to make it
labels.parquet, ledger.json, results.json, report.html   written at the end, each as a whole
"""

from colabel.runs.facts import environment, fingerprints
from colabel.runs.folder import RunFolder, new_folder_name
from colabel.runs.labels import check_out, labels_table, write_table
from colabel.runs.record import FORMAT, RunRecord, read_json, read_record

__all__ = [
    "FORMAT",
    "RunFolder",
    "RunRecord",
    "check_out",
    "environment",
    "fingerprints",
    "labels_table",
    "new_folder_name",
    "read_json",
    "read_record",
    "write_table",
]

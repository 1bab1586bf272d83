"""Where else the events of a run may go: TensorBoard, MLflow. Off unless asked for.

Both write files and nothing else: MLflow to a folder, with its telemetry switched off.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from colabel.features.optional import require

Listener = Callable[[Mapping[str, Any]], None]


def numbers(event: Mapping[str, Any]) -> dict[str, float]:
    """What is worth a curve in the event of a round, by name."""
    if event["event"] != "round":
        return {}
    plain = ("loss", "rate", "pseudo_accuracy", "pseudo_coverage", "pseudo_weight")
    found = {name: float(event[name]) for name in plain if name in event}
    found |= {f"validation/{name}": value for name, value in event.get("scores", {}).items()}
    found |= {f"seconds/{phase}": took for phase, took in event["seconds"].items()}
    for way, kinds in event["bytes"].items():
        found |= {f"bytes_{way}/{kind}": float(size) for kind, size in kinds.items()}
    return found


@contextmanager
def to_tensorboard(folder: Path) -> Iterator[Listener]:
    """Scalars for TensorBoard (extra "tensorboard")."""
    writer = require("tensorboard.summary", "tensorboard").Writer(str(folder))

    def listen(event: Mapping[str, Any]) -> None:
        for name, value in numbers(event).items():
            writer.add_scalar(name, value, event["round"] + 1)

    try:
        yield listen
    finally:
        writer.close()


@contextmanager
def to_mlflow(folder: Path, name: str) -> Iterator[Listener]:
    """Metrics of one run in an MLflow file store (extra "mlflow")."""
    # before the import: MLflow would report to its makers otherwise, and refuse to write files
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = os.environ["DO_NOT_TRACK"] = "true"
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    client = require("mlflow.tracking", "mlflow").MlflowClient(folder.resolve().as_uri())
    known = client.get_experiment_by_name("colabel")
    experiment = client.create_experiment("colabel") if known is None else known.experiment_id
    run = client.create_run(experiment, run_name=name).info.run_id
    status = "FAILED"

    def listen(event: Mapping[str, Any]) -> None:
        for key, value in numbers(event).items():
            client.log_metric(run, key, value, step=event["round"] + 1)

    try:
        yield listen
        status = "FINISHED"
    finally:
        client.set_terminated(run, status)


@contextmanager
def all_sinks(name: str, tensorboard: Path | None, mlflow: Path | None) -> Iterator[Listener]:
    """The sinks that are asked for, as one."""
    with ExitStack() as stack:
        listeners = []
        if tensorboard is not None:
            listeners.append(stack.enter_context(to_tensorboard(tensorboard)))
        if mlflow is not None:
            listeners.append(stack.enter_context(to_mlflow(mlflow, name)))

        def listen(event: Mapping[str, Any]) -> None:
            for one in listeners:
                one(event)

        yield listen

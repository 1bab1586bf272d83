"""TensorBoard and MLflow get the numbers of every round; neither is imported unasked."""

import sys
import types

import pytest

from colabel.errors import InputError
from colabel.recipes.sinks import all_sinks, numbers

ROUND = {
    "event": "round", "round": 3, "stage": 0, "rate": 0.1, "loss": 0.5, "pseudo_accuracy": 0.7,
    "scores": {"accuracy": 0.8}, "seconds": {"training": 1.5},
    "bytes": {"down": {"model": 10}, "up": {"model": 11}}, "sites": ["a"],
}  # fmt: skip
WANTED = {
    "rate": 0.1, "loss": 0.5, "pseudo_accuracy": 0.7, "validation/accuracy": 0.8,
    "seconds/training": 1.5, "bytes_down/model": 10.0, "bytes_up/model": 11.0,
}  # fmt: skip


def test_the_numbers_of_a_round():
    assert numbers(ROUND) == WANTED
    assert numbers({"event": "lost", "site": "a"}) == {}


def module(name, **things):
    found = types.ModuleType(name)
    for key, value in things.items():
        setattr(found, key, value)
    return found


@pytest.fixture
def stubs(monkeypatch):
    """Modules that write down what they are called with."""
    calls = []

    class Writer:
        def __init__(self, folder):
            calls.append(("writer", folder))

        def add_scalar(self, name, value, step):
            calls.append(("scalar", name, value, step))

        def close(self):
            calls.append(("closed",))

    class MlflowClient:
        def __init__(self, place):
            import os

            calls.append(("store", place, os.environ["MLFLOW_DISABLE_TELEMETRY"]))

        def get_experiment_by_name(self, name):
            return None

        def create_experiment(self, name):
            return name

        def create_run(self, experiment, run_name):
            calls.append(("run", experiment, run_name))
            return types.SimpleNamespace(info=types.SimpleNamespace(run_id="7"))

        def log_metric(self, run, key, value, step):
            calls.append(("metric", run, key, value, step))

        def set_terminated(self, run, status):
            calls.append(("ended", run, status))

    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "false")
    monkeypatch.setenv("DO_NOT_TRACK", "false")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for name, made in {
        "tensorboard": module("tensorboard"),
        "tensorboard.summary": module("tensorboard.summary", Writer=Writer),
        "mlflow": module("mlflow"),
        "mlflow.tracking": module("mlflow.tracking", MlflowClient=MlflowClient),
    }.items():
        monkeypatch.setitem(sys.modules, name, made)
    return calls


def test_both_get_every_number_with_its_round(stubs, tmp_path):
    with all_sinks("mine", tmp_path / "board", tmp_path / "flow") as listen:
        listen({"event": "step"})
        listen(ROUND)
    scalars = {call[1]: call[2:] for call in stubs if call[0] == "scalar"}
    assert scalars == {name: (value, 4) for name, value in WANTED.items()}
    metrics = {call[2]: call[3:] for call in stubs if call[0] == "metric"}
    assert metrics == {name: (value, 4) for name, value in WANTED.items()}
    store = next(call for call in stubs if call[0] == "store")
    assert store[1].startswith("file://")
    assert store[2] == "true"
    assert ("closed",) in stubs
    assert ("ended", "7", "FINISHED") in stubs


def test_a_run_that_breaks_off_is_ended_as_failed(stubs, tmp_path):
    with pytest.raises(KeyboardInterrupt), all_sinks("mine", None, tmp_path):
        raise KeyboardInterrupt
    assert ("ended", "7", "FAILED") in stubs


def test_nothing_is_imported_or_written_unless_asked(monkeypatch, tmp_path):
    for name in ("tensorboard", "tensorboard.summary", "mlflow", "mlflow.tracking"):
        monkeypatch.setitem(sys.modules, name, None)
    with all_sinks("mine", None, None) as listen:
        listen(ROUND)
    with (
        pytest.raises(InputError, match=r"colabel\[tensorboard\]"),
        all_sinks("mine", tmp_path, None),
    ):
        pass


@pytest.mark.parametrize("which", ["tensorboard", "mlflow"])
def test_the_real_ones_write_files(which, tmp_path):
    pytest.importorskip(which)
    board, flow = (tmp_path, None) if which == "tensorboard" else (None, tmp_path)
    with all_sinks("mine", board, flow) as listen:
        listen(ROUND)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"pseudo_accuracy" in p.read_bytes() or p.name == "pseudo_accuracy" for p in written)

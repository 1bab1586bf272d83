"""A recipe from beginning to end: the run folder, going on, the model, the report."""

import msgspec
import numpy as np
import pytest
from kitchen import a_source

from colabel.errors import InputError
from colabel.learning.storage import read_model
from colabel.recipes.building import ready
from colabel.recipes.foretelling import foretell
from colabel.recipes.reading import recipe
from colabel.recipes.running import Named, train_into
from colabel.report.training_results import TrainingResults
from colabel.runs.folder import CHECKPOINT, MODEL, MODEL_CARD
from colabel.runs.record import read_record

NAMED = Named("Digits", "run", "full")


def made(seed=0, **changes):
    return ready(recipe(a_source(**changes).cell(None)), seed)


def results(folder):
    return msgspec.json.decode((folder / "results.json").read_bytes(), type=TrainingResults)


class Broken(RuntimeError):
    pass


def interrupted_at(number, kind=KeyboardInterrupt):
    def listen(event):
        if event["event"] == "round" and event["round"] == number:
            raise kind

    return listen


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    return folder, made(), train_into(folder, made(), NAMED)


def test_the_folder_has_everything_and_no_checkpoint_is_left(run):
    folder, _, trained = run
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "run.json", "events.jsonl", "ledger.json", "results.json", "report.html", MODEL, MODEL_CARD,
    }  # fmt: skip
    record = read_record(folder)
    assert record.status == "finished"
    assert record.settings["method.name"] == "fedprop"
    assert record.settings["graph.n_bits"] == 256
    found = results(folder)
    assert found == trained.results
    assert [one.number for one in found.rounds] == [1, 2, 3, 4, 5, 6]
    assert found.rounds[5].bytes_up["codes"] > 0
    assert found.test["kept model"]["accuracy"] > 0.3


def test_the_report_shows_every_part(run):
    text = (run[0] / "report.html").read_text()
    for part in ("Accuracy and loss", "Pseudo-labels", "Bytes per round", "Seconds per round",
                 "Who learnt what", "columns", "training", "judging", "fedprop",
                 "method.name"):  # fmt: skip
        assert part in text
    assert text.count("<polyline") >= 10
    assert "nan" not in text.lower().replace("finance", "")
    assert "<script" not in text


def test_the_model_on_file_is_the_one_that_was_judged(run):
    folder, ready_run, trained = run
    stored = read_model(folder / MODEL, folder / MODEL_CARD)
    test = ready_run.dealt.test
    right = (stored.predict(test.points).argmax(axis=1) == test.labels).mean()
    assert right == pytest.approx(trained.results.test["kept model"]["accuracy"])
    assert stored.card.classes == tuple("0123456789")
    (folder / MODEL_CARD).write_text("{}")
    with pytest.raises(InputError, match="no model can be read"):
        read_model(folder / MODEL, folder / MODEL_CARD)


def test_a_model_without_a_head_is_stored_with_its_prototypes(tmp_path):
    changes = {"method": {"name": "protofssl_fedavg"}, "training": {"warm_up": 0}}
    own = made(**changes)
    trained = train_into(tmp_path / "run", own, NAMED)
    stored = read_model(tmp_path / "run" / MODEL, tmp_path / "run" / MODEL_CARD)
    right = (stored.predict(own.dealt.test.points).argmax(axis=1) == own.dealt.test.labels).mean()
    assert right == pytest.approx(trained.results.test["kept model"]["accuracy"])


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Broken])
def test_an_interrupted_run_goes_on_to_the_same_result(run, tmp_path, kind):
    folder = tmp_path / "run"
    with pytest.raises(kind):
        train_into(folder, made(), NAMED, listen=interrupted_at(3, kind))
    status = "interrupted" if kind is KeyboardInterrupt else "failed"
    assert read_record(folder).status == status
    assert (folder / CHECKPOINT).is_file()
    resumed = train_into(folder, made(), NAMED, resume=True)
    whole = run[2].outcome.state
    for name, held in whole.model.items():
        np.testing.assert_array_equal(resumed.outcome.state.model[name], held)
    assert resumed.results.test == run[2].results.test
    assert len(resumed.results.rounds) == 6
    assert not (folder / CHECKPOINT).exists()


def test_only_what_was_begun_and_not_finished_can_be_resumed(run, tmp_path):
    with pytest.raises(InputError, match="is finished"):
        train_into(run[0], made(), NAMED, resume=True)
    with pytest.raises(KeyboardInterrupt):
        train_into(tmp_path / "run", made(), NAMED, listen=interrupted_at(1))
    with pytest.raises(InputError, match=r"other settings: local\.epochs"):
        train_into(tmp_path / "run", made(local={"epochs": 2}), NAMED, resume=True)
    with pytest.raises(InputError, match="other data"):
        train_into(tmp_path / "run", made(seed=1), NAMED, resume=True)


def test_labels_at_the_server_and_losses_under_masks(tmp_path):
    train_into(tmp_path / "server", made(method={"name": "semifl"}, training={"warm_up": 0}), NAMED)
    masked = made(method={"name": "fedavg"}, training={"protection": "masked", "rounds": 1})
    train_into(tmp_path / "masked", masked, NAMED)
    assert "The server saw sums only" in (tmp_path / "masked" / "report.html").read_text()


def test_privacy_is_said_before_and_after(tmp_path):
    pytest.importorskip("dp_accounting")
    own = made(
        method={"name": "fedavg"},
        training={"protection": "masked"},
        privacy={"clip": 1.0, "noise": 4.0},
    )
    planned = foretell(own).privacy
    found = train_into(tmp_path / "run", own, NAMED).results.privacy
    assert found.planned == found.spent == planned.epsilon
    assert "Differential privacy" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize("method", ["fedavg", "fedprop", "fedavg_mt", "protofssl_fedavg"])
def test_what_was_foretold_came(tmp_path, method):
    own = made(method={"name": method}, training={"warm_up": 0})
    told = foretell(own)
    found = train_into(tmp_path / "run", own, NAMED).outcome
    assert told.bytes_up == pytest.approx(found.costs.bytes_up(), rel=0.15)
    assert told.bytes_down == pytest.approx(found.costs.bytes_down(), rel=0.3)
    assert {one.what for one in told.releases} == {one.what for one in found.ledger}
    assert foretell(own, rounds_done=2).bytes_up == pytest.approx(told.bytes_up / 2)

"""Going on from a checkpoint gives what would have come without a break, to the bit."""

import dataclasses

import numpy as np
import pytest
from federations import make_federation, plan

from colabel.errors import InputError
from colabel.federation.training_plan import Stage
from colabel.jobs.checkpoint import read_checkpoint, write_checkpoint
from colabel.jobs.train import train_sites
from colabel.learning.judging import Judge
from colabel.learning.plan import ServerPlan
from colabel.learning.terms import (
    CrossEntropy,
    FedMatch,
    FixMix,
    MeanTeacher,
    Prototypes,
    Scaffold,
)

CE = CrossEntropy()
METHODS = {
    "once": {"stages": (Stage(rounds=1), Stage(rounds=5, labels="once"))},
    "graph": {"stages": (Stage(rounds=2), Stage(rounds=4, labels="graph"))},
    "masked": {"stages": (Stage(rounds=6),), "protection": "masked"},
    "scaffold": {"stages": (Stage(rounds=6, terms=(CE, Scaffold())),)},
    "mean teacher": {"stages": (Stage(rounds=6, terms=(CE, MeanTeacher())),)},
    "protofssl": {"stages": (Stage(rounds=6, terms=(Prototypes(memory=2, interval=2),)),)},
    "fedmatch": {"stages": (Stage(rounds=6, terms=(FedMatch(interval=2),)),)},
    "groups": {"stages": (Stage(rounds=6),), "averaging": "groups"},
}


def run(settings, *, n_labels=6, **options):
    sites, truth = make_federation(n_labels=n_labels)
    made = plan(**settings)
    points, labels = make_federation(seed=7)[0].sites[0].points, make_federation(seed=7)[1]
    judge = Judge(made.model, points, labels["site-0"])
    return train_sites(sites, made, truth=truth, judge=judge, **options)


def broken_off(settings, path, after=3, **options):
    """What a run that is interrupted after some rounds leaves on file."""

    def keep(checkpoint):
        if checkpoint.state.round == after:
            write_checkpoint(path, checkpoint, "plan")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(settings, keep=keep, **options)
    return read_checkpoint(path, "plan")


def plain(state):
    """A state as nested lists, with nothing left out."""
    held = dataclasses.asdict(state)
    return {name: _plain(value) for name, value in held.items()}


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(held) for name, held in value.items()}
    return (str(value.dtype), value.tolist()) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", METHODS)
def test_three_rounds_and_three_more_are_six(name, tmp_path):
    settings = METHODS[name]
    whole = run(settings)
    found = broken_off(settings, tmp_path / "checkpoint.safetensors")
    resumed = run(settings, state=found)
    assert plain(resumed.state) == plain(whole.state)
    assert len(resumed.history) == 6
    told = [[event.get(k) for k in ("round", "loss", "scores", "sites", "pseudo_accuracy")]
            for event in whole.history]  # fmt: skip
    assert told == [[event.get(k) for k in ("round", "loss", "scores", "sites", "pseudo_accuracy")]
                    for event in resumed.history]  # fmt: skip


def test_semifl_goes_on_too(tmp_path):
    settings = {
        "stages": (Stage(rounds=6, terms=(FixMix(threshold=0.3),)),),
        "server": ServerPlan(),
    }
    points, truth = make_federation(seed=3)
    own = points.sites[0].points, truth["site-0"]
    whole = run(settings, n_labels=0, server_points=own)
    path = tmp_path / "checkpoint.safetensors"
    found = broken_off(settings, path, n_labels=0, server_points=own)
    resumed = run(settings, n_labels=0, server_points=own, state=found)
    assert plain(resumed.state) == plain(whole.state)


def test_the_memory_of_the_sites_matters(tmp_path):
    """Otherwise the test above would not notice if it were lost."""
    settings = METHODS["scaffold"]
    found = broken_off(settings, tmp_path / "checkpoint.safetensors")
    assert found.memories
    forgetful = dataclasses.replace(found, memories={})
    assert plain(run(settings, state=forgetful).state) != plain(run(settings).state)


def test_labels_made_once_are_made_by_the_same_model_again(tmp_path):
    settings = METHODS["once"]
    found = broken_off(settings, tmp_path / "checkpoint.safetensors")
    anew = dataclasses.replace(found, state=dataclasses.replace(found.state, once=None))
    assert plain(run(settings, state=anew).state) != plain(run(settings).state)


def test_an_interrupted_round_leaves_no_trace(tmp_path):
    """Sites that had moved on already are not ahead of the server when the run goes on."""
    settings = METHODS["scaffold"]
    last = []
    steps = 0

    def watch_memory(checkpoint):
        last.append(checkpoint)

    def interrupt(event):
        nonlocal steps
        steps += 1
        if steps == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(settings, keep=watch_memory, listen=interrupt)
    write_checkpoint(tmp_path / "c.safetensors", last[-1], "plan")
    resumed = run(settings, state=read_checkpoint(tmp_path / "c.safetensors", "plan"))
    assert plain(resumed.state) == plain(run(settings).state)


def test_the_ledger_goes_on(tmp_path):
    settings = METHODS["graph"]
    found = broken_off(settings, tmp_path / "checkpoint.safetensors")
    whole = {(e.step, e.what, e.to): e.times for e in run(settings).ledger}
    resumed = {(e.step, e.what, e.to): e.times for e in run(settings, state=found).ledger}
    assert resumed.keys() == whole.keys()
    train = [key for key in whole if key[0] == "train"]
    assert [resumed[key] for key in train] == [whole[key] for key in train]


def test_a_checkpoint_of_another_plan_or_none_is_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    broken_off(METHODS["masked"], path)
    with pytest.raises(InputError, match="other settings"):
        read_checkpoint(path, "another plan")
    with pytest.raises(InputError, match="nothing to go on from"):
        read_checkpoint(tmp_path / "none", "plan")
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match="no checkpoint"):
        read_checkpoint(path, "plan")

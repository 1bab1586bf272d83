"""Run a co-training recipe: judged after every turn, into a run folder if one is named."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from colabel.cotrain.learners import Learner
from colabel.errors import InputError, Problem
from colabel.jobs.cotrain import CotrainOutcome, cotrain_sites, learn_alone
from colabel.privacy.label_accounting import statement, verdict
from colabel.recipes.cotraining import NETWORK, CotrainReady
from colabel.recipes.keys import dotted
from colabel.report import write_report
from colabel.report.cotraining_results import CotrainingResults, Turn
from colabel.runs import RunFolder
from colabel.runs.folder import COTRAIN

Listener = Callable[[Mapping[str, Any]], None]


def _nobody(event: Mapping[str, Any]) -> None:
    """Nobody listens."""


def said_of_privacy(ready: CotrainReady) -> list[str]:
    """What to say before the run; refuses labels that are noise, if the recipe wants that."""
    plan = ready.plan
    if plan.privacy is None:
        return []
    about = plan.n_public, plan.n_classes, len(ready.sites)
    warning = verdict(plan.privacy, *about)
    if warning is not None and ready.recipe.run.noise == "refuse":
        fix = 'Give a larger ε, fewer public points, or run.noise = "warn".'
        raise InputError(Problem(warning, fix))
    return statement(plan.privacy, *about, plan.turns, ready.recipe.run.delta)


def cotrain(
    ready: CotrainReady, listen: Listener = _nobody
) -> tuple[CotrainingResults, CotrainOutcome]:
    """Co-train and judge; nothing is written."""
    turns: list[Turn] = []
    learners = ready.learners()
    began = time.perf_counter()

    def tell(event: Mapping[str, Any]) -> None:
        turns.append(_turn(ready, event))
        listen({"event": "turn", **msgspec.to_builtins(turns[-1])})

    outcome = cotrain_sites(
        ready.sites, ready.public, learners, ready.plan,
        judge=lambda held: {"scores": scores(ready, held)}, listen=tell,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    alone = ready.learners(" alone")
    learn_alone(ready.sites, alone, ready.plan.turns if _goes_on(ready) else 1)
    return _results(ready, outcome, turns, alone, seconds), outcome


def cotrain_into(
    folder: Path, ready: CotrainReady, *, force: bool = False, listen: Listener = _nobody
) -> CotrainingResults:
    """The same into a run folder."""
    settings = dotted(json.loads(msgspec.json.encode(ready.recipe)))
    settings.pop("run.seeds")
    run = RunFolder.start(
        folder, COTRAIN, settings=settings, seeds={"run": ready.seed}, sites=ready.sites,
        force=force,
    )  # fmt: skip

    def tell(event: Mapping[str, Any]) -> None:
        run.listen(event)
        listen(event)

    with run.recording():
        results, outcome = cotrain(ready, tell)
        run.finish(results, outcome.ledger)
        write_report(folder)
    return results


def scores(ready: CotrainReady, learners: Mapping[str, Learner]) -> dict[str, float]:
    """Each site's accuracy on the test points."""
    return {
        name: float((held.predict(ready.test) == ready.test_truth).mean())
        for name, held in learners.items()
    }


def _goes_on(ready: CotrainReady) -> bool:
    return NETWORK in ready.recipe.learners.of_sites(len(ready.sites))


def _turn(ready: CotrainReady, event: Mapping[str, Any]) -> Turn:
    labels, found = event["labels"], list(event["scores"].values())
    agreed = labels >= 0
    right = None
    if ready.public_truth is not None and agreed.any():
        right = float((labels[agreed] == ready.public_truth[agreed]).mean())
    return Turn(
        number=event["turn"] + 1,
        agreed=event["agreed"],
        changed=event["changed"],
        accuracy=float(np.mean(found)),
        spread=float(np.std(found)),
        right=right,
    )


def _results(
    ready: CotrainReady,
    outcome: CotrainOutcome,
    turns: list[Turn],
    alone: Mapping[str, Learner],
    seconds: float,
) -> CotrainingResults:
    sites, plan = ready.sites.sites, ready.plan
    talk = [e for e in outcome.costs.exchanges if e.step.startswith(("label", "renew"))]
    per_turn = len(sites) * max(plan.turns, 1)
    return CotrainingResults(
        title=ready.recipe.title,
        seed=ready.seed,
        n_sites=len(sites),
        n_labels=sum(int(site.labelled.sum()) for site in sites),
        n_public=plan.n_public,
        n_classes=plan.n_classes,
        votes=plan.votes,
        learners=list(ready.recipe.learners.of_sites(len(sites))),
        turns=turns,
        test=scores(ready, outcome.learners),
        alone=float(np.mean(list(scores(ready, alone).values()))),
        bytes_up=sum(e.bytes_up for e in talk) / per_turn,
        bytes_down=sum(e.bytes_down for e in talk) / per_turn,
        seconds=seconds,
        privacy=said_of_privacy(ready),
    )

"""Run a recipe into a run folder: checkpoints on the way, the model and the report at the end."""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from colabel.jobs.checkpoint import Checkpoint, read_checkpoint, rounds_in, write_checkpoint
from colabel.jobs.train import TrainOutcome, has_spent, train_sites, will_spend
from colabel.learning.parameters import Parameters
from colabel.learning.storage import Card, write_model
from colabel.learning.terms.base import Shared
from colabel.recipes.building import Ready
from colabel.recipes.format import Recipe
from colabel.recipes.keys import dotted
from colabel.report import write_report
from colabel.report.training_results import (
    PrivacySpent,
    TrainingResults,
    best_of,
    rounds_of,
)
from colabel.runs import RunFolder
from colabel.runs.folder import CHECKPOINT, MODEL, MODEL_CARD, TRAIN
from colabel.runs.record import read_record

Listener = Callable[[Mapping[str, Any]], None]


class Named(NamedTuple):
    """What a run is called in its folder and its report."""

    title: str
    cell: str
    scale: str


class Trained(NamedTuple):
    """What a run left in memory."""

    results: TrainingResults
    outcome: TrainOutcome


def _nobody(event: Mapping[str, Any]) -> None:
    """Nobody listens."""


def train(ready: Ready, named: Named, start: Checkpoint | None = None, **options: Any) -> Trained:
    """Train and judge; nothing is written. `options` are those of `train_sites`."""
    dealt = ready.dealt
    outcome = train_sites(
        dealt.sites,
        ready.plan,
        judge=ready.validation,
        truth=dealt.truth,
        server_points=None if dealt.server is None else (dealt.server.points, dealt.server.labels),
        state=start,
        **options,
    )
    return Trained(_results(ready, named, outcome), outcome)


def train_on(
    path: Path,
    ready: Ready,
    named: Named,
    start: Checkpoint | None = None,
    listen: Listener = _nobody,
) -> Trained:
    """Train with checkpoints into one file: every so many rounds, and of the last whole round
    whenever something breaks off.
    """
    every, latest = ready.recipe.run.checkpoint_every, start
    digest = digest_of(ready.recipe, ready.seed)

    def keep(checkpoint: Checkpoint) -> None:
        nonlocal latest
        latest = checkpoint
        if every and checkpoint.state.round % every == 0:
            write_checkpoint(path, checkpoint, digest)

    try:
        return train(ready, named, start, listen=listen, keep=keep)
    except BaseException:
        if latest is not None:
            write_checkpoint(path, latest, digest)
        raise


def train_into(
    folder: Path,
    ready: Ready,
    named: Named,
    *,
    resume: bool = False,
    force: bool = False,
    listen: Listener = _nobody,
) -> Trained:
    """The same into a run folder, with everything that comes out."""
    settings = _settings(ready, named)
    seeds = {"run": ready.seed, "hyperplanes": _hyperplanes(ready)}
    sites, path = ready.dealt.sites, folder / CHECKPOINT
    start = None
    if resume:
        run = RunFolder.resume(folder, TRAIN, settings=settings, sites=sites)
        start = read_checkpoint(path, digest_of(ready.recipe, ready.seed))
    else:
        run = RunFolder.start(
            folder, TRAIN, settings=settings, seeds=seeds, sites=sites, force=force
        )

    def tell(event: Mapping[str, Any]) -> None:
        run.listen(event)
        listen(event)

    with run.recording():
        trained = train_on(path, ready, named, start, tell)
        model, kept = kept_model(trained.outcome)
        terms = ready.plan.stages[-1].terms
        card = Card(model=ready.plan.model, classes=sites.classes, terms=terms)
        write_model(folder / MODEL, folder / MODEL_CARD, model, kept, card)
        run.finish(trained.results, trained.outcome.ledger)
        with suppress(FileNotFoundError):  # there is nothing left to go on with
            path.unlink()
        write_report(folder)
    return trained


class Begun(NamedTuple):
    """Where a run that did not come to its end stands."""

    seed: int | None
    rounds: int


def begun_in(folder: Path) -> Begun:
    """The seed of the run in a folder, and after how many rounds it goes on."""
    record = read_record(folder)
    return Begun(record.seeds.get("run"), rounds_in(folder / CHECKPOINT))


def kept_model(outcome: TrainOutcome) -> tuple[Parameters, Shared]:
    """The best model on the validation points, else the last; and what belongs to it."""
    state = outcome.state
    if state.best is None:
        return state.model, state.kept
    return state.best, state.best_kept


def digest_of(recipe: Recipe, seed: int) -> str:
    """Of everything that decides what comes out: the recipe without its seeds, and this seed."""
    data = msgspec.to_builtins(recipe)
    data["run"].pop("seeds")
    data["run"].pop("checkpoint_every")
    text = json.dumps([data, seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _settings(ready: Ready, named: Named) -> dict[str, Any]:
    """The recipe as dotted keys, and the names of the run."""
    names = {"title": named.title, "cell": named.cell, "scale": named.scale}
    settings = dotted(json.loads(msgspec.json.encode(ready.recipe)))
    settings.pop("run.seeds")
    return names | settings


def _hyperplanes(ready: Ready) -> int | None:
    given = ready.recipe.run.hyperplanes
    return given if isinstance(given, int) else None


def _results(ready: Ready, named: Named, outcome: TrainOutcome) -> TrainingResults:
    state, terms = outcome.state, ready.plan.stages[-1].terms
    rounds = rounds_of(outcome.history)
    test = {"last model": ready.test(state.model, state.kept, terms)}
    if state.best is not None:
        kept = {"kept model": ready.test(state.best, state.best_kept, terms)}
        test = kept | test
    sites = ready.dealt.sites.sites
    return TrainingResults(
        title=named.title,
        cell=named.cell,
        method=ready.recipe.method.name,
        model=ready.plan.model.name,
        scale=named.scale,
        seed=ready.seed,
        n_sites=len(sites),
        n_points=sum(len(site) for site in sites),
        n_labels=sum(int(site.labelled.sum()) for site in sites),
        n_parameters=sum(held.size for held in state.model.values()),
        test=test,
        rounds=rounds,
        best_round=best_of(rounds) if state.best is not None else None,
        validation=state.best_score if state.best is not None else None,
        privacy=_privacy(ready, outcome),
    )


def _privacy(ready: Ready, outcome: TrainOutcome) -> PrivacySpent | None:
    planned = will_spend(ready.dealt.sites, ready.plan)
    spent = has_spent(outcome.history, ready.plan)
    if planned is None or spent is None:
        return None
    return PrivacySpent(planned.epsilon, spent.epsilon, planned.delta)

"""Audit a finished run: are its members found by what the method shows?

The run folder says what was run on what, so the same is dealt again. A run of `cotrain` is played
again, and its first site's model asked about the candidates in its last turns; of a run of `train`
the stored model is asked, which everybody received. Candidates are labelled points of the run (the
first site's, or all sites') and as many of its test points, which nobody trained with.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np

from colabel.cotrain.learners import Learner
from colabel.data import write_atomically
from colabel.errors import InputError, Problem
from colabel.federation.released import release, rows_of
from colabel.federation.site import fingerprint
from colabel.jobs.cotrain import cotrain_sites
from colabel.privacy.audit import (
    AuditReport,
    Candidates,
    Exposure,
    LabelAnswers,
    ScoreAnswers,
    UpdateAnswers,
    audit,
)
from colabel.randomness import data as randomness
from colabel.recipes.cotraining import CotrainReady, checked, ready
from colabel.recipes.keys import as_struct, nested
from colabel.report.audit_plot import draw_audit
from colabel.runs.folder import AUDIT, AUDIT_PLOT, COTRAIN, MODEL, MODEL_CARD, TRAIN
from colabel.runs.record import RunRecord, read_record


def audit_run(
    folder: Path, *, candidates: int = 500, answers: int = 5, data_dir: Path | None = None
) -> AuditReport:
    """The audit of the run in a folder, which then holds it (`audit.json`, `audit.svg`)."""
    record = read_record(folder)
    if record.status != "finished" or record.verb not in (COTRAIN, TRAIN):
        what = f"the run in {folder} is a {record.verb} that is {record.status}"
        raise InputError(Problem(what, "Audit a finished run of cotrain or train."))
    made = _cotraining if record.verb == COTRAIN else _training
    found = made(record, folder, candidates, answers, data_dir)
    text = msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"

    def write(stream: BinaryIO) -> None:
        stream.write(text)

    write_atomically(folder / AUDIT, write)
    draw_audit(found, folder / AUDIT_PLOT)
    return found


def _cotraining(
    record: RunRecord, folder: Path, n: int, answers: int, data_dir: Path | None
) -> AuditReport:
    seed = record.seeds["run"] or 0
    again = ready(checked(nested(record.settings)), seed, data_dir)
    _same_data(record, {site.name: fingerprint(site) for site in again.sites.sites})
    first = again.sites.sites[0]
    known = np.flatnonzero(first.labelled)
    asked = _candidates(
        first.points[known], first.labels[known], again.test, again.test_truth, n, seed
    )
    method = "labels" if again.plan.exchange == "labels" else "scores"
    shown = _answers(again, asked, answers)
    return audit(asked, [Exposure(f"{record.settings['title']}: {method}", (shown,))], seed=seed)


def _answers(again: CotrainReady, asked: Candidates, n: int) -> LabelAnswers | ScoreAnswers:
    """What the first site's model says of the candidates in the last turns."""
    labels: list[np.ndarray] = []
    scores: list[np.ndarray] = []
    plan, first = again.plan, again.sites.names[0]
    ties = randomness(again.seed, "ties of audited answers")

    def ask(learners: Mapping[str, Learner]) -> Mapping[str, Any]:
        if plan.exchange == "scores":
            scores.append(np.asarray(learners[first].shares(asked.points)))
            return {}
        # among as many labels as there are public points, so that the noise is the run's
        said = np.zeros(max(plan.n_public, len(asked)), np.int64)
        said[: len(asked)] = learners[first].predict(asked.points)
        wide = msgspec.structs.replace(plan, n_public=len(said))
        votes = rows_of(release(said, wide, 1), wide)[: len(asked)]
        labels.append((votes + 0.5 * ties.random(votes.shape)).argmax(axis=1))
        return {}

    cotrain_sites(again.sites, again.public, again.learners(), plan, judge=ask)
    if scores:
        return ScoreAnswers(np.stack(scores[-n:]))
    return LabelAnswers(np.stack(labels[-n:]))


def _training(
    record: RunRecord, folder: Path, n: int, answers: int, data_dir: Path | None
) -> AuditReport:
    from colabel.learning.audited import losses
    from colabel.learning.storage import read_model
    from colabel.recipes.building import ready as ready_to_train
    from colabel.recipes.format import Recipe

    del answers  # one model is stored: it answers once
    seed = record.seeds["run"] or 0
    names = ("title", "cell", "scale")  # of the run, beside its recipe
    words = nested({k: v for k, v in record.settings.items() if k not in names})
    made = ready_to_train(as_struct(words, Recipe), seed, data_dir)
    sites = made.dealt.sites.sites
    _same_data(record, {site.name: fingerprint(site) for site in sites})
    stored = read_model(folder / MODEL, folder / MODEL_CARD)
    known = [np.flatnonzero(site.labelled) for site in sites]
    points = np.concatenate([site.points[at] for site, at in zip(sites, known, strict=True)])
    labels = np.concatenate([site.labels[at] for site, at in zip(sites, known, strict=True)])
    test = made.dealt.test
    asked = _candidates(points, labels, test.points, test.labels, n, seed)
    found = losses(stored.network, asked.points, asked.labels, stored.card.model)
    exposure = Exposure(
        str(record.settings["title"]),
        (
            UpdateAnswers(found[None]),
            ScoreAnswers(np.asarray(stored.predict(asked.points))[None]),
        ),
    )
    return audit(asked, [exposure], seed=seed)


def _candidates(
    points: np.ndarray,
    labels: np.ndarray,
    others: np.ndarray,
    truth: np.ndarray,
    n: int,
    seed: int,
) -> Candidates:
    """As many members as others of each class: else the class would tell who is one."""
    rng = randomness(seed, "candidates of an audit")
    inside, outside = [], []
    for one in np.unique(labels):
        own, other = (rng.permutation(np.flatnonzero(held == one)) for held in (labels, truth))
        wanted = min(len(own), len(other), -(-n * len(own) // len(labels)))
        inside.append(own[:wanted])
        outside.append(other[:wanted])
    members, strangers = np.concatenate(inside), np.concatenate(outside)
    return Candidates(
        np.concatenate([points[members], others[strangers]]),
        np.concatenate([labels[members], truth[strangers]]),
        np.arange(2 * len(members)) < len(members),
    )


def _same_data(record: RunRecord, now: Mapping[str, str]) -> None:
    if record.inputs != dict(now):
        what = "the data are not those of the run"
        raise InputError(Problem(what, "Name the folder with the same data (--data-dir)."))

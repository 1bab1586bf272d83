"""The page of a training run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from colabel.privacy.ledger import Ledger
from colabel.report.lines import curves
from colabel.report.sections import sections, template
from colabel.report.svg import Series
from colabel.report.training_results import Round, TrainingResults
from colabel.runs.record import RunRecord

SHOWN = 60  # rows of the table of rounds; with more, those that were judged
_COLOURS = ("across", "alone", "pooled", "fourth", "fifth")
Lines = dict[Series, list[tuple[int, float]]]


def render_training(record: RunRecord, results: TrainingResults, ledger: Ledger) -> str:
    """The page as text."""
    rounds = results.rounds
    kinds = _names(rounds, lambda one: {**one.bytes_up, **one.bytes_down})
    by_kind = {
        kind: (
            sum(one.bytes_up.get(kind, 0) for one in rounds),
            sum(one.bytes_down.get(kind, 0) for one in rounds),
        )
        for kind in kinds
    }
    phases = _names(rounds, lambda one: one.seconds)
    judged = [one for one in rounds if one.accuracy is not None]
    return template("training.html").render(
        **sections(record, ledger, results.n_sites),
        results=results,
        by_kind=by_kind,
        by_phase={p: sum(one.seconds.get(p, 0.0) for one in rounds) for p in phases},
        total_up=sum(up for up, _ in by_kind.values()),
        total_down=sum(down for _, down in by_kind.values()),
        shown_rounds=rounds if len(rounds) <= SHOWN else judged,
        charts=_charts(rounds, kinds, phases),
    )


def _charts(rounds: Sequence[Round], kinds: Sequence[str], phases: Sequence[str]) -> dict[str, Any]:
    accuracy = _lines(rounds, {"validation points": lambda one: one.accuracy})
    loss = _lines(rounds, {"loss": lambda one: one.loss})
    pseudo = _lines(
        rounds,
        {
            "accuracy": lambda one: one.pseudo_accuracy,
            "coverage": lambda one: one.pseudo_coverage,
            "mean weight": lambda one: one.pseudo_weight,
        },
    )
    megabytes = _lines(rounds, {kind: _megabytes(kind) for kind in kinds})
    seconds = _lines(rounds, {phase: _seconds(phase) for phase in phases})
    return {
        "accuracy": _percents(accuracy, "Validation accuracy over the rounds"),
        "accuracy_marks": list(accuracy),
        "loss": curves(loss, "Loss over the rounds", percent=False) if loss else None,
        "pseudo": _percents(pseudo, "Accuracy and coverage of pseudo-labels over the rounds"),
        "pseudo_marks": list(pseudo),
        "bytes": curves(megabytes, "Megabytes per round by what they carry", percent=False),
        "bytes_marks": [one._replace(name=f"{one.name} (MB)") for one in megabytes],
        "seconds": curves(seconds, "Seconds per round by phase", percent=False),
        "seconds_marks": list(seconds),
    }


def _percents(lines: Lines, alt: str) -> Markup | None:
    return curves(lines, alt, top=1.0) if lines else None


def _lines(
    rounds: Sequence[Round], measures: Mapping[str, Callable[[Round], float | None]]
) -> Lines:
    """A curve for each measure that there is; rounds without it are skipped."""
    found: Lines = {}
    for place, (name, measure) in enumerate(measures.items()):
        series = Series(name, "dot", _COLOURS[place % len(_COLOURS)])
        points = [(one.number, value) for one in rounds if (value := measure(one)) is not None]
        if points:
            found[series] = points
    return found


def _megabytes(kind: str) -> Callable[[Round], float]:
    return lambda one: (one.bytes_up.get(kind, 0) + one.bytes_down.get(kind, 0)) / 1e6


def _seconds(phase: str) -> Callable[[Round], float]:
    return lambda one: one.seconds.get(phase, 0.0)


def _names(rounds: Sequence[Round], of: Callable[[Round], Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for one in rounds for name, value in of(one).items() if value))

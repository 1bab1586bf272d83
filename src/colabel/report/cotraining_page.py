"""The page of a co-training run."""

from colabel.privacy.ledger import Ledger
from colabel.report.cotraining_results import CotrainingResults
from colabel.report.lines import curves
from colabel.report.sections import sections, template
from colabel.report.svg import Series
from colabel.runs.record import RunRecord


def render_cotraining(record: RunRecord, results: CotrainingResults, ledger: Ledger) -> str:
    """The page as text."""
    measures: dict[str, list[float | None]] = {
        "accuracy on test points": [*(one.accuracy for one in results.turns)],
        "agreed": [*(one.agreed for one in results.turns)],
        "changed": [*(one.changed for one in results.turns)],
        "right": [one.right for one in results.turns],
    }
    lines = {
        Series(name, "dot", colour): [
            (turn.number, value)
            for turn, value in zip(results.turns, values, strict=True)
            if value is not None
        ]
        for (name, values), colour in zip(
            measures.items(), ("across", "alone", "pooled", "fourth"), strict=True
        )
        if any(value is not None for value in values)
    }
    return template("cotraining.html").render(
        **sections(record, ledger, results.n_sites),
        results=results,
        chart=curves(lines, "Accuracy and agreement over the turns", top=1.0),
        marks=list(lines),
        knows_truth=any(one.right is not None for one in results.turns),
    )

"""The page of a labelling run."""

from typing import Any

from markupsafe import Markup

from colabel.conversation import UNPROTECTED
from colabel.privacy.ledger import Ledger
from colabel.report import words
from colabel.report.results import ACROSS, ALONE, POOLED, Results
from colabel.report.sections import sections, template
from colabel.report.svg import Series, dot_rows, histogram, reliability
from colabel.runs.record import RunRecord

MARKS = {
    ALONE: Series(ALONE, "dot", "alone"),
    ACROSS: Series(ACROSS, "dot", "across"),
    POOLED: Series(POOLED, "ring", "pooled"),
}
SHOWN = 40  # rows of a chart; the table below it has them all


def render(record: RunRecord, results: Results, ledger: Ledger) -> str:
    """The page as text."""
    return template("page.html").render(
        **sections(record, ledger, len(results.sites)),
        results=results,
        across=ACROSS,
        alone=ALONE,
        pooled=POOLED,
        marks=[MARKS[method] for method in results.methods],
        n_points=sum(site.n_points for site in results.sites),
        n_given=sum(site.n_given for site in results.sites),
        over_runs=lambda method, measure: over_runs(results, method, measure),
        headline=lambda method, measure: headline(results, method, measure)[0],
        spread=lambda method, measure: headline(results, method, measure)[1],
        unprotected=any(entry.mechanism == UNPROTECTED for entry in ledger),
        charts=_charts(results),
        shown=SHOWN,
    )


def over_runs(results: Results, method: str, measure: str) -> str:
    """A measure over all seeds, or of the one run."""
    return words.mean_and_sd(_values(results, method, measure))


def headline(results: Results, method: str, measure: str) -> tuple[str, str]:
    """The number to show first, and how much it varies: a lucky seed must not be the headline."""
    values = _values(results, method, measure)
    known = [value for value in values if value is not None]
    if len(values) < 2 or not known:
        return words.percent(values[0]), ""
    spread = words.mean_and_sd(values).partition("±")[2].strip()
    return words.percent(sum(known) / len(known)), f", ± {spread} over {len(values)} seeds"


def _values(results: Results, method: str, measure: str) -> list[float | None]:
    scores = [one.scores[method] for one in results.repeats] or [results.overall[method]]
    return [getattr(score, measure) for score in scores]


def site_measure(results: Results) -> str:
    """What is compared between sites: accuracy, or coverage if the truth is not known."""
    return "accuracy" if results.knows_truth else "coverage"


def _charts(results: Results) -> dict[str, Any]:
    measure = site_measure(results)
    series = [MARKS[method] for method in results.methods]
    rows = {
        site.name: [getattr(site.scores[method], measure) for method in results.methods]
        for site in results.sites[:SHOWN]
    }
    sure = results.confidence
    charts = {
        "measure": measure,
        "sites": dot_rows(
            rows, series, f"{measure} of each site; the table below has the same numbers"
        ),
        "confidence": histogram(sure.edges, sure.counts, "How many points have which confidence"),
        "calibration": None,
        "classes": _class_chart(results),
        "class_marks": _CLASS_MARKS[: 3 if results.knows_truth else 2],
    }
    if sure.accuracies is not None:
        charts["calibration"] = reliability(
            sure.means, sure.accuracies, sure.counts, "Accuracy of the points of each confidence"
        )
    return charts


_CLASS_MARKS = (
    Series("labels given", "dot", "alone"),
    Series("labels received", "dot", "across"),
    Series("true labels of the receivers", "ring", "pooled"),
)


def _class_chart(results: Results) -> Markup:
    classes = results.classes
    given = max(sum(c.given for c in classes), 1)
    received = max(sum(c.received for c in classes), 1)
    true = max(sum(c.true or 0 for c in classes), 1)
    rows = {
        c.name: [
            c.given / given,
            c.received / received,
            *([] if not results.knows_truth else [(c.true or 0) / true]),
        ]
        for c in classes[:SHOWN]
    }
    marks = _CLASS_MARKS[: 3 if results.knows_truth else 2]
    return dot_rows(rows, marks, "Share of each class; the table below has the counts")

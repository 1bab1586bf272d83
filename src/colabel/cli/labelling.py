"""What `label` and `demo` do alike: run, compare, measure, and fill the run folder."""

from typing import TYPE_CHECKING, Any, NamedTuple

from colabel.cli.foretelling import show_releases
from colabel.cli.progress import shown
from colabel.cli.screen import Screen

if TYPE_CHECKING:
    import pyarrow as pa

    from colabel.data import Note, Sites
    from colabel.federation.plan import LabellingPlan
    from colabel.jobs.label import Outcome
    from colabel.protocols.keys import Group
    from colabel.report import Compared, Results
    from colabel.report.scoring import Truth
    from colabel.runs import RunFolder


class Finished(NamedTuple):
    """What a run leaves behind in memory."""

    results: "Results"
    outcome: "Outcome"
    labels: "pa.Table"


def sizes_of(sites: "Sites") -> "Group":
    """What the sites would tell the server of themselves."""
    from colabel.protocols.keys import Group, Welcome

    sizes = {
        site.name: Welcome(len(site), int(site.labelled.sum()), site.points[:1].size)
        for site in sites.sites
    }
    return Group(sizes)


def notes_on_plan(sites: "Sites", plan: "LabellingPlan") -> "list[Note]":
    """What a setting means with so few points."""
    from colabel.data import Note

    n_points, k = sum(len(site) for site in sites.sites), plan.n_neighbors
    if isinstance(k, str) or k < n_points:
        return []
    what = f"n_neighbors is {k}, but there are {n_points} points"
    return [Note(what, "All the others are neighbours of each.")]


def foretell(screen: Screen, sites: "Sites", plan: "LabellingPlan") -> None:
    """Before long work: what it will cost, and what it will reveal."""
    from colabel.federation.cost import cost
    from colabel.federation.reveals import reveals
    from colabel.jobs.label import followed
    from colabel.report import words

    plan = followed(plan, len(sites))
    expected = cost(sizes_of(sites), plan)
    screen.errors.print(
        f"This run will take about {words.seconds(expected.seconds)} on one machine, "
        f"{words.size(expected.bytes_up)} to the server and {words.size(expected.bytes_down)} to "
        f"the sites, in {words.counted(expected.steps, 'step')}.",
        soft_wrap=True,
    )
    screen.errors.print(f"How codes are compared: {protection(plan)}.", soft_wrap=True)
    show_releases(screen, reveals(plan))


def protection(plan: "LabellingPlan") -> str:
    """The way to compare codes, and what it protects."""
    from colabel.protocols.hamming import by_name

    return f"{plan.hamming}, {by_name(plan.hamming).protects}"


def compare(
    screen: Screen,
    run: "RunFolder | None",
    sites: "Sites",
    plan: "LabellingPlan",
    *,
    alone: bool,
    pooled: bool,
    what: str = "Labelling across sites",
) -> "Compared":
    """Label across sites and, where asked, in the other ways."""
    from colabel.jobs.label import label, label_alone, label_pooled
    from colabel.report import Compared

    with shown(screen.errors, what) as progress:

        def listen(event: Any) -> None:
            progress(event)
            if run is not None:
                run.listen(event)

        across = label(sites, plan, listen=listen)
    with shown(screen.errors, "Comparing with each site alone"):
        by_themselves = label_alone(sites, plan) if alone else None
    with shown(screen.errors, "Comparing with all points pooled"):
        together = label_pooled(sites, plan) if pooled else None
    return Compared(across, by_themselves, together)


def conclude(
    run: "RunFolder",
    title: str,
    sites: "Sites",
    compared: "Compared",
    plan: "LabellingPlan",
    truth: "Truth | None",
    repeats: Any = (),
) -> Finished:
    """Measure, and write everything but the report."""
    from colabel.report import summarise
    from colabel.runs import labels_table

    outcome = compared.across
    results = summarise(
        title,
        sites,
        compared,
        plan=plan,
        truth=truth,
        repeats=repeats,
    )
    table = labels_table(sites, outcome.own)
    run.finish(results, outcome.ledger, table)
    return Finished(results, outcome, table)

"""What `label` and `demo` do alike: run, compare, measure, and fill the run folder."""

from typing import TYPE_CHECKING, Any, NamedTuple

from colabel.cli.progress import shown
from colabel.cli.screen import Screen

if TYPE_CHECKING:
    import pyarrow as pa

    from colabel.data import Sites
    from colabel.federation.plan import LabellingPlan
    from colabel.jobs.label import Outcome
    from colabel.protocols.cost import Cost
    from colabel.report import Compared, Results
    from colabel.report.scoring import Truth
    from colabel.runs import RunFolder


class Finished(NamedTuple):
    """What a run leaves behind in memory."""

    results: "Results"
    outcome: "Outcome"
    labels: "pa.Table"


def expected_cost(sites: "Sites", plan: "LabellingPlan") -> "Cost":
    """What comparing the codes will cost, by the protocol's own account."""
    from colabel.protocols.hamming import by_name
    from colabel.protocols.keys import Group, Welcome

    sizes = {
        site.name: Welcome(len(site), int(site.labelled.sum()), site.points[:1].size)
        for site in sites.sites
    }
    return by_name(plan.hamming).cost(Group(sizes), plan.n_bits)


def say_cost(screen: Screen, cost: "Cost", plan: "LabellingPlan") -> None:
    """Before long work."""
    from colabel.report import words

    screen.errors.print(
        f"Comparing codes ({plan.hamming}) will take about {words.seconds(cost.seconds)}, "
        f"{words.size(cost.bytes_up)} to the server and {words.size(cost.bytes_down)} to the "
        f"sites, in {words.counted(cost.steps, 'step')}.",
        soft_wrap=True,
    )


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

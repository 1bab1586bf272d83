"""`colabel cost`: what each way to compare codes costs and protects, before anything runs."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colabel.cli.plan_options import NAMES, make_plan, plan_options, settings_of
from colabel.cli.screen import Screen, as_data
from colabel.cli.verb import Answer, verb

if TYPE_CHECKING:
    from colabel.federation.plan import LabellingPlan
    from colabel.protocols.keys import Group

_SIZES = re.compile(r"(?:(?P<times>[1-9]\d{0,5})x)?(?P<size>[1-9]\d{0,9})")


@click.command()
@click.argument("sites", nargs=-1, type=click.Path(path_type=Path), metavar="[SITES…]")
@click.option("--site-column", metavar="C", help="The column that names each row's site.")
@click.option("--label-column", metavar="Y", help="The column with the labels. [label]")
@click.option("--id-column", metavar="I", help="The column with the ids. [id, if there is one]")
@click.option("--truth-column", metavar="T", help="A column of true labels, as in `label`.")
@click.option(
    "--sizes", metavar="N,N,…", help="Points per site instead of files: 500,300 or 5x500."
)
@click.option(
    "--labels",
    "n_labels",
    type=click.IntRange(0),
    metavar="N",
    help="With --sizes: labels per site. [a tenth of the points]",
)
@click.option(
    "--features-per-point",
    "n_features",
    type=click.IntRange(1),
    metavar="D",
    default=100,
    show_default=True,
    help="With --sizes: numbers per point.",
)
@click.option(
    "--classes",
    "n_classes",
    type=click.IntRange(1),
    metavar="C",
    default=10,
    show_default=True,
    help="With --sizes: how many classes there are.",
)
@plan_options
@verb
def cost(
    screen: Screen,
    sites: tuple[Path, ...],
    sizes: str | None,
    n_labels: int | None,
    n_features: int,
    n_classes: int,
    random_state: int | None,
    **options: Any,
) -> Answer:
    """What labelling SITES would cost and protect, for each way to compare codes.

    Bytes and steps are those of the whole run, from the first greeting to the labels, and exact
    if no site is lost. Times are estimates for all parties on one machine like that of the
    benchmarks. With --hamming, only that way is shown. Nothing is sent and nothing is written.
    """
    from colabel.errors import InputError, Problem

    if bool(sites) == (sizes is not None):
        fix = "For instance: colabel cost hospital-*.csv, or colabel cost --sizes 5x500."
        raise InputError(Problem("either files of sites or --sizes are needed", fix))
    notes: list[dict[str, Any]] = []
    if sizes is None:
        from colabel.cli.labelling import sizes_of
        from colabel.cli.reading import Columns, read_input

        names = ("site_column", "label_column", "id_column", "truth_column")
        found = read_input(sites, Columns(*(options[name] for name in names)))
        screen.show_notes(found.notes)
        notes = [as_data(note) for note in found.notes]
        group, n_classes = sizes_of(found.sites), len(found.sites.classes)
    else:
        group = _group(sizes, n_labels, n_features)
    if len(group.names) < 2:
        fix = "A site that is alone compares its own points only; nothing is sent."
        raise InputError(Problem("one site has nobody to compare codes with", fix))
    plan = make_plan(n_classes, {name: options[name] for name in NAMES}, random_state)
    ways = _ways(group, plan, options["hamming"])
    _show(screen, group, plan, ways)
    return Answer(
        {
            "sites": {name: size.n_points for name, size in group.sizes.items()},
            "plan": {k: v for k, v in settings_of(plan).items() if k != "hamming"},
            "ways": ways,
            "notes": notes,
        }
    )


def _group(sizes: str, n_labels: int | None, n_features: int) -> "Group":
    """Sites of these sizes."""
    from colabel.errors import InputError, Problem
    from colabel.protocols.keys import Group, Welcome

    points: list[int] = []
    for part in sizes.split(","):
        match = _SIZES.fullmatch(part.strip())
        if match is None:
            fix = "Give numbers of points, as in 500,300, or times and points, as in 5x500."
            raise InputError(Problem(f"--sizes has {part!r}", fix))
        points += int(match["times"] or 1) * [int(match["size"])]
    return Group(
        {
            f"site-{i}": Welcome(n, min(n, n // 10 if n_labels is None else n_labels), n_features)
            for i, n in enumerate(points, 1)
        }
    )


def _ways(group: "Group", plan: "LabellingPlan", only: str | None) -> list[dict[str, Any]]:
    """Every way, as the JSON object has it."""
    import msgspec

    from colabel.federation.cost import cost as cost_of_run
    from colabel.federation.reveals import reveals
    from colabel.protocols.hamming import WAYS

    found = []
    for name, way in WAYS.items():
        if only not in (None, name):
            continue
        chosen = msgspec.structs.replace(plan, hamming=name)
        run = cost_of_run(group, chosen)
        found.append(
            {
                "name": name,
                "bytes_up": run.bytes_up,
                "bytes_down": run.bytes_down,
                "bytes_up_per_site": run.bytes_up / len(group.names),
                "bytes_down_per_site": run.bytes_down / len(group.names),
                "steps": run.steps,
                "seconds": run.seconds,
                "protects": way.protects,
                "broken_by": way.broken_by,
                "reveals": [
                    {"what": one.what, "to": one.to, "mechanism": one.mechanism}
                    for one in reveals(chosen)
                ],
            }
        )
    return found


def _show(
    screen: Screen, group: "Group", plan: "LabellingPlan", ways: list[dict[str, Any]]
) -> None:
    from colabel.report import words

    n_points = sum(size.n_points for size in group.sizes.values())
    title = (
        f"A whole run: {words.counted(len(group.names), 'site')}, "
        f"{words.counted(n_points, 'point')}, codes of {plan.n_bits:,} bits"
    )
    columns = ["way", "to server", "to sites", "a site sends", "receives", "steps", "about"]
    rows = [
        [way["name"], *(words.size(way[kind]) for kind in _BYTES), str(way["steps"]),
         words.seconds(way["seconds"])]
        for way in ways
    ]  # fmt: skip
    screen.table(title, columns, rows)
    told = [[way["name"], way["protects"], way["broken_by"]] for way in ways]
    screen.table("Protection", ["way", "what", "who could break it"], told, numbers=False)


_BYTES = ("bytes_up", "bytes_down", "bytes_up_per_site", "bytes_down_per_site")

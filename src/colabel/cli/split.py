"""`colabel split`: deal one data set to sites and hide labels, on file and repeatable."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, data_dir_option, verb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from colabel.cli.dealt import Whole
    from colabel.data import Split


@click.command()
@click.argument("dataset", metavar="DATASET|FILE")
@click.option("--sites", "n_sites", type=int, required=True, metavar="N", help="How many sites.")
@click.option(
    "--partition",
    required=True,
    metavar="HOW",
    help="iid, dirichlet:β, classes:k, ratios, quantity:β or natural; see the documentation.",
)
@click.option(
    "--unlabelled-partition", metavar="HOW", help="Deal the points without a label in this way."
)
@click.option("--labels-per-site", type=int, metavar="N", help="Labels that each site sees.")
@click.option("--labels", "n_labels", type=int, metavar="N", help="Labels in total.")
@click.option("--label-fraction", type=float, metavar="F", help="Share of all labels.")
@click.option("--sites-with-labels", type=int, metavar="M", help="How many sites see any label.")
@click.option("--stratified", is_flag=True, help="Keep the mixture of classes among the labels.")
@click.option("--every-class", is_flag=True, help="At least one label of every class.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The split file (JSON).",
)
@data_dir_option
@click.option("--site-column", metavar="C", help="Of FILE: groups for the natural partition.")
@click.option("--label-column", metavar="Y", help="Of FILE: the labels. [label]")
@click.option("--id-column", metavar="I", help="Of FILE: the ids.")
@click.option(
    "--write-sites",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Also write one Parquet file per site, with `label` and the held-out `truth`.",
)
@verb
def split(
    screen: Screen,
    dataset: str,
    n_sites: int,
    partition: str,
    unlabelled_partition: str | None,
    labels_per_site: int | None,
    n_labels: int | None,
    label_fraction: float | None,
    sites_with_labels: int | None,
    stratified: bool,
    every_class: bool,
    seed: int,
    out: Path,
    data_dir: Path | None,
    site_column: str | None,
    label_column: str | None,
    id_column: str | None,
    write_sites: Path | None,
) -> Answer:
    """Deal a data set, or the rows of a FILE, to sites; and choose who sees which labels.

    The split file names rows and is bound to the data by a fingerprint; the data are not in it.
    """
    from colabel.cli import dealt
    from colabel.data import LabelMask, make_split, parse_partition, write_split

    mask = LabelMask(
        n_labels=n_labels,
        fraction=label_fraction,
        labels_per_site=labels_per_site,
        n_sites_with_labels=sites_with_labels,
        stratified=stratified,
        every_class=every_class,
    )
    how = parse_partition(partition)
    other = parse_partition(unlabelled_partition) if unlabelled_partition else None
    dealt.check_targets(out, write_sites, dataset)
    whole = dealt.read_whole(dataset, data_dir, site_column, label_column, id_column)
    made = make_split(
        whole.name,
        whole.points,
        whole.labels,
        partition=how,
        mask=mask,
        n_sites=n_sites,
        seed=seed,
        unlabelled_partition=other,
        rows=whole.rows,
        groups=whole.groups,
    )
    if write_sites is not None:
        dealt.write_site_files(write_sites, made, whole)
    write_split(out, made)
    table = dealt.class_table(made, whole)
    _show(screen, made, whole, table)
    screen.say(f"Split: {out}")
    return Answer(
        {
            "out": str(out),
            "dataset": made.dataset,
            "fingerprint": made.fingerprint,
            "checksum": dealt.checksum(out),
            "partition": made.partition,
            "seed": seed,
            "classes": list(whole.classes),
            "sites": [
                {"name": name, "points": len(rows), "labels": len(seen), "classes": counts}
                for name, rows, seen, counts in zip(
                    made.sites, made.rows, made.labelled_rows, table.tolist(), strict=True
                )
            ],
            "written": None if write_sites is None else str(write_sites),
        }
    )


def _show(screen: Screen, made: "Split", whole: "Whole", table: "NDArray[np.int64]") -> None:
    shown = len(whole.classes) if len(whole.classes) <= 12 else 0
    rows = [
        [name, f"{len(held):,}", f"{len(seen):,}", *(f"{n:,}" for n in counts[:shown])]
        for name, held, seen, counts in zip(
            made.sites, made.rows, made.labelled_rows, table.tolist(), strict=True
        )
    ]
    if len(rows) > 40:
        rows = [*rows[:40], [f"… and {len(rows) - 40} more", "", "", *[""] * shown]]
    names = ["site", "points", "labels", *whole.classes[:shown]]
    title = f"{made.dataset}, {made.partition}, seed {made.seed}: points by class"
    screen.table(title, names, rows)
    screen.say(f"Fingerprint of the data: {made.fingerprint}")

"""`colabel demo`: the main job from end to end, on handwritten digits that scikit-learn brings."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from colabel.cli.plan_options import public_seed, settings_of
from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, verb

if TYPE_CHECKING:
    from colabel.data import Sites
    from colabel.federation.plan import LabellingPlan
    from colabel.report import Results
    from colabel.report.scoring import Truth

N_SITES, PARTITION, LABELS_PER_SITE, N_SEEDS = 6, "dirichlet:0.3", 5, 5


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder with the report. [runs/demo-<time>]",
)
@click.option("--seed", type=click.IntRange(0, 2**31), default=0, help="The first seed.")
@click.option(
    "--seeds",
    "n_seeds",
    type=click.IntRange(1, 50),
    default=N_SEEDS,
    show_default=True,
    help="How many seeds; the report is of the first.",
)
@click.option("--force", is_flag=True, help="Replace the run that is in the folder.")
@verb
def demo(screen: Screen, out: Path | None, seed: int, n_seeds: int, force: bool) -> Answer:
    """Label 1,797 handwritten digits that are spread over six sites, from five labels each.

    The sites hold very different mixtures of digits. Compared: each site alone, all sites
    together without showing each other anything but what the ledger lists, and all data pooled.
    """
    from colabel.cli.labelling import compare, conclude
    from colabel.cli.tables import as_json, show_cost, show_ledger, show_sites
    from colabel.jobs.label import unprotected
    from colabel.report import repeat, write_report
    from colabel.runs import RunFolder, new_folder_name
    from colabel.runs.folder import check_folder

    folder = out or new_folder_name("demo")
    check_folder(folder, force)
    sites, truth, plan = _deal(seed)
    settings = {"data": "digits", "partition": PARTITION, "labels per site": LABELS_PER_SITE}
    run = RunFolder.start(
        folder,
        "demo",
        settings={**settings, **settings_of(plan)},
        seeds={"data": seed, "hyperplanes": seed},
        sites=sites,
        force=force,
    )
    with run.recording():
        what = f"Seed {seed}"
        compared = compare(screen, run, sites, plan, alone=True, pooled=True, what=what)
        repeats = [repeat(seed, sites, compared.own(), truth)]
        for more in range(seed + 1, seed + n_seeds):
            others, true, other_plan = _deal(more)
            what = f"Seed {more}"
            # the labels are the same without protections, and are there sooner
            quick = unprotected(other_plan)
            again = compare(screen, None, others, quick, alone=True, pooled=True, what=what)
            repeats.append(repeat(more, others, again.own(), true))
        title = f"Handwritten digits at {N_SITES} sites"
        done = conclude(run, title, sites, compared, plan, truth, repeats)
        report = write_report(folder)
    show_sites(screen, done.results, f", seed {seed}")
    _show_seeds(screen, done.results)
    show_ledger(screen, done.outcome.ledger, N_SITES)
    show_cost(screen, done.results)
    screen.say(f"Report: {report}")
    return Answer(
        {
            "run": str(folder),
            "report": str(report),
            **as_json(done.results, done.outcome.ledger),
        }
    )


def _deal(seed: int) -> "tuple[Sites, Truth, LabellingPlan]":
    """The digits at sites that hold them in different mixtures, most labels hidden."""
    import numpy as np

    from colabel.data import LabelMask, apply_split, load, make_split, parse_partition
    from colabel.federation.plan import LabellingPlan

    digits = load("digits")
    split = make_split(
        "digits",
        digits.points,
        digits.labels,
        partition=parse_partition(PARTITION),
        mask=LabelMask(labels_per_site=LABELS_PER_SITE),
        n_sites=N_SITES,
        seed=seed,
    )
    sites = apply_split(split, digits.points, digits.labels, digits.classes)
    rows = dict(zip(split.sites, split.rows, strict=True))
    truth = {name: digits.labels[np.array(held)] for name, held in rows.items()}
    return sites, truth, LabellingPlan(n_classes=len(digits.classes), seed=public_seed(seed))


def _show_seeds(screen: Screen, results: "Results") -> None:
    from colabel.report import words
    from colabel.report.page import over_runs

    rows = [
        [method, over_runs(results, method, "accuracy"),
         over_runs(results, method, "balanced_accuracy")]
        for method in results.methods
    ]  # fmt: skip
    runs = words.counted(len(results.repeats), "seed")
    title = f"All sites, mean ± sd of {runs}"
    screen.table(title, ["method", "accuracy", "balanced accuracy"], rows)

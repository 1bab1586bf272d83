"""`colabel label`: from the sites' files to a label and a confidence for every point."""

from pathlib import Path
from typing import Any

import click

from colabel.cli.plan_options import NAMES, make_plan, plan_options, settings_of
from colabel.cli.screen import Screen, as_data
from colabel.cli.verb import Answer, verb


@click.command()
@click.argument("sites", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SITES…")
@click.option("--site-column", metavar="C", help="The column that names each row's site.")
@click.option("--label-column", metavar="Y", help="The column with the labels. [label]")
@click.option("--id-column", metavar="I", help="The column with the ids. [id, if there is one]")
@click.option(
    "--truth-column",
    metavar="T",
    help="A column of true labels, used for the report and for nothing else.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the labels go: .parquet or .csv.",
)
@click.option(
    "--run-dir",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder with the report. [runs/label-<time>]",
)
@click.option("--force", is_flag=True, help="Replace the run that is in the run folder.")
@click.option(
    "--compare/--no-compare",
    default=True,
    help="Also label each site alone (and pooled, if the truth is known), for the report.",
)
@plan_options
@verb
def label(
    screen: Screen,
    sites: tuple[Path, ...],
    out: Path,
    run_dir: Path | None,
    force: bool,
    compare: bool,
    random_state: int | None,
    **options: Any,
) -> Answer:
    """Label the points of several sites together.

    SITES are files (CSV, TSV, Parquet, NPZ, NPY), one per site, or one with --site-column; a
    folder means the files in it. An empty label, or -1, means that the label is not known.

    All sites are read by this one process: it simulates the sites, and nothing is sent anywhere.
    """
    from colabel.cli import labelling
    from colabel.cli.reading import Columns, read_input
    from colabel.cli.tables import as_json, show_cost, show_ledger, show_sites
    from colabel.report import write_report
    from colabel.runs import RunFolder, check_out, new_folder_name, write_table
    from colabel.runs.folder import check_folder

    check_out(out, sites)
    folder = run_dir or new_folder_name("label")
    check_folder(folder, force)
    columns = Columns(
        options["site_column"],
        options["label_column"],
        options["id_column"],
        options["truth_column"],
    )
    found = read_input(sites, columns)
    plan = make_plan(
        len(found.sites.classes), {name: options[name] for name in NAMES}, random_state
    )
    notes = [*found.notes, *labelling.notes_on_plan(found.sites, plan)]
    screen.show_notes(notes)
    labelling.foretell(screen, found.sites, plan)
    run = RunFolder.start(
        folder,
        "label",
        settings=settings_of(plan),
        seeds={"hyperplanes": random_state},
        sites=found.sites,
        force=force,
    )
    with run.recording():
        knows = found.truth is not None
        compared = labelling.compare(
            screen, run, found.sites, plan, alone=compare, pooled=compare and knows
        )
        title = f"Labels for {len(found.sites)} sites"
        done = labelling.conclude(run, title, found.sites, compared, plan, found.truth)
        report = write_report(folder)
        write_table(out, done.labels)
    show_sites(screen, done.results)
    show_ledger(screen, done.outcome.ledger, len(found.sites))
    show_cost(screen, done.results)
    screen.say(f"Labels: {out}")
    screen.say(f"Report: {report}")
    return Answer(
        {
            "out": str(out),
            "run": str(folder),
            "report": str(report),
            "plan": settings_of(plan),
            "notes": [as_data(note) for note in notes],
            **as_json(done.results, done.outcome.ledger),
        }
    )

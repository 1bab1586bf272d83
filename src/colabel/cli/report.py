"""`colabel report`: the HTML page of a run, made again from its folder."""

from pathlib import Path

import click

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, verb


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@verb
def report(screen: Screen, run: Path) -> Answer:
    """Build report.html again from the folder RUN of a run."""
    from colabel.report import write_report

    page = write_report(run)
    screen.say(f"Report: {page}")
    return Answer({"run": str(run), "report": str(page)})

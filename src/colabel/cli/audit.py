"""`colabel audit`: membership inference against what a finished run shows."""

from pathlib import Path

import click

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, data_dir_option, verb


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--candidates", type=click.IntRange(10), default=500, show_default=True, metavar="N",
    help="How many members are asked about, and as many others.",
)  # fmt: skip
@click.option(
    "--answers", type=click.IntRange(1), default=5, show_default=True, metavar="N",
    help="How many answers about each; as many last turns of a cotrain run.",
)  # fmt: skip
@data_dir_option
@verb
def audit(
    screen: Screen, run: Path, candidates: int, answers: int, data_dir: Path | None
) -> Answer:
    """Attack the finished run in the folder RUN, of cotrain or train.

    VUL is the ROC AUC of the strongest attack: 0.5 is guessing, 1 finds every member. Beside it,
    how many members are found at few false alarms. Controls say whether the attacks work at all:
    an audit that does not find its positive control is invalid.
    """
    import msgspec

    from colabel.recipes.auditing import audit_run
    from colabel.runs.folder import AUDIT, AUDIT_PLOT

    found = audit_run(run, candidates=candidates, answers=answers, data_dir=data_dir)
    screen.say(found.table())
    screen.say(f"All attacks: {run / AUDIT}")
    screen.say(f"ROC curves: {run / AUDIT_PLOT}")
    return Answer({"run": str(run), "audit": msgspec.to_builtins(found)}, 0 if found.valid else 1)

"""`colabel cotrain`: sites share hard labels of a public set; each ends with its own model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, data_dir_option, verb

if TYPE_CHECKING:
    from colabel.recipes.cotraining import CotrainReady
    from colabel.report.cotraining_results import CotrainingResults


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path), metavar="RECIPE")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="A.B=C",
    help="Change a key of the recipe; may be given several times.",
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="[the recipe's first]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder. [runs/cotrain-<time>]",
)
@click.option("--force", is_flag=True, help="Replace the run that is in the run folder.")
@data_dir_option
@verb
def cotrain(
    screen: Screen,
    recipe: Path,
    changes: tuple[str, ...],
    seed: int | None,
    out: Path | None,
    force: bool,
    data_dir: Path | None,
) -> Answer:
    """Co-train as RECIPE (a TOML file) says: FedCT, with any models, different ones if wanted.

    All sites are played by this one process: it simulates them, and nothing is sent anywhere.
    """
    from colabel.recipes.cotraining import read_cotraining, ready
    from colabel.recipes.cotraining_run import cotrain_into
    from colabel.runs import new_folder_name
    from colabel.runs.folder import REPORT, check_folder

    wanted = read_cotraining(recipe, changes)
    folder = out or new_folder_name("cotrain")
    check_folder(folder, force)
    made = ready(wanted, wanted.run.seeds[0] if seed is None else seed, data_dir)
    _foretell(screen, made)
    turns = made.plan.turns
    results = cotrain_into(
        folder, made, force=force,
        listen=lambda event: screen.errors.print(
            f"turn {event['number']} of {turns}: {100 * event['accuracy']:.1f} % on average, "
            f"consensus on {100 * event['agreed']:.0f} % of the public points"
        ),
    )  # fmt: skip
    _show(screen, results)
    screen.say(f"Run: {folder}")
    screen.say(f"Report: {folder / REPORT}")
    return Answer(_as_data(results) | {"run": str(folder)})


def _foretell(screen: Screen, made: "CotrainReady") -> None:
    """Before long work: what will be revealed, and what it spends."""
    from colabel.cli.foretelling import show_releases
    from colabel.federation.cotraining_reveals import cotraining_reveals
    from colabel.recipes.cotraining_run import said_of_privacy
    from colabel.report import words

    plan = made.plan
    screen.errors.print(
        f"{words.counted(len(made.sites), 'site')} label "
        f"{words.counted(plan.n_public, 'public point')} "
        f"{words.counted(plan.turns, 'time')}; votes are {plan.votes}.",
        soft_wrap=True,
    )
    show_releases(screen, cotraining_reveals(plan))
    for line in said_of_privacy(made):
        screen.errors.print(line, soft_wrap=True, markup=False)


def _show(screen: Screen, results: "CotrainingResults") -> None:
    from colabel.report import words

    rows = [
        [name, kind, words.percent(accuracy)]
        for (name, accuracy), kind in zip(results.test.items(), results.learners, strict=True)
    ]
    rows.append(["mean", "", words.percent(results.accuracy)])
    rows.append(["mean, without communication", "", words.percent(results.alone)])
    screen.table("Accuracy on the test points", ["site", "learns with", "accuracy"], rows)
    screen.say(
        f"Cost: {words.size(results.bytes_up)} to the server and {words.size(results.bytes_down)} "
        f"to a site in each turn, {words.seconds(results.seconds)}."
    )
    for line in results.privacy:
        screen.say(line)


def _as_data(results: "CotrainingResults") -> dict[str, Any]:
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(results)
    data.pop("format")
    return data | {"accuracy": results.accuracy}

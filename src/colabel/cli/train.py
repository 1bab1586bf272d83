"""`colabel train`: one recipe, from its data to a model and a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colabel.cli.rounds import shown_rounds
from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, data_dir_option, verb

if TYPE_CHECKING:
    from colabel.recipes.building import Ready
    from colabel.recipes.foretelling import Foretold
    from colabel.report.training_results import TrainingResults


@click.command()
@click.argument("recipe", metavar="RECIPE")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="A.B=C",
    help="Change a key of the recipe; may be given several times.",
)
@click.option(
    "--scale", type=click.Choice(["full", "cpu"]), default="full", show_default=True,
    help="The paper's size, or one for minutes on a CPU.",
)  # fmt: skip
@click.option("--cell", metavar="NAME", help="Of a table: which run of it, as `ROW | COLUMN`.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="[the recipe's first]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder. [runs/train-<time>]",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Go on with the interrupted run in this folder, to the same result.",
)
@click.option("--force", is_flag=True, help="Replace the run that is in the run folder.")
@click.option(
    "--tensorboard", type=click.Path(path_type=Path), metavar="DIR",
    help="Also write events for TensorBoard into this folder.",
)  # fmt: skip
@click.option(
    "--mlflow", type=click.Path(path_type=Path), metavar="DIR",
    help="Also write to an MLflow file store in this folder.",
)  # fmt: skip
@data_dir_option
@verb
def train(
    screen: Screen,
    recipe: str,
    changes: tuple[str, ...],
    scale: str,
    cell: str | None,
    seed: int | None,
    out: Path | None,
    resume: Path | None,
    force: bool,
    tensorboard: Path | None,
    mlflow: Path | None,
    data_dir: Path | None,
) -> Answer:
    """Train one model across sites, as RECIPE says: a TOML file, or a name of `reproduce --list`.

    All sites are played by this one process: it simulates them, and nothing is sent anywhere.
    Interrupted (Ctrl-C), a run leaves a checkpoint, from which --resume goes on.
    """
    from colabel.errors import InputError, Problem
    from colabel.recipes.building import ready
    from colabel.recipes.foretelling import foretell
    from colabel.recipes.reading import recipe as checked
    from colabel.recipes.running import Named, begun_in, train_into
    from colabel.recipes.shipped import find
    from colabel.recipes.sinks import all_sinks
    from colabel.runs import new_folder_name
    from colabel.runs.folder import REPORT, check_folder

    if resume is not None and out is not None:
        raise InputError(Problem("--resume and --out name two folders", "Give one of them."))
    source = find(recipe)
    chosen = source.cell(cell, scale, changes)
    folder = resume or out or new_folder_name("train")
    if resume is None:
        check_folder(folder, force)
    wanted = checked(chosen)
    done = 0
    if resume is not None:
        begun = begun_in(resume)
        seed, done = begun.seed if seed is None else seed, begun.rounds
    made = ready(wanted, wanted.run.seeds[0] if seed is None else seed, data_dir)
    foretold = foretell(made, done)
    _foretell(screen, made, foretold, done)
    with (
        all_sinks(folder.name, tensorboard, mlflow) as sink,
        shown_rounds(screen.errors, "Training", made.plan.rounds, done) as progress,
    ):

        def listen(event: Any) -> None:
            progress(event)
            sink(event)

        named = Named(source.about.title, chosen.name, scale)
        trained = train_into(
            folder, made, named, resume=resume is not None, force=force, listen=listen
        )
    _show(screen, trained.results)
    screen.say(f"Run: {folder}")
    screen.say(f"Report: {folder / REPORT}")
    return Answer(as_data(trained.results, foretold) | {"run": str(folder)})


def _foretell(screen: Screen, made: "Ready", foretold: "Foretold", done: int) -> None:
    """Before long work: what it will cost, and what it will reveal."""
    from colabel.cli.foretelling import show_releases
    from colabel.report import words

    plan, sites = made.plan, made.dealt.sites
    show = screen.errors.print
    left = plan.rounds - done
    rounds = f"{left:,} of {plan.rounds:,} rounds left," if done else words.counted(left, "round")
    show(
        f"{words.counted(len(sites), 'site')}, {rounds} with "
        f"{plan.sites_per_round} of them: about {words.seconds(foretold.seconds)} on two cores, "
        f"about {words.size(foretold.bytes_up)} to the server and "
        f"{words.size(foretold.bytes_down)} to the sites.",
        soft_wrap=True,
    )
    show_releases(screen, foretold.releases)
    if foretold.privacy is not None:
        show(f"The site that takes part most often will spend {foretold.privacy}.", soft_wrap=True)


def _show(screen: Screen, results: "TrainingResults") -> None:
    from colabel.report import words

    rows = [
        [name, words.percent(scores["accuracy"]), words.percent(scores["balanced_accuracy"])]
        for name, scores in results.test.items()
    ]
    screen.table("On the test points", ["model", "accuracy", "balanced"], rows)
    if results.best_round is not None:
        screen.say(
            f"Kept: the model after round {results.best_round}, with "
            f"{words.percent(results.validation)} on the validation points."
        )
    up = sum(sum(one.bytes_up.values()) for one in results.rounds)
    down = sum(sum(one.bytes_down.values()) for one in results.rounds)
    screen.say(
        f"Cost: {words.counted(len(results.rounds), 'round')}, {words.size(up)} to the server, "
        f"{words.size(down)} to the sites, {words.seconds(results.seconds)}."
    )
    if (spent := results.privacy) is not None:
        screen.say(
            f"Spent: ε = {spent.spent:.3g} at δ = {spent.delta:g} "
            f"(before the run: {spent.planned:.3g})."
        )


def as_data(results: "TrainingResults", foretold: "Foretold") -> dict[str, Any]:
    """The same for programs; every round is in events.jsonl."""
    import msgspec

    data: dict[str, Any] = msgspec.to_builtins(results)
    rounds = data.pop("rounds")
    return {
        **{key: value for key, value in data.items() if key != "format"},
        "n_rounds": len(rounds),
        "seconds": results.seconds,
        "bytes_up": sum(sum(one["bytes_up"].values()) for one in rounds),
        "bytes_down": sum(sum(one["bytes_down"].values()) for one in rounds),
        "expected": {
            "seconds": foretold.seconds,
            "bytes_up": foretold.bytes_up,
            "bytes_down": foretold.bytes_down,
        },
        "reveals": [
            {"what": one.what, "to": one.to, "mechanism": one.mechanism}
            for one in foretold.releases
        ],
    }

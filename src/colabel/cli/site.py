"""`colabel site`: a site's identity, and the roster of the consortium."""

from pathlib import Path

import click

from colabel.cli.screen import Screen
from colabel.cli.verb import Answer, verb


@click.group()
def site() -> None:
    """A site's identity, and the roster of the consortium."""


@site.command("init")
@click.argument("name")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the secret key goes. [NAME.key]",
)
@verb
def site_init(screen: Screen, name: str, key: Path | None) -> Answer:
    """Make the identity of the site NAME, once.

    The secret key is written to a file that only its owner may read. The public line that is
    printed goes into everybody's roster.toml, under [sites]. Never overwrites a key.
    """
    from colabel.consortium import create_key

    path = key or Path(f"{name}.key")
    identity = create_key(path)
    return _shown(screen, name, path, str(identity.public), "Secret key written to")


@site.command("show")
@click.argument("name")
@click.option("--key", type=click.Path(path_type=Path), metavar="FILE", help="[NAME.key]")
@verb
def site_show(screen: Screen, name: str, key: Path | None) -> Answer:
    """Print the public line of the site NAME again."""
    from colabel.consortium import read_key

    path = key or Path(f"{name}.key")
    return _shown(screen, name, path, str(read_key(path).public), "Secret key read from")


@site.command("roster")
@click.argument("roster", type=click.Path(path_type=Path))
@verb
def site_roster(screen: Screen, roster: Path) -> Answer:
    """Check ROSTER and print its fingerprint, which must be the same at every site."""
    from colabel.consortium import fingerprint, read_roster

    found = read_roster(roster)
    screen.table("Sites", ["site", "key"], [[n, str(k)] for n, k in found.items()], numbers=False)
    screen.say(f"Fingerprint, to compare by telephone: {fingerprint(found)}")
    return Answer(
        {"sites": {n: str(k) for n, k in found.items()}, "fingerprint": fingerprint(found)}
    )


def _shown(screen: Screen, name: str, path: Path, public: str, what: str) -> Answer:
    import json

    screen.say(f"{what} {path}.")
    screen.say("For roster.toml, under [sites]:")
    # JSON strings are TOML strings, but for pairs of surrogates and DEL
    quoted = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
    screen.say(f"{quoted} = {json.dumps(public)}")
    return Answer({"site": name, "key": str(path), "public": public})

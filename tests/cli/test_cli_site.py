"""`colabel site`: make an identity, show it, check the roster."""

import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from colabel.consortium import fingerprint, read_key, read_roster


def line_of(output: str) -> str:
    """The line for the roster."""
    return output.splitlines()[-1]


def test_init_show_and_roster(shell: Any) -> None:
    lines = []
    for name in ("clinic-a", "clinic b"):
        made = shell("site", "init", name)
        assert made.exit_code == 0, made.output
        assert made.stdout.startswith(f"Secret key written to {name}.key.\n")
        assert "For roster.toml, under [sites]:" in made.stdout
        assert stat.S_IMODE(Path(f"{name}.key").stat().st_mode) == 0o600
        shown = shell("site", "show", name)
        assert shown.stdout == made.stdout.replace("written to", "read from")
        secret = Path(f"{name}.key").read_text().split(": ")[1].strip()
        assert secret not in made.output + shown.output
        lines.append(line_of(made.stdout))
    Path("roster.toml").write_text("[sites]\n" + "\n".join(lines) + "\n")
    found = read_roster(Path("roster.toml"))
    assert {name: found[name] for name in ("clinic-a", "clinic b")} == dict(found)
    assert found["clinic-a"] == read_key(Path("clinic-a.key")).public
    checked = shell("site", "roster", "roster.toml")
    assert checked.exit_code == 0
    assert f"Fingerprint, to compare by telephone: {fingerprint(found)}\n" in checked.stdout
    for name, key in found.items():
        assert name in checked.stdout
        assert str(key) in checked.stdout


def test_the_same_as_json(shell: Any) -> None:
    made = shell.json("site", "init", "a", "--key", "own.key")
    assert (made["verb"], made["site"], made["key"]) == ("site_init", "a", "own.key")
    assert made["public"] == str(read_key(Path("own.key")).public)
    shown = shell.json("site", "show", "a", "--key", "own.key")
    assert shown == {**made, "verb": "site_show"}
    Path("r.toml").write_text(f'[sites]\na = "{made["public"]}"\n')
    checked = shell.json("site", "roster", "r.toml")
    assert checked["sites"] == {"a": made["public"]}
    assert checked["fingerprint"] == fingerprint(read_roster(Path("r.toml")))


@pytest.mark.parametrize(
    "name", ["a.b", "[bold]a[/bold]", 'say "a"', "back\\slash", "Zürich", "🏥", "a\x7fb", "x" * 150]
)
def test_the_line_is_toml_whatever_the_name(shell: Any, name: str) -> None:
    made = shell("site", "init", name, "--key", "own.key")
    assert made.exit_code == 0, made.output
    public = str(read_key(Path("own.key")).public)
    assert tomllib.loads(line_of(made.stdout)) == {name: public}
    Path("r.toml").write_text("[sites]\n" + line_of(made.stdout), "utf-8")
    assert shell.json("site", "roster", "r.toml")["sites"] == {name: public}
    assert shell("site", "roster", "r.toml").exit_code == 0


def test_a_key_is_made_once(shell: Any) -> None:
    shell("site", "init", "a")
    before = Path("a.key").read_bytes()
    again = shell("site", "init", "a")
    assert again.exit_code == 1
    assert "there is a file a.key already" in again.stderr
    assert again.stdout == ""
    assert Path("a.key").read_bytes() == before


def test_problems_are_told(shell: Any) -> None:
    shell("site", "init", "open")
    Path("open.key").chmod(0o644)
    Path("cut.key").touch(0o600)
    Path("bad.toml").write_text('[sites]\na = "x"\nb = "y"\n')
    for words, told in (
        (("show", "nobody"), "there is no key file nobody.key"),
        (("show", "open"), "Run chmod 600 open.key"),
        (("show", "cut"), "cut.key is not a key file, or was cut"),
        (("init", "x", "--key", "no/x.key"), "the folder no does not exist"),
        (("roster", "none.toml"), "there is no roster none.toml"),
        (("roster", "bad.toml"), "2 problems:"),
        (("roster", "."), "Check the path"),
    ):
        result = shell("site", *words)
        assert result.exit_code == 1, words
        assert told in result.stderr
        assert result.stdout == ""
        answer = shell.json("site", *words)
        assert answer["error"]["exit_code"] == 1
        assert all(problem["fix"] for problem in answer["error"]["problems"])
    answer = shell.json("site", "roster", "bad.toml")
    assert [problem["site"] for problem in answer["error"]["problems"]] == ["a", "b"]

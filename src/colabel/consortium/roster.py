"""`roster.toml`: the sites of a consortium and their public keys. All sites hold the same one.

[sites]
hospital-a = "ed25519:…"
hospital-b = "ed25519:…"
"""

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

from colabel.crypto.identity import PublicIdentity, Roster
from colabel.errors import InputError, Problem, did_you_mean

_FIX = "Copy the line that `colabel site init` printed at that site."


def read_roster(path: Path) -> Roster:
    """All sites, or an `InputError` with every problem."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        fix = "Collect the lines that `colabel site init` printed at each site."
        raise InputError(Problem(f"there is no roster {path}", fix)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(Problem(f"{path} is not TOML: {error}", "Mend that line.")) from None
    problems = [
        Problem(f"{path} has an unknown table {name!r}", did_you_mean(name, ("sites",)))
        for name in content
        if name != "sites"
    ]
    sites = content.get("sites")
    if not isinstance(sites, dict) or not sites:
        problems.append(Problem(f"{path} has no table [sites], or it is empty", _FIX))
        raise InputError(problems)
    found, more = _parse(sites)
    if problems + more:
        raise InputError(problems + more)
    return found


def _parse(sites: dict[str, Any]) -> tuple[dict[str, PublicIdentity], list[Problem]]:
    found: dict[str, PublicIdentity] = {}
    problems: list[Problem] = []
    for name, line in sites.items():
        try:
            key = PublicIdentity.parse(str(line))
        except ValueError as error:
            problems.append(Problem(f"not a public key: {error}", _FIX, name))
            continue
        twin = next((other for other, known in found.items() if known == key), None)
        if twin is not None:
            problems.append(Problem(f"{twin} has the same key", "Each site has its own.", name))
        found[name] = key
    return found, problems


def fingerprint(roster: Roster) -> str:
    """A short number to compare by telephone: the same for the same sites and keys."""
    # JSON, so that no name can be mistaken for the end of a line
    text = json.dumps([(name, str(roster[name])) for name in sorted(roster)])
    digits = hashlib.sha256(b"colabel roster\0" + text.encode()).hexdigest()[:32]
    return " ".join(digits[i : i + 4] for i in range(0, 32, 4))

"""What all pages share: how templates are filled, the ledger by party, the facts of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from colabel.privacy.ledger import Entry, Ledger
from colabel.report import words
from colabel.runs.record import RunRecord

_HERE = Path(__file__).parent


def template(name: str) -> Template:
    """A page of this package; everything that is put into it is escaped."""
    pages = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {
        "percent": words.percent,
        "size": words.size,
        "seconds": words.seconds,
        "count": words.count,
        "mean_and_sd": words.mean_and_sd,
    }
    return pages.get_template(name)


def sections(record: RunRecord, ledger: Ledger, n_sites: int) -> dict[str, Any]:
    """What every page is filled with."""
    return {
        # a file of this package, not input
        "css": Markup((_HERE / "style.css").read_text("utf-8")),  # noqa: S704
        "run": record,
        "counted": words.counted,
        "whose": lambda entry: words.whose(entry.sites, n_sites),
        "learnt": by_party(ledger),
        "shown_value": _in_words,
    }


def _in_words(value: Any, caption: str) -> str:
    match value:
        case None:
            return "drawn in secret" if caption == "Seeds" else words.NOTHING
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)


def by_party(ledger: Ledger) -> Mapping[str, Sequence[Entry]]:
    """The entries of the ledger by who learnt them, the server first."""
    parties = sorted({entry.to for entry in ledger}, key=lambda who: (who != "server", who))
    return {who: ledger.seen_by(who) for who in parties}

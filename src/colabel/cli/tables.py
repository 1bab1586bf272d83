"""The tables that a labelling run prints."""

from typing import TYPE_CHECKING, Any

import msgspec

from colabel.cli.screen import Screen

if TYPE_CHECKING:
    from colabel.privacy.ledger import Ledger
    from colabel.report import Results

MOST_ROWS = 30


def show_sites(screen: Screen, results: "Results", which: str = "") -> None:
    """One row per site, and one for all."""
    from colabel.report import words

    measure = "accuracy" if results.knows_truth else "coverage"
    rows = [
        [site.name + (" (lost)" if site.lost else ""), words.count(site.n_points),
         words.count(site.n_given),
         *(words.percent(getattr(site.scores[m], measure)) for m in results.methods)]
        for site in results.sites[:MOST_ROWS]
    ]  # fmt: skip
    if (more := len(results.sites) - MOST_ROWS) > 0:
        rows.append([f"… and {more} more", "", "", *("" for _ in results.methods)])
    rows.append(
        ["all sites", words.count(sum(s.n_points for s in results.sites)),
         words.count(sum(s.n_given for s in results.sites)),
         *(words.percent(getattr(results.overall[m], measure)) for m in results.methods)]
    )  # fmt: skip
    title = f"{measure.capitalize()} on unlabelled points{which}"
    screen.table(title, ["site", "points", "labels", *results.methods], rows)


def show_ledger(screen: Screen, ledger: "Ledger", n_sites: int) -> None:
    """Who learnt what."""
    from colabel.report import words
    from colabel.report.sections import by_party

    rows = [
        [who, entry.what, words.whose(entry.sites, n_sites), entry.mechanism]
        for who, entries in by_party(ledger).items()
        for entry in entries
    ]
    screen.table("Who learnt what", ["who", "what", "of", "protection"], rows, numbers=False)


def show_cost(screen: Screen, results: "Results") -> None:
    """Bytes and seconds, in one line."""
    from colabel.report import words

    up = sum(step.bytes_up for step in results.steps)
    down = sum(step.bytes_down for step in results.steps)
    site_seconds = sum(step.site_seconds for step in results.steps)
    screen.say(
        f"Cost: {words.counted(len(results.steps), 'step')}, {words.size(up)} to the server, "
        f"{words.size(down)} to the sites; sites worked {words.seconds(site_seconds)}, "
        f"the server {words.seconds(results.server_seconds)}."
    )


def as_json(results: "Results", ledger: "Ledger") -> dict[str, Any]:
    """The same for programs."""
    data: dict[str, Any] = msgspec.to_builtins(results)
    kept = ("title", "methods", "overall", "sites", "classes", "steps", "repeats", "protection")
    return {
        **{name: data[name] for name in kept},
        "n_neighbors": data["n_neighbors"],
        "alpha": data["alpha"],
        "server_seconds": data["server_seconds"],
        "ledger": msgspec.to_builtins(ledger.entries),
    }

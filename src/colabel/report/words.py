"""Numbers as people read them, in the report and in the terminal."""

from collections.abc import Sequence

import numpy as np

NOTHING = "–"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def percent(share: float | None, digits: int = 1) -> str:
    """0.9123 as `91.2 %`."""
    return NOTHING if share is None else f"{100 * share:.{digits}f} %"


def size(n_bytes: float) -> str:
    """Bytes in the unit that fits, of 1,000 each."""
    value = float(n_bytes)
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"


def seconds(value: float) -> str:
    """A duration, to about two digits."""
    if value < 0.0995:
        return f"{1000 * value:.0f} ms" if value >= 0.0095 else f"{1000 * value:.1f} ms"
    if value < 59.5:
        return f"{value:.1f} s"
    for unit, length, most in (("min", 60, 5970), ("h", 3600, 172_800)):
        if value < most:
            return f"{value / length:.1f} {unit}"
    return f"{count(round(value / 86_400))} days"


def count(number: int) -> str:
    """12345 as `12,345`."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """A number and its noun: `1 site`, `6 sites`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def mean_and_sd(shares: Sequence[float | None]) -> str:
    """Several shares as `91.2 ± 0.8 %`, with the standard deviation of a sample."""
    known = np.array([share for share in shares if share is not None])
    if not len(known):
        return NOTHING
    if len(known) == 1:
        return percent(float(known[0]))
    return f"{100 * known.mean():.1f} ± {100 * known.std(ddof=1):.1f} %"


def party(who: str) -> str:
    """Who learns something, as the ledger names them, in a sentence."""
    return "the server" if who == "server" else who


def whose(sites: Sequence[str], n_sites: int) -> str:
    """Whom an entry of the ledger is about."""
    if len(sites) == n_sites:
        return f"all {n_sites} sites" if n_sites > 1 else f"site {sites[0]}"
    if len(sites) <= 3:
        return ", ".join(sites)
    return f"{len(sites)} of {n_sites} sites"

"""The ledger: every release of a run, in order, as data that a security officer can read."""

from collections.abc import Iterator

import msgspec

from colabel.conversation import Release


class Entry(msgspec.Struct, frozen=True):
    """One release: what of which sites went to whom, in which step, under which mechanism."""

    step: str
    sites: tuple[str, ...]
    what: str
    to: str
    mechanism: str


class Ledger(msgspec.Struct):
    """All releases of a run. Identical releases of one step are one entry naming all sites."""

    entries: list[Entry] = msgspec.field(default_factory=list)

    def record(self, step: str, sites: tuple[str, ...], release: Release) -> None:
        """Note that a step released this of these sites."""
        self.entries.append(Entry(step, sites, release.what, release.to, release.mechanism))

    def seen_by(self, who: str) -> list[Entry]:
        """What one party has learnt."""
        return [entry for entry in self.entries if entry.to == who]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        return "\n".join(
            f"{entry.step}: {entry.what} → {entry.to} ({entry.mechanism})" for entry in self
        )

"""The ledger: every release of a run, in order, as data that a security officer can read."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from colabel.conversation import Release


class Entry(msgspec.Struct, frozen=True):
    """One release: what of which sites went to whom, in which step, under which mechanism.

    `times`: how often, in runs of many rounds; `sites` are all that were concerned at any time.
    """

    step: str
    sites: tuple[str, ...]
    what: str
    to: str
    mechanism: str
    times: int = 1

    def same_kind(self, other: "Entry") -> bool:
        """Whether both are the same but for when and whose."""
        mine = (self.step, self.what, self.to, self.mechanism)
        return mine == (other.step, other.what, other.to, other.mechanism)


class Ledger(msgspec.Struct):
    """All releases of a run. The same release is one entry, naming all sites, with how often."""

    entries: list[Entry] = msgspec.field(default_factory=list)

    def record(self, step: str, sites: tuple[str, ...], release: Release) -> None:
        """Note that a step released this of these sites, perhaps once more."""
        new = Entry(step, sites, release.what, release.to, release.mechanism)
        for place, old in enumerate(self.entries):
            if old.same_kind(new):
                both = tuple(dict.fromkeys((*old.sites, *sites)))
                self.entries[place] = replace(old, sites=both, times=old.times + 1)
                return
        self.entries.append(new)

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

"""What can go wrong on the way, on request: the local engine plays these faults.

moment      what happens at that step
before      the message never arrives; the site is gone from then on
during      the site dies while it works: it falls back to its last saved state and is gone
after       the reply arrives, and then the site is gone
late        the site answers after the deadline, and its answer is dropped; it stays
twice       the message arrives twice
again       the message of the step before arrives once more, ahead of this one
restart     the site is saved, killed and loaded before the message arrives
"""

from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

from colabel.errors import InputError, Problem, did_you_mean

Moment = Literal["before", "during", "after", "late", "twice", "again", "restart"]


class Fault(msgspec.Struct, frozen=True):
    """A fault of one site, at the first step of this name (or number)."""

    site: str
    step: str | int
    moment: Moment

    def __post_init__(self) -> None:
        known = get_args(Moment)
        if self.moment not in known:
            raise InputError(
                Problem(f"no fault happens {self.moment!r}", did_you_mean(self.moment, known))
            )


def moments_of(faults: Iterable[Fault], site: str, step: str, number: int) -> set[Moment]:
    """What happens to a site at a step."""
    return {fault.moment for fault in faults if fault.site == site and fault.step in (step, number)}

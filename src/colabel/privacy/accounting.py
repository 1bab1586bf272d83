"""How much differential privacy many releases spend, by dp-accounting (extra "dp").

Unit: a site with all its data. Neighbouring: two federations that differ in one site's data
(replace one), so a sum of vectors of length at most `clip` can change by twice the clip.
Releases compose by their privacy loss distributions.

No credit is taken for sampling: the server, which sees the sums, knows who takes part. A site
spends in the rounds in which it does.
"""

from collections.abc import Iterable
from typing import NamedTuple

from colabel.errors import InputError, Problem
from colabel.features.optional import require


class Sums(NamedTuple):
    """So many sums to which a site contributes, under noise of so many times the clip."""

    times: int
    noise: float


class Spent(NamedTuple):
    """(ε, δ)-differential privacy."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"ε = {self.epsilon:.3g} at δ = {self.delta:g}"


def spent(releases: Iterable[Sums], delta: float) -> Spent:
    """What all releases together spend."""
    dp = require("dp_accounting", "dp")
    pld = require("dp_accounting.pld", "dp")
    if not 0 < delta < 1:
        raise InputError(Problem(f"delta is {delta!r}", "Give a number between 0 and 1."))
    accountant = pld.PLDAccountant(dp.NeighboringRelation.REPLACE_ONE)
    for each in releases:
        if each.times:
            # the accountant itself takes twice the clip for a site that is replaced
            event = dp.GaussianDpEvent(each.noise)
            accountant.compose(dp.SelfComposedDpEvent(event, each.times))
    return Spent(float(accountant.get_epsilon(delta)), delta)

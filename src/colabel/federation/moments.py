"""Shared preprocessing: the sites centre and scale their points by sums over all sites.

step           who learns what
moments        as the protocol of the sum says
moments.back   every site: mean (and spread) of all sites' points together

The graph compares angles, so where the origin lies decides what "similar" means, and one site
alone cannot know the mean of all.
"""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Conversation, Done
from colabel.features import Identity, Moments, build, by_name, moments
from colabel.federation.plan import Agreed, LabellingPlan
from colabel.federation.site import SiteSession
from colabel.protocols.keys import Group
from colabel.protocols.sums import Mode, Summand, Summed, Sums, Total

POINTS = "moments of the points"


class SumPoints(Summed, frozen=True):
    """Add up your points; or none, if you are new and only help to hide the others' sum."""

    modes: ClassVar[tuple[Mode, ...]] = ("shared",)

    new: bool = False


class PointSums(Total, frozen=True):
    """The moments of all sites' points."""


class SharedMoments(msgspec.Struct, frozen=True):
    """What a site remembers."""

    vector: np.ndarray


def sum_points(session: SiteSession, request: SumPoints) -> Summand:
    """The site's own moments."""
    order = by_name(session.recall(Agreed).plan.features).order
    points = session.rows()[:0] if request.new else session.rows()
    return Summand(moments(points, order or "sum").to_vector()[None])


def use_moments(session: SiteSession, total: PointSums) -> Done:
    """Keep the moments of all sites' points."""
    session.remember(SharedMoments(total.matrix[0]))
    return Done()


def shared_features(session: SiteSession) -> NDArray[np.floating]:
    """The site's points after the shared preprocessing, if there is any."""
    points, kind = session.rows(), session.recall(Agreed).plan.features
    if kind == "identity":
        return Identity().transform(points)
    vector = session.recall(SharedMoments).vector
    width = int(np.prod(points.shape[1:]))
    sums = Moments.from_vector(vector, width, by_name(kind).order or "sum")
    return build(kind, sums).transform(points)


def share_moments(
    group: Group, sums: Sums, plan: LabellingPlan, newcomers: Sequence[str] = ()
) -> Conversation[Group]:
    """Let all sites learn the moments of the points of all but the newcomers.

    A site lost here is as if it had never taken part, except that its points may be in the mean.
    """
    if plan.features == "identity":
        return group
    asked = {name: SumPoints(name in newcomers) for name in group.names}
    received = yield from sums.shared("moments", POINTS, asked, PointSums)
    return group.only(received)

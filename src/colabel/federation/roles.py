"""Which messages a site answers, and with which function: all of them, in one table."""

from typing import Any

from colabel.conversation import Message
from colabel.federation import moments, own_labels, own_trials
from colabel.federation.plan import Agreed
from colabel.federation.site import Handler, Role, SiteSession
from colabel.protocols import clear_seed, keys, meeting
from colabel.protocols.hamming import WAYS
from colabel.protocols.hamming.base import Handlers
from colabel.protocols.sums import base, site

SETUP: Handlers = {
    keys.Hello: own_labels.welcome,
    keys.Renew: keys.renew,
    meeting.Meet: meeting.meet,
    meeting.Join: meeting.join,
    clear_seed.DrawSeed: clear_seed.draw,
    clear_seed.ShareSeed: clear_seed.share,
}

SUMS: Handlers = {
    base.Contribute: site.contribute,
    site.Unmask: site.unmask,
    base.Deliver: site.deliver,
}


def _if_agreed(way: str, handler: Handler) -> Handler:
    """What belongs to one way to compare, answered only where the plan says so."""

    def answer(session: SiteSession, request: Any) -> Message:
        plan = session.recall(Agreed).plan
        if way != plan.hamming:
            session.refuse("another way to compare than agreed", plan.hamming, way)
        if getattr(request, "n_bits", plan.n_bits) != plan.n_bits:
            session.refuse("other codes than agreed", f"{plan.n_bits} bits", f"{request.n_bits}")
        return handler(session, request)

    return answer


HAMMING: Handlers = {
    message: _if_agreed(way.name, handler)
    for way in WAYS.values()
    for message, handler in way.handlers.items()
}

LABELLING = Role(
    handlers={
        **SETUP,
        **SUMS,
        **HAMMING,
        moments.SumPoints: moments.sum_points,
        moments.PointSums: moments.use_moments,
        own_trials.Try: own_trials.try_candidates,
        own_trials.TriedScores: own_trials.rate_candidates,
        own_trials.Rate: own_trials.send_ratings,
        own_labels.InfluencePart: own_labels.add_part,
        own_labels.Influence: own_labels.contribution,
        own_labels.OwnScores: own_labels.receive_scores,
    },
    points=moments.shared_features,
    codes=own_labels.site_codes,
    sources=own_labels.known_labels,
)

"""Which messages a site answers, and with which function: all of them, in one table."""

from colabel.federation import moments, own_labels, own_trials
from colabel.federation.site import Role
from colabel.protocols import keys, sums
from colabel.protocols.hamming import clear

LABELLING = Role(
    handlers={
        keys.Hello: own_labels.welcome,
        keys.DrawSeed: keys.draw,
        keys.ShareSeed: keys.share,
        moments.SumPoints: moments.sum_points,
        moments.PointSums: moments.use_moments,
        clear.ShareCodes: clear.share_codes,
        sums.Contribute: sums.contribute,
        sums.Deliver: sums.deliver,
        own_trials.Try: own_trials.try_candidates,
        own_trials.TriedScores: own_trials.rate_candidates,
        own_trials.Rate: own_trials.send_ratings,
        own_labels.Influence: own_labels.contribution,
        own_labels.OwnScores: own_labels.receive_scores,
    },
    points=moments.shared_features,
    codes=own_labels.site_codes,
)

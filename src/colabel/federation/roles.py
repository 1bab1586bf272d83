"""Which messages a site answers, and with which function: all of them, in one table."""

from colabel.federation import moments, own_labels, tuning
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
        tuning.Try: tuning.try_candidates,
        tuning.TriedScores: tuning.compare_candidates,
        tuning.Rate: tuning.send_gains,
        own_labels.Influence: own_labels.contribution,
        own_labels.OwnScores: own_labels.receive_scores,
    },
    points=moments.shared_features,
    codes=own_labels.site_codes,
)

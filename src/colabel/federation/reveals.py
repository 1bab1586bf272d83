"""What a labelling run will reveal, known before it starts: its ledger, if no site is lost."""

from colabel.conversation import UNPROTECTED, Release
from colabel.federation import tuning
from colabel.federation.influence import SCORES
from colabel.federation.moments import POINTS
from colabel.federation.own_labels import Influence
from colabel.federation.own_trials import Try
from colabel.federation.plan import LabellingPlan
from colabel.protocols import clear_seed, keys, meeting, setup
from colabel.protocols.hamming import WAYS
from colabel.protocols.sums import ClearSums, MaskedSums
from colabel.protocols.sums.masked import total_for_server


def reveals(plan: LabellingPlan) -> tuple[Release, ...]:
    """Everything that two sites or more release under this plan, in order."""
    found = [keys.SIZES]
    if plan.seed is not None:
        found.append(setup.PUBLIC_SEED)
    if plan.n_masks >= 0:
        found += [meeting.INTRODUCTIONS, meeting.MEETING]
    elif plan.seed is None:
        found.append(clear_seed.SEED)
    if plan.features != "identity":
        found += [_summand(POINTS, plan), _total(POINTS, plan)]
    found += WAYS[plan.hamming].releases
    if plan.tries:
        found += [*Try.reveals, *_rows(tuning.TRIED, plan), _summand(tuning.RATINGS, plan)]
        if plan.n_masks >= 0:  # in clear, its summands have told the server the total
            found.append(total_for_server(tuning.RATINGS))
    return (*found, *Influence.reveals, *_rows(SCORES, plan))


def _summand(what: str, plan: LabellingPlan) -> Release:
    mechanism = UNPROTECTED if plan.n_masks < 0 else MaskedSums.protects
    return Release(f"each site's {what}", "server", mechanism)


def _total(what: str, plan: LabellingPlan) -> Release:
    sums = ClearSums if plan.n_masks < 0 else MaskedSums
    return Release(f"the sum of all sites' {what}", "each site", sums.protects)


def _rows(what: str, plan: LabellingPlan) -> tuple[Release, Release]:
    return _summand(what, plan), _total(f"{what}, own rows only", plan)

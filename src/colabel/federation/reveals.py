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


def reveals(plan: LabellingPlan, masked: bool | None = None) -> tuple[Release, ...]:
    """Everything that two sites or more release under this plan, in order.

    `masked`: whether sums are, where that is not only for the plan to say.
    """
    masked = plan.n_masks >= 0 if masked is None else masked
    found = [keys.SIZES]
    if plan.seed is not None:
        found.append(setup.PUBLIC_SEED)
    if masked:
        found += [meeting.INTRODUCTIONS, meeting.MEETING]
    elif plan.seed is None:
        found.append(clear_seed.SEED)
    if plan.features != "identity":
        found += [_summand(POINTS, masked), _total(POINTS, masked)]
    found += WAYS[plan.hamming].releases
    if plan.tries:
        found += [*Try.reveals, *_rows(tuning.TRIED, masked), _summand(tuning.RATINGS, masked)]
        if masked:  # in clear, its summands have told the server the total
            found.append(total_for_server(tuning.RATINGS))
    return (*found, *Influence.reveals, *_rows(SCORES, masked))


def _summand(what: str, masked: bool) -> Release:
    mechanism = MaskedSums.protects if masked else UNPROTECTED
    return Release(f"each site's {what}", "server", mechanism)


def _total(what: str, masked: bool) -> Release:
    sums = MaskedSums if masked else ClearSums
    return Release(f"the sum of all sites' {what}", "each site", sums.protects)


def _rows(what: str, masked: bool) -> tuple[Release, Release]:
    return _summand(what, masked), _total(f"{what}, own rows only", masked)

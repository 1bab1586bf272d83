"""What a co-training run will reveal, known before it starts: its ledger, if no site is lost."""

from colabel.conversation import Release
from colabel.federation.cotraining import votes_in_clear, what_of
from colabel.federation.cotraining_plan import CotrainingPlan
from colabel.federation.own_cotraining import CONSENSUS
from colabel.protocols import keys, meeting
from colabel.protocols.sums import MaskedSums
from colabel.protocols.sums.masked import total_for_server


def cotraining_reveals(plan: CotrainingPlan) -> tuple[Release, ...]:
    """Everything, each thing once, in order."""
    if plan.votes == "clear":
        return (keys.SIZES, votes_in_clear(plan), CONSENSUS)
    what = what_of(plan)
    summand = Release(f"each site's {what}", "server", MaskedSums.protects)
    shown = (keys.SIZES, meeting.INTRODUCTIONS, meeting.MEETING)
    return (*shown, CONSENSUS, summand, total_for_server(what))

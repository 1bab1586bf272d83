"""What a training run will reveal, known before it starts: its ledger, if no site is lost."""

from colabel.conversation import Release
from colabel.federation.own_training import MODEL
from colabel.federation.reveals import reveals
from colabel.federation.training import UPDATES, change_of_model
from colabel.federation.training_plan import WITH_GRAPH, TrainingPlan
from colabel.protocols import keys, meeting, setup
from colabel.protocols.sums import MaskedSums
from colabel.protocols.sums.masked import total_for_server


def training_reveals(plan: TrainingPlan) -> tuple[Release, ...]:
    """Everything that the stages of this plan release, each thing once, in order."""
    found, masked = [keys.SIZES, MODEL], plan.protection == "masked"
    for stage in plan.stages:
        if plan.masks_for(stage) is not None and plan.graph is not None and plan.graph.seed:
            found.append(setup.PUBLIC_SEED)
        if stage.labels in WITH_GRAPH and plan.graph is not None:
            found += reveals(plan.graph, masked or None)
        if masked:
            what = change_of_model(plan.privacy)
            found += [meeting.INTRODUCTIONS, meeting.MEETING]
            found.append(Release(f"each site's {what}", "server", MaskedSums.protects))
            found.append(total_for_server(what))
        else:
            found.append(UPDATES)
            found += [release for term in stage.terms for release in term.releases()]
    return tuple(dict.fromkeys(found))

"""Before a run: about how long it takes, how many bytes travel, and what will be revealed."""

from collections.abc import Mapping
from typing import NamedTuple

from colabel.conversation import Release
from colabel.federation.cost import cost
from colabel.federation.sampling import batch_for, sample
from colabel.federation.training_plan import WITH_GRAPH, Stage, TrainingPlan
from colabel.federation.training_reveals import training_reveals
from colabel.jobs.train import will_spend
from colabel.learning.flops import of_one_point
from colabel.learning.models import make
from colabel.learning.parameters import n_bytes, read
from colabel.privacy.accounting import Spent
from colabel.protocols.keys import Group, Welcome
from colabel.recipes.building import Ready

# operations in a second and seconds of a step beside them, on two cores of a server of 2024
FLOPS_PER_SECOND, SECONDS_PER_STEP = 1e11, 3e-3
TRAINING_PASSES = 3  # a step computes about three times what an answer takes
# how often a method looks at a batch, compared with plain training
PASSES: Mapping[str, float] = {
    "meanteacher": 1.4, "siamese": 1.4, "fixmatch": 2.0, "mixmatch": 2.0, "fixmix": 2.0,
    "fedmatch": 2.5, "prototypes": 1.0,
}  # fmt: skip


class Foretold(NamedTuple):
    """Both ways of bytes over all sites; `privacy`: what the whole run spends, if anything."""

    seconds: float
    bytes_up: float
    bytes_down: float
    releases: tuple[Release, ...]
    privacy: Spent | None


def foretell(ready: Ready, rounds_done: int = 0) -> Foretold:
    """Of all rounds that are left. What terms share beside the model is counted where it is as
    large as the model; rounds in which sites are lost cost less.
    """
    spent = will_spend(ready.dealt.sites, ready.plan)
    seconds, up, down = expected(ready.plan, group_of(ready), rounds_done)
    return Foretold(seconds, up, down, training_reveals(ready.plan), spent)


def expected(plan: TrainingPlan, group: Group, rounds_done: int = 0) -> tuple[float, float, float]:
    """Seconds, bytes up, bytes down of the rounds that are left."""
    one = of_one_point(plan.model).flops
    model = n_bytes(read(make(plan.model)))
    seconds = up = down = 0.0
    number = 0
    for stage in plan.stages:
        left = max(min(number + stage.rounds - rounds_done, stage.rounds), 0)
        chosen = sample(group, plan, stage, number)
        here = group.only(tuple(chosen))
        steps, points = _work(plan, stage, group)
        passes = max((PASSES.get(_tag(term), 1.0) for term in stage.terms), default=1.0)
        own = steps * (
            SECONDS_PER_STEP + TRAINING_PASSES * passes * points * one / FLOPS_PER_SECOND
        )
        beside = 1 + sum(len(term.returns) for term in stage.terms)
        beside += sum(_tag(term) == "fedmatch" for term in stage.terms)
        seconds += left * len(chosen) * own
        up += left * len(chosen) * model * beside
        down += left * len(chosen) * model * beside
        if stage.labels in WITH_GRAPH and plan.graph is not None:
            labelling = cost(here, plan.graph)
            embedding = sum(size.n_points for size in here.sizes.values()) * one
            seconds += left * (labelling.seconds + embedding / FLOPS_PER_SECOND)
            up += left * labelling.bytes_up
            down += left * labelling.bytes_down
        number += stage.rounds
    return seconds, up, down


def group_of(ready: Ready) -> Group:
    """What the sites would tell the server of themselves; points as the graph sees them."""
    width = make(ready.plan.model).width
    return Group(
        {
            site.name: Welcome(len(site), int(site.labelled.sum()), width)
            for site in ready.dealt.sites.sites
        }
    )


def _work(plan: TrainingPlan, stage: Stage, group: Group) -> tuple[int, int]:
    """Steps of a site in a round, and points in each."""
    local = plan.local
    batch = batch_for(group, plan)
    both = stage.labels != "none" or any(term.uses_unlabelled for term in stage.terms)
    first = next(iter(group.sizes.values()))
    main = first.n_points - first.n_labelled if both else first.n_labelled
    steps = local.steps or local.epochs * max(main // batch, 1)
    for term in stage.terms:
        if _tag(term) == "prototypes":  # its own episodes
            classes = plan.model.n_classes
            return local.steps or local.epochs, _episode(term, classes)
    return steps, batch * (2 if both else 1)


def _episode(term: object, classes: int) -> int:
    sizes = [getattr(term, name) for name in ("support", "query", "unlabelled")]
    return (sizes[0] + sizes[1]) * classes + sizes[2]


def _tag(term: object) -> str:
    return str(getattr(term, "__struct_config__").tag)  # noqa: B009  # not part of the type

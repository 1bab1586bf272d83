"""Everything that a report shows, as data: `results.json`. Nothing of a single point is in it."""

import msgspec

from colabel.runs.record import FORMAT

ACROSS, ALONE, POOLED = "across sites", "each site alone", "all pooled"


class Score(msgspec.Struct, frozen=True):
    """How well the unlabelled points were labelled; accuracies only if the truth is known."""

    coverage: float | None
    accuracy: float | None = None
    balanced_accuracy: float | None = None


class SiteResult(msgspec.Struct, frozen=True):
    """One site; `scores` by method."""

    name: str
    n_points: int
    n_given: int
    lost: bool
    scores: dict[str, Score]
    bytes_up: int
    bytes_down: int
    seconds: float


class Repeat(msgspec.Struct, frozen=True):
    """The scores over all sites of one more run with another seed."""

    seed: int
    scores: dict[str, Score]


class Confidence(msgspec.Struct, frozen=True):
    """The unlabelled points by confidence, and how often they were right."""

    edges: list[float]
    counts: list[int]
    mean: float | None
    means: list[float | None]
    accuracies: list[float | None] | None = None
    calibration_error: float | None = None
    ranking: float | None = None


class ClassCount(msgspec.Struct, frozen=True):
    """One class: labels given, labels received, and how many of the receivers truly are of it."""

    name: str
    given: int
    received: int
    true: int | None


class Homophily(msgspec.Struct, frozen=True):
    """The share of edge weight inside classes, and the share that chance would give."""

    labels: str
    share: float
    chance: float


class StepCost(msgspec.Struct, frozen=True):
    """One step over all sites."""

    step: str
    n_sites: int
    bytes_up: int
    bytes_down: int
    site_seconds: float
    server_seconds: float


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """One run. `methods` are in the order in which they are shown."""

    title: str
    methods: list[str]
    overall: dict[str, Score]
    sites: list[SiteResult]
    confidence: Confidence
    classes: list[ClassCount]
    homophily: list[Homophily]
    n_edges: int
    steps: list[StepCost]
    server_seconds: float
    protection: str
    confidence_kind: str
    n_neighbors: int | None = None
    alpha: float | None = None
    n_other_classes: int = 0
    repeats: list[Repeat] = []
    format: int = FORMAT

    @property
    def knows_truth(self) -> bool:
        """Whether accuracies could be measured."""
        return any(score.accuracy is not None for score in self.overall.values())

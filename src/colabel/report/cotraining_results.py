"""Everything that the report of a co-training run shows, as data: `results.json`."""

import msgspec

from colabel.runs.record import FORMAT


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One exchange of labels.

    agreed: the share of public points with a consensus; changed: whose label is another than in
    the turn before; right: of those agreed on, by the truth (only a simulation knows it).
    accuracy: of the sites' models on test points, on average; spread: their standard deviation.
    """

    number: int
    agreed: float
    changed: float
    accuracy: float
    spread: float
    right: float | None = None


class CotrainingResults(msgspec.Struct, frozen=True, kw_only=True):
    """One run. test: each site's accuracy at the end; alone: on average, without communication.

    bytes_up, bytes_down: of a site, in a turn.
    """

    title: str
    seed: int
    n_sites: int
    n_labels: int
    n_public: int
    n_classes: int
    votes: str
    learners: list[str]
    turns: list[Turn]
    test: dict[str, float]
    alone: float
    bytes_up: float
    bytes_down: float
    seconds: float
    privacy: list[str]
    format: int = FORMAT

    @property
    def accuracy(self) -> float:
        """The mean over sites."""
        return sum(self.test.values()) / len(self.test)

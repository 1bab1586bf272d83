"""Everything that the report of a training run shows, as data: `results.json`."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from colabel.runs.record import FORMAT


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One round: `accuracy` on the validation points, where it was judged; bytes by what they
    carry; seconds by phase. Pseudo-labels are rated by the truth, which only a simulation knows.
    """

    number: int
    stage: int
    n_asked: int
    n_came: int
    bytes_down: dict[str, int]
    bytes_up: dict[str, int]
    seconds: dict[str, float]
    loss: float | None = None
    accuracy: float | None = None
    pseudo_accuracy: float | None = None
    pseudo_coverage: float | None = None
    pseudo_weight: float | None = None


class PrivacySpent(msgspec.Struct, frozen=True):
    """ε of the site that took part most often: planned, and after the rounds that were trained."""

    planned: float
    spent: float
    delta: float


class TrainingResults(msgspec.Struct, frozen=True, kw_only=True):
    """One run. test: measures of the model that is kept and of the last one, on points that no
    site has and nothing was chosen by. best_round: after which the kept model stood.
    """

    title: str
    cell: str
    method: str
    model: str
    scale: str
    seed: int
    n_sites: int
    n_points: int
    n_labels: int
    n_parameters: int
    test: dict[str, dict[str, float]]
    rounds: list[Round]
    best_round: int | None = None
    validation: float | None = None
    privacy: PrivacySpent | None = None
    format: int = FORMAT

    @property
    def seconds(self) -> float:
        """Of all rounds."""
        return sum(sum(one.seconds.values()) for one in self.rounds)


def rounds_of(history: Sequence[Mapping[str, Any]]) -> list[Round]:
    """The rounds of a run from its events."""
    return [
        Round(
            number=event["round"] + 1,
            stage=event["stage"] + 1,
            n_asked=len(event["sites"]),
            n_came=len(event["came"]),
            bytes_down=event["bytes"]["down"],
            bytes_up=event["bytes"]["up"],
            seconds=event["seconds"],
            loss=event.get("loss"),
            accuracy=event.get("scores", {}).get("accuracy"),
            pseudo_accuracy=event.get("pseudo_accuracy"),
            pseudo_coverage=event.get("pseudo_coverage"),
            pseudo_weight=event.get("pseudo_weight"),
        )
        for event in history
    ]


def best_of(rounds: Sequence[Round]) -> int | None:
    """The first round with the highest validation accuracy; none if nothing was judged."""
    judged = [one for one in rounds if one.accuracy is not None]
    return max(judged, key=lambda one: one.accuracy or 0.0).number if judged else None

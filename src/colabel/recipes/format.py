"""What may stand in a recipe: its sections and their keys, with their defaults."""

from typing import Any, Literal

import msgspec

from colabel.learning.plan import LocalPlan

Secret = Literal["secret"]


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """[data] Which points, and which of them are for what.

    points: how many training points are dealt to the sites (all that are left, if not given).
    validation: how many training points are kept from the sites to choose the best round by.
    test: how many points of the test part are judged by (all, if not given).
    merge_test: mix the training and the test part before anything is drawn.
    side: the size of images that come as files of all sizes.
    """

    name: str
    points: int | None = None
    validation: int = 0
    test: int | None = None
    merge_test: bool = False
    side: int | None = None


class Deal(msgspec.Struct, frozen=True, kw_only=True):
    """[split] Who holds which points and sees which labels.

    partition: how points are dealt, in the words of `colabel split`. With unlabelled_partition,
    that of the labelled points only. Give one of labels (in total), label_fraction (of all
    training points) and labels_per_site; labelled_sites random sites have labels.
    """

    sites: int
    partition: str = "iid:stratified"
    unlabelled_partition: str | None = None
    labels: int | None = None
    label_fraction: float | None = None
    labels_per_site: int | None = None
    labelled_sites: int | None = None
    stratified: bool = False
    every_class: bool = False


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """[model] mean and std are of the training points, channel by channel, if not given."""

    name: str
    norm: Literal["none", "batch", "group", "static"] = "batch"
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None


class MethodChoice(msgspec.Struct, frozen=True, kw_only=True):
    """[method] One of `colabel.federation.methods`; preset: "paper" or "code"."""

    name: str
    preset: Literal["paper", "code"] | None = None


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """[training] Rounds, first on labels only (warm_up), then by the method."""

    rounds: int
    warm_up: int = 0
    sites_per_round: int = 5
    averaging: Literal["equal", "points", "groups"] = "equal"
    groups: int = 2
    buffers: Literal["averaged", "local"] = "averaged"
    protection: Literal["none", "masked"] = "none"
    judge_every: int = 10


class Privacy(msgspec.Struct, frozen=True, kw_only=True):
    """[privacy] DP-FedAvg; needs training.protection = "masked"."""

    clip: float
    noise: float
    delta: float = 1e-5


class Runs(msgspec.Struct, frozen=True, kw_only=True):
    """[run] Seeds, and after how many rounds a checkpoint is written (0: when interrupted only).

    hyperplanes: the public seed of the hyperplanes, or "secret": then the sites draw it, and no
    run repeats to the bit.
    """

    seeds: tuple[int, ...] = (0, 1, 2)
    checkpoint_every: int = 25
    hyperplanes: int | Secret = 0


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """One training run. graph and terms are settings that differ from the method's own: of the
    graph that labels flow along, and of the parts of the loss, by their names.
    """

    data: Data
    split: Deal
    model: Model
    method: MethodChoice
    training: Training
    local: LocalPlan = LocalPlan()
    server: LocalPlan | None = None
    privacy: Privacy | None = None
    run: Runs = Runs()
    graph: dict[str, Any] = {}
    terms: dict[str, dict[str, Any]] = {}


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """[[row]] or [[column]] of a table: its name and, beside these keys, what it changes.

    paper: of a row, the paper's figure for each column: [mean, sd] in percent, or [mean], or [].
    """

    name: str
    paper: tuple[tuple[float, ...], ...] | None = None


class Special(msgspec.Struct, frozen=True, kw_only=True):
    """[[cell]] What is different where a row and a column meet; `skip`: why there is no run."""

    row: str
    column: str
    skip: str = ""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a file: what it reproduces, and what it needs.

    measure: of the test points. needs: data that do not come along, for the full scale.
    stand_in: what the scale "cpu" takes instead. command: another command of ours that makes the
    table. minutes: for one seed of all cells, at each scale.
    """

    title: str
    paper: str = ""
    measure: Literal["accuracy", "balanced_accuracy"] = "accuracy"
    needs: str = ""
    stand_in: str = ""
    command: str = ""
    note: str = ""
    minutes: dict[str, float] = {}

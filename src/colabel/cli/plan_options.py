"""The options that become a labelling plan, and the plan that they become."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from colabel.federation.plan import LabellingPlan

Verb = TypeVar("Verb", bound=Callable[..., Any])


class OrWord(click.ParamType[int | float | str]):
    """A number, or one of a few words."""

    def __init__(self, kind: type[int] | type[float], *words: str) -> None:
        self.kind, self.words = kind, words
        self.name = "|".join(["N" if kind is int else "A", *words])

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float | str:
        """Parse it, or say what is expected."""
        if value in self.words or isinstance(value, self.kind):
            return value
        try:
            return self.kind(value)
        except ValueError:
            wanted = "whole number" if self.kind is int else "number"
            words = " or ".join(repr(word) for word in self.words)
            self.fail(f"{value!r} is neither a {wanted} nor {words}.", param, ctx)


# what --help says; a test holds it against the plan, whose import would make --help slow
DEFAULTS = {
    "n_neighbors": "20",
    "alpha": "share",
    "n_bits": "4096",
    "hamming": "lattice",
    "features": "scaled",
    "equalise": "True",
    "sharpness": "4.0",
    "density_correction": "True",
    "class_weighting": "balanced",
    "keep_labels": "True",
    "confidence": "probability",
}
_WHAT: Mapping[str, tuple[click.ParamType[Any] | type, str | None, str]] = {
    "n_neighbors": (OrWord(int, "auto"), None, "Neighbours of each point in the graph."),
    "alpha": (
        OrWord(float, "auto", "share"),
        None,
        "How far labels reach, 0 to 1; share: the farther, the fewer labels there are.",
    ),
    "n_bits": (int, "L", "Length of the codes that are compared."),
    "hamming": (
        str,
        "WAY",
        "How codes are compared: lattice, ot, paillier, dealer, sketch; clear protects nothing.",
    ),
    "features": (
        str,
        "NAME",
        "Shared preprocessing: identity, centred, standardised or scaled.",
    ),
    "equalise": (bool, "BOOL", "Shrink the directions in which all points differ most."),
    "sharpness": (float, "P", "Power of the similarities that weight the graph's edges."),
    "density_correction": (bool, "BOOL", "Divide edges by the density around both ends."),
    "class_weighting": (
        str,
        "balanced|none",
        "Divide a label's influence by the number of labels of its class.",
    ),
    "keep_labels": (bool, "BOOL", "Keep given labels; otherwise they are propagated anew."),
    "confidence": (str, "probability|entropy", "What confidence measures."),
}
_OPTIONS = (
    *(
        click.option(
            f"--{name.replace('_', '-')}",
            type=kind,
            metavar=metavar,
            help=f"{what} [{DEFAULTS[name].lower()}]",
        )
        for name, (kind, metavar, what) in _WHAT.items()
    ),
    click.option(
        "--preset", metavar="paper", help="Settings that go together; other options refine them."
    ),
    click.option(
        "--random-state",
        type=click.IntRange(0, 2**32 - 1),
        metavar="N",
        help="Fix the hyperplanes in public, for repeatable runs. [drawn by the sites, in secret]",
    ),
)
NAMES = (*DEFAULTS, "preset")


def plan_options(verb: Verb) -> Verb:
    """Add the options to a verb."""
    for option in reversed(_OPTIONS):
        verb = option(verb)
    return verb


def make_plan(
    n_classes: int, options: Mapping[str, Any], random_state: int | None
) -> "LabellingPlan":
    """The plan, or an `InputError` with every wrong setting."""
    from colabel.errors import InputError, Problem, did_you_mean
    from colabel.estimators.propagation import PRESETS
    from colabel.federation.plan import LabellingPlan

    chosen = {name: value for name, value in options.items() if value is not None}
    preset = chosen.pop("preset", None)
    settings = {**PRESETS.get(preset, {}), **chosen}
    plan = LabellingPlan(n_classes=n_classes, seed=public_seed(random_state), **settings)
    problems = plan.problems()
    if preset is not None and preset not in PRESETS:
        hint = did_you_mean(preset, tuple(PRESETS))
        problems.append(Problem(f"there is no preset called {preset!r}", hint))
    if problems:
        raise InputError(problems)
    return plan


def public_seed(random_state: int | None) -> bytes | None:
    """The seed of the hyperplanes, the same as the estimators make of this random state."""
    if random_state is None:
        return None
    from sklearn.utils import check_random_state

    from colabel.crypto.prg import SEED_BYTES

    seed: bytes = check_random_state(random_state).bytes(SEED_BYTES)
    return seed


def settings_of(plan: "LabellingPlan") -> dict[str, Any]:
    """The plan as a run folder remembers it; the seed is kept as the random state."""
    import msgspec

    return {k: v for k, v in msgspec.structs.asdict(plan).items() if k != "seed"}

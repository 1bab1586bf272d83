"""The options that become a labelling plan, and the plan that they become."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from colabel.federation.plan import LabellingPlan

Verb = TypeVar("Verb", bound=Callable[..., Any])


class OrAuto(click.ParamType[int | float | str]):
    """A number, or the word "auto"."""

    def __init__(self, kind: type[int] | type[float]) -> None:
        self.kind = kind
        self.name = f"{'N' if kind is int else 'A'}|auto"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float | str:
        """Parse it, or say what is expected."""
        if value == "auto" or isinstance(value, self.kind):
            return value  # type: ignore[no-any-return]
        try:
            return self.kind(value)
        except ValueError:
            wanted = "whole number" if self.kind is int else "number"
            self.fail(f"{value!r} is neither a {wanted} nor 'auto'.", param, ctx)


_OPTIONS = (
    click.option(
        "--n-neighbors", type=OrAuto(int), help="Neighbours of each point in the graph. [10]"
    ),
    click.option("--alpha", type=OrAuto(float), help="How far labels reach, 0 to 1. [0.99]"),
    click.option("--n-bits", type=int, metavar="L", help="Length of the codes. [4096]"),
    click.option("--hamming", metavar="WAY", help="How codes are compared, e.g. clear."),
    click.option(
        "--class-weighting",
        metavar="balanced|none",
        help="Divide a label's influence by the number of labels of its class. [balanced]",
    ),
    click.option(
        "--features",
        metavar="NAME",
        help="Shared preprocessing: identity, centred, standardised or whitened. [identity]",
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
NAMES = ("n_neighbors", "alpha", "n_bits", "hamming", "class_weighting", "features", "preset")


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
    if preset is not None and preset not in PRESETS:
        hint = did_you_mean(preset, tuple(PRESETS))
        raise InputError(Problem(f"there is no preset called {preset!r}", hint))
    settings = {**(PRESETS[preset] if preset else {}), **chosen}
    return LabellingPlan(n_classes=n_classes, seed=public_seed(random_state), **settings).validate()


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

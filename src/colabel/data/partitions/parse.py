"""Partitions by name, as written in a command or a configuration."""

from collections.abc import Callable, Mapping

from colabel.data.partitions.class_ratios import ClassRatios
from colabel.data.partitions.classes_per_site import ClassesPerSite
from colabel.data.partitions.dirichlet import Dirichlet
from colabel.data.partitions.iid import Iid
from colabel.data.partitions.natural import Natural
from colabel.data.partitions.partition import Partition
from colabel.data.partitions.quantity_skew import QuantitySkew
from colabel.errors import InputError, Problem, did_you_mean

# name -> (how it is written, the option it knows, how to build it)
_KNOWN: Mapping[str, tuple[str, str | None, Callable[[str, bool], Partition]]] = {
    "iid": ("iid[:stratified]", "stratified", lambda _, option: Iid(option)),
    "dirichlet": ("dirichlet:β[:equal]", "equal", lambda v, option: Dirichlet(float(v), option)),
    "classes": (
        "classes:k[:contiguous]",
        "contiguous",
        lambda v, option: ClassesPerSite(int(v), option),
    ),
    "ratios": ("ratios", None, lambda _, option: ClassRatios()),
    "quantity": ("quantity:β", None, lambda v, option: QuantitySkew(float(v))),
    "natural": ("natural", None, lambda _, option: Natural()),
}
PARTITION_SPECS: tuple[str, ...] = tuple(written for written, _, _ in _KNOWN.values())


def parse_partition(spec: str) -> Partition:
    """A partition from text: `iid`, `dirichlet:0.3:equal`, `classes:2`, `ratios`, `natural`, …"""
    name, *rest = spec.strip().split(":")
    if name not in _KNOWN:
        raise InputError(Problem(f"unknown partition {name!r}", did_you_mean(name, list(_KNOWN))))
    written, option, build = _KNOWN[name]
    value = rest.pop(0) if rest and rest[0] != option else ""
    if bool(value) != (":β" in written or ":k" in written) or rest not in ([], [option]):
        raise _badly_written(spec, written)
    try:
        return build(value, bool(rest))
    except InputError:
        raise
    except ValueError:
        raise _badly_written(spec, written) from None


def _badly_written(spec: str, written: str) -> InputError:
    return InputError(Problem(f"{spec!r} is no partition", f"Write {written}."))

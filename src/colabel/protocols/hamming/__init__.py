"""Ways in which the server gets the Hamming distances of all pairs of points, by name."""

from collections.abc import Mapping

from colabel.errors import InputError, Problem, did_you_mean
from colabel.protocols.hamming.base import SecureHamming
from colabel.protocols.hamming.clear import ClearHamming
from colabel.protocols.hamming.dealer import DealerHamming
from colabel.protocols.hamming.lattice import LatticeHamming
from colabel.protocols.hamming.ot import OtHamming
from colabel.protocols.hamming.paillier import PaillierHamming
from colabel.protocols.hamming.sketch import SketchHamming

WAYS: Mapping[str, type[SecureHamming]] = {
    way.name: way
    for way in (
        LatticeHamming,
        OtHamming,
        PaillierHamming,
        DealerHamming,
        SketchHamming,
        ClearHamming,
    )
}


def by_name(name: str) -> SecureHamming:
    """The way called so."""
    if name not in WAYS:
        hint = did_you_mean(name, tuple(WAYS))
        raise InputError(Problem(f"there is no way called {name!r} to compare codes", hint))
    return WAYS[name]()

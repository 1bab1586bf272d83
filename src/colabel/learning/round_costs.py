"""What a round costs one site, by formula [ProtoFSSL §5, table 1], and the same for FedProp.

As in the paper: only forward passes count (a step of training takes about three times as much),
and an epoch goes over all labelled and unlabelled points, whatever a method draws of them.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """forward: F, operations for one point; model_bytes: Θ; width: numbers in a prototype, of 4
    bytes each (C); labelled, unlabelled: |D_L|, |D_U|; epochs: E; augmentations: A; helpers: |H|,
    chosen anew every `interval` rounds (R_H; for FedMatch).
    """

    forward: float
    model_bytes: int
    width: int = 512
    n_classes: int = 10
    labelled: int = 50
    unlabelled: int = 490
    epochs: int = 1
    augmentations: int = 2
    helpers: int = 2
    interval: int = 10
    n_bits: int = 4096


class RoundCost(NamedTuple):
    """Operations at a site, and bytes that it sends and receives."""

    flops: float
    bytes: float


def fedavg(at: Setting) -> RoundCost:
    """On labels only."""
    return RoundCost(at.forward * at.labelled * at.epochs, 2 * at.model_bytes)


def mixmatch(at: Setting) -> RoundCost:
    """MixMatch-FedAvg: A views of every unlabelled point."""
    seen = at.labelled + at.augmentations * at.unlabelled
    return RoundCost(at.forward * seen * at.epochs, 2 * at.model_bytes)


def fixmatch(at: Setting) -> RoundCost:
    """FixMatch-FedAvg and FedRGD: a weak and a strong view of every unlabelled point."""
    seen = at.labelled + 2 * at.unlabelled
    return RoundCost(at.forward * seen * at.epochs, 2 * at.model_bytes)


def fedmatch(at: Setting) -> RoundCost:
    """Two views, and every helper's model for every unlabelled point; two sets of parameters."""
    seen = at.labelled + (2 + at.helpers) * at.unlabelled
    models = 4 + 2 * at.helpers / at.interval
    return RoundCost(at.forward * seen * at.epochs, models * at.model_bytes)


def protofssl(at: Setting) -> RoundCost:
    """One view, distances to every helper's prototypes, and own prototypes at the end."""
    passes = at.forward * ((at.labelled + at.unlabelled) * at.epochs + at.labelled)
    distances = at.width * at.helpers * at.n_classes * at.unlabelled * at.epochs
    prototypes = 4 * at.width * (1 + at.helpers) * at.n_classes
    return RoundCost(passes + distances, 2 * at.model_bytes + prototypes)


def fedprop(at: Setting, labelling_bytes: float = 0.0) -> RoundCost:
    """One view in every epoch, and once an embedding and a code of every point [XCLP Alg. 2]."""
    points = at.labelled + at.unlabelled
    codes = 2 * at.width * at.n_bits * points
    flops = at.forward * points * (at.epochs + 1) + codes
    return RoundCost(flops, 2 * at.model_bytes + labelling_bytes)


TABLE_1: Mapping[str, Callable[[Setting], RoundCost]] = {
    "MixMatch-FedAvg": mixmatch,
    "FedRGD (or FixMatch-FedAvg)": fixmatch,
    "FedMatch": fedmatch,
    "ProtoFSSL": protofssl,
}

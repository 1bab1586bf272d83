"""What a server makes of the sites' models: plain functions on parameters."""

from collections.abc import Mapping, Sequence

import numpy as np

from colabel.learning.parameters import Parameters


def mean(models: Sequence[Parameters], weights: Sequence[float]) -> Parameters:
    """Σ w_j θ_j / Σ w_j [XCLP App. A.2, ServerUpdate; ProtoFSSL eq. 1].

    Added up one by one, so that only one model more than the result is in memory.
    """
    total = {name: np.zeros(held.shape, np.float64) for name, held in models[0].items()}
    for model, weight in zip(models, weights, strict=True):
        for name, held in total.items():
            held += weight * model[name]
    whole = float(sum(weights))
    return {name: (held / whole).astype(np.float32) for name, held in total.items()}


def means(
    returned: Sequence[Mapping[str, Parameters]], weights: Sequence[float]
) -> dict[str, Parameters]:
    """The same for all that the terms returned."""
    first = returned[0] if returned else {}
    return {name: mean([held[name] for held in returned], weights) for name in first}


def means_of_groups(
    models: Mapping[str, Parameters], weights: Mapping[str, float], groups: Mapping[str, int]
) -> dict[int, Parameters]:
    """The mean within each group of sites that has a model (Zhang et al. 2021)."""
    found = {}
    for group in sorted({groups[name] for name in models}):
        members = [name for name in models if groups[name] == group]
        found[group] = mean([models[name] for name in members], [weights[name] for name in members])
    return found


def change(after: Parameters, before: Parameters) -> Parameters:
    """after − before."""
    return {name: held - before[name] for name, held in after.items()}


def moved(before: Parameters, step: Parameters) -> Parameters:
    """before + step."""
    return {name: held + step[name] for name, held in before.items()}

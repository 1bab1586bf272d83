"""What leaves a site in co-training: labels, as they are or after a mechanism, or probabilities.

what        how it travels in clear            in a masked sum        mechanism
labels      ⌈log₂ C⌉ bits a point              one row 0 … 1 … 0      none, or randomised response
bits        C bits a point, any number set     the bits               XOR [FedCT §4]
counts      not at all                         row 0 … 1 … 0 + noise  noise in the counts
shares      C numbers of 4 bytes a point       the numbers            none
"""

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from colabel.cotrain.packing import Packed, pack_labels, unpack_labels
from colabel.federation.cotraining_plan import CotrainingPlan
from colabel.privacy.label_accounting import flip_probability_of, noise_scale, per_label
from colabel.privacy.mechanisms.randomised_response import randomised_response
from colabel.privacy.mechanisms.vote_noise import vote_noise_share
from colabel.privacy.mechanisms.xor import flip
from colabel.protocols.sums import Summand
from colabel.protocols.sums.fixed_point import FORMATS
from colabel.protocols.votes import ballot

Labels = NDArray[np.int64]
_MOST_IN_A_BYTE = 255


class Released(msgspec.Struct, frozen=True):
    """One of these."""

    labels: Packed | None = None
    bits: bytes = b""
    counts: np.ndarray | None = None
    shares: np.ndarray | None = None


def release(labels: Labels, plan: CotrainingPlan, n_least: int) -> Released:
    """A site's labels, after what the plan does to them. Every call draws anew."""
    privacy, n_classes = plan.privacy, plan.n_classes
    if privacy is None:
        return Released(labels=pack_labels(labels, n_classes))
    if privacy.mechanism == "response":
        epsilon = per_label(privacy, plan.n_public)
        noisy = randomised_response(labels, n_classes, epsilon, abstaining=privacy.abstaining)
        return Released(labels=pack_labels(noisy, n_classes))
    rows = ballot(labels, n_classes).matrix
    if privacy.mechanism == "xor":  # L̂ = L ⊕ B [FedCT §4]
        flipped = flip(
            rows.astype(np.uint8), flip_probability_of(privacy, plan.n_public, n_classes)
        )
        return Released(bits=np.packbits(flipped).tobytes())
    noise = vote_noise_share(rows.shape, noise_scale(privacy, plan.n_public), n_least)
    return Released(counts=rows.astype(np.int64) + noise)


def summand_of(released: Released, plan: CotrainingPlan) -> Summand:
    """The same as rows to be added up."""
    return Summand(rows_of(released, plan).astype(np.float64))


def rows_of(released: Released, plan: CotrainingPlan) -> NDArray[np.number]:
    """A row a point; a `ValueError` if it is not what the plan says."""
    shape = (plan.n_public, plan.n_classes)
    mechanism = "" if plan.privacy is None else plan.privacy.mechanism
    if plan.exchange == "scores":
        return _array(released.shares, shape, "f")
    if mechanism == "counts":
        return _array(released.counts, shape, "i")
    if mechanism == "xor":
        if len(released.bits) != -(-plan.n_public * plan.n_classes // 8):
            raise ValueError(f"{len(released.bits)} bytes of bits for {shape}")
        bits = np.frombuffer(released.bits, np.uint8)
        return np.unpackbits(bits, count=plan.n_public * plan.n_classes).reshape(shape)
    if released.labels is None:
        raise ValueError("no labels")
    labels = unpack_labels(released.labels, plan.n_public, plan.n_classes)
    return ballot(labels, plan.n_classes).matrix


def _array(given: np.ndarray | None, shape: tuple[int, int], kind: str) -> NDArray[np.number]:
    if given is None or given.shape != shape or given.dtype.kind != kind:
        raise ValueError(f"{None if given is None else given.shape} for {shape} numbers")
    if not np.isfinite(given).all():
        raise ValueError("numbers that are not finite")
    return given


def form_of(plan: CotrainingPlan, n_sites: int) -> str:
    """The ring of a masked sum: the smallest that holds it."""
    if plan.exchange == "scores":
        return "updates"
    if plan.privacy is None or plan.privacy.mechanism != "counts":
        return "votes" if n_sites <= _MOST_IN_A_BYTE else "counts"
    # beyond 60 scales, noise comes with chance e⁻⁶⁰
    most = n_sites * (1 + 60 * noise_scale(plan.privacy, plan.n_public))
    return next(name for name in ("counts", "scores", "wide") if most < FORMATS[name].largest)


def added_up(answers: Mapping[str, NDArray[np.number]]) -> NDArray[np.float64]:
    """The sum of what came in clear."""
    return np.sum(list(answers.values()), axis=0, dtype=np.float64)

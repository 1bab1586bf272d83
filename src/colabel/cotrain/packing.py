"""Hard labels in as few bits as they need: ⌈log₂ C⌉ a point [FedCT §3, Communication Complexity].

50,000 labels of ten classes take 25 KB. Points without a label take one more bit for every point,
and only where there is such a point.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

NONE = -1


class Packed(msgspec.Struct, frozen=True):
    """bits: the labels; none: a bit a point that says whether it has no label, or nothing."""

    bits: bytes
    none: bytes = b""

    @property
    def n_bytes(self) -> int:
        """What travels, but for a few bytes around it."""
        return len(self.bits) + len(self.none)


def width(n_classes: int) -> int:
    """Bits of a label."""
    return max(1, (n_classes - 1).bit_length())


def pack_labels(labels: NDArray[np.int64], n_classes: int) -> Packed:
    """−1 is no label."""
    missing = labels == NONE
    places = np.arange(width(n_classes))
    bits = (np.where(missing, 0, labels)[:, None] >> places) & 1
    none = np.packbits(missing).tobytes() if missing.any() else b""
    return Packed(np.packbits(bits.astype(np.uint8)).tobytes(), none)


def unpack_labels(packed: Packed, n_points: int, n_classes: int) -> NDArray[np.int64]:
    """The labels again; a `ValueError` for bytes that cannot be so many labels."""
    wide = width(n_classes)
    if len(packed.bits) != -(-n_points * wide // 8):
        raise ValueError(f"{len(packed.bits)} bytes for {n_points} labels of {wide} bits")
    if packed.none and len(packed.none) != -(-n_points // 8):
        raise ValueError(f"{len(packed.none)} bytes say which of {n_points} points have no label")
    bits = np.unpackbits(np.frombuffer(packed.bits, np.uint8), count=n_points * wide)
    labels = bits.reshape(n_points, wide).astype(np.int64) @ (1 << np.arange(wide))
    if packed.none:
        missing = np.unpackbits(np.frombuffer(packed.none, np.uint8), count=n_points)
        labels = np.where(missing == 1, NONE, labels)
    if len(labels) and labels.max() >= n_classes:
        raise ValueError(f"label {labels.max()} of {n_classes} classes")
    return labels

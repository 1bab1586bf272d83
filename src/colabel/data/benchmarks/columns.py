"""Words and numbers side by side as one table of numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def encode_columns(
    table: NDArray[np.str_], names: Sequence[str], numeric: Sequence[str] = ()
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Numbers as they are, each word of the other columns as its own 0/1 column."""
    parts, columns = list[NDArray[np.float64]](), list[str]()
    for c, name in enumerate(names):
        if name in numeric:
            parts.append(table[:, c, None].astype(np.float64))
            columns.append(name)
        else:
            words, at = np.unique(table[:, c], return_inverse=True)
            parts.append(np.eye(len(words))[at])
            columns += [f"{name}={word}" for word in words.tolist()]
    return np.concatenate(parts, axis=1), tuple(columns)

"""What this machine offers, within what it was told to use."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

Item = TypeVar("Item")
Found = TypeVar("Found")


def n_threads() -> int:
    """Cores this process may use; `OMP_NUM_THREADS` lowers it, as it does for BLAS."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(allowed or 1, int(asked)) if asked.isdigit() else allowed or 1)


def in_threads(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Work on all items, one thread per core, each with a BLAS of one thread.

    BLAS threads wait for each other: up to 100 times slower on a busy machine, and 10 times for
    some shapes on a quiet one.
    """
    with blas().limit(limits=1), ThreadPoolExecutor(n_threads()) as pool:
        return list(pool.map(work, items))


@cache
def blas() -> ThreadpoolController:
    """The BLAS libraries of this process, found once."""
    return ThreadpoolController()

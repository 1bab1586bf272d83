"""How many of torch's threads a batch is worth."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from colabel.learning.flops import of_one_point
from colabel.learning.models.network import ModelPlan

LITTLE = 2e9  # operations; below, threads wait for each other longer than they save


def one_thread() -> None:
    """For a process that shares the cores with others of its kind."""
    torch.set_num_threads(1)


@contextmanager
def enough_threads(model: ModelPlan, n_points: int) -> Iterator[None]:
    """One thread for batches that are soon computed.

    On a busy machine threads wait for each other, many times longer than such a batch takes; on
    an idle one less than a tenth of a second would be saved (bench/README.md).
    """
    before = torch.get_num_threads()
    if n_points * of_one_point(model).products < LITTLE:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

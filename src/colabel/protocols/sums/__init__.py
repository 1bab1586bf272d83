"""Sums over sites of matrices that each site computes from a request: in clear, or masked."""

from colabel.protocols.sums.base import Contribute, Deliver, Mode, Summand, Summed, Sums, Total
from colabel.protocols.sums.clear import ClearSums
from colabel.protocols.sums.masked import MaskedSums

__all__ = [
    "ClearSums",
    "Contribute",
    "Deliver",
    "MaskedSums",
    "Mode",
    "Summand",
    "Summed",
    "Sums",
    "Total",
]

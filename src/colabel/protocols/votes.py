"""Votes: how many sites chose each class for each point, and never who.

step          message                  bytes up per site     who learns what
<name> …      as a public masked sum   points · classes      server: the counts

Hard labels become rows of zeros and a one and are added by the protocol of the sums; counts of
fewer than 256 sites travel as one byte each. An abstention (−1) is a row of zeros; a
label that is no class is refused.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Conversation, Message
from colabel.errors import InputError, Problem
from colabel.protocols.sums import Summand, Sums

ABSTAIN = -1
_MOST_IN_A_BYTE = 255


def ballot(labels: NDArray[np.integer], n_classes: int) -> Summand:
    """A site's labels as its summand; −1 abstains, and no other label may be out of range."""
    strange = np.unique(labels[(labels < ABSTAIN) | (labels >= n_classes)])
    if len(strange):
        raise InputError(
            Problem(
                f"votes for {', '.join(map(str, strange[:5]))}, which is no class",
                f"Vote for a class from 0 to {n_classes - 1}, or abstain with {ABSTAIN}.",
            )
        )
    chosen = labels[:, None] == np.arange(n_classes)
    return Summand(chosen.astype(np.float64))


def count_votes(
    sums: Sums, step: str, requests: Mapping[str, Message]
) -> Conversation[NDArray[np.int64]]:
    """Points × classes: how many sites chose it. A request makes a site answer its `ballot`."""
    form = "votes" if len(requests) <= _MOST_IN_A_BYTE else "counts"
    counts = yield from sums.public(step, "votes", requests, form)
    return counts.astype(np.int64)

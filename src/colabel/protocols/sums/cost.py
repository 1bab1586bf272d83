"""What a sum costs, in clear or masked, if no site is lost: exact bytes, from sizes alone."""

from collections.abc import Mapping

import numpy as np

from colabel.conversation import Done
from colabel.crypto.shamir import SHARE_BYTES
from colabel.protocols.cost import Cost
from colabel.protocols.sums.base import Contribute, Deliver, Hidden, Terms
from colabel.protocols.sums.fixed_point import FORMATS
from colabel.protocols.sums.site import Revealed, Unmask
from colabel.wire import blank, blank_array, weigh

_SECONDS_PER_BYTE = 2e-9  # to draw a mask and add it, or to read and add what came


def cost(
    terms: Terms,
    kind: str,
    requests: Mapping[str, int],
    *,
    n_columns: int,
    n_rows: int = 1,
    total: str = "",
) -> Cost:
    """One sum on these terms.

    `kind`: the name of the request, `requests`: its bytes at each member; `n_columns`, `n_rows`:
    numbers in a summand (rows that belong to owners are in the terms); `total`: the name of the
    message that brings the total back, if one does.
    """
    form = FORMATS[terms.form]
    width, masked = n_columns * form.n_limbs, terms.slot >= 0
    rows = {name: _n_sent(terms, name) if terms.blocks else n_rows for name in terms.members}
    empty = np.empty((0, 0), form.ring)
    up = sum(
        weigh(name, Hidden(empty), blank_array(form.ring, n, width)) for name, n in rows.items()
    )
    down = sum(
        weigh("server", Contribute(kind, b"", terms), blank(requests[name]))
        for name in terms.members
    )
    hidden = sum(rows.values()) * width * np.dtype(form.ring).itemsize
    passes = len(terms.members) + 3 if masked else 1
    result = Cost(up, down, 1, hidden * passes * _SECONDS_PER_BYTE)
    if masked:
        result += _unmasking(terms)
    if total:
        result += _back(terms, total, n_rows, width)
    return result


def _n_sent(terms: Terms, name: str) -> int:
    return sum(at.stop - at.start for at in terms.kept(name).values())


def _unmasking(terms: Terms) -> Cost:
    shares = Revealed(dict.fromkeys(terms.members, bytes(SHARE_BYTES)), {})
    up = sum(weigh(name, shares) for name in terms.members)
    down = len(terms.members) * weigh("server", Unmask(terms, terms.members))
    return Cost(up, down, 1, 0.0)


def _back(terms: Terms, total: str, n_rows: int, width: int) -> Cost:
    ring = FORMATS[terms.form].ring
    empty = Deliver(total, terms, terms.members, np.empty((0, 0), ring))
    down = sum(
        weigh("server", empty, blank_array(ring, terms.blocks.get(name, n_rows), width))
        for name in terms.members
    )
    return Cost(sum(weigh(name, Done()) for name in terms.members), down, 1, 0.0)

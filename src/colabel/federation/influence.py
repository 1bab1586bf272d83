"""The last steps of labelling: every site gets how far its labels reach, and its scores.

step             message                who learns what
influence.part   InfluencePart → Done   each site: how far some of its labels reach
influence        Influence              the same for the rest of them; and as the sum says
influence.back   OwnScores → Done       each site: the scores of its own points

One number for every point and label of all sites is too much to hold for very many points. So it
is sent in as many parts as it takes to send at most `MOST_SENT` at a time; below that there is one
part, and no step but the last two. A part lost is a site lost: its labels do not count.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from colabel.conversation import Ask, Conversation
from colabel.errors import SitesLost
from colabel.federation.own_labels import REACH, Influence, InfluencePart, OwnScores
from colabel.protocols.keys import Group
from colabel.protocols.sums import Sums

MOST_SENT = 2**27  # numbers of 2 or 4 bytes, to all sites together
SCORES = "class scores and class counts"

Positions = NDArray[np.intp]
Columns = Callable[[Positions], NDArray[np.floating]]


def parts(flow: Mapping[str, int], n_rows: int) -> Iterator[dict[str, range]]:
    """Which of its own labels each site hears of, part by part."""
    n_parts = max(1, -(-n_rows * sum(flow.values()) // MOST_SENT))
    for part in range(n_parts):
        yield {
            name: range(n * part // n_parts, n * (part + 1) // n_parts) for name, n in flow.items()
        }


def propagate(
    group: Group,
    sums: Sums,
    columns: Columns,
    owners: Mapping[str, int],
    flow: Mapping[str, int],
    exponent: float,
) -> Conversation[tuple[str, ...]]:
    """Give every site its labels' columns, sum what they contribute, return each its rows
    [XCLP Alg. 1, lines 12-16].

    `columns` gives the columns of some of all labels, rows as `owners` says; `flow` says how many
    labels each site has.
    """
    rows = tuple(owners.values())
    firsts = _firsts(flow)
    left = group.names
    *early, last = parts(flow, sum(rows))
    for spans in early:
        cut = _cut(columns, {name: spans[name] for name in left}, firsts)
        asked = {name: InfluencePart(cut[name], rows, spans[name].start) for name in left}
        replies = yield Ask("influence.part", asked, (REACH,))
        left = tuple(replies)
        if not left:
            raise SitesLost("no site is left: none answered in the step 'influence.part'")
    cut = _cut(columns, {name: last[name] for name in left}, firsts)
    requests = {name: Influence(cut[name], rows, exponent, last[name].start) for name in left}
    # each owner's block ends with one more row, for the class counts that weight the classes
    blocks = {name: n_rows + 1 for name, n_rows in owners.items()}
    received = yield from sums.rows("influence", SCORES, requests, blocks, OwnScores)
    return tuple(received)


def _firsts(flow: Mapping[str, int]) -> dict[str, int]:
    """Where each site's labels stand among all."""
    counts = list(flow.values())
    return dict(zip(flow, (np.cumsum(counts) - counts).tolist(), strict=True))


def _cut(
    columns: Columns, spans: Mapping[str, range], firsts: Mapping[str, int]
) -> dict[str, NDArray[np.floating]]:
    """The columns of these labels of each site."""
    places = [firsts[name] + np.arange(span.start, span.stop) for name, span in spans.items()]
    found = columns(np.concatenate(places))
    ends = np.cumsum([len(span) for span in spans.values()])
    return dict(zip(spans, np.split(found, ends[:-1], axis=1), strict=True))

"""How fast a site hides what it adds to a sum: five sites, in one process.

python -m bench.sums [--values 1000000 10000000] [--repeats 5] [--json FILE]

Two kinds. "rows": a matrix of ten columns whose rows belong to the five in equal parts, as in
[XCLP §3.2, SecureRowSums]; a site sends the four parts that are not its own, in 64 bits a number,
under a mask with each of four others, its own, and one per owner of rows. "updates": one column,
in 32 bits a number as in Flower's SecAgg+, under four masks and its own; the server gets the sum.
"MB/s" count the float64 values that a site sends (as many as `--values` says), from the numbers to
the masked ring elements, all masks drawn from a stream cipher. "Step" also has the request and the
packing of the reply. Of each run the fastest site counts, as the fastest of three counts for
Flower; then the median of the runs. Totals are compared with plain sums.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bench.cells import machine
from colabel.conversation import Conversation, Done, Message
from colabel.data.site import Site
from colabel.engines.local import LocalEngine
from colabel.federation import roles
from colabel.federation.site import Role, SiteSession
from colabel.protocols.keys import Hello, Sizes, introduce
from colabel.protocols.setup import agree
from colabel.protocols.sums import Summand, Total
from colabel.protocols.sums.base import Contribute, Hidden, Mode, Summed
from colabel.protocols.sums.site import contribute
from colabel.randomness import data

NAMES = tuple(f"site-{number}" for number in range(5))
N_COLUMNS = 10
SIZES = [10**6, 10**7]
KINDS = ("rows", "updates")
MEASURED = ("seconds", "MB/s", "step s")


class Give(Summed, frozen=True):
    """The request for a site's matrix."""

    modes: ClassVar[tuple[Mode, ...]] = ("rows", "public")


class TakeRows(Total, frozen=True):
    """The sum of a site's own rows."""


class Consortium:
    """Five sites with a matrix each, which note how long they hide it."""

    def __init__(self, shape: tuple[int, int], seed: int) -> None:
        self.held = {
            name: data(seed, f"bench sums {name}").standard_normal(shape) for name in NAMES
        }
        self.found: dict[str, NDArray[np.float64]] = {}
        self.hiding: list[float] = []
        handlers = {
            **roles.SETUP,
            **roles.SUMS,
            Hello: lambda site, asked: introduce(site, Sizes(1, 0, 1), asked.plan, asked.n_masks),
            Contribute: self._hide,
            Give: lambda site, asked: Summand(self.held[site.name]),
            TakeRows: self._take,
        }
        nothing = np.zeros((1, 1))
        sites = [Site(name, nothing, np.array([-1])) for name in NAMES]
        role = Role(handlers, lambda site: nothing, lambda site: nothing)
        self.engine = LocalEngine(sites, role)

    def _hide(self, site: SiteSession, request: Contribute) -> Hidden:
        started = time.perf_counter()
        reply = contribute(site, request)
        self.hiding.append(time.perf_counter() - started)
        return reply

    def _take(self, site: SiteSession, total: TakeRows) -> Done:
        self.found[site.name] = total.matrix
        return Done()

    def add(self, owners: dict[str, int]) -> Conversation[NDArray[np.float64]]:
        """By rows if they have owners; the sum of all matrices."""
        _, sums = yield from agree(NAMES, b"bench", n_masks=1)
        requests: dict[str, Message] = dict.fromkeys(NAMES, Give())
        if not owners:
            return (yield from sums.public("sum", "values", requests, "updates"))
        yield from sums.rows("sum", "values", requests, owners, TakeRows)
        return np.concatenate([self.found[name] for name in NAMES])


def measure(kind: str, n_values: int, seed: int) -> dict[str, Any]:
    """One sum to which each site sends about so many values."""
    n_rows = n_values // N_COLUMNS // (len(NAMES) - 1)
    owners = dict.fromkeys(NAMES, n_rows) if kind == "rows" else {}
    shape = (len(NAMES) * n_rows, N_COLUMNS) if owners else (n_values, 1)
    sites = Consortium(shape, seed)
    total = sites.engine.run(sites.add(owners))
    error = 2.0**-41 if owners else 2.0**-21
    assert np.abs(total - sum(sites.held.values())).max() <= len(NAMES) * error + 1e-12
    n_sent = shape[0] * shape[1] - n_rows * N_COLUMNS * bool(owners)
    seconds = min(sites.hiding)
    return {
        "kind": kind,
        "values": n_sent,
        "sites": len(NAMES),
        "seconds": seconds,
        "MB/s": 8 * n_sent / seconds / 1e6,
        "step s": median(e.seconds for e in sites.engine.costs.exchanges if e.step == "sum"),
    }


def main() -> None:
    """Medians over repeats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    rows = []
    for kind, n_values in product(KINDS, options.values):
        runs = [measure(kind, n_values, seed) for seed in range(options.repeats)]
        same = {key: runs[0][key] for key in ("kind", "values", "sites")}
        rows.append(same | {key: median(run[key] for run in runs) for key in MEASURED})
        print(rows[-1], flush=True)
    print(machine())
    if options.json is not None:
        content = {"machine": machine(), "vectors": rows}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()

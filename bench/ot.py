"""What distances by oblivious transfer take: one pair of sites, both and the server in one process.

python -m bench.ot [--sizes 100 250 500] [--json FILE]

Random codes of 4096 bits. The channels are set up beforehand. "Shares" are the seconds of the two
sites and of the server; the rest of the wall time is the engine's. Peaks of memory are those of
the whole process until then, with NumPy, Numba and the messages under way. The result is compared
with distances of the codes in clear.
"""

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.cells import machine
from colabel.data.site import Site
from colabel.engines.local import LocalEngine
from colabel.federation.site import Role, SiteSession
from colabel.graph.distances import hamming
from colabel.protocols.channels import Channels
from colabel.protocols.hamming.ot import OtHamming
from colabel.protocols.keys import Group, Welcome
from colabel.randomness import data, secret

N_BITS = 4096
SIZES = [100, 250, 500]
NAMES = ("left", "right")


def codes_of(session: SiteSession) -> NDArray[np.uint8]:
    """The points are the bits."""
    return np.packbits(session.site.points.astype(np.uint8), axis=1)


def measure(n_points: int, seed: int) -> dict[str, Any]:
    """One pair of n_points × n_points."""
    bits = data(seed, "bench ot").integers(0, 2, (2, n_points, N_BITS), dtype=np.uint8)
    unlabelled = np.full(n_points, -1)
    sites = [
        Site(name, own.astype(np.float32), unlabelled)
        for name, own in zip(NAMES, bits, strict=True)
    ]
    engine = LocalEngine(sites, Role(OtHamming.handlers, lambda session: bits[0], codes_of))
    shared = secret(32)
    for name, peer in (NAMES, NAMES[::-1]):
        engine.sessions[name].remember(Channels(0, {peer: shared}))
    group = Group({name: Welcome(n_points, 0, N_BITS) for name in NAMES})
    way = OtHamming()
    said = way.cost(group, N_BITS)

    started = time.perf_counter()
    _, distances = engine.run(way.conversation(group, N_BITS))
    wall = time.perf_counter() - started

    costs, packed = engine.costs, np.packbits(bits.reshape(-1, N_BITS), axis=1)
    assert np.array_equal(distances.rows(0, 2 * n_points), hamming(packed, packed))
    assert (said.bytes_up, said.bytes_down) == (costs.bytes_up(), costs.bytes_down())
    return {
        "n": n_points,
        "seconds": wall,
        "share of left": costs.seconds("left"),
        "share of right": costs.seconds("right"),
        "share of server": costs.server_seconds,
        "estimated s": said.seconds,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "MB up": costs.bytes_up() / 1e6,
        "MB down": costs.bytes_down() / 1e6,
        "steps": costs.steps,
        "transfers": n_points * N_BITS,
    }


def main() -> None:
    """Sizes from small to large, so that peaks belong to the last."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", type=Path, help="also write all values to this file")
    options = parser.parse_args()
    measure(2, 0)  # compiles
    rows = []
    for n_points in sorted(options.sizes):
        rows.append(measure(n_points, 0))
        print({key: round(value, 2) for key, value in rows[-1].items()}, flush=True)
    print(machine())
    if options.json is not None:
        content = {"machine": machine(), "n_bits": N_BITS, "sizes": rows}
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Flower's SecAgg+: masking one site's vector, with 4 neighbours.

python -m bench.others.secagg_plus --venvs DIR [--json FILE]

What Flower's client does to a vector before it sends it, by its own functions and default settings:
quantise, add its own mask, add or subtract one mask per neighbour, reduce. MB/s count the float64
values that go in, on one core, the best of three runs. The masks come from a Mersenne Twister
seeded with 32 bits, so what is compared here with a stream cipher is weaker than it.
"""

import json
import time
from pathlib import Path
from typing import Any

from bench.others import apart

PACKAGE = "flwr==1.41.*"
N_NEIGHBOURS = 4
SIZES = [10**6, 10**7]
CLIPPING, TARGET_BITS, MODULUS_BITS = 8.0, 22, 32  # SecAggPlusWorkflow's defaults


def worker(n_values: int) -> None:
    """The best of three."""
    import secrets

    import flwr
    import numpy as np
    from flwr.common.secure_aggregation.ndarrays_arithmetic import (
        parameters_addition,
        parameters_mod,
        parameters_subtraction,
    )
    from flwr.common.secure_aggregation.quantization import quantize
    from flwr.common.secure_aggregation.secaggplus_utils import pseudo_rand_gen

    values = np.random.default_rng(7).standard_normal(n_values)
    seeds = [secrets.token_bytes(32) for _ in range(N_NEIGHBOURS + 1)]
    modulus = 1 << MODULUS_BITS

    def mask() -> None:
        vector = quantize([values], CLIPPING, 1 << TARGET_BITS)
        shapes = [vector[0].shape]
        vector = parameters_addition(vector, pseudo_rand_gen(seeds[0], modulus, shapes))
        for number, seed in enumerate(seeds[1:]):
            step = parameters_addition if number % 2 else parameters_subtraction
            vector = step(vector, pseudo_rand_gen(seed, modulus, shapes))
        parameters_mod(vector, modulus)

    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        mask()
        best = min(best, time.perf_counter() - started)
    answer = {
        "values": n_values,
        "seconds": best,
        "MB/s": values.nbytes / best / 1e6,
        "values/s": n_values / best,
        "flwr": flwr.__version__,
    }
    print(json.dumps(answer))


def main() -> None:
    parser = apart.options(__doc__)
    options = parser.parse_args()
    if options.worker:
        return worker(int(options.worker[0]))
    return apart.write(measure(options.venvs), options.json)


def measure(venvs: Path | None) -> dict[str, Any]:
    """Vectors of several sizes."""
    python = apart.python_of(venvs, "venv-flwr", PACKAGE)
    rows = [apart.answer(python, "bench.others.secagg_plus", str(size)) for size in SIZES]
    return {"package": PACKAGE, "neighbours": N_NEIGHBOURS, "vectors": rows}


if __name__ == "__main__":
    main()

"""TenSEAL's BFV: one dot product of 0/1 vectors for every pair of points.

python -m bench.others.bfv --venvs DIR [--json FILE]

One site encrypts its codes as vectors, the other multiplies them by its plain codes, which are the
cheapest products TenSEAL has. A sample is measured on one core; 500 × 500 pairs are extrapolated
from it in proportion, with 500 encryptions and 250,000 products and decryptions.
"""

import json
import time
from pathlib import Path
from typing import Any

from bench.others import apart

PACKAGE = "tenseal==0.3.18"
N_BITS, N_POINTS = 4096, 500
N_ENCRYPTED, N_PRODUCTS = 20, 150


def worker(n_products: int) -> None:
    """The sample."""
    import numpy as np
    import tenseal

    context = tenseal.context(
        tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=N_BITS * 2, plain_modulus=1032193, n_threads=1
    )
    context.generate_galois_keys()
    codes = np.random.default_rng(7).integers(0, 2, (n_products + 1, N_BITS))
    started = time.perf_counter()
    for _ in range(N_ENCRYPTED):
        encrypted = tenseal.bfv_vector(context, codes[0].tolist())
    encrypting = (time.perf_counter() - started) / N_ENCRYPTED
    started = time.perf_counter()
    products = [encrypted.dot(code.tolist()) for code in codes[1:]]
    multiplying = (time.perf_counter() - started) / n_products
    started = time.perf_counter()
    plain = [product.decrypt()[0] for product in products]
    decrypting = (time.perf_counter() - started) / n_products
    answer = {
        "products measured": n_products,
        "seconds per encryption": encrypting,
        "seconds per product": multiplying,
        "seconds per decryption": decrypting,
        "bytes of a product": len(products[0].serialize()),
        "bytes of a code": len(encrypted.serialize()),
        "right": plain == (codes[1:] @ codes[0]).tolist(),
    }
    print(json.dumps(answer))


def main() -> None:
    parser = apart.options(__doc__)
    parser.add_argument("--products", type=int, default=N_PRODUCTS)
    options = parser.parse_args()
    if options.worker:
        return worker(int(options.worker[0]))
    return apart.write(measure(options.venvs, options.products), options.json)


def measure(venvs: Path | None, n_products: int = N_PRODUCTS) -> dict[str, Any]:
    """The sample, and what it comes to for all pairs."""
    python = apart.python_of(venvs, "venv-tenseal", PACKAGE)
    sample = apart.answer(python, "bench.others.bfv", str(n_products))
    pairs = N_POINTS**2
    seconds = N_POINTS * sample["seconds per encryption"] + pairs * (
        sample["seconds per product"] + sample["seconds per decryption"]
    )
    sent = N_POINTS * sample["bytes of a code"] + pairs * sample["bytes of a product"]
    whole = {"n": N_POINTS, "seconds": seconds, "MB": sent / 1e6}
    return {"package": PACKAGE, "measured": sample, "extrapolated": whole}


if __name__ == "__main__":
    main()

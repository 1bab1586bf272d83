"""python-paillier, 3072 bits: one ciphertext per bit, as the paper's PHE protocol is written.

python -m bench.others.unpacked_paillier --venvs DIR [--json FILE]

A sample is measured on one core, with gmpy2: bits encrypted by the key's owner, sums of the bits
that one code of the other site selects (half of them added, half subtracted), and decryptions.
500 × 500 pairs of 4096 bits are extrapolated from it in proportion: 500 · 4096 encryptions, and for
every pair 4096 additions and one decryption.
"""

import json
import time
from pathlib import Path
from typing import Any

from bench.others import apart

PACKAGES = ("phe==1.5.0", "gmpy2==2.3.2", "numpy>=2")
N_BITS, N_POINTS, KEY_BITS = 4096, 500, 3072
N_ENCRYPTED = 400


def worker(n_encrypted: int) -> None:
    """The sample."""
    import numpy as np
    from phe import paillier

    public, private = paillier.generate_paillier_keypair(n_length=KEY_BITS)
    rng = np.random.default_rng(7)
    bits, code = rng.integers(0, 2, (2, n_encrypted))
    started = time.perf_counter()
    # with the owner's key python-paillier is no faster: it does not use the primes to encrypt
    encrypted = [public.encrypt(int(bit)) for bit in bits]
    encrypting = (time.perf_counter() - started) / n_encrypted
    # subtracting is multiplying by −1; both signs are made once for all sums
    started = time.perf_counter()
    negative = [number * -1 for number in encrypted]
    negating = (time.perf_counter() - started) / n_encrypted
    started = time.perf_counter()
    total = public.encrypt(0)
    asked = time.perf_counter()
    for place, bit in enumerate(code):
        total = total + (encrypted if bit else negative)[place]
    adding = (time.perf_counter() - asked) / n_encrypted
    blinding = asked - started
    started = time.perf_counter()
    plain = private.decrypt(total)
    decrypting = time.perf_counter() - started
    answer = {
        "bits measured": n_encrypted,
        "seconds per encryption": encrypting,
        "seconds per negation": negating,
        "seconds per addition": adding,
        "seconds per fresh mask": blinding,
        "seconds per decryption": decrypting,
        "bytes of a ciphertext": 2 * KEY_BITS // 8,
        "right": plain == int((bits * (2 * code - 1)).sum()),
    }
    print(json.dumps(answer))


def main() -> None:
    parser = apart.options(__doc__)
    parser.add_argument("--bits", type=int, default=N_ENCRYPTED)
    options = parser.parse_args()
    if options.worker:
        return worker(int(options.worker[0]))
    return apart.write(measure(options.venvs, options.bits), options.json)


def measure(venvs: Path | None, n_encrypted: int = N_ENCRYPTED) -> dict[str, Any]:
    """The sample, and what it comes to for all pairs."""
    python = apart.python_of(venvs, "venv-phe", *PACKAGES)
    sample = apart.answer(python, "bench.others.unpacked_paillier", str(n_encrypted))
    n_codes, pairs = N_POINTS * N_BITS, N_POINTS**2
    seconds = n_codes * (
        sample["seconds per encryption"] + sample["seconds per negation"]
    ) + pairs * (
        N_BITS * sample["seconds per addition"]
        + sample["seconds per fresh mask"]
        + sample["seconds per decryption"]
    )
    sent = (n_codes + pairs) * sample["bytes of a ciphertext"]
    whole = {"n": N_POINTS, "seconds": seconds, "MB": sent / 1e6}
    return {"packages": PACKAGES, "measured": sample, "extrapolated": whole}


if __name__ == "__main__":
    main()

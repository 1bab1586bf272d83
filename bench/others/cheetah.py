"""SecretFlow SPU's Cheetah: the matrix product of 0/1 matrices of two parties.

python -m bench.others.cheetah --venvs DIR [--json FILE] [--sizes 200 …] [--limit-gb 20]

Two processes on 127.0.0.1, each owner of an n × 4096 matrix, which is what a block of a Hamming
matrix needs: in rings of 32 and of 64 bits, with each input kept by its owner ("owned", an
experimental option that halves the work) or shared between both ("shared", SPU's default).
Seconds are those of the product, without starting the processes and compiling; bytes are those
that SPU's profile reports, both directions together; memory is the peak of each process. Both
processes are killed when together they take more than the limit, or after --limit-seconds.
"""

import json
import re
import socket
import subprocess
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

from bench.others import apart

PACKAGE = "spu==0.9.5"
N_BITS = 4096
POLL_SECONDS = 0.05


def worker(rank: int, n: int, field: str, placement: str, *ports: str) -> None:
    """One party."""
    import resource

    import jax.numpy as jnp
    import numpy as np
    from spu import api, libspu
    from spu.utils import frontend

    log = libspu.logging.LogOptions()
    log.system_log_path = str(Path(tempfile.gettempdir()) / f"spu-{rank}.log")
    libspu.logging.setup_logging(log)
    ring = getattr(libspu.FieldType, field)
    config = libspu.RuntimeConfig(protocol=libspu.ProtocolKind.CHEETAH, field=ring)
    config.enable_pphlo_profile = config.enable_hal_profile = True
    config.experimental_enable_colocated_optimization = placement == "owned"
    rng = np.random.default_rng(7)
    left = rng.integers(0, 2, (n, N_BITS)).astype(np.int32)
    right = rng.integers(0, 2, (N_BITS, n)).astype(np.int32)
    secret = libspu.Visibility.VIS_SECRET
    program, _ = frontend.compile(
        frontend.Kind.JAX, jnp.matmul, (left, right), {}, ["x", "y"], [secret] * 2, lambda _: ["z"]
    )
    io = api.Io(2, config)
    owners = (0, 1) if placement == "owned" else (-1, -1)
    shares = [
        io.make_shares(matrix, secret, owner)
        for matrix, owner in zip((left, right), owners, strict=True)
    ]
    parties = libspu.link.Desc()
    parties.recv_timeout_ms = parties.http_timeout_ms = 3_600_000
    for party, port in enumerate(ports):
        parties.add_party(f"party {party}", f"127.0.0.1:{port}")
    link = libspu.link.create_brpc(parties, rank)
    runtime = api.Runtime(link, config)
    for name, share in zip(program.input_names, shares, strict=True):
        runtime.set_var(name, share[rank])
    link.barrier()
    started = time.perf_counter()
    runtime.run(program)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    mine = runtime.get_var("z")
    chunks = link.gather("".join(chunk.hex() for chunk in mine.share_chunks), 0)
    wrong = None
    if rank == 0:
        own, other = (bytes.fromhex(c if isinstance(c, str) else c.decode()) for c in chunks)
        wrong = n_wrong(left @ right, own, other, field)
    print(json.dumps({"seconds": seconds, "peak GB": peak, "wrong": wrong}), flush=True)
    link.barrier()


def n_wrong(want: Any, own: bytes, other: bytes, field: str) -> list[int]:
    """How many entries of the parties' shares do not add up to the product, and by how much."""
    import numpy as np

    kind = {"FM32": np.int32, "FM64": np.int64}[field]
    n_bytes = want.size * np.dtype(kind).itemsize
    total = sum(np.frombuffer(part[-n_bytes:], dtype=kind) for part in (own, other))
    off = np.abs(total.reshape(want.shape) - want.astype(kind))
    return [int((off > 0).sum()), int(off.max())]


def resident_gb(process: subprocess.Popen[str]) -> float:
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 2**20 if found else 0.0


def free_ports(count: int) -> list[str]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def multiply(
    python: Path, n: int, field: str, placement: str, limit_gb: float, limit_seconds: float
) -> dict[str, Any]:
    """One product by two processes, or why there is none."""
    ports = free_ports(2)
    row: dict[str, Any] = {"n": n, "ring": field, "inputs": placement}
    with tempfile.TemporaryFile("w+") as log:
        parties = [
            apart.start(
                python, "bench.others.cheetah", str(rank), str(n), field, placement, *ports, to=log
            )
            for rank in range(2)
        ]
        started, most = time.perf_counter(), 0.0
        while any(party.poll() is None for party in parties):
            most = max(most, sum(resident_gb(party) for party in parties))
            late = time.perf_counter() - started > limit_seconds
            if most > limit_gb or late or any(party.poll() for party in parties):
                reason = "time" if late else "memory" if most > limit_gb else "it died by itself"
                row |= {"ended for": reason, "after seconds": time.perf_counter() - started}
                for party in parties:
                    party.kill()
            time.sleep(POLL_SECONDS)
        log.seek(0)
        said = log.read()
    row["both processes' peak GB"] = most
    if "ended for" in row:
        return row | {"exit codes": [party.returncode for party in parties]}
    answers = [json.loads(line) for line in re.findall(r'^\{"seconds".*\}$', said, re.MULTILINE)]
    sent = [int(found) for found in re.findall(r"Link details: total send bytes (\d+)", said)]
    return row | {
        "seconds": max(answer["seconds"] for answer in answers),
        "MB": sum(sent) / 1e6,
        "peak GB of each": [answer["peak GB"] for answer in answers],
        "wrong entries, by at most": next(a["wrong"] for a in answers if a["wrong"]),
    }


def main() -> None:
    parser = apart.options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 300, 400, 500])
    parser.add_argument("--rings", nargs="+", default=["FM32", "FM64"])
    parser.add_argument("--inputs", nargs="+", default=["owned", "shared"])
    parser.add_argument("--limit-gb", type=float, default=20.0)
    parser.add_argument("--limit-seconds", type=float, default=300.0)
    options = parser.parse_args()
    if options.worker:
        rank, n, *rest = options.worker
        return worker(int(rank), int(n), *rest)
    python = apart.python_of(options.venvs, "venv-spu", PACKAGE)
    rows = []
    for n, placement, ring in product(options.sizes, options.inputs, options.rings):
        rows.append(multiply(python, n, ring, placement, options.limit_gb, options.limit_seconds))
        print(rows[-1], flush=True)
    results = {"package": PACKAGE, "limit GB, both": options.limit_gb, "products": rows}
    return apart.write(results, options.json)


if __name__ == "__main__":
    main()

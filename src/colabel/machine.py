"""What this machine offers, within what it was told to use."""

import os


def n_threads() -> int:
    """Cores this process may use; `OMP_NUM_THREADS` lowers it, as it does for BLAS."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(allowed or 1, int(asked)) if asked.isdigit() else allowed or 1)

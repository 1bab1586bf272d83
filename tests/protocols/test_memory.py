"""A pair of sites with 500 points each and codes of 4096 bits fits a small machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# both sites and the server in one process, so each of them takes less than what is measured
RUN = """
import json, sys
from pathlib import Path
from sessions import Consortium, draw_codes
codes = draw_codes((500, 500), 4096)
_, found = Consortium(codes).distances(sys.argv[1], 4096)
assert found[0, 500] == 0 and found[0, 501] == 4096
# ru_maxrss would also know the process that started this one
status = Path("/proc/self/status").read_text()
print(json.dumps(1024 * int(status.split("VmHWM:")[1].split()[0])))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(("way", "bound"), [("lattice", 10**9), ("ot", 2 * 10**9)])
def test_peak_memory(way, bound):
    done = subprocess.run(  # noqa: S603 (our own code)
        [sys.executable, "-c", RUN, way],
        cwd=Path(__file__).parent,
        env=os.environ | {"OMP_NUM_THREADS": "2"},  # memory grows with the threads
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 10**8 < json.loads(done.stdout) < bound

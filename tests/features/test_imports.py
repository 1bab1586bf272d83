import subprocess
import sys


def test_torch_is_imported_only_when_needed() -> None:
    code = "import sys, colabel.features; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603

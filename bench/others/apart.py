"""Runs a comparison with the Python of another virtual environment, which it makes if missing.

A comparison is one file: started plainly it is the driver, which has this project's packages and
writes the results; started with `--worker` it is what runs in the other environment. So a
comparison imports the other library in its worker's functions only.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]


def options(doc: str | None) -> argparse.ArgumentParser:
    """What every comparison can be told."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--venvs", type=Path, help="the directory for virtual environments")
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--worker", nargs="*", help=argparse.SUPPRESS)
    return parser


def python_of(venvs: Path | None, name: str, *packages: str) -> Path:
    """The Python of the environment of this name, with these packages installed by pip."""
    if venvs is None:
        sys.exit("--venvs says where the virtual environments may be made")
    home = venvs / name
    python, done = home / "bin" / "python", home / "installed"
    wanted = "\n".join(packages)
    if not done.exists() or done.read_text() != wanted:
        run = [sys.executable, "-m", "venv", str(home)]
        subprocess.run(run, check=True)  # noqa: S603  our own arguments
        run = [str(python), "-m", "pip", "install", "--quiet", *packages]
        subprocess.run(run, check=True)  # noqa: S603
        done.write_text(wanted)
    return python


def start(
    python: Path,
    module: str,
    *arguments: str,
    to: IO[str] | int = subprocess.PIPE,
    processes: int = 1,
) -> subprocess.Popen[str]:
    """A worker; what it prints goes there. Several processes are torchrun's."""
    several = ["-m", "torch.distributed.run", f"--nproc-per-node={processes}"]
    return subprocess.Popen(  # noqa: S603
        [str(python), *several * (processes > 1), "-m", module, "--worker", *arguments],
        cwd=ROOT,
        text=True,
        stdout=to,
        stderr=None if to == subprocess.PIPE else subprocess.STDOUT,
    )


def answer(python: Path, module: str, *arguments: str, processes: int = 1) -> dict[str, Any]:
    """What a worker prints last, which is JSON."""
    worker = start(python, module, *arguments, processes=processes)
    out, _ = worker.communicate()
    if worker.returncode:
        sys.exit(f"{module} ended with {worker.returncode}")
    return json.loads(out.splitlines()[-1])


def write(results: dict[str, Any], path: Path | None) -> None:
    """Print the results, and keep them if asked to."""
    from bench.cells import machine  # not at the top: workers do not have this project's packages

    text = json.dumps(results | {"machine": machine()}, indent=2)
    print(text)
    if path:
        path.write_text(text + "\n")

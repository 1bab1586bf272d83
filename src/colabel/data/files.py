"""Write a file completely or not at all."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from colabel.errors import InputError, Problem


def write_atomically(path: str | Path, write: Callable[[BinaryIO], None]) -> None:
    """Call `write` on a hidden neighbour of `path`, then rename it into place.

    If `write` fails, `path` is what it was before and nothing is left behind.
    """
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise InputError(
            Problem(f"the folder {target.parent} does not exist", f"Create it to write {path}.")
        )
    partial = target.with_name(f".{target.name}.{secrets.token_hex(6)}.partial")
    try:
        with partial.open("xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)

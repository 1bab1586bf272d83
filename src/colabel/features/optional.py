"""Packages that only some features need, and the weights that they carry."""

import hashlib
import importlib
from pathlib import Path
from types import ModuleType

from colabel.errors import InputError, Problem


def require(module: str, extra: str) -> ModuleType:
    """Import a module of an extra, or say which extra to install."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InputError(
            Problem(f"{error.name} is not installed", f"Run: pip install 'colabel[{extra}]'.")
        ) from error


def weights(path: Path, sha256: str) -> Path:
    """The path, once its content is known to be what every other site has too."""
    if not path.is_file():
        raise InputError(Problem(f"{path} is missing", "Reinstall the package that carries it."))
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise InputError(
            Problem(
                f"{path} is not the file that colabel knows: its SHA-256 is {found}, not {sha256}",
                "Reinstall the package that carries it; other weights make sites incomparable.",
            )
        )
    return path

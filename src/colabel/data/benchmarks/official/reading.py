"""How official files are read: which must be there, what their checksums and counts must be."""

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.errors import InputError, Problem

AGAIN = "Take the official file again."
WHOLE = "Take the whole official file again, or give allow_partial=True to read what is there."


@dataclass(frozen=True)
class Reading:
    """The folder of one data set, and how strictly it is held against the official one.

    With `allow_partial` files may be missing and counts and checksums are not compared; what is
    read must still have the right format. `side` is the size of images that come in all sizes.
    """

    folder: Path
    allow_partial: bool = False
    side: int = 0

    def find(self, name: str) -> Path | None:
        """The file, plain or compressed by gzip, if there is one."""
        for path in (self.folder / name, self.folder / f"{name}.gz"):
            if path.is_file():
                return path
        return None

    def path(self, name: str) -> Path:
        """The file, which must be there."""
        found = self.find(name)
        if found is None:
            raise InputError(_missing(self.folder, name))
        return found

    def present(self, names: Sequence[str]) -> list[str]:
        """All of these files, which must be there; the present ones if a part is allowed."""
        found = [name for name in names if self.find(name)]
        if len(found) < len(names) and not (self.allow_partial and found):
            raise InputError(_missing(self.folder, n) for n in names if n not in found)
        return found

    def content(self, name: str, checksum: str = "") -> bytes:
        """The bytes of a file, decompressed; the checksum is that of the decompressed bytes."""
        path = self.path(name)
        data = path.read_bytes()
        if path.suffix == ".gz" and not name.endswith(".gz"):
            try:
                data = gzip.decompress(data)
            except (EOFError, OSError, zlib.error) as error:
                raise InputError(
                    Problem(f"{path} cannot be decompressed: {error}", AGAIN)
                ) from None
        if checksum and not self.allow_partial:
            kind, _, expected = checksum.partition(":")
            _compare(path, kind, expected, hashlib.new(kind, data).hexdigest())
        return data

    def verified(self, name: str, checksum: str) -> Path:
        """The path of a file too large to be held, once its checksum was compared."""
        path = self.path(name)
        if not self.allow_partial:
            kind, _, expected = checksum.partition(":")
            with path.open("rb") as file:
                _compare(path, kind, expected, hashlib.file_digest(file, kind).hexdigest())
        return path

    def count(self, expected: Mapping[str, int], found: Mapping[str, int]) -> None:
        """Compare how much of each was read with the official numbers."""
        wrong = (
            [] if self.allow_partial else [k for k, n in expected.items() if found.get(k, 0) != n]
        )
        if wrong:
            raise InputError(
                Problem(
                    f"{self.folder}: expected {expected[k]:,} {k}, found {found.get(k, 0):,}", WHOLE
                )
                for k in wrong
            )


def split_records(path: Path, data: bytes, size: int) -> NDArray[np.uint8]:
    """Bytes as records of equal size, one row each."""
    if len(data) % size or not data:
        what = f"{path} has {len(data):,} bytes, which is not a number of records of {size:,} bytes"
        raise InputError(Problem(f"{what}: it is cut off, or another file", AGAIN))
    return np.frombuffer(data, np.uint8).reshape(-1, size)


def check_labels(path: Path, labels: NDArray[Any], low: int, high: int) -> None:
    """Refuse labels that the format does not know, and say where the first one is."""
    wrong = np.flatnonzero((labels < low) | (labels > high))
    if len(wrong):
        first = int(wrong[0])
        what = f"{path} has the label {labels[first]}, and labels go from {low} to {high}"
        raise InputError(Problem(what, AGAIN, row=first))


def check_words(path: Path, words: Sequence[str], known: Iterable[str]) -> None:
    """The same for labels that are words."""
    allowed = tuple(known)
    for row, word in enumerate(words):
        if word not in allowed:
            what = f"{path} has the label {word!r}, and labels are {', '.join(allowed)}"
            raise InputError(Problem(what, AGAIN, row=row))


def broken(path: Path, why: str, row: int | None = None) -> InputError:
    """The error for a file that is not in its format."""
    return InputError(Problem(f"{path} is not in its official format: {why}", AGAIN, row=row))


def _missing(folder: Path, name: str) -> Problem:
    fix = "Put the official file there, or give allow_partial=True if other files are enough."
    return Problem(f"{folder} has no {name}", fix)


def _compare(path: Path, kind: str, expected: str, found: str) -> None:
    if found != expected:
        what = f"{path} is not the official file: its {kind.upper()} is {found}, not {expected}"
        raise InputError(Problem(what, WHOLE))

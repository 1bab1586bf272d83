"""One data set in its official files: where they may lie, and what to say when they do not."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from colabel.data.benchmarks.benchmark import Benchmark
from colabel.data.benchmarks.official.reading import Reading
from colabel.errors import InputError, Problem

_NO_PICKLE = (
    "Python objects in files can run any program when they are read, so colabel never reads them."
)


@dataclass(frozen=True)
class Official:
    """`folders` are looked at in order, below the data folder; one that has any of `telling` is it.

    `pickled` are files below the data folder of a version that is refused, and `instead` says
    what to take.
    """

    name: str
    read: Callable[[Reading], Benchmark]
    folders: tuple[str, ...]
    telling: tuple[str, ...]
    origin: str
    side: int | None = None
    pickled: tuple[str, ...] = ()
    instead: str = ""
    is_here: Callable[[Path], bool] | None = None

    def find(self, data_folder: Path) -> Path | None:
        """The folder with the official files, if there is one."""
        for name in self.folders:
            folder = data_folder / name
            if any((folder / telling).exists() for telling in self.telling) and (
                self.is_here is None or self.is_here(folder)
            ):
                return folder
        return None

    def load(self, folder: Path, allow_partial: bool, side: int | None) -> Benchmark:
        """Read the files in the folder that was found."""
        found = self.read(Reading(folder, allow_partial, self._side(side)))
        part = " (a part may be missing)" if allow_partial else ""
        return replace(found, source=f"{found.source}, official files{part}")

    def absent(self, data_folder: Path) -> Problem:
        """What is missing and where it belongs; or that only a pickled version is there."""
        for path in (data_folder / pickled for pickled in self.pickled):
            if path.exists():
                what = f"{path} holds pickled Python objects"
                return Problem(what, f"{_NO_PICKLE} {self.instead}")
        files, folders = " or ".join(self.telling), " or ".join(f"{f}/" for f in self.folders)
        return Problem(
            f"{data_folder} has no official files of {self.name}: looked for {files} in {folders}",
            f"Get them from {self.origin} and unpack them there; colabel downloads nothing.",
        )

    def _side(self, given: int | None) -> int:
        if given is None:
            return self.side or 0
        if self.side is None:
            what = f"the points of {self.name} have a size of their own, and side={given} was given"
            raise InputError(Problem(what, "Leave out `side`."))
        if given < 1:
            raise InputError(Problem(f"side={given} is no size of an image", "Give 1 or more."))
        return given

"""Image files of all sizes as square images of one size, decoded when asked for."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colabel.data.benchmarks.official.reading import Reading
from colabel.data.lazy import LazyPoints, Rows
from colabel.errors import InputError, Problem

SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})


def pictures(
    paths: Sequence[Path], side: int, *, colour: bool = True, crop: bool = False
) -> LazyPoints:
    """The images as (n, side, side, 3), or (n, side, side) in grey.

    They are stretched to the square; with `crop` they are shrunk to it and what sticks out on
    both sides is cut off, so that proportions stay.
    """
    _pillow()
    tail = (3,) if colour else ()
    mode = "RGB" if colour else "L"

    def read(rows: Rows) -> NDArray[np.generic]:
        found = np.empty((len(rows), side, side, *tail), np.uint8)

        def fill(place: int) -> None:
            found[place] = _decode(paths[rows[place]], side, mode, crop)

        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(fill, range(len(rows))))
        return found

    return LazyPoints((len(paths), side, side, *tail), np.dtype(np.uint8), read)


def images_in(folder: Path) -> list[Path]:
    """The image files of a folder by name; hidden files and others are passed over."""
    if not folder.is_dir():
        raise InputError(Problem(f"there is no folder {folder}", "Unpack the data set again."))
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in SUFFIXES and not path.name.startswith(".")
    )


def there(reading: Reading, paths: Sequence[Path]) -> NDArray[np.int64]:
    """Which of the listed images are there: all of them, unless a part is allowed."""
    kept = [k for k, path in enumerate(paths) if path.is_file()]
    if not kept or (len(kept) < len(paths) and not reading.allow_partial):
        lost = next((path for path in paths if not path.is_file()), reading.folder)
        what = f"{len(paths) - len(kept):,} of {len(paths):,} listed images are missing, as {lost}"
        fix = "Unpack all images, or give allow_partial=True if those that are there are enough."
        raise InputError(Problem(what, fix))
    return np.array(kept, np.int64)


def _decode(path: Path, side: int, mode: str, crop: bool) -> NDArray[np.uint8]:
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            # lets the JPEG decoder skip detail that is then averaged away anyway
            image.draft(mode, (2 * side, 2 * side))
            shown = image.convert(mode)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        what = f"{path} cannot be read as an image: {error}"
        raise InputError(Problem(what, "Take the official file again.")) from error
    bilinear = Image.Resampling.BILINEAR
    if crop:
        return np.asarray(ImageOps.fit(shown, (side, side), bilinear))
    return np.asarray(shown.resize((side, side), bilinear))


def _pillow() -> None:
    try:
        import PIL  # noqa: F401 - only asked whether it is there
    except ModuleNotFoundError as error:
        what = "images are decoded by Pillow, which is not installed"
        raise InputError(Problem(what, "Run: pip install 'colabel[images]'.")) from error

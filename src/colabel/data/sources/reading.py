"""Read files into sites that agree on columns and classes, or say everything that is wrong."""

import difflib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from colabel.data.checks import NO_LABEL, check_site, check_together, compare_shapes
from colabel.data.notes import Note, listed, notes_on
from colabel.data.site import Site, Sites
from colabel.data.sources.arrays import read_npy, read_npz
from colabel.data.sources.labels import all_labels, class_numbers
from colabel.data.sources.raw import RawFile, RawSite, Roles
from colabel.data.sources.tables import read_csv, read_parquet
from colabel.errors import InputError, Problem, did_you_mean

Paths = str | Path | Sequence[str | Path]

_READERS: Mapping[str, Callable[[Path, Roles], RawFile]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".npy": read_npy,
}
_BROKEN = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with the input (`problems`) and what is worth knowing (`notes`)."""

    sites: Sites | None
    problems: tuple[Problem, ...]
    notes: tuple[Note, ...]


def read_sites(
    paths: Paths,
    *,
    site_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    classes: Sequence[str | int] | None = None,
) -> Sites:
    """Read one file per site, or one file with a site column; a folder means its files.

    Columns default to "label" and "id". Classes are the sorted union of all labels unless given.
    Raises `InputError` with every problem.
    """
    found = diagnose(
        paths,
        site_column=site_column,
        label_column=label_column,
        id_column=id_column,
        classes=classes,
    )
    if found.sites is None or found.problems:
        raise InputError(found.problems)
    return found.sites


def diagnose(
    paths: Paths,
    *,
    site_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    classes: Sequence[str | int] | None = None,
) -> Diagnosis:
    """Read like `read_sites`, but collect the problems and notes instead of raising."""
    roles = Roles(site_column, label_column, id_column)
    listing, problems = _files(paths)
    files = [_read(path, roles) for path in listing]
    raw = [site for file in files for site in file.sites]
    problems += [problem for file in files for problem in file.problems]
    unnamed = list(_check_label_column(files, label_column))
    problems += [*_check_names(raw), *unnamed]
    raw, more = _align(raw)
    problems += more
    names = _classes(files, raw, classes)
    sites, more = _build(raw, names)
    problems += more
    # a label may be where nothing could be read
    unread = len(raw) < len(listing) or unnamed or any(_labels_unread(file) for file in files)
    problems += [p for p in check_together(sites) if not (unread and p.what == NO_LABEL)]
    if not raw and not problems:
        problems.append(Problem("the files hold no rows", "Give at least one row per site."))
    if problems:
        return Diagnosis(None, tuple(problems), ())
    whole = Sites(tuple(sites), names, raw[0].columns)
    return Diagnosis(whole, (), tuple(notes_on(whole)))


def _files(paths: Paths) -> tuple[list[Path], list[Problem]]:
    given = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    files, problems = list[Path](), list[Problem]()
    for path in given:
        if path.is_dir():
            inside = sorted(p for p in path.iterdir() if _is_data(p))
            files += inside
            if not inside:
                problems.append(Problem(f"{path} holds no data files", _formats()))
        elif not path.exists():
            problems.append(_not_there(path))
        elif path.suffix.lower() not in _READERS:
            problems.append(Problem(f"{path.name} is of no known format", _formats()))
        else:
            files.append(path)
    if not given:
        problems.append(Problem("no files were given", "Give one file per site."))
    return files, problems


def _is_data(path: Path) -> bool:
    hidden = path.name.startswith(".")  # what editors and file systems leave behind
    return path.is_file() and path.suffix.lower() in _READERS and not hidden


def _formats() -> str:
    return f"Known: {', '.join(_READERS)}."


def _not_there(path: Path) -> Problem:
    around = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, around, n=1)
    fix = f"Did you mean {near[0]!r}?" if near else "Check the path."
    return Problem(f"{path} does not exist", fix)


def _read(path: Path, roles: Roles) -> RawFile:
    try:
        return _READERS[path.suffix.lower()](path, roles)
    except _BROKEN as error:
        if "Object arrays" in str(error):
            what, fix = "holds Python objects", "Save numbers and words as plain arrays."
        elif "pickled" in str(error):  # what NumPy suspects wherever its own mark is missing
            what, fix = "cannot be read: no NumPy file", "Write or copy it again."
        elif path.suffix.lower() in (".csv", ".tsv") and not _is_utf8(path):
            what, fix = "cannot be read: it is not UTF-8 text", "Save it with the encoding UTF-8."
        else:
            what, fix = (
                f"cannot be read: {str(error).rstrip('.')}",
                "It may be cut short: write or copy it again.",
            )
        return RawFile(path, problems=(Problem(f"{path.name} {what}", fix, path.stem),))


def _is_utf8(path: Path) -> bool:
    try:
        path.read_text("utf-8")
    except UnicodeDecodeError:
        return False
    except OSError:
        pass  # then the encoding is not what is wrong
    return True


def _labels_unread(file: RawFile) -> bool:
    return any(problem.column in file.has for problem in file.problems)


def _check_names(raw: Sequence[RawSite]) -> Iterator[Problem]:
    origins: dict[str, list[str]] = {}
    for site in raw:
        origins.setdefault(site.name, []).append(str(site.origin))
    for name, files in origins.items():
        if len(files) > 1:
            yield Problem(
                f"{' and '.join(files)} are both of this site",
                "Rename one of the files, or put a site into one file.",
                name,
            )


def _check_label_column(files: Sequence[RawFile], name: str | None) -> Iterator[Problem]:
    """A named label column must be somewhere; where it is not, its name must not look mistyped."""
    lacking = [file for file in files if file.column_names and name not in file.has]
    if name is None or not lacking:
        return
    if not any(file.has for file in files):
        known = sorted({column for file in files for column in file.column_names})
        yield Problem(f"no file has a label column {name!r}", did_you_mean(name, known))
        return
    for file in lacking:
        if near := difflib.get_close_matches(name, file.column_names, n=1):
            what = f"{file.path.name} has no label column {name!r}"
            yield Problem(what, f"Did you mean {near[0]!r}?", file.path.stem)


def _align(raw: Sequence[RawSite]) -> tuple[list[RawSite], list[Problem]]:
    """Give all sites the columns of the first, in its order."""
    named = next((site for site in raw if site.columns is not None), None)
    if named is None or named.columns is None:
        return list(raw), []
    aligned, problems = list[RawSite](), list[Problem]()
    for site in raw:
        if site.columns is None or site.columns == named.columns:
            aligned.append(site)
        elif sorted(site.columns) == sorted(named.columns):
            aligned.append(_reorder(site, site.columns, named.columns))
        else:
            aligned.append(site)
            problems += _differences(named, site)
    return aligned, problems


def _reorder(site: RawSite, old: Sequence[str], new: tuple[str, ...]) -> RawSite:
    points = site.points[:, [old.index(name) for name in new]]
    return RawSite(site.name, site.origin, points, new, site.labels, site.ids, site.rows)


def _differences(first: RawSite, other: RawSite) -> Iterator[Problem]:
    ours, theirs = first.columns or (), other.columns or ()
    missing = [repr(name) for name in ours if name not in theirs]
    extra = [repr(name) for name in theirs if name not in ours]
    parts = [f"lacks {listed(missing)}"] * bool(missing) + [f"adds {listed(extra)}"] * bool(extra)
    yield Problem(
        f"{' and '.join(parts)}, compared with site {first.name}",
        "All sites need the same columns.",
        other.name,
    )


def _classes(
    files: Sequence[RawFile], raw: Sequence[RawSite], given: Sequence[str | int] | None
) -> tuple[str, ...]:
    if given is not None:
        return tuple(str(name) for name in given)
    declared = {file.classes for file in files}
    only = declared.pop() if len(declared) == 1 else None
    return only if only is not None else all_labels(raw)


def _build(raw: Sequence[RawSite], classes: tuple[str, ...]) -> tuple[list[Site], list[Problem]]:
    sites, problems = list[Site](), list[Problem]()
    for name in sorted({c for c in classes if classes.count(c) > 1}):
        problems.append(Problem(f"class {name!r} is listed twice", "List every class once."))
    for one in raw:
        labels, unknown = class_numbers(one, classes)
        site = Site(one.name, one.points, labels, one.ids)
        sites.append(site)
        problems += [*check_site(site, len(classes), one.columns, one.rows), *unknown]
    filled = [(s, r) for s, r in zip(sites, raw, strict=True) if len(s)]
    for site, one in filled[1:]:
        if one.columns is None or filled[0][1].columns is None:
            problems += compare_shapes(filled[0][0], site)
    return sites, problems

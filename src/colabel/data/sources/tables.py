"""CSV, TSV and Parquet: one row per point, one column per feature.

Numbers, yes/no columns and decimals are features and become float64. The column "label" holds the
labels and the column "id" the ids unless other names are given.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from colabel.data.sources.labels import label_names
from colabel.data.sources.raw import RawFile, RawSite, Roles, missing_sites, split_by_site
from colabel.errors import InputError, Problem, did_you_mean

_LARGEST_BLOCK = 2**31 - 1
_ENCODE = (
    "Encode it as numbers, or name it as the label, site or id column"
    " (label_column, site_column, id_column)."
)


def read_csv(path: Path, roles: Roles) -> RawFile:
    """Comma-separated values with a header line; tab-separated for .tsv."""
    words = [c for c in (roles.label or "label", roles.id or "id", roles.site) if c]
    table = pyarrow.csv.read_csv(
        path,
        # the types of the columns are guessed from one block: let that be the file
        read_options=pyarrow.csv.ReadOptions(
            block_size=min(path.stat().st_size + 1, _LARGEST_BLOCK)
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter="\t" if path.suffix.lower() == ".tsv" else ",", newlines_in_values=True
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pa.string() for name in words}, strings_can_be_null=False
        ),
    )
    return _from_table(path, table, roles)


def read_parquet(path: Path, roles: Roles) -> RawFile:
    """One Parquet file."""
    table = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True).read()
    # pandas stores its row index as a column of this name: it is no feature
    index = [name for name in table.column_names if name.startswith("__index_level_")]
    return _from_table(path, table.drop_columns(index), roles)


def _from_table(path: Path, table: pa.Table, roles: Roles) -> RawFile:
    names: list[str] = table.column_names
    label, ids = roles.label or "label", roles.id or "id"
    problems = [*_check_header(path, names), *_check_roles(path, names, roles)]
    if problems:
        return RawFile(path, problems=tuple(problems), column_names=tuple(names))

    features = [name for name in names if name not in {label, ids, roles.site}]
    points = np.zeros((table.num_rows, len(features)))
    for c, name in enumerate(features):
        values = _numbers(table.column(name))
        if values is None:
            problems.append(_not_numbers(path.stem, name, table.column(name)))
        else:
            points[:, c] = values
    try:
        labels = _labels(table, label)
    except InputError as error:
        problems += [replace(p, site=path.stem) for p in error.problems]
        labels = np.full(table.num_rows, "")
    site_of_row = _words(table.column(roles.site)) if roles.site else None
    problems += missing_sites(path.name, site_of_row, roles.site or "")
    whole = RawSite(
        path.stem,
        path,
        points,
        tuple(features),
        labels,
        _words(table.column(ids)) if ids in names else None,
        np.arange(table.num_rows),
    )
    return RawFile(
        path,
        tuple(split_by_site(whole, site_of_row)),
        tuple(problems),
        tuple(names),
        has=frozenset({label} & set(names)),
    )


def _check_header(path: Path, names: list[str]) -> Iterator[Problem]:
    site = path.stem
    for name, times in Counter(names).items():
        if times > 1 and name:
            yield Problem(f"{times} columns have this name", "Rename them.", site, column=name)
    if "" in names:
        yield Problem(
            f"column {names.index('')} has no name",
            "Name it; if it is a row index, write the file without it.",
            site,
        )
    if len(names) == 1 and (mark := next((m for m in ";\t|" if m in names[0]), None)):
        yield Problem(f"the columns are separated by {mark!r}", "Separate them by commas.", site)


def _check_roles(path: Path, names: list[str], roles: Roles) -> Iterator[Problem]:
    for what, name in (("site", roles.site), ("id", roles.id)):
        if name is not None and name not in names:
            yield Problem(f"{path.name} has no {what} column {name!r}", did_you_mean(name, names))


def _numbers(column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    is_number = (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )
    if not is_number:
        return None
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    return values


def _not_numbers(site: str, name: str, column: pa.ChunkedArray) -> Problem:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return Problem(f"the column is of type {column.type}", _ENCODE, site, column=name)
    row, text = next(
        ((i, v) for i, v in enumerate(column.to_pylist()) if v is not None and not _is_number(v)),
        (None, ""),
    )
    what = f"the column holds text, such as {text!r}" if text else "the column holds text"
    return Problem(what, _ENCODE, site, row, name)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return not text.strip()
    return True


def _words(column: pa.ChunkedArray) -> NDArray[np.str_]:
    """Any column as text, "" where null."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values = ["" if value is None else str(value) for value in column.to_pylist()]
    return np.char.strip(np.array(values, dtype=np.str_))


def _labels(table: pa.Table, name: str) -> NDArray[np.str_]:
    if name not in table.column_names:
        return np.full(table.num_rows, "")
    column = table.column(name)
    kind = column.type
    if pa.types.is_floating(kind):
        return label_names(column.cast(pa.float64(), safe=False).to_numpy(), name)
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for allowed in ("is_string", "is_large_string", "is_integer", "is_boolean", "is_null"):
        if getattr(pa.types, allowed)(kind):
            return label_names(_words(column), name)
    raise InputError(
        Problem(f"the labels are of type {kind}", "Use words or whole numbers.", column=name)
    )

"""Whatever a person has in hand: cross-tabs, pivots, counts by an index, arrays with names.

What is cells by its construction becomes one row a cell, with the name of its count; everything
else becomes a frame of rows, which is looked at like any other.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.frames import label
from discreet.data.source import engine_errors, from_arrow
from discreet.data.spark import is_frame, is_session
from discreet.data.telling import COUNTS, IDENTIFIERS, PERHAPS, tokens
from discreet.errors import DataError, WrongKind

ARRAY = (
    "an array of counts needs names: write dc.Table.of(counts, Sex=['f', 'm'], Town=[...]), one "
    "name and its categories for each axis."
)


@dataclass(frozen=True)
class Handed:
    """A frame, and the column of counts if each row is a cell."""

    data: Any
    count: str | None = None


def in_hand(data: Any, *, count: str | None = None, crosstab: str | None = None) -> Handed:
    """`data` as a frame of rows or of cells; `crosstab` names what stands across.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]})
    >>> in_hand(people.groupby(["Sex", "Ill"]).size()).count
    'n'
    """
    if _is(data, "xarray", "DataArray"):
        return _series(_from_xarray(data), count)
    if _is(data, "pandas", "Series"):
        return _series(data, count)
    if _is(data, "pandas", "DataFrame"):
        return _frame(data, count, crosstab)
    if _is(data, "polars", "Series"):
        return Handed(data.to_frame(data.name or "value"))
    if _is(data, "duckdb", "DuckDBPyRelation"):
        return Handed(data.to_arrow_table())
    if is_session(data) or is_frame(data):
        return Handed(data)
    if hasattr(data, "read") and not isinstance(data, type):
        return Handed(_from_open_file(data))
    if isinstance(data, np.ndarray):
        return Handed(_from_array(data))
    if isinstance(data, Mapping) or (isinstance(data, list) and data and _is_rows(data)):
        return Handed(_from_python(data))
    return Handed(data)


def _is(data: object, library: str, kind: str) -> bool:
    """Is it of a library that may not be installed?"""
    found = getattr(sys.modules.get(library), kind, None)
    return found is not None and isinstance(data, found)


def _from_open_file(data: Any) -> Any:
    """What is left to read of an open file, by its name or its first bytes."""
    from discreet.data.sources import open_source

    try:
        content = data.read()
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"cannot read from the open file: {error}; give its path.") from None
    if isinstance(content, str):
        content = content.encode()
    if not isinstance(content, bytes | bytearray):
        raise DataError(f"cannot read records from a {type(data).__name__}; give a path.")
    called = Path(name).name if isinstance(name := getattr(data, "name", None), str) else ""
    if not Path(called).suffix:
        called = "data.parquet" if content[:4] == b"PAR1" else "data.csv"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / called
        path.write_bytes(bytes(content))
        source = open_source(path)
        with engine_errors(source.name):
            rows = source.records.to_pyarrow()
    made = from_arrow(rows, source.orders, source.name)
    return replace(made, codebook=source.codebook)


def _is_rows(data: list[Any]) -> bool:
    return all(isinstance(row, Mapping) for row in data)


def _from_python(data: Any) -> Any:
    """A dictionary of columns, or a list of rows."""
    import pandas as pd

    if isinstance(data, Mapping):
        if not data:
            raise DataError("the dictionary is empty; give columns by their names.")
        single = [name for name, value in data.items() if np.ndim(value) == 0]
        if single or not all(isinstance(name, str) for name in data):
            raise DataError(
                f"a dictionary must have names of columns and lists of values; {next(iter(data))!r}"
                f" has {data[next(iter(data))]!r}. Counts by cell need a column for each variable."
            )
    try:
        return pd.DataFrame(data)
    except ValueError as error:
        raise DataError(f"cannot read the columns: {error}; give lists of one length.") from None


def _from_array(data: Any) -> Any:
    """Structured and record arrays have names of their own."""
    import pandas as pd

    if data.dtype.names is None:
        raise DataError(ARRAY)
    return pd.DataFrame({name: data[name].tolist() for name in data.dtype.names})


def _from_xarray(data: Any) -> Any:
    """A cell for each combination of coordinates."""
    import pandas as pd

    if not data.dims:
        raise DataError("the array has no dimensions; give counts with one for each variable.")
    if bare := [str(dim) for dim in data.dims if dim not in data.coords]:
        raise DataError(
            f"dimension {bare[0]!r} of the array has no categories; give it coordinates, as in "
            f".assign_coords({bare[0]}=[...])."
        )
    levels = [pd.Index(np.asarray(data[dim].values), name=str(dim)) for dim in data.dims]
    index = pd.MultiIndex.from_product(levels) if len(levels) > 1 else levels[0]
    return pd.Series(np.asarray(data.values).ravel(), index, name=data.name)


def _series(data: Any, count: str | None) -> Handed:
    """Counts by a named index, as groupby().size() and value_counts() give; else one column."""
    index, called = data.index, "" if data.name is None else str(data.name)
    if not _named(index):
        if _plain(index):
            return Handed(data.to_frame(called or "value"))
        raise DataError(
            "the index of the series has no name; give it one with .rename_axis('Town'), or drop "
            "it with .reset_index(drop=True)."
        )
    if not index.is_unique:
        return Handed(data.to_frame(called or "value").reset_index())
    shown = called.strip().casefold()
    if called and shown not in COUNTS | PERHAPS | {"proportion"} and count != called:
        raise WrongKind(
            lambda say: (
                f"the series has one {called!r} for each {_listed(index)}: is that a count? Say "
                f"{say('count', called)}, or drop the index with .reset_index(drop=True)."
            )
        )
    free = _free(called or "n", index.names)
    _check_counts(data.to_numpy(), f"the series has {{}} by {_listed(index)}")
    return Handed(_with_index(data.to_frame(free)), free)


def _frame(data: Any, count: str | None, crosstab: str | None) -> Handed:
    """A cross-tab by its named rows and columns; an index of categories becomes columns."""
    index, across = data.index, data.columns
    rows, columns = _named(index), _named(across)
    if across.nlevels > 1 and not (rows and columns):
        raise DataError(
            "the frame has several levels of columns, and not all levels of its index and columns "
            "have names; name them with .rename_axis(index=[...], columns=[...])."
        )
    if rows and columns and count is None:
        return _crosstab(data, crosstab)
    if rows and across.nlevels == 1 and crosstab is not None:
        return _crosstab(data.rename_axis(columns=crosstab), crosstab)
    if rows and not _row_names(index):
        return Handed(_with_index(data))
    if not rows and not _plain(index) and _holds_counts(data):
        raise DataError(
            "the frame has categories in an index without a name, which would be lost; give it a "
            "name with .rename_axis('Town'), or drop it with .reset_index(drop=True)."
        )
    return Handed(data.reset_index(drop=True))


def _crosstab(data: Any, crosstab: str | None) -> Handed:
    """Each combination of a row and a column is a cell."""
    index, across = data.index, data.columns
    if crosstab is not None:
        if across.nlevels > 1:
            raise DataError(
                f"the columns of the frame have the names {_listed(across)}; leave out crosstab."
            )
        across = across.rename(crosstab)
    names = [*map(str, index.names), *map(str, across.names)]
    if len({name.casefold() for name in names}) < len(names):
        raise DataError(
            f"the rows and columns of the frame share a name among {', '.join(map(repr, names))}; "
            "rename one with .rename_axis(columns='...')."
        )
    _check_counts(data.to_numpy(), f"the cross-tab has {{}} by {', '.join(map(repr, names))}")
    free = _free("n", names)
    made = _level_columns(index, np.repeat(np.arange(len(index)), len(across)))
    made |= _level_columns(across, np.tile(np.arange(len(across)), len(index)))
    import pandas as pd

    return Handed(pd.DataFrame(made | {free: data.to_numpy().ravel()}), free)


def _level_columns(index: Any, places: Any) -> dict[str, Any]:
    """The levels of an index as columns, with their order."""
    import pandas as pd

    found: dict[str, Any] = {}
    for level, name in enumerate(index.names):
        values = index.get_level_values(level)
        if isinstance(values.dtype, pd.CategoricalDtype):
            order = list(map(label, values.categories))
        else:
            order = list(dict.fromkeys(map(label, values)))
        found[str(name)] = pd.Categorical.from_codes(
            [order.index(label(value)) if label(value) else -1 for value in values[places]],
            [text for text in order if text],
        )
    return found


def _with_index(data: Any) -> Any:
    """A frame whose index became columns, in front."""
    taken = {str(name).casefold() for name in data.columns}
    if both := [str(name) for name in data.index.names if str(name).casefold() in taken]:
        raise DataError(
            f"the frame has {both[0]!r} in its index and among its columns; rename one, or drop "
            "the index with .reset_index(drop=True)."
        )
    return data.reset_index()


def _check_counts(values: Any, what: str) -> None:
    """Whole numbers from 0 on, and nothing else."""
    try:
        numbers = np.asarray(values, float)
    except (TypeError, ValueError):
        raise DataError(f"{what.format('other values than numbers')}; give counts.") from None
    if np.isnan(numbers).any():
        raise DataError(
            f"{what.format('missing values')}; write .fillna(0) if nobody is there, and the counts "
            "if they are hidden."
        )
    wrong = numbers[(numbers < 0) | (numbers % 1 != 0) | ~np.isfinite(numbers)]
    if len(wrong):
        raise DataError(
            f"{what.format(f'{wrong[0]:g}')}, which counts nobody: make it of counts, without "
            "normalize or a mean."
        )


def _holds_counts(data: Any) -> bool:
    try:
        numbers = data.to_numpy(dtype=float)
    except (TypeError, ValueError):
        return False
    return bool(numbers.size) and bool(((numbers >= 0) & (numbers % 1 == 0)).all())


def _named(index: Any) -> bool:
    return all(name is not None for name in index.names)


def _plain(index: Any) -> bool:
    """Numbers of rows, which say nothing."""
    return index.nlevels == 1 and index.inferred_type in ("integer", "empty")


def _row_names(index: Any) -> bool:
    """An index that tells persons apart by its name: id."""
    return index.nlevels == 1 and index.is_unique and bool(tokens(str(index.name)) & IDENTIFIERS)


def _listed(index: Any) -> str:
    return ", ".join(repr(str(name)) for name in index.names)


def _free(name: str, taken: Any) -> str:
    used = {str(other).casefold() for other in taken}
    while name.casefold() in used:
        name += "_"
    return name

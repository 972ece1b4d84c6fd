"""Frames of pandas, polars and Arrow, brought to plain Arrow columns."""

from __future__ import annotations

import datetime
import decimal
import sys
from typing import Any

from discreet.errors import DataError


def label(value: object) -> str:
    """A value as the name of a category, the same from every engine; missing values have none.

    >>> label(2.0), label(decimal.Decimal("1.50")), label(True), label(None)
    ('2', '1.5', 'true', '')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC)  # engines show it in zones of their own
    if isinstance(value, bytes):
        value = value.decode(errors="backslashreplace")
    return "" if value is None else str(value).strip()


def _decimal(value: decimal.Decimal) -> str:
    """Without zeros at its end: engines keep as many as the type has, or as were written."""
    if not value.is_finite():
        return "" if value.is_nan() else str(float(value))
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def plain(data: Any) -> tuple[Any, dict[str, tuple[str, ...]]]:
    """An Arrow table without dictionaries, and the order of categories that they carried."""
    import pyarrow as pa

    if _is(data, "pandas"):
        data = _from_pandas(data)
    elif _is(data, "polars"):
        data = _from_polars(data)
    elif not isinstance(data, pa.Table) and hasattr(data, "__arrow_c_stream__"):
        data = pa.table(data)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if not isinstance(data, pa.Table):
        raise DataError(
            f"cannot read records from a {type(data).__name__}; give a path, a database URL, "
            "a pandas, polars or Arrow frame, or an ibis table."
        )
    if data.num_rows == 0:
        raise DataError("the frame has no rows; it needs at least one record.")
    columns, orders = [], {}
    for field, column in zip(data.schema, data.columns, strict=True):
        if pa.types.is_dictionary(field.type):
            values = column.unify_dictionaries().chunk(0).dictionary.to_pylist()
            orders[field.name] = tuple(dict.fromkeys(label(v) for v in values if v is not None))
            column = column.cast(field.type.value_type)
        columns.append(column)
    return pa.table(columns, names=data.column_names), orders


def _is(data: object, library: str) -> bool:
    """Whether it is a frame of a library that may not be installed."""
    module = sys.modules.get(library)
    kinds = (getattr(module, name, None) for name in ("DataFrame", "LazyFrame"))
    return any(isinstance(data, kind) for kind in kinds if kind is not None)


def _from_polars(frame: Any) -> Any:
    import polars as pl

    # a Categorical carries no order of its own, an Enum does
    return frame.lazy().cast({pl.Categorical: pl.String}).collect().to_arrow()


def _from_pandas(frame: Any) -> Any:
    import pyarrow as pa

    _check_index(frame)
    columns, names = [], [str(name) for name in frame.columns]
    for place, name in enumerate(names):
        column = frame.iloc[:, place]
        try:
            if hasattr(column, "cat"):
                column = column.cat.rename_categories(list(map(label, column.cat.categories)))
            columns.append(pa.array(column, from_pandas=True))
        except (pa.ArrowException, ValueError, TypeError):
            raise DataError(
                f"column {name!r} of the frame mixes types; make it text with "
                f".astype({{{name!r}: str}})."
            ) from None
    return pa.table(columns, names=names)


def _check_index(frame: Any) -> None:
    """Refuse an index of categories, as cross-tabs and grouped frames have: it would be lost."""
    index, across = frame.index, frame.columns
    named = [str(name) for name in index.names if name is not None]
    own = index.is_unique and index.inferred_type in ("string", "mixed", "categorical")
    if index.nlevels > 1 or (named and (own or len(across) == 1 or across.name is not None)):
        raise DataError(
            f"the frame has {', '.join(map(repr, named)) or 'levels'} in its index, which is not "
            "read; make it a column with .reset_index(), or drop it with .reset_index(drop=True)."
        )

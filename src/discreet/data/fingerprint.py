"""What tells data from other data, as cheaply as where they lie allows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.data.engines import builtin
from discreet.data.source import Source, engine_errors
from discreet.errors import DataError

CHEAP = 1 << 28  # bytes of files whose content is hashed; of more, size and time of change


def fingerprint(source: Source, columns: Sequence[str]) -> dict[str, Any]:
    """The version of a table that has versions; content, or size and time of change, of files;
    else the number of records and the sum of their hashes, whatever their order unless rows have
    numbers.
    """
    import ibis

    if source.version is not None:
        return {"version": source.version}
    if source.files:
        cheap = sum(path.stat().st_size for path in source.files) <= CHEAP
        return {"files": [_of_file(path, cheap) for path in source.files]}
    names = list(columns)
    with engine_errors(source.name):
        records = source.records
        if source.ordered:
            names.append(free_name(source.columns))
            records = records.mutate(**{names[-1]: ibis.row_number()})
        total = _hash(source, [records[name] for name in names])
        row = records.aggregate(records=records.count(), total=total).to_pyarrow().to_pylist()[0]
    return {"records": int(row["records"]), "hash": str(row["total"])}


def free_name(taken: Sequence[str]) -> str:
    """A name that no column has, whatever its capitals."""
    used, name = {column.lower() for column in taken}, "n"
    while name in used:
        name += "_"
    return name


def _of_file(path: Path, cheap: bool) -> list[Any]:
    state = path.stat()
    if not cheap:
        return [path.name, state.st_size, state.st_mtime_ns]
    with open(path, "rb") as file:
        return [path.name, state.st_size, hashlib.file_digest(file, "sha256").hexdigest()]


def _hash(source: Source, values: list[Any]) -> Any:
    """The sum over records of a hash of their values, by a function that the engine has."""
    import ibis

    if source.engine == "duckdb":
        hashed = builtin("hash", [value.type() for value in values], "uint64")(*values)
    elif source.engine == "pyspark":  # which passes over nulls
        values = [*values, *(value.isnull() for value in values)]
        hashed = builtin("xxhash64", [value.type() for value in values], "int64")(*values)
    elif source.engine == "postgres":
        texts = [ibis.coalesce(value.cast("string") + "+", "-") for value in values]
        text = ibis.literal("").join([text.length().cast("string") + ":" + text for text in texts])
        hashed = builtin("hashtextextended", ["string", "int64"], "int64")(text, 0)
    else:
        raise DataError(
            f"{source.name} cannot be told from other data by {source.engine}; leave out the "
            "checkpoint, or export it to Parquet."
        )
    return hashed.cast("decimal(38, 0)").sum()

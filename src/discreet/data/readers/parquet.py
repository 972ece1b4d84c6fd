"""Parquet, read where it lies."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.data.engines import own_duckdb
from discreet.data.frames import plain
from discreet.data.source import Source, check_names, trimmed

SUFFIXES = (".parquet", ".pq")


def read(path: Path, name: str) -> Source:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        said, orders = list(file.schema_arrow.names), carried_orders(file)
    names = trimmed(said)
    check_names(names, name)
    records = view_of([path])
    if names != said:
        records = records.rename(dict(zip(names, said, strict=True)))
        orders = {column.strip(): order for column, order in orders.items()}
    return Source(records, name, orders)


def view_of(paths: Sequence[Path]) -> Any:
    """The records of files with the same columns, where they lie."""
    connection = own_duckdb()
    options = {"binary_as_string": True, "hive_partitioning": False, "union_by_name": True}
    files = [glob.escape(str(path)) for path in paths]
    connection.con.read_parquet(files, **options).create_view("records")
    return connection.table("records")


def carried_orders(file: Any) -> dict[str, tuple[str, ...]]:
    """The order of categories that its columns have."""
    import pyarrow as pa

    kept = [f.name for f in file.schema_arrow if pa.types.is_dictionary(f.type)]
    if not kept or not file.metadata.num_rows:
        return {}
    # one row is enough: its page comes with the whole dictionary
    first = next(file.iter_batches(batch_size=1, row_groups=[0], columns=kept))
    return plain(pa.table(first))[1]

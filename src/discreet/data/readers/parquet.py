"""Parquet, read where it lies."""

from __future__ import annotations

import glob
from pathlib import Path

from discreet.data.frames import plain
from discreet.data.source import Source, check_names, own_duckdb, trimmed

SUFFIXES = (".parquet", ".pq")


def read(path: Path, name: str) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        orders: dict[str, tuple[str, ...]] = {}
        kept = [f.name for f in schema if pa.types.is_dictionary(f.type)]
        if kept and file.metadata.num_rows:
            # one row is enough: its page comes with the whole dictionary
            first = next(file.iter_batches(batch_size=1, row_groups=[0], columns=kept))
            _, orders = plain(pa.table(first))
    names = trimmed(schema.names)
    check_names(names, name)
    connection = own_duckdb()
    options = {"binary_as_string": True, "hive_partitioning": False}
    connection.con.read_parquet(glob.escape(str(path)), **options).create_view("records")
    records = connection.table("records")
    if names != schema.names:
        records = records.rename(dict(zip(names, schema.names, strict=True)))
        orders = {column.strip(): order for column, order in orders.items()}
    return Source(records, name, orders)

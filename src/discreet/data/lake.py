"""Folders that are one table: Delta, and Parquet in folders named `column=value`.

Files that a Delta table no longer counts still lie in its folder: read as plain Parquet, people who
are gone would count, or count twice. So such a folder is read by its log or not at all.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from discreet.data.database import hidden
from discreet.data.engines import own_duckdb
from discreet.data.readers.parquet import SUFFIXES, carried_orders
from discreet.data.source import Source, check_names, engine_errors
from discreet.errors import DataError

LOG = "_delta_log"
OTHERS = {  # formats with a log that is not read here, by what lies in their folders
    "Iceberg": ("metadata/version-hint.text", "metadata/*.metadata.json"),
    "Hudi": (".hoodie",),
}
NAMED = re.compile(r"([^=/]+)=(.*)", re.DOTALL)


def folder_source(folder: Path) -> Source | None:
    """A folder that is one table, or None if it holds files like any other."""
    shown = repr(hidden(str(folder)))
    if (folder / LOG).is_dir():
        return _delta(folder, shown)
    for kind, marks in OTHERS.items():
        if any(next(folder.glob(mark), None) is not None for mark in marks):
            raise DataError(
                f"{shown} is a table of {kind}, whose files cannot be told from those that are "
                "gone; read it through Spark, or export it."
            )
    parts = sorted(p for p in folder.iterdir() if p.is_dir() and NAMED.fullmatch(p.name))
    return _partitioned(folder, shown) if parts else None


def check_whole(paths: Sequence[Path]) -> list[str]:
    """Refuse files that are pieces of a table; sentences on what their folders' names say."""
    asides: dict[tuple[tuple[str, str], ...], Path] = {}
    for path in paths:
        if not path.name.lower().endswith(SUFFIXES):
            continue
        for folder in path.resolve().parents:
            if (folder / LOG).is_dir():
                raise DataError(
                    f"{path.name!r} is a file of a Delta table, which may count it no more; name "
                    f"the folder {hidden(str(folder))!r}."
                )
        asides.setdefault(tuple(_values(path.resolve().parent.parts)), path)
    if len(asides) > 1:
        one, other, *_ = asides.values()
        raise DataError(
            f"{one.name!r} and {other.name!r} lie in folders named like columns, "
            f"{one.parent.name!r} and {other.parent.name!r}; name the folder above, so that these "
            "columns are read."
        )
    return [
        f"{path.name!r} lies in {path.parent.name!r}: the column {named[-1][0]!r} is not read; "
        "name the folder above to read it."
        for named, path in asides.items()
        if named
    ]


def _values(parts: Iterable[str]) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for part in parts if (found := NAMED.fullmatch(part))]


def _delta(folder: Path, shown: str) -> Source:
    """The table as its log says it is now."""
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaProtocolError
    except ImportError:
        raise DataError(
            f"{shown} is a Delta table, and its reader is not installed; pip install "
            "'discreet[delta]', or read it through Spark."
        ) from None
    with engine_errors(shown):
        table = DeltaTable(str(folder))
        try:
            rows = table.to_pyarrow_dataset()
        except DeltaProtocolError:  # such as deletion vectors: rows that are gone within a file
            raise DataError(
                f"{shown} is a Delta table with features that are not read here; read it through "
                "Spark, as in dc.load(session, table='people')."
            ) from None
        check_names(rows.schema.names, shown)
        connection = own_duckdb()
        connection.con.register("records", rows)
        version = f"{table.metadata().id} version {table.version()}"
        note = f"{shown} is read as a Delta table, version {table.version()}."
        records = connection.table("records")
    return Source(records, shown, notes=(note,), version=version, ordered=False)


def _partitioned(folder: Path, shown: str) -> Source:
    """All files below folders named `column=value`, with these columns as text."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    ]
    strange = [path for path in files if not path.name.lower().endswith(SUFFIXES)]
    if strange or not files:
        what = f"holds {strange[0].name!r}, which is no Parquet" if strange else "holds no files"
        raise DataError(f"{shown} has folders named like columns, and {what}; name other files.")
    columns = [
        [name for name, _ in _values(p.relative_to(folder).parent.parts)]
        for p in files
    ]  # fmt: skip
    depth = [len(path.relative_to(folder).parent.parts) for path in files]
    odd = next(
        (p for p, c, d in zip(files, columns, depth, strict=True) if c != columns[0] or len(c) < d),
        None,
    )
    if odd is not None:
        raise DataError(
            f"{str(odd.relative_to(folder))!r} does not lie in folders named "
            f"{'/'.join(f'{name}=...' for name in columns[0])!r} as other files of {shown} do; "
            "put it there, or take it out."
        )
    orders = _checked(files, columns[0], shown)
    connection = own_duckdb()
    with engine_errors(shown):
        records = connection.read_parquet(
            [glob.escape(str(path)) for path in files],
            table_name="records",
            binary_as_string=True,
            hive_partitioning=True,
            hive_types_autocast=False,  # 01 stays 01
        )
    note = (
        f"{shown}: {len(files)} files are read as one, with "
        f"{', '.join(map(repr, columns[0]))} from the names of their folders."
    )
    return Source(records, shown, orders, notes=(note,), files=tuple(files))


def _checked(files: Sequence[Path], above: Sequence[str], shown: str) -> dict[str, Any]:
    """Refuse files that differ in their columns, or have one that a folder names, too."""
    import pyarrow.parquet as pq

    first: list[str] = []
    orders: dict[str, Any] = {}
    for path in files:
        with engine_errors(repr(path.name)), pq.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
            orders = orders or carried_orders(file)
        first = first or names
        if lost := set(names) ^ set(first):
            raise DataError(
                f"{path.name!r} and {files[0].name!r} of {shown} do not both have the column "
                f"{min(lost)!r}; files that are read as one have the same columns."
            )
        if both := set(names) & set(above):
            raise DataError(
                f"{min(both)!r} is a column of {path.name!r} and named by its folder, too; rename "
                "one."
            )
    check_names([*first, *above], shown)
    return orders

"""Where records come from: files, frames, database tables; all become one ibis table."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from discreet.data import spark
from discreet.data.database import ADDRESS, comparable, hidden, open_table
from discreet.data.frames import plain
from discreet.data.lake import check_whole, folder_source
from discreet.data.readers import READERS, Reader, reader_of
from discreet.data.readers.fixed import at_layout
from discreet.data.several import as_one, files_in
from discreet.data.source import Source, engine_errors, from_arrow
from discreet.data.stored import is_stored
from discreet.errors import DataError, reason
from discreet.look.telling import tell

KINDS = "a CSV, Parquet, Excel, OpenDocument, SPSS, Stata, SAS or R file"


def open_source(data: object, *, table: str | None = None) -> Source:
    """Records from a path, a pattern or a folder of files, a list of paths, a database URL, a
    frame, an ibis table, or a Spark session; `table` names the table of a database, of a session
    or of a file with several.
    """
    source = _opened(data, table)
    for note in source.notes:
        tell(note)
    return source


def _opened(data: object, table: str | None) -> Source:
    if isinstance(data, str) and spark.ADDRESS.match(data):
        return spark.from_url(data, hidden(data), table)
    if isinstance(data, str) and ADDRESS.match(data):
        return Source(open_table(data, table), repr(table), ordered=False)
    if spark.is_session(data):
        return spark.from_session(data, table)
    if isinstance(data, str | Path):
        return _from_path(Path(data), table)
    if isinstance(data, list | tuple) and data and all(isinstance(p, str | Path) for p in data):
        return _from_files([Path(path) for path in data], table)
    if table is not None:
        raise DataError(
            f"a table name ({table!r}) goes with a database URL or a workbook, not with "
            f"{type(data).__name__}; leave it out."
        )
    if spark.is_frame(data):
        return spark.from_frame(data)
    return data if isinstance(data, Source) else _from_frame(data)


def _from_path(path: Path, table: str | None) -> Source:
    if not path.exists():
        path, layout = at_layout(path)
        table = layout or table
    if path.is_dir():
        if is_stored(path):
            raise DataError(
                f"{hidden(str(path))!r} is a folder of cells, which has codes and counts but no "
                "records; give it to what takes a table, or name the file of the records."
            )
        if (lake := folder_source(path)) is not None:
            if table is not None:
                raise DataError(
                    f"a table name ({table!r}) goes with a database URL or a workbook, not with "
                    f"{hidden(str(path))!r}; leave it out."
                )
            return lake
        return _from_files(files_in(path), table, repr(hidden(str(path))))
    if not path.exists() and glob.has_magic(str(path)):
        found = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
        files = [match for match in found if match.is_file()]
        if not files:
            raise DataError(f"no file is named as {hidden(str(path))!r} says; check the pattern.")
        return _from_files(files, table, repr(hidden(str(path))))
    return _from_file(path, table)


def _from_files(paths: Sequence[Path], table: str | None, name: str | None = None) -> Source:
    if len(paths) == 1:
        return _from_file(paths[0], table)
    for path in paths:
        if path.is_dir() or not path.exists():
            what = "is a folder" if path.is_dir() else "is not there"
            raise DataError(f"{hidden(str(path))!r} {what}; name files.")
    check_whole(paths)
    return as_one(paths, lambda path: _from_file(path, table), name)


def _from_file(path: Path, table: str | None = None) -> Source:
    shown = repr(hidden(str(path)))
    if not path.exists():
        raise DataError(f"there is no file {shown}; give {KINDS}, example:NAME, or a database URL.")
    reader = reader_of(path)
    if reader is None:
        ends = ", ".join(suffix for suffix in READERS if suffix.count(".") == 1)
        raise DataError(f"{shown} ends in {path.suffix!r}, which is not read; use {ends}.")
    name = repr(path.name)
    try:
        with open(path, "rb") as file:
            empty = not file.read(4096).strip()
    except OSError as error:
        raise DataError(
            f"cannot read {name}: {reason(error)}; ask for the right to read it."
        ) from None
    if empty:
        raise DataError(f"{name} is empty; it needs a header line and at least one record.")
    notes = check_whole([path])
    with engine_errors(name):
        source = _read(reader, path, name, table, shown)
    return replace(source, files=(path,), notes=(*source.notes, *notes))


def _read(reader: Reader, path: Path, name: str, table: str | None, shown: str) -> Source:
    if getattr(reader, "TABLES", False):
        return reader.read(path, name, table)
    if table is not None:
        raise DataError(
            f"a table name ({table!r}) goes with a database URL or a workbook, not with {shown}; "
            "leave it out."
        )
    return reader.read(path, name)


def _from_frame(data: object) -> Source:
    import ibis

    if isinstance(data, ibis.expr.types.Table):
        with engine_errors("the ibis table"):
            if data.get_backend().name == "pyspark":
                return spark.from_ibis(data)
            return Source(comparable(data), "the ibis table", ordered=False)
    return from_arrow(*plain(data), "the frame")

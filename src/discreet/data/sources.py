"""Where records come from: files, frames, database tables; all become one ibis table."""

from __future__ import annotations

from pathlib import Path

from discreet.data.database import ADDRESS, hidden, open_table
from discreet.data.frames import plain
from discreet.data.readers import READERS
from discreet.data.source import Source, engine_errors, from_arrow
from discreet.errors import DataError
from discreet.look.telling import tell


def open_source(data: object, *, table: str | None = None) -> Source:
    """Records from a path, a database URL with `table`, a frame, or an ibis table."""
    source = _opened(data, table)
    for note in source.notes:
        tell(note)
    return source


def _opened(data: object, table: str | None) -> Source:
    if isinstance(data, str) and ADDRESS.match(data):
        return Source(open_table(data, table), repr(table))
    if table is not None:
        shown = repr(hidden(str(data))) if isinstance(data, str | Path) else type(data).__name__
        raise DataError(
            f"a table name ({table!r}) goes with a database URL, not with {shown}; leave it out."
        )
    if isinstance(data, str | Path):
        return _from_file(Path(data))
    return data if isinstance(data, Source) else _from_frame(data)


def _from_file(path: Path) -> Source:
    shown = repr(hidden(str(path)))
    if not path.exists():
        raise DataError(
            f"there is no file {shown}; give a CSV or Parquet file, example:NAME, "
            "or a database URL."
        )
    if path.is_dir():
        raise DataError(f"{shown} is a folder; name a CSV or Parquet file in it.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            f"{shown} ends in {path.suffix!r}, which is not read; use {', '.join(READERS)}."
        )
    name = repr(path.name)
    try:
        with open(path, "rb") as file:
            empty = not file.read(4096).strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read {name}: {reason}; ask for the right to read it.") from None
    if empty:
        raise DataError(f"{name} is empty; it needs a header line and at least one record.")
    with engine_errors(name):
        return reader.read(path, name)


def _from_frame(data: object) -> Source:
    import ibis

    if isinstance(data, ibis.expr.types.Table):
        return Source(data, "the ibis table")
    return from_arrow(*plain(data), "the frame")

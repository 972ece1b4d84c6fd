"""Tables in a database, named by a URL whose credentials never come back out."""

from __future__ import annotations

import re
import weakref
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from discreet.data.engines import builtin, hold_memory
from discreet.errors import DataError

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
SCHEMES = {"sqlite": "sqlite", "duckdb": "duckdb", "postgresql": "postgres", "postgres": "postgres"}


def hidden(address: str) -> str:
    """An address without user, password and options, fit to be shown.

    >>> hidden("postgresql://ann:p@ss/word@localhost/survey?sslpassword=x")
    'postgresql://localhost/survey'
    """
    address = re.sub(r"(?is)\b(user|password|passwd|pwd)\s*=\s*[^\s&]+", r"\1=...", address)
    if not re.match(r"[\w+.-]+(:/|//)", address):
        return re.sub(r"(?s)^((?:[^:@]*/)?)[^/:@]*:.*@", r"\1", address)
    return re.sub(r"(?s)^([\w+.-]+:?/+).*@", r"\1", address).split("?")[0]


def open_table(url: str, table: str | None) -> Any:
    """The ibis table called `table`, or `schema.table`, in the database at `url`."""
    shown = hidden(url)
    parts = re.fullmatch(r"(?s)([\w+.-]+)://(.*)", url)
    scheme = parts[1].lower() if parts else ""
    if parts is None or scheme not in SCHEMES:
        raise DataError(
            f"cannot open {shown}: write sqlite:///FILE, duckdb:///FILE, "
            "postgresql://USER:PASSWORD@HOST/DATABASE or spark://local/DATABASE."
        )
    if table is None:
        raise DataError(f"{shown} is a database; name a table in it (table=NAME, --table NAME).")
    try:
        connection = _connect(SCHEMES[scheme], parts[2])
        found = _find(connection, table)
        found = None if found is None else comparable(found)
        names = [] if found is not None else connection.list_tables()
    except DataError:
        raise
    except ImportError:
        raise DataError(
            f"cannot open {shown}: its driver is not installed; "
            f"pip install 'discreet[{SCHEMES[scheme]}]'."
        ) from None
    except Exception as error:  # noqa: BLE001 every driver has its own exceptions
        reason = _without(_secrets(parts[2]), str(error).strip().partition("\n")[0].rstrip("."))
        raise DataError(
            f"cannot open {shown}: {reason or type(error).__name__}; check the address, the user "
            "and the password."
        ) from None
    if found is None:
        listed = ", ".join(sorted(names)[:10]) or "none"
        raise DataError(f"{shown} has no table {table!r}; it has {listed}.")
    return found


def _connect(kind: str, rest: str) -> Any:
    import ibis

    if kind == "postgres":
        connection = ibis.connect(f"postgres://{rest}")
    else:
        path = _database_file(rest, kind)
        more = {"read_only": True} if kind == "duckdb" else {}
        connection = getattr(ibis, kind).connect(path, **more)
        if kind == "duckdb":
            hold_memory(connection)
    weakref.finalize(connection, connection.con.close)
    return connection


def _database_file(rest: str, kind: str) -> Path:
    """Three slashes start a relative path for some, an absolute one for others: what exists."""
    path = Path(unquote(rest.partition("?")[0]))
    if path.is_absolute() and not path.exists():
        path = Path(*path.parts[1:])
    if not path.is_file():
        raise DataError(f"there is no {kind} database {hidden(str(path))!r}; check the path.")
    return path


def _find(connection: Any, table: str) -> Any:
    if table in connection.list_tables():
        return connection.table(table)
    schema, _, name = table.rpartition(".")
    if schema and name in connection.list_tables(database=schema):
        return connection.table(name, database=schema)
    return None


def comparable(records: Any) -> Any:
    """Records whose values are the same to every engine.

    A collation can count A and a as one: such text is compared byte by byte, and `label` reads it
    as text. Universal identifiers and addresses of the net are text.
    """
    texts = [name for name, kind in records.schema().items() if kind.is_uuid() or kind.is_inet()]
    if texts:
        records = records.mutate(**{name: records[name].cast("string") for name in texts})
    engine = records.get_backend().name
    if engine in _EXACT and (loose := _loose(records)):
        records = records.mutate(**{name: _bytes(engine, records[name]) for name in loose})
    return records


_EXACT: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]] | None] = {  # how text is made bytes
    "postgres": ("convert_to", ("string", "string"), ("UTF8",)),
    "duckdb": ("encode", ("string",), ()),
    "sqlite": None,
}
_POSTGRES = """
SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE c.relname = ANY(%s) AND a.attnum > 0
AND (t.typname = 'citext' OR l.collisdeterministic IS FALSE)"""
_DECLARED = {  # what tables and views were made with
    "duckdb": "SELECT sql FROM duckdb_tables() WHERE NOT internal "
    "UNION ALL SELECT sql FROM duckdb_views() WHERE NOT internal",
    "sqlite": "SELECT sql FROM sqlite_master",
}


def _loose(records: Any) -> list[str]:
    """Columns of text that an engine may compare otherwise than byte by byte."""
    import ibis.expr.operations as ops

    connection, texts = records.get_backend(), []
    for name, kind in records.schema().items():
        if kind.is_string() or kind.is_unknown():
            texts.append(name)
    if connection.name == "postgres":
        tables = [table.name for table in records.op().find(ops.DatabaseTable)]
        with connection.con.cursor() as cursor:
            cursor.execute(_POSTGRES, (tables,))
            found = {name for (name,) in cursor.fetchall()}
        return [name for name in texts if name in found]
    rows = connection.con.execute(_DECLARED[connection.name]).fetchall()
    return texts if any("collate" in (sql or "").lower() for (sql,) in rows) else []


def _bytes(engine: str, column: Any) -> Any:
    way = _EXACT[engine]
    if way is None:
        return column.cast("binary")
    name, kinds, more = way
    return builtin(name, kinds, "binary")(column.cast("string"), *more)


def _secrets(rest: str) -> set[str]:
    """Everything in an address that may be a user, a password or an option."""
    person, _, place = rest.rpartition("@")
    options = re.split(r"[&=]", place.partition("?")[2])
    parts = [person, *person.split(":", 1), *options]
    return {form for part in parts for form in (part, unquote(part)) if form}


def _without(secrets: set[str], text: str) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "...", text)
    return text

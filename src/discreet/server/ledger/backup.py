"""Ledgers as JSON lines, out of one database and into another; backup and restore."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from discreet.data.database import hidden
from discreet.data.files import unfinished
from discreet.errors import LedgerError, OutputError
from discreet.server.ledger.chain import VerificationView, verify_all
from discreet.server.ledger.database import Database, migrate, open_database
from discreet.server.ledger.marks import SECRET
from discreet.server.ledger.schema import (
    ApiKey,
    Base,
    Dataset,
    Entry,
    Mark,
    Publication,
    Token,
    Trail,
    Use,
    User,
)
from discreet.server.ledger.store import datasets
from discreet.server.ledger.trail import HEAD, verify_trail

KINDS: dict[str, type[Base]] = {
    "dataset": Dataset,
    "entry": Entry,
    "publication": Publication,
    "use": Use,
    "user": User,
    "api_key": ApiKey,
    "token": Token,
    "trail": Trail,
    "mark": Mark,
}
LASTING = "recovery"  # the tokens that a backup keeps; others are over soon
OWNED = (Entry, Publication, Use)  # by the data set in the line before
SQLITE = b"SQLite format 3\0"


def export(session: Session, dataset: Dataset) -> Iterator[str]:
    """A data set, its entries and its publications, a JSON line each."""
    older = None if dataset.previous is None else session.get(Dataset, dataset.previous)
    yield _line("dataset", _fields(dataset) | {"previous": older.slug if older else None})
    for name, model in (("entry", Entry), ("publication", Publication)):
        found = select(model).filter_by(dataset_id=dataset.id)
        found = found.order_by(*model.__table__.primary_key)
        for row in session.scalars(found, execution_options={"yield_per": 500}):
            yield _line(name, _fields(row))
            session.expunge(row)


def export_all(session: Session, *, accounts: bool = False) -> Iterator[str]:
    """Every data set and the trail; with `accounts`, also users, keys (both hashed) and uses."""
    for dataset in datasets(session):
        yield from export(session, dataset)
        if accounts:
            for use in session.scalars(select(Use).filter_by(dataset_id=dataset.id)):
                yield _line("use", _fields(use))
    if accounts:
        for user in session.scalars(select(User).order_by(User.id)):
            yield _line("user", _fields(user, "id"))
        for key in session.scalars(select(ApiKey).order_by(ApiKey.id)):
            yield _line("api_key", _fields(key, "id"))
        for token in session.scalars(select(Token).filter_by(kind=LASTING).order_by(Token.id)):
            yield _line("token", _fields(token, "id"))
    yield from export_trail(session)


def export_trail(session: Session) -> Iterator[str]:
    """Who did what with accounts, a JSON line each, where it ends, and which secret is needed."""
    found = select(Trail).order_by(Trail.number)
    for row in session.scalars(found, execution_options={"yield_per": 500}):
        yield _line("trail", _fields(row))
        session.expunge(row)
    for mark in session.scalars(select(Mark).where(Mark.name.in_([HEAD, SECRET]))):
        yield _line("mark", _fields(mark))


def load(session: Session, lines: Iterable[str]) -> list[VerificationView]:
    """What was exported, into a database without it; raises unless ledgers and trail hold."""
    owner: Dataset | None = None
    for number, line in enumerate(lines, start=1):
        try:
            ((name, fields),) = json.loads(line).items()
            model = KINDS[name]
            if model is Dataset:
                fields["previous"] = _vintage(session, fields["previous"])
            elif model in OWNED:
                if owner is None:
                    raise ValueError("no data set before it")
                fields["dataset_id"] = owner.id
            if "counts" in fields:
                fields["counts"] = b64decode(fields["counts"])
            row = model(**fields)
            session.add(row)
            session.flush()
        except LedgerError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError, SQLAlchemyError) as error:
            reason = type(getattr(error, "orig", None) or error).__name__
            raise LedgerError(f"line {number} is no line of a ledger ({reason}).") from None
        if isinstance(row, Dataset):
            owner = row
        else:
            session.expunge(row)
    if session.get_bind().dialect.name == "postgresql":
        for table in ("users", "api_keys"):  # the next number follows those that were given
            session.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
                )
            )
    found = verify_all(session)
    for verified in found:
        for problem in verified.problems:
            raise LedgerError(f"the ledger of {verified.dataset} does not hold: {problem}")
    for problem in verify_trail(session).problems:
        raise LedgerError(f"the trail of accounts does not hold: {problem}")
    return found


def backup(database: Database, path: str | Path) -> None:
    """All of the database as it is at one moment, also while others write.

    SQLite: a database file; PostgreSQL: JSON lines, without the logins.
    """
    path = Path(path)
    if path.exists():
        raise OutputError(f"{path} exists already; name a new file.")
    part = path.with_name(f".{path.name}.part")
    try:
        os.close(os.open(part, os.O_CREAT, 0o600))  # only the owner reads it
        if database.sqlite:
            _copy(database.engine.url.database or "", part)
        else:
            with part.open("w", encoding="utf-8") as file, database.read() as session:
                file.writelines(line + "\n" for line in export_all(session, accounts=True))
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)


def restore(path: str | Path, url: str) -> list[VerificationView]:
    """A backup or an export, of either kind of database, into an empty database of either."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            sqlite = file.read(len(SQLITE)) == SQLITE
    except OSError as error:
        raise LedgerError(f"cannot read {path}: {error.strerror}.") from None
    migrate(url)
    with closing(open_database(url)) as database:
        return database.transact(None, lambda session: _fill(session, path, sqlite, url))


def _fill(session: Session, path: Path, sqlite: bool, url: str) -> list[VerificationView]:
    for model in (Dataset, User, Trail):
        if session.scalars(select(model).limit(1)).first() is not None:
            raise LedgerError(f"{hidden(url)} is not empty; restore into a new database.")
    if not sqlite:
        with path.open(encoding="utf-8", errors="surrogateescape") as file:
            return load(session, file)
    with tempfile.TemporaryDirectory() as folder:
        copy = unfinished(Path(folder)) / "copy.db"
        _copy(path, copy)
        migrate(f"sqlite:///{copy}")
        with closing(open_database(f"sqlite:///{copy}")) as source, source.read() as found:
            return load(session, export_all(found, accounts=True))


def _copy(source: str | Path, target: Path) -> None:
    """SQLite's own way to copy a database that is in use."""
    try:
        with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")  # all of it in the one file
    except sqlite3.Error as error:
        raise LedgerError(f"cannot copy {source}: {error}.") from None


def _vintage(session: Session, slug: str | None) -> int | None:
    """The older vintage that a data set names."""
    if slug is None:
        return None
    found = session.scalar(select(Dataset.id).where(Dataset.slug == slug))
    if found is None:
        raise LedgerError(f"the older vintage {slug!r} is missing; export and load it, too.")
    return found


def _fields(row: Base, *keep: str) -> dict[str, Any]:
    """All that a row says; the keys of one database mean nothing in another."""
    left_out = {"id", "dataset_id"} - set(keep)
    columns = row.__table__.columns
    return {c.name: getattr(row, c.name) for c in columns if c.name not in left_out}


def _line(name: str, fields: dict[str, Any]) -> str:
    if "counts" in fields:
        fields = fields | {"counts": b64encode(fields["counts"]).decode()}
    return json.dumps({name: fields}, separators=(",", ":"))

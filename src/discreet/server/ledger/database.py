"""The database behind the server: SQLite or PostgreSQL, one writer at a time per data set."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from discreet.data.database import hidden
from discreet.errors import LedgerError
from discreet.server.ledger.schema import Dataset

MIGRATIONS = Path(__file__).parent / "migrations"
PATIENCE = 30  # seconds that a writer waits for the others
TRIES = 20  # a second, to change the journal
ATTEMPTS = 20
LOCK = 0x646C  # our advisory locks in PostgreSQL
AGAIN = {"40001", "40P01"}  # not serialisable, deadlock
T = TypeVar("T")


@dataclass(frozen=True)
class Database:
    """Where ledgers, publications and accounts are kept."""

    engine: Engine

    def __repr__(self) -> str:
        return f"Database({hidden(self.engine.url.render_as_string())})"

    @property
    def sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def begin(self, dataset_id: int | None) -> Iterator[Session]:
        """One serialisable transaction that holds the data set's lock; None: to open a new one.

        Committed at the end, rolled back by any exception. In PostgreSQL, transactions on other
        data sets can make it fail; `transact` then tries again.
        """
        with self.engine.connect() as connection:
            if self.sqlite:
                with _session(connection.execution_options(immediate=True)) as session:
                    _hold(session, dataset_id)
                    yield session
            else:
                with _advisory_lock(connection, dataset_id or 0):
                    connection.execution_options(isolation_level="SERIALIZABLE")
                    with _session(connection) as session:
                        _hold(session, dataset_id)
                        yield session

    def transact(self, dataset_id: int | None, work: Callable[[Session], T]) -> T:
        """What `work` gives in `begin`; repeated where the database could not serialise it."""
        for attempt in range(ATTEMPTS):
            try:
                with self.begin(dataset_id) as session:
                    return work(session)
            except DBAPIError as error:
                again = getattr(error.orig, "sqlstate", None) in AGAIN
                if not again or attempt + 1 == ATTEMPTS:
                    raise
                time.sleep(random.uniform(0, 0.01 * 2 ** min(attempt, 6)))
        raise AssertionError

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction on what is no ledger: accounts, keys, sessions, uses."""
        with (
            self.engine.connect().execution_options(immediate=True) as connection,
            _session(connection) as session,
        ):
            yield session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """One snapshot, to read from only."""
        with self.engine.connect() as connection:
            if not self.sqlite:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with Session(connection, expire_on_commit=False, autoflush=False) as session:
                yield session

    def close(self) -> None:
        self.engine.dispose()


def open_database(url: str) -> Database:
    """The database at `url`; it must be there and have today's schema."""
    found = _url(url)
    _need_file(found)
    engine = _engine(found)
    try:
        with _plain_errors(url), engine.connect() as connection:
            current, head = _revisions(connection)
        if current != head:
            raise LedgerError(
                f"{hidden(url)} has the schema {current or 'of no ledger'}, not {head}; "
                "run `discreet ledger migrate`."
            )
    except LedgerError:
        engine.dispose()
        raise
    return Database(engine)


def migrate(url: str) -> None:
    """Bring the database to today's schema; a new file, or an empty database, gets all of it."""
    from alembic import command
    from alembic.config import Config

    found = _url(url)
    _private_file(found)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    engine = _engine(found)
    try:
        with _plain_errors(url), engine.connect() as connection:
            config.attributes["connection"] = connection
            if found.get_backend_name() == "sqlite":
                connection.execution_options(immediate=True)
                command.upgrade(config, "head")
            else:
                with _advisory_lock(connection, -1):
                    connection.execution_options(isolation_level="SERIALIZABLE")
                    command.upgrade(config, "head")
    finally:
        engine.dispose()


@contextmanager
def _session(connection: Connection) -> Iterator[Session]:
    with Session(connection, expire_on_commit=False) as session, session.begin():
        yield session


def _hold(session: Session, dataset_id: int | None) -> None:
    if dataset_id is None:
        session.connection()
        return
    held = select(Dataset.id).where(Dataset.id == dataset_id).with_for_update()
    if session.scalar(held) is None:
        raise LedgerError(f"there is no data set {dataset_id}.")


@contextmanager
def _advisory_lock(connection: Connection, key: int) -> Iterator[None]:
    """Taken before the transaction, whose snapshot then is from after the others' commits."""
    connection.execution_options(isolation_level="AUTOCOMMIT")
    try:
        connection.execute(select(func.pg_advisory_lock(LOCK, key)))
        connection.commit()
        yield
    finally:
        try:
            connection.rollback()
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(select(func.pg_advisory_unlock(LOCK, key)))
            connection.commit()
        except Exception:  # noqa: BLE001 the driver's own errors, too
            connection.invalidate()  # the lock ends with the connection


def _url(url: str) -> URL:
    try:
        found = make_url(url)
    except ArgumentError:
        found = None
    psycopg = "postgresql+psycopg"
    known = {"sqlite": "sqlite", "postgresql": psycopg, "postgres": psycopg}
    name = found.drivername.partition("+")[0] if found else ""
    if found is None or name not in known:
        raise LedgerError(
            f"cannot open {hidden(url)}: write sqlite:///FILE or "
            "postgresql://USER:PASSWORD@HOST/DATABASE."
        )
    if name == "sqlite" and found.database in (None, "", ":memory:"):
        raise LedgerError("a ledger in memory would be lost; write sqlite:///FILE.")
    return found.set(drivername=known[name])


def _need_file(url: URL) -> None:
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise LedgerError(
            f"there is no database {url.database!r}; check the path, or make it with "
            "`discreet ledger migrate`."
        )


def _private_file(url: URL) -> None:
    """Nobody but the server's user reads it."""
    if url.get_backend_name() == "sqlite":
        try:
            os.close(os.open(url.database or "", os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise LedgerError(f"cannot write {url.database!r}: {error.strerror}.") from None


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        options = f"-c lock_timeout={PATIENCE * 1000} -c timezone=UTC"
        return create_engine(url, pool_pre_ping=True, connect_args={"options": options})
    engine = create_engine(url, connect_args={"timeout": PATIENCE})
    event.listen(engine, "do_connect", _only_what_is_there)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _only_what_is_there(_dialect: object, _record: object, path: list[Any], more: Any) -> None:
    """A file that is gone is not made anew: an empty one would leave its journal in its place."""
    path[0] = f"file:{quote(os.path.abspath(path[0]))}?mode=rw"
    more["uri"] = True


def _prepare(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    _write_ahead(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _write_ahead(connection: Any) -> None:
    """SQLite does not wait by itself where others change the journal of a new file at once."""
    for left in range(PATIENCE * TRIES, -1, -1):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if not left:
                raise
            time.sleep(1 / TRIES)


def _begin(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("immediate", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _revisions(connection: Connection) -> tuple[str | None, str | None]:
    """The schema that the database has, and the one that it should have."""
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    current = MigrationContext.configure(connection).get_current_revision()
    return current, ScriptDirectory(MIGRATIONS).get_current_head()


@contextmanager
def _plain_errors(url: str) -> Iterator[None]:
    """One sentence without the password."""
    try:
        yield
    except SQLAlchemyError as error:
        reason = type(getattr(error, "orig", None) or error).__name__
        raise LedgerError(
            f"cannot open {hidden(url)} ({reason}); check the address, the user and the password."
        ) from None

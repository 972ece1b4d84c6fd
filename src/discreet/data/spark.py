"""Records in Spark: behind a URL, a session that somebody has open, or a frame of it.

    spark://local/DATABASE          Spark in this process, on all its cores
    spark://HOST:PORT/DATABASE      a master; DATABASE can be CATALOGUE.DATABASE, or be left out
    ...?spark.sql.catalogImplementation=hive&...    settings of the session, as Spark has them

A session of the user's is read and never changed or stopped; one that was opened here is stopped
when the last source that needs it is gone.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import uuid
import warnings
import weakref
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote

from discreet.data.engines import reason
from discreet.data.source import Source, check_names
from discreet.errors import DataError

NOT_INSTALLED = "pyspark is not installed; pip install 'discreet[spark]'."
QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
LOCAL = "local"
ADDRESS = re.compile(r"(?i)(spark|sc)://")


class _Opened:
    """A session that was opened here; it ends with the last who holds this."""

    def __init__(self, session: Any) -> None:
        self.session = session
        weakref.finalize(self, session.stop)


_opened: weakref.WeakValueDictionary[str, _Opened] = weakref.WeakValueDictionary()


def is_session(data: object) -> bool:
    """Is it a SparkSession, of this process or of Spark Connect?"""
    return _is(data, "SparkSession")


def is_frame(data: object) -> bool:
    """Is it a DataFrame of Spark?"""
    return _is(data, "DataFrame")


def _is(data: object, kind: str) -> bool:
    return any(
        base.__name__ == kind and base.__module__.startswith("pyspark.sql.")
        for base in type(data).__mro__
    )


def from_session(session: Any, table: str | None) -> Source:
    """A table, view, or Delta table that a session knows, by `table`, `db.table`, or
    `catalogue.db.table`."""
    if table is None:
        raise DataError("a Spark session has many tables; name one (table='db.people').")
    with _spark_errors(table):
        if not session.catalog.tableExists(table):
            known = ", ".join(sorted(t.name for t in session.catalog.listTables())[:10]) or "none"
            raise DataError(f"Spark has no table {table!r}; its database has {known}.")
        frame = session.table(table)
    return from_frame(frame, repr(table))


def from_url(url: str, shown: str, table: str | None) -> Source:
    """A table of the database that a URL names."""
    if url.lower().startswith("sc:"):
        raise DataError(
            f"cannot open {shown}: open Spark Connect yourself and hand over the session, as in "
            "dc.load(session, table='people')."
        )
    if table is None:
        raise DataError(f"{shown} is a database; name a table in it (table=NAME, --table NAME).")
    master, database, settings = _parts(url, shown)
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise DataError(f"cannot open {shown}: {NOT_INSTALLED}") from None
    with _spark_errors(shown):
        held = _session(master, settings, shown)
        session = held.session if isinstance(held, _Opened) else held
        found = from_session(session, f"{database}.{table}" if database else table)
    if isinstance(held, _Opened):
        found.records.get_backend().held = held
    return found


def from_frame(frame: Any, name: str = "the Spark frame") -> Source:
    """A DataFrame of a session; what it shows is counted by that session."""
    if frame.isStreaming:
        raise DataError(f"{name} is a stream, which has no end; give a table.")
    check_names(frame.columns, name)
    with _spark_errors(name):
        # UTF8_LCASE and its like would count A and a as one
        plain = [frame[_quoted(field.name)].cast("string").alias(field.name)
                 if getattr(field.dataType, "collation", "UTF8_BINARY") != "UTF8_BINARY"
                 else frame[_quoted(field.name)]
                 for field in frame.schema]  # fmt: skip
        view = f"discreet_{uuid.uuid4().hex}"
        frame.select(*plain).createOrReplaceTempView(view)
        backend = _backend()
        backend.do_connect(frame.sparkSession)
        weakref.finalize(backend, _forget, frame.sparkSession, view)
        return Source(backend.table(view), name, ordered=False)


def from_ibis(expression: Any) -> Source:
    """An expression of ibis on Spark."""
    backend = expression.get_backend()
    with _spark_errors("the ibis table"):
        frame = backend.raw_sql(backend.compile(expression))
    return from_frame(frame, "the ibis table")


def _backend() -> Any:
    """ibis's own, but for this: it sets nothing in the session, and takes Arrow as it comes."""
    import ibis
    from ibis.backends.pyspark import Backend

    if ibis.options.pyspark is None:
        Backend.register_options()

    class Plain(Backend):  # type: ignore[misc]
        held: object = None  # what keeps the session open

        def do_connect(self, session: Any, mode: Any = "batch", **kwargs: Any) -> None:
            self._session, self._mode = session, mode

        def raw_sql(self, query: Any, **kwargs: Any) -> Any:
            with _silent():
                return super().raw_sql(query, **kwargs)

        def to_pyarrow(self, expr: Any, /, **kwargs: Any) -> Any:
            table = expr.as_table()
            self._run_pre_execute_hooks(table)
            with _silent(), warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # pyspark closes no socket
                found = self.raw_sql(self.compile(table, **kwargs)).toArrow()
            # a table keeps the zones of its times, which ibis does not know of Spark's
            return found if isinstance(expr, ibis.Table) else expr.__pyarrow_result__(found)

    return Plain()


def _session(master: str, settings: dict[str, str], shown: str) -> Any:
    """The session of a master: one of this process where there is one, for it can have no other."""
    from pyspark.sql import SparkSession

    key = repr((master, sorted(settings.items())))
    if (held := _opened.get(key)) is not None:
        return held
    running = SparkSession.getActiveSession() or getattr(SparkSession, "_instantiatedSession", None)
    if running is not None and running.sparkContext._jsc is not None:
        there = str(running.sparkContext.master)
        if there != master and not (there.startswith(LOCAL) and master.startswith(LOCAL)):
            raise DataError(
                f"cannot open {shown}: this process has a Spark session with {there!r} already; "
                "hand over that session, or stop it."
            )
        if settings:
            raise DataError(
                f"cannot open {shown}: this process has a Spark session already, whose settings "
                "are not changed; leave out what follows the question mark."
            )
        return running.newSession()
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise DataError(f"cannot open {shown}: Spark needs Java; install it, or set JAVA_HOME.")
    builder = SparkSession.builder.master(master).appName("discreet")
    local = QUIET if master.startswith(LOCAL) else {}
    for name, value in ({**local, "spark.log.level": "ERROR"} | settings).items():
        builder = builder.config(name, value)
    held = _Opened(builder.getOrCreate())
    _opened[key] = held
    return held


def _parts(url: str, shown: str) -> tuple[str, str, dict[str, str]]:
    """Master, database and settings.

    >>> _parts("spark://10.0.0.1:7077/survey?spark.executor.memory=4g", "")
    ('spark://10.0.0.1:7077', 'survey', {'spark.executor.memory': '4g'})
    """
    found = re.fullmatch(r"(?is)spark://([^/?]*)/?([^?]*)(?:\?(.*))?", url)
    place = found[1] if found else ""
    if found is None or not (place == LOCAL or re.fullmatch(r"[\w.-]+:\d+(,[\w.-]+:\d+)*", place)):
        raise DataError(
            f"cannot open {shown}: write spark://local/DATABASE or spark://HOST:PORT/DATABASE."
        )
    settings = dict(parse_qsl(found[3] or "", keep_blank_values=True))
    if wrong := [name for name in settings if not name.startswith("spark.")]:
        raise DataError(
            f"cannot open {shown}: {wrong[0]!r} is no setting of Spark; they begin with 'spark.'."
        )
    master = f"{LOCAL}[*]" if place == LOCAL else f"spark://{place}"
    return master, unquote(found[2]).strip("/"), settings


@contextlib.contextmanager
def _spark_errors(name: str) -> Iterator[None]:
    """Spark's stack traces become one sentence."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        with _silent():
            yield
    except (PySparkException, Py4JError, NotImplementedError, OSError, RuntimeError) as error:
        first = (reason(error).strip().splitlines() or [type(error).__name__])[0]
        said = re.sub(r"\s*SQLSTATE: \w+", "", first).rstrip(". ")
        raise DataError(f"cannot read {name} from Spark: {said}.") from None


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without what pyspark logs of each error, which is said in a sentence."""
    log = logging.getLogger("SQLQueryContextLogger")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _forget(session: Any, view: str) -> None:
    """The session may be gone before."""
    with contextlib.suppress(Exception):
        session.catalog.dropTempView(view)

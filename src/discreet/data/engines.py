"""What engines are allowed and how they are asked: memory, spilling, their errors."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import sys
import tempfile
import uuid
import weakref
from collections.abc import Sequence
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from discreet.data.files import unfinished
from discreet.spreading.crew import allowed_memory
from discreet.spreading.memory import of_machine

SHARE = 0.5  # of the machine's memory, for DuckDB; the cells that come out need some too


def memory_limit() -> str:
    """What DuckDB may use before it spills: what the program may, or half of what there is.

    >>> import discreet as dc
    >>> with dc.workers(1, memory="512 MiB"):
    ...     memory_limit()
    '512MiB'
    """
    allowed = allowed_memory() or int(SHARE * of_machine())
    return f"{max(256, allowed >> 20)}MiB"


def own_duckdb() -> Any:
    """A connection of its own; what does not fit in memory goes to the temporary folder."""
    import ibis

    spill = _spilling() / uuid.uuid4().hex
    return ibis.duckdb.connect(memory_limit=memory_limit(), temp_directory=str(spill))


def hold_memory(connection: Any) -> None:
    """The same for a connection to a file of DuckDB, which may be open in this process already."""
    import duckdb

    connection.con.execute("SET memory_limit = ?", [memory_limit()])
    with contextlib.suppress(duckdb.Error):  # where something was spilled already
        connection.con.execute("SET temp_directory = ?", [str(_spilling() / uuid.uuid4().hex)])


def _spilling() -> Path:
    """One a process, made again where an interrupted command took it away."""
    folder = _own_folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@cache
def _own_folder() -> Path:
    """Gone when the process ends."""
    folder = unfinished(Path(tempfile.mkdtemp(prefix="discreet-")))  # which has mode 700
    weakref.finalize(own_duckdb, shutil.rmtree, folder, ignore_errors=True)
    return folder


def builtin(name: str, kinds: Sequence[Any], result: str) -> Any:
    """A function that an engine has and ibis does not know."""
    import ibis

    def function() -> None: ...

    named = (Parameter(f"_{place}", Parameter.POSITIONAL_ONLY) for place in range(len(kinds)))
    function.__signature__ = Signature([*named])  # type: ignore[attr-defined]
    made = ibis.udf.scalar.builtin(name=name, signature=(tuple(kinds), result))
    return made(function)


def error_kinds() -> tuple[type[BaseException], ...]:
    """What engines raise, of those that are in use."""
    import duckdb
    import pyarrow as pa
    from ibis.common.exceptions import IbisError

    kinds: list[type[BaseException]] = [
        *(duckdb.Error, sqlite3.Error, pa.ArrowException, IbisError, ValueError)
    ]
    for module, name in (
        ("psycopg", "Error"),
        ("pyspark.errors", "PySparkException"),
        ("py4j.protocol", "Py4JError"),
        ("deltalake.exceptions", "DeltaError"),
    ):
        if module in sys.modules:
            kinds.append(getattr(sys.modules[module], name))
    return tuple(kinds)


def reason(error: BaseException) -> str:
    """What an engine says of itself; of Java's errors what Java says."""
    behind = getattr(error, "java_exception", None)
    return str(error) if behind is None else str(behind.getMessage() or behind.toString())

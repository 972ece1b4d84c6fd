"""`discreet` commands as forks of one process that has imported everything: a start costs a third.

    python benchmarks/forked.py

reads lines of JSON, {"words": [...], "env": {...}, "log": FILE, "orders": FILE}, and answers each
with the number of the process. What runs is the command itself. Before it begins nothing but
modules is there: no thread, no connection, nothing computed.

`orders` is a file that says what the process has to suffer: {"back": seconds that its clock is set
back, "read_only": whether SQLite may write}.
"""

import json
import multiprocessing
import os
import signal
import sys
from datetime import datetime, timedelta
from pathlib import Path

PATIENCE = 2  # seconds that writers wait for each other
NEEDED = (
    "alembic.command",
    "alembic.config",
    "alembic.runtime.migration",
    "discreet.cli.ledger",
    "duckdb",
    "ibis.backends.duckdb",
    "discreet.cli.main",
    "discreet.cli.serve",
    "discreet.server.app",
    "discreet.server.launch",
    "numba",
    "pandas",
    "psycopg",
    "pyarrow",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.supervisors.multiprocess",
)


def main():
    for name in NEEDED:
        __import__(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    print("ready", flush=True)
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            become(**json.loads(line))
        print(pid, flush=True)


def become(words, env, log, orders=None):
    """The command, in a group of its own."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    for number in (1, 2):
        os.dup2(file, number)
    os.environ.clear()
    os.environ.update(env)
    fork_workers()
    if orders is not None:
        obey(Path(orders))
    code = 3
    try:
        from discreet.cli.main import main as discreet

        discreet(words)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        Path(f"{log}.code").write_text(str(code))
        os._exit(code)


def fork_workers():
    """Worker processes come from a process that has imported everything, too."""
    from uvicorn import _subprocess

    _subprocess.spawn = multiprocessing.get_context("forkserver")
    _subprocess.spawn.set_forkserver_preload(list(NEEDED))


def obey(orders):
    """A clock that can be set back, and a database that cannot be written to."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    from discreet.server.deciding import counter
    from discreet.server.ledger import database, schema

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) - timedelta(seconds=read(orders)["back"])

    schema.datetime = counter.datetime = Clock
    database.PATIENCE = PATIENCE

    @event.listens_for(Engine, "begin")
    def restrict(connection):
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA query_only = {int(read(orders)['read_only'])}")


def read(orders):
    return json.loads(orders.read_text())


if __name__ == "__main__":
    main()

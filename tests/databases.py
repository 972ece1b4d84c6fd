"""A PostgreSQL server that lives as long as the tests."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

PASSWORD = "p@ss/w:rd"


@pytest.fixture(scope="session")
def postgres():
    """The URL of an empty database, with a password that has to be quoted."""
    with postgres_server() as url:
        yield url


@contextmanager
def postgres_server():
    """The same, for scripts."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = found[-1] if found else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL is not installed: no initdb in /usr/lib/postgresql or on the PATH")
    bin_ = Path(initdb).parent
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # not below pytest's own folder, which the user postgres may not enter
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    (folder / "password").write_text(PASSWORD)
    start = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -F"
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            shutil.chown(folder / "password", "postgres")
        _run(
            bin_ / "initdb",
            "-D",
            folder / "data",
            "-U",
            "ann",
            "-A",
            "scram-sha-256",
            f"--pwfile={folder / 'password'}",
            "--no-sync",
            "-E",
            "UTF8",
        )
        _run(
            bin_ / "pg_ctl", "-D", folder / "data", "-o", start, "-l", folder / "log", "-w", "start"
        )
        try:
            yield f"postgresql://ann:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/postgres"
        finally:
            _run(bin_ / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(*command):
    """As the user postgres where we are root: the server refuses to run as root."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *map(str, command)], check=True, cwd="/", capture_output=True)


@pytest.fixture(scope="session")
def spark():
    """A Spark session in this process, as small as it gets; one a worker."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed: no java on the PATH, which Spark needs")
    folder = tempfile.mkdtemp(prefix="discreet-spark-")
    builder = pyspark.sql.SparkSession.builder.master("local[1]").appName("tests")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    builder = builder.config("spark.local.dir", folder)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.log.level": "OFF",
    "spark.pyspark.python": sys.executable,
}
# of each kind of column: its type in DuckDB, PostgreSQL and Spark
KINDS = {
    "text": ("VARCHAR", "text", "string"),
    "padded": ("VARCHAR", "char(6)", "string"),
    "small": ("TINYINT", "smallint", "tinyint"),
    "integer": ("INTEGER", "integer", "int"),
    "long": ("BIGINT", "bigint", "bigint"),
    "number": ("DOUBLE", "double precision", "double"),
    "single": ("FLOAT", "real", "float"),
    "decimal": ("DECIMAL(12, 3)", "numeric", "decimal(12, 3)"),
    "boolean": ("BOOLEAN", "boolean", "boolean"),
    "date": ("DATE", "date", "date"),
    "time": ("TIMESTAMP", "timestamp", "timestamp_ntz"),
    "zoned": ("TIMESTAMPTZ", "timestamptz", "timestamp"),
    "bytes": ("BLOB", "bytea", "binary"),
}


def in_duckdb(path, name, kinds, rows):
    """A table in a DuckDB file."""
    import duckdb

    columns = ", ".join(f"{_quoted(column)} {KINDS[kind][0]}" for column, kind in kinds.items())
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * len(kinds))
        for row in rows:
            connection.execute(f"INSERT INTO {name} VALUES ({marks})", row)
    return f"duckdb://{path}"


def in_postgres(address, name, kinds, rows):
    """A table in PostgreSQL, in place of one of that name."""
    import psycopg

    columns = ", ".join(f"{_quoted(column)} {KINDS[kind][1]}" for column, kind in kinds.items())
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.execute(f"CREATE TABLE {name} ({columns.replace('%', '%%')})", [])
        marks = ", ".join(["%s"] * len(kinds))
        cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return address


def in_spark(session, name, kinds, rows):
    """A view of a frame that the session holds."""
    from pyspark.sql.types import StructField, StructType, _parse_datatype_string

    fields = [
        StructField(column, _parse_datatype_string(KINDS[kind][2]))
        for column, kind in kinds.items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark closes no socket
        session.createDataFrame(list(rows), StructType(fields)).createOrReplaceTempView(name)
    return session


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'

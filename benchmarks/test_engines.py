"""Engines at the size of a census: records counted where they lie, time and peak memory.

Each count runs in a process of its own, so that its peak memory is that job's: Python's, and for
Spark the Java machine's besides. Twenty variables of two to four categories that depend on each
other through hidden classes: easy, because an engine reduces records to cells; hard, because there
are millions of cells, many with one record, so that neither the engine nor Python gets away small.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.table.microdata import Microdata

VARIABLES, CLASSES, CHUNK = 20, 8, 1 << 20
NAMES = [f"V{place}" for place in range(VARIABLES)]
PAIRS = [("V0", "V19"), ("V3", "V4"), ("V7", "V12")]
LIMIT = 12 * 1024  # MiB
DUCKDB_MEMORY, SPARK_MEMORY = "5GB", "4g"


def write_people(path, records, seed=2021):
    """Codes of latent classes, by tables of 256 equally probable draws: quick, and always the
    same."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, VARIABLES)
    weights = rng.dirichlet(np.full(CLASSES, 3.0))
    drawn = []
    for size in sizes:
        chance = rng.dirichlet(np.full(size, 0.4), CLASSES)
        ends = np.rint(256 * np.cumsum(chance, axis=1)[:, :-1])
        drawn.append(
            (np.arange(256)[None, :, None] >= ends[:, None, :]).sum(axis=2, dtype=np.uint8)
        )
    group_of = np.searchsorted(np.cumsum(weights)[:-1], (np.arange(4096) + 0.5) / 4096)
    schema = pa.schema([(name, pa.uint8()) for name in NAMES])
    with pq.ParquetWriter(path, schema, compression="lz4") as writer:
        for start in range(0, records, CHUNK):
            size = min(CHUNK, records - start)
            group = group_of[rng.integers(0, 4096, size, np.uint16)] << 8
            columns = [
                table.ravel()[group + rng.integers(0, 256, size, np.uint8)] for table in drawn
            ]
            writer.write_table(pa.table(columns, schema=schema))


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Files of so many records, each gone when the next is asked for."""
    path = tmp_path_factory.mktemp("engines") / "people.parquet"

    def written(records):
        start = time.perf_counter()
        write_people(path, records)
        print(f"\n{records:,} records written in {time.perf_counter() - start:.0f} s")
        return path

    yield written
    path.unlink(missing_ok=True)


def counted(engine, path, **environment):
    """The job in a process of its own: seconds, cells, MiB at the peak, sums of cells."""
    run = subprocess.run(
        [sys.executable, __file__, engine, str(path)],
        check=True, capture_output=True, text=True, env=os.environ | environment,
    )  # fmt: skip
    return json.loads(run.stdout.splitlines()[-1])


def check(found, path, records):
    """Against plain SQL: the total, every one-way margin, some two-way margins."""
    assert found["total"] == records
    with duckdb.connect() as connection:
        people = connection.read_parquet(str(path))  # noqa: F841 named in the query
        for key, sums in found["sums"].items():
            columns = ", ".join(key.split("*"))
            rows = connection.sql(
                f"SELECT {columns}, count(*) FROM people GROUP BY ALL ORDER BY ALL"
            ).fetchall()
            assert [[*map(str, row[:-1]), row[-1]] for row in rows] == sums
    assert len(found["sums"]) == VARIABLES + len(PAIRS)


@pytest.mark.large
def test_a_hundred_million_records_by_duckdb(people, claim):
    """Within 12 GiB at the peak, with DuckDB held to 5 GB."""
    records = 100_000_000
    path = people(records)
    found = counted("duckdb", path, DISCREET_MEMORY=DUCKDB_MEMORY)
    check(found, path, records)
    print(
        f"{records:,} records to {found['cells']:,} cells: {found['seconds']:.0f} s, peak memory "
        f"{found['python']:,} MiB (under {LIMIT:,})"
    )
    assert found["cells"] > 10**6
    assert found["python"] < LIMIT
    claim(
        "engines", "100 million records of 20 variables counted by DuckDB within 12 GiB",
        ours=found["seconds"], rival=None, theirs=None, size=f"{found['cells']:,} cells",
        memory=found["python"], why="no rival was given as little memory; 10 million have one",
    )  # fmt: skip


@pytest.mark.large
def test_twenty_million_records_by_spark(people, claim):
    """Spark local mode on the machine's cores, Java's memory counted in."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    records = 20_000_000
    path = people(records)
    found = counted("spark", path)
    check(found, path, records)
    both = found["python"] + found["java"]
    print(
        f"{records:,} records to {found['cells']:,} cells by Spark: {found['seconds']:.0f} s, peak "
        f"memory {found['python']:,} MiB and Java's {found['java']:,} MiB"
    )
    duck = counted("duckdb", path, DISCREET_MEMORY=DUCKDB_MEMORY)
    assert duck["digest"] == found["digest"]
    assert both < LIMIT
    claim(
        "engines", "20 million records of 20 variables counted by Spark local mode",
        ours=found["seconds"], rival="the same by DuckDB", theirs=duck["seconds"],
        size=f"{found['cells']:,} cells", memory=both,
        why="Spark pays for rows on the Java heap and wins only where data lie on many machines",
    )  # fmt: skip


def test_ten_million_records_against_queries_by_hand(people, claim):
    """The same cells by DuckDB and by polars, written by hand: labels and order are ours alone."""
    records = 10_000_000
    path = people(records)
    found = {way: counted(way, path) for way in ("duckdb", "duckdb-by-hand", "polars-by-hand")}
    check(found["duckdb"], path, records)
    assert len({each["cells"] for each in found.values()}) == 1
    assert {each["total"] for each in found.values()} == {records}
    for way, each in found.items():
        print(f"{way}: {each['seconds']:.1f} s, {each['cells']:,} cells, {each['python']:,} MiB")
    ours = found["duckdb"]
    for rival, way in (("DuckDB by hand", "duckdb-by-hand"), ("polars by hand", "polars-by-hand")):
        claim(
            "engines", f"10 million records of 20 variables to a table, beside {rival}",
            ours=ours["seconds"], rival=rival, theirs=found[way]["seconds"],
            size=f"{ours['cells']:,} cells", memory=ours["python"],
            why="the query is the same; ours also looks before it counts, labels and sorts cells",
        )  # fmt: skip


def _count(engine, path):
    """In the process of its own; prints one line of JSON."""
    ways = {"duckdb-by-hand": _duckdb_by_hand, "polars-by-hand": _polars_by_hand}
    if engine in ways:
        start = time.perf_counter()
        cells, total = ways[engine](path)
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "cells": cells, "total": total, "python": _peak()}))
        return
    source, java = _spark(path) if engine == "spark" else (path, None)
    start = time.perf_counter()
    table = Microdata.read(source, records=True).table(NAMES)
    seconds = time.perf_counter() - start
    peak, machine = _peak(), _peak(java) if java else 0
    sums = {}
    for names in [*((name,) for name in NAMES), *PAIRS]:
        margin = table.margin(names)
        cells = margin.nonzero()
        labels = [[*cells.label(row).values(), int(n)] for row, n in enumerate(margin.counts)]
        sums["*".join(names)] = labels
    import hashlib

    digest = hashlib.sha256(table.codes.tobytes() + table.counts.tobytes()).hexdigest()
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cells": len(table),
                "total": table.total,
                "sums": sums,
                "python": peak,
                "java": machine,
                "digest": digest,
            }
        )
    )


def _spark(path):
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": SPARK_MEMORY, "spark.driver.maxResultSize": "0",
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "16", "spark.log.level": "ERROR",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[*]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    java = session.sparkContext._gateway.proc.pid
    return session.read.parquet(str(path)), java


def _duckdb_by_hand(path):
    columns = ", ".join(NAMES)
    query = f"SELECT {columns}, count(*) AS n FROM read_parquet('{path}') GROUP BY ALL"
    cells = duckdb.connect().sql(query).to_arrow_table()
    return cells.num_rows, int(cells["n"].to_numpy().sum())


def _polars_by_hand(path):
    import polars as pl

    cells = pl.scan_parquet(path).group_by(NAMES).len().collect(engine="streaming")
    return len(cells), int(cells["len"].sum())


def _peak(process="self"):
    """MiB at the peak, of a process that is there."""
    line = next(x for x in Path(f"/proc/{process}/status").read_text().splitlines() if "VmHWM" in x)
    return int(line.split()[1]) // 1024


if __name__ == "__main__":
    _count(*sys.argv[1:])

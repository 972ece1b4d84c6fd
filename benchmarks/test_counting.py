"""How fast records become tables, and how much memory that takes."""

import itertools
import resource
import subprocess
import sys
import time

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.table.microdata import Microdata

RECORDS, COLUMNS, CLASSES, CHUNK = 10_000_000, 16, 6, 1 << 20


def write_latent_classes(path, records, columns, seed=1998):
    """Answers that depend on each other only through a hidden class, 2 to 4 categories each."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, columns)
    weights = rng.dirichlet(np.full(CLASSES, 2.0))
    cuts = [np.cumsum(rng.dirichlet(np.full(s, 0.5), CLASSES), axis=1)[:, :-1] for s in sizes]
    cuts = [cut.astype(np.float32) for cut in cuts]
    labels = pa.array([f"level {code}" for code in range(4)])
    writer = None
    for start in range(0, records, CHUNK):
        size = min(CHUNK, records - start)
        member = rng.choice(CLASSES, size, p=weights)
        answers = {}
        for place, cut in enumerate(cuts):
            code = (rng.random(size, np.float32)[:, None] > cut[member]).sum(axis=1, dtype=np.int8)
            answers[f"V{place}"] = pa.array(code) if place % 2 else labels.take(pa.array(code))
        table = pa.table(answers)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("counting") / "people.parquet"
    write_latent_classes(path, RECORDS, COLUMNS)
    yield path
    path.unlink()


def test_counting_costs_little_more_than_the_query(people, claim):
    """Ten million records, sixteen columns, half of them text: at most 1.3 times raw DuckDB.

    Easy, because the engine reduces the records to cells before Python sees any; hard, because
    the hundreds of thousands of cells that are left must be labelled, ordered and sorted.
    """
    columns = ", ".join(f"V{place}" for place in range(COLUMNS))
    query = f"SELECT {columns}, count(*) AS n FROM read_parquet('{people}') GROUP BY ALL"
    raw = lambda: duckdb.connect().sql(query).to_arrow_table()  # noqa: E731
    ours = lambda: Microdata.read(people).table()  # noqa: E731
    seconds = {raw: [], ours: []}
    results = {}
    for _ in range(5):  # the first pays for the imports, and neighbours disturb
        for way in (raw, ours):
            start = time.perf_counter()
            results[way] = way()
            seconds[way].append(time.perf_counter() - start)
    table, cells = results[ours], results[raw]
    assert (table.total, len(table)) == (RECORDS, cells.num_rows)
    assert sorted(table.counts.tolist()) == sorted(cells["n"].to_pylist())
    best = {way: min(times) for way, times in seconds.items()}
    ratio = best[ours] / best[raw]
    print(
        f"\n{RECORDS:,} records to {len(table):,} cells: DuckDB {best[raw]:.2f} s, "
        f"Microdata.table {best[ours]:.2f} s, ratio {ratio:.2f} (at most 1.3)"
    )
    claim(
        "counting", "Ten million records become a table", ours=best[ours],
        rival="DuckDB (the query alone)", theirs=best[raw], size=f"{len(table):,} cells",
        why="The query leaves cells without labels and in no order; what we do besides is all "
        "that differs.",
    )  # fmt: skip
    assert ratio <= 1.3


def test_all_two_way_margins_of_sixty_variables(tmp_path):
    """All 1,770 two-way margins of 60 variables and 100,000 records, within 2 GiB.

    Easy, because every margin is small; hard, because nearly every record is a cell of its own
    and the full table has some 10^28 cells, so that nothing dense can be held.
    """
    write_latent_classes(tmp_path / "wide.parquet", 100_000, 60)
    run = subprocess.run(
        [sys.executable, __file__, str(tmp_path / "wide.parquet")],
        check=True,
        capture_output=True,
        text=True,
    )
    margins, people, cells, seconds, mebibytes = run.stdout.split()
    print(
        f"\n{margins} two-way margins of {cells} cells: {float(seconds):.1f} s, "
        f"peak memory {mebibytes} MiB (under 2,048)"
    )
    assert (int(margins), int(people)) == (1770, 1770 * 100_000)
    assert int(mebibytes) < 2048


def _count_margins(path):
    """In a process of its own, whose peak memory is then this job's."""
    table = Microdata.read(path).table()
    start = time.perf_counter()
    margins = [table.margin(pair) for pair in itertools.combinations(table.names, 2)]
    seconds = time.perf_counter() - start
    people = sum(margin.total for margin in margins)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(len(margins), people, len(table), seconds, peak)


if __name__ == "__main__":
    _count_margins(sys.argv[1])

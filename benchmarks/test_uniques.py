"""How fast records become classes, against the engine by itself and against pycanon."""

import time

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.risk.uniques.anonymity import k_anonymity
from discreet.risk.uniques.uniques import uniques

RECORDS, CHUNK = 10_000_000, 1 << 20
SIZES = {"age": 90, "sex": 2, "region": 20, "work": 10, "marital": 5, "origin": 12}


def people(records, seed=1993):
    """Six keys with unequal shares, as in a survey, half of them text; an illness, a household."""
    rng = np.random.default_rng(seed)
    shares = {key: rng.dirichlet(np.full(size, 1.5)) for key, size in SIZES.items()}
    for start in range(0, records, CHUNK):
        size = min(CHUNK, records - start)
        columns = {}
        for place, (key, share) in enumerate(shares.items()):
            cut = np.cumsum(share)[:-1].astype(np.float32)
            code = np.searchsorted(cut, rng.random(size, np.float32)).astype(np.int16)
            labels = pa.array([f"{key} {c}" for c in range(len(share))])
            columns[key] = pa.array(code) if place % 2 else labels.take(pa.array(code))
        columns["home"] = pa.array((start + np.arange(size)) // 3)
        yield pa.table(columns)


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    path = tmp_path_factory.mktemp("uniques") / "survey.parquet"
    writer = None
    for table in people(RECORDS):
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    yield path
    path.unlink()


def test_k_anonymity_costs_little_more_than_the_query(survey, claim):
    """Ten million records, six keys, half of them text: at most 1.3 times a raw GROUP BY.

    Easy, because the engine reduces the records to classes; hard, because hundreds of thousands
    of classes are left, and the raw query labels and sorts none of them.
    """
    keys = ", ".join(SIZES)
    query = f"SELECT {keys}, count(*) AS n FROM read_parquet('{survey}') GROUP BY ALL"
    raw = lambda: duckdb.connect().sql(query).to_arrow_table()  # noqa: E731
    ours = lambda: k_anonymity(survey, keys)  # noqa: E731
    seconds, results = {raw: [], ours: []}, {}
    for _ in range(5):  # the first pays for the imports, and neighbours disturb
        for way in (raw, ours):
            start = time.perf_counter()
            results[way] = way()
            seconds[way].append(time.perf_counter() - start)
    found, counts = results[ours], np.asarray(results[raw]["n"])
    assert (found.k, found.total, found.uniques) == (counts.min(), RECORDS, (counts == 1).sum())
    assert found.classes.sum() == len(counts)
    best = {way: min(times) for way, times in seconds.items()}
    ratio = best[ours] / best[raw]
    print(
        f"\n{RECORDS:,} records to {len(counts):,} classes: DuckDB {best[raw]:.2f} s, "
        f"k_anonymity {best[ours]:.2f} s, ratio {ratio:.2f} (at most 1.3)"
    )
    claim(
        "anonymity", "k-anonymity of ten million records", ours=best[ours],
        rival="DuckDB (the query alone)", theirs=best[raw], size="6 keys",
        why="The query leaves hundreds of thousands of classes unlabelled; we count their sizes "
        "inside the engine.",
    )  # fmt: skip
    assert ratio <= 1.3


def test_everything_about_ten_million_records(survey):
    """Row numbers, individual risk, tau, sets of up to three keys, households: all that is said.

    Hard, because row numbers and households make the engine look at every record, not at classes.
    """
    start = time.perf_counter()
    found = uniques(survey, list(SIZES), population=10 * RECORDS, household="home")
    seconds = time.perf_counter() - start
    print(f"\n{found!r}: {seconds:.1f} s, {found.population!r}, {found.households!r}")
    assert found.households.members.sum() == RECORDS
    assert seconds < 300


def test_k_anonymity_against_pycanon(claim):
    """One million records, six keys, a frame in memory: at least 50 times faster.

    Easy, because pycanon lists the rows of every class, one class at a time; hard, because text
    must be compared before anything is counted.
    """
    try:
        from pycanon import anonymity
    except ImportError:
        claim.absent("pycanon", '`pip install -e ".[bench]"`')
    table = pa.concat_tables(people(1_000_000)).drop_columns(["home"])
    frame: pd.DataFrame = table.to_pandas()
    keys = list(SIZES)
    ours = []
    for _ in range(3):
        start = time.perf_counter()
        found = k_anonymity(frame, keys)
        ours.append(time.perf_counter() - start)
    start = time.perf_counter()
    theirs = anonymity.k_anonymity(frame, keys)
    rival = time.perf_counter() - start
    assert found.k == theirs
    print(f"\npycanon {rival:.1f} s, k_anonymity {min(ours):.3f} s, {rival / min(ours):,.0f} times")
    claim(
        "anonymity", "k-anonymity of a million records", ours=min(ours),
        rival="pycanon (k_anonymity)", theirs=rival, size="6 keys",
        why="pycanon lists the rows of every class, one class at a time.",
    )  # fmt: skip
    assert rival >= 50 * min(ours)

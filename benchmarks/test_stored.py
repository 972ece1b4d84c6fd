"""Tables larger than memory: 60 variables, up to 10^8 cells on disk.

Hard because a visit of each cell by each of 34,220 triples is 3.4 * 10^12 visits, and nothing that
holds a number for each cell and margin fits in memory; easy in that the variables have two to four
categories, so that bit maps are few. `DISCREET_CELLS=100000000` takes the largest; by itself a
million cells, and ten, are taken. The rival counts every triple by DuckDB, a sample of which is
timed; it also checks margins and critical widths, from the definition, on the same parts.
"""

import json
import os
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pytest
from stored_cells import write

MOST = int(os.environ.get("DISCREET_CELLS", 10_000_000))
SIZES = [size for size in (1_000_000, 10_000_000, 100_000_000) if size <= MOST]
LIMIT = 8 * 1024  # MiB, mapped pages included
NAMES = [f"v{v:02}" for v in range(60)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of cells for each size; those of DISCREET_STORED stay."""
    kept = os.environ.get("DISCREET_STORED")
    place = Path(kept) if kept else tmp_path_factory.mktemp("stored")
    found = {}
    for size in SIZES:
        found[size] = place / f"{size}.cells"
        if not (found[size] / "cells.json").exists():
            write(found[size], size).check_cells()
    return found


def job(folder, work):
    """The answer of a process that does this alone, with its seconds and its peak memory."""
    script = Path(__file__).with_name("stored_job.py")
    typed = [sys.executable, str(script), str(folder), work]
    done = subprocess.run(typed, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["peak"] < LIMIT
    return answer


class Engine:
    """The same parts, counted by DuckDB."""

    def __init__(self, folder):
        self.connection = duckdb.connect()
        self.connection.execute("SET memory_limit = '4GB'")
        self.parts = f"read_parquet('{folder}/part-*.parquet')"

    def ask(self, query):
        return self.connection.execute(query).fetchall()

    def margin(self, names):
        row = ", ".join(names)
        return self.ask(
            f"SELECT {row}, sum(count)::BIGINT FROM {self.parts} GROUP BY {row} ORDER BY {row}"
        )

    def least(self, names):
        """The least count of a margin at the small cells."""
        return self.ask(
            "SELECT min(n) FROM (SELECT sum(count)::BIGINT AS n, min(count) <= 2 AS small FROM "
            f"{self.parts} GROUP BY {', '.join(names)}) WHERE small"
        )[0][0]

    def lookup(self, names):
        """An expression for the count of a margin at a cell."""
        cells = np.array(self.margin(names))
        sizes = cells[:, :-1].max(0) + 1
        place = " + ".join(
            f"{name}::INT * {int(np.prod(sizes[i + 1 :]))}" for i, name in enumerate(names)
        )
        dense = np.zeros(int(np.prod(sizes)), np.int64)
        dense[np.ravel_multi_index(cells[:, :-1].T, sizes)] = cells[:, -1]
        return f"({dense.tolist()}::BIGINT[])[1 + {place}]"

    def critical_widths(self, margins):
        """Definition 1.2: the narrowest width of C and the one-way margins of all others."""
        total = self.ask(f"SELECT sum(count)::BIGINT FROM {self.parts}")[0][0]
        ones = ", ".join(f"{self.lookup([name])} AS n_{name}" for name in NAMES)
        owns = ", ".join(f"{self.lookup(m)} AS c_{i}" for i, m in enumerate(margins))
        found = []
        for i, margin in enumerate(margins):
            rest = [f"n_{name}" for name in NAMES if name not in margin]
            low = f"greatest(0, c_{i} + {' + '.join(rest)} - {len(rest)} * {total})"
            found.append(f"min(least(c_{i}, {', '.join(rest)}) - {low})")
        return self.ask(
            f"SELECT {', '.join(found)} FROM "
            f"(SELECT {ones}, {owns} FROM {self.parts} WHERE count <= 2)"
        )[0]


def check(folder, answer, size):
    """Twenty-four critical widths, the narrowest among them, by SQL.

    From the definition, cell by cell; where these are 10^8, of margins whose least count is below
    that of every one-way margin and alone decides, by that count.
    """
    engine, rng = Engine(folder), np.random.default_rng(5)
    rows = [*rng.choice(len(answer["widths"]), 16, replace=False)]
    rows += [*np.argsort(answer["widths"], kind="stable")[:8]]
    margins = [answer["margins"][row] for row in rows]
    found = [answer["widths"][row] for row in rows]
    if size <= 10_000_000:
        assert engine.critical_widths(margins) == tuple(found)
        return
    ones = min(engine.least([name]) for name in NAMES)
    assert found == [min(engine.least(margin), ones) for margin in margins]


def by_engine(folder, number=20):
    """Seconds for a triple by DuckDB, the mean of some."""
    engine, rng = Engine(folder), np.random.default_rng(7)
    triples = list(combinations(NAMES, 3))
    start = time.perf_counter()
    for row in rng.choice(len(triples), number, replace=False):
        engine.least(triples[row])
    return (time.perf_counter() - start) / number


@pytest.mark.large
def test_widths_to_order_3(folders, claim):
    growth = []
    for size, folder in folders.items():
        found = job(folder, "widths")
        growth.append((size, found["seconds"]))
        print(f"\n{size:,} cells: {found['seconds']:.0f} s, peak {found['peak']:,.0f} MiB")
        assert len(found["widths"]) == 60 + 1_770 + 34_220
        check(folder, found, size)
    theirs = by_engine(folder) * 34_220
    print(f"DuckDB: {theirs:,.0f} s for all triples, from 20 of them")
    assert found["seconds"] < theirs
    claim(
        "stored",
        f"Critical widths of 36,050 margins, {size:,} cells on disk",
        ours=found["seconds"],
        rival="DuckDB, GROUP BY of every triple (from 20 of them)",
        theirs=theirs,
        size=f"60 variables, {size:,} cells",
        memory=found["peak"],
        growth=growth,
        why="bit maps count one cell of a margin by 512 cells an instruction; DuckDB reads only "
        "three columns a triple, but visits each cell",
    )


@pytest.mark.large
def test_decomposable_search(folders, claim):
    growth = []
    for size, folder in folders.items():
        found = job(folder, "search")
        growth.append((size, found["seconds"]))
        parts = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in found["parts"].items())
        print(
            f"\n{size:,} cells: {found['released']:,} margins, width {found['width']}, "
            f"{found['seconds']:.0f} s ({parts}), peak {found['peak']:,.0f} MiB"
        )
        assert found["width"] >= 3
        engine = Engine(folder)
        for clique in sorted(found["cliques"], key=len)[-3:]:
            assert engine.least(clique) >= 3
    claim(
        "stored-search",
        f"A decomposable release of 60 variables, {size:,} cells on disk",
        ours=found["seconds"],
        rival=None,
        theirs=None,
        size=f"{found['released']:,} margins, narrowest width {found['width']}",
        memory=found["peak"],
        growth=growth,
        why="no other program searches for it; most time goes into counting the margins that the "
        "search comes to, each by a look at all cells",
    )

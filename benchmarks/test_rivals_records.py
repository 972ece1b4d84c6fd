"""Files of records and small tables beside pycanon, polars and scipy, all of it in memory."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from claims_r import in_r, needs_r
from claims_timing import best, side_by_side
from scipy.sparse import csr_array
from scipy.stats.contingency import crosstab, margins

from discreet.risk.uniques.anonymity import diversity, k_anonymity
from discreet.table.load import load

SIZES = {"age": 90, "sex": 2, "region": 20, "work": 10}


def people(number, seed=1993):
    """Four keys with unequal shares, half of them text, and an illness."""
    rng = np.random.default_rng(seed)
    columns = {}
    for place, (key, size) in enumerate(SIZES.items()):
        code = rng.choice(size, number, p=rng.dirichlet(np.full(size, 1.5)))
        columns[key] = code if place % 2 else np.array([f"{key} {c}" for c in range(size)])[code]
    columns["ill"] = np.array(["no", "cold", "flu", "heart"])[rng.choice(4, number)]
    return pd.DataFrame(columns)


def test_diversity(claim):
    """A hundred thousand records: easy, because classes are few; hard, because text is compared."""
    try:
        from pycanon import anonymity
    except ImportError:
        claim.absent("pycanon", '`pip install -e ".[bench]"`')
    frame, keys = people(100_000), list(SIZES)
    found, ours = best(lambda: diversity(frame, keys, "ill"))
    known, theirs = best(lambda: anonymity.l_diversity(frame, keys, ["ill"]), 1)
    assert found.distinct.min() == known
    grown = [(n, best(lambda n=n: diversity(frame.head(n), keys, "ill"), 3)[1])
             for n in (25_000, 50_000)]  # fmt: skip
    claim(
        "anonymity", "l-diversity of 100,000 records", ours=ours, rival="pycanon (l_diversity)",
        theirs=theirs, size="4 keys", growth=[*grown, (100_000, ours)],
        why="pycanon looks at the rows of one class after the other; one count serves them all.",
    )  # fmt: skip


SDCMICRO = """
library(sdcMicro)
x <- read.csv("people.csv", stringsAsFactors = TRUE)
work <- function() freqCalc(x, keyVars = c("age", "sex", "region", "work"))$fk
cat(timed(work, 3), "\\n")
found <- work()
cat(min(found), sum(found == 1), "\\n")
"""


def test_frequencies(claim, tmp_path):
    """A hundred thousand records: how many look alike, of each."""
    needs_r(claim, "sdcMicro")
    frame = people(100_000)
    frame.to_csv(tmp_path / "people.csv", index=False)
    found, ours = best(lambda: k_anonymity(frame, list(SIZES)))
    seconds, said = in_r(SDCMICRO, tmp_path)
    assert [found.k, found.uniques] == [int(number) for number in said.split()]
    claim(
        "anonymity", "k-anonymity of 100,000 records", ours=ours, rival="sdcMicro (R, freqCalc)",
        theirs=float(seconds), size="4 keys", why="freqCalc says it of each record, too.",
    )  # fmt: skip


def test_a_tiny_file_in_polars(claim):
    """Two hundred records: nothing but overhead, ours for types, labels and order."""
    frame = people(200)
    rival, keys = pl.from_pandas(frame), list(SIZES)
    (found, ours), (known, theirs) = side_by_side(
        lambda: k_anonymity(frame, keys), lambda: rival.group_by(keys).len(), times=30
    )
    assert found.k == known["len"].min()
    assert found.uniques == (known["len"] == 1).sum()
    claim(
        "anonymity", "k-anonymity of 200 records", ours=ours, rival="polars (group_by, by hand)",
        theirs=theirs, size="4 keys", why="Nearly half of our time opens DuckDB, most of the rest "
        "looks at what the columns are; 200 records pay for neither."
    )  # fmt: skip


def test_a_small_file_becomes_a_table(claim):
    """A thousand records: crosstab has counts and labels, and no more is asked of it."""
    frame = people(1_000)[["sex", "work", "ill"]]
    columns = [frame[name].to_numpy() for name in frame]
    (table, ours), (known, theirs) = side_by_side(
        lambda: load(frame), lambda: crosstab(*columns), times=10
    )
    assert np.array_equal(np.sort(table.dense().ravel()), np.sort(known.count.ravel()))
    claim(
        "counting", "A thousand records become a table", ours=ours, rival="scipy (crosstab)",
        theirs=theirs, size="3 columns", why="DuckDB is opened and asked three times: what the "
        "columns are, and the counts; a thousand records do not pay for it."
    )  # fmt: skip


@pytest.mark.parametrize("name", ["tract", "disability"])
def test_one_way_margins(claim, nltcs, name):
    """All one-way margins: dense in scipy, from the cells that hold somebody here."""
    table = nltcs if name == "disability" else load("example:tract")
    dense = table.dense()
    (found, ours), (known, theirs) = side_by_side(
        lambda: [table.margin([one]) for one in table.names], lambda: margins(dense), times=10
    )
    for mine, other in zip(found, known, strict=True):
        assert np.array_equal(mine.dense(), other.ravel())
    claim(
        "margins", f"All one-way margins of the {name} table", ours=ours,
        rival="scipy (contingency.margins)", theirs=theirs, size=f"{table.size:,} cells",
        why="18 numbers are summed in microseconds; a margin here is a table with its labels."
        if name == "tract" else "Only 3,152 of the cells hold anybody.",
    )  # fmt: skip


def test_all_pairs_of_the_disability_table(claim, nltcs):
    """All 120 two-way margins; the rival has one sparse matrix, made beforehand."""
    pairs = [(a, b) for a in nltcs.names for b in nltcs.names if a < b]
    places = [[nltcs.names.index(one) for one in pair] for pair in pairs]
    rows = np.concatenate(
        [4 * k + nltcs.codes[:, p].astype(int) @ [2, 1] for k, p in enumerate(places)]
    )
    cells = np.tile(np.arange(len(nltcs)), len(pairs))
    matrix = csr_array((np.ones(len(rows), np.int64), (rows, cells)), (4 * len(pairs), len(nltcs)))
    (found, ours), (known, theirs) = side_by_side(
        lambda: [nltcs.margin(pair) for pair in pairs], lambda: matrix @ nltcs.counts, times=10
    )
    for mine, other in zip(found, known.reshape(-1, 2, 2), strict=True):
        assert np.array_equal(mine.dense(), other)
    claim(
        "margins", "All 120 pairs of the disability table", ours=ours,
        rival="scipy (sparse matrix, made beforehand)", theirs=theirs, size="3,152 cells",
        why="The matrix knows beforehand which cells make which sum, for these margins alone; a "
        "margin here is a table with its labels.",
    )  # fmt: skip

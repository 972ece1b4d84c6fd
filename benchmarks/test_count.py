"""How fast, and how well, the tables that fit a release are counted."""

import dataclasses
import time
from itertools import combinations

import numpy as np

from discreet.intruder.tables.count import MOST_DRAWN, count
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.sequential import Sampler
from discreet.intruder.tables.split import merged, open_cells, split
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table

CZECH, SEEDS = 705_884, 100


def four_way():
    return Release.margins(load("example:czech"), list(combinations("ABCDEF", 4)))


def test_all_tables_with_the_four_way_margins_of_the_czech_table(claim):
    """705,884 tables one by one, in seconds.

    Easy, because seven numbers determine the table; hard, because no formula says which seven go
    together: bounds must pass through all 729 partial sums, or most trials are dead ends.
    """
    count(four_way(), exact=True)  # compiles
    start = time.perf_counter()
    found = count(four_way(), exact=True)
    seconds = time.perf_counter() - start
    print(f"\n{found!r}: {seconds:.2f} s (under 10)")
    assert found.tables == CZECH
    claim(
        "tables that fit", "How many tables fit the Czech table's fours", ours=seconds,
        size=f"{CZECH:,} tables", why="normaliz does not end within minutes; here they are listed "
        "one by one.",
    )  # fmt: skip
    assert seconds < 10


def test_a_hundred_estimates_of_the_czech_count():
    """Within three standard errors of the truth for at least 95 of 100 seeds, errors below 10%.

    Easy, because hardly any draw is a dead end; hard, because a few heavy weights are rare and
    matter.
    """
    release, start = four_way(), time.perf_counter()
    found = [count(release, exact=False, draws=2_000, seed=seed) for seed in range(SEEDS)]
    seconds = time.perf_counter() - start
    near = sum(abs(c.tables - CZECH) <= 3 * c.standard_error for c in found)
    errors = [c.relative_error for c in found]
    mean = np.mean([c.tables for c in found])
    print(
        f"\n{near} of {SEEDS} within three standard errors (at least 95); relative standard error "
        f"{np.mean(errors):.1%}, at most {max(errors):.1%} (below 10%); mean {mean:,.0f} of "
        f"{CZECH:,}; {seconds / SEEDS:.2f} s each"
    )
    assert near >= 95
    assert max(errors) < 0.1


def test_fewer_draws_than_by_even_draws(claim):
    """The rival draws each cell evenly within its interval (Chen, Dinwoodie & Sullivant 2006).

    All two-way margins of 4 x 4 x 4 counts: easy, because no draw is a dead end; hard, because 27
    even draws in a row nearly always end in a corner.
    """
    rng = np.random.default_rng(2006)
    names = {name: range(4) for name in "ABC"}
    release = Release.margins(Table.of(rng.poisson(4, (4, 4, 4)), **names), "A*B + B*C + A*C")
    (system,) = split(merged(*open_cells(release))).blocks
    spread, seconds = {}, {}
    for rival in (False, True):
        sampler = Sampler(system, Search.of(system), np.random.default_rng(1))
        if rival:
            sampler._proposal = dataclasses.replace(sampler._proposal, even=1.0)
        start = time.perf_counter()
        spread[rival] = sampler.estimate(error=1e-9, draws=20_000, looked=MOST_DRAWN).spread
        seconds[rival] = time.perf_counter() - start
    ratio = (spread[True] / spread[False]) ** 2
    print(f"\neven draws need {ratio:.0f} times as many for the same error (at least 3)")
    claim(
        "tables that fit", "Estimated count of 4 x 4 x 4 tables, same error", ours=seconds[False],
        rival="even draws (Chen, Dinwoodie & Sullivant 2006)", theirs=seconds[True] * ratio,
        size="20,000 draws", why="Time to the same error: even draws nearly always end in a "
        "corner.",
    )  # fmt: skip
    assert ratio >= 3

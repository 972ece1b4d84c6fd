"""Audits and optimal patterns of suppressed tables.

An audit of a 50x20x10 table is hard because its 2,300 hidden cells are one component, whose
vertices are fractions, and easy in that the nearest table in which a cell differs has few others
that do. Optimal patterns are hard because the linear relaxation is weak: 8x6x4 is about the most.
"""

import time

import numpy as np
import pytest

from discreet.intruder.sums.audit import audit
from discreet.intruder.sums.intervals import intervals
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.optimal import optimal
from discreet.release.printed import Printed
from sumcases import crossed
from suppressioncases import compare


def table(shape, seed):
    """Poisson counts; the inner cells of 1 and 2 people are primary."""
    system = crossed(*shape)
    values = system.sums @ np.random.default_rng(seed).poisson(4.12, system.columns)
    inner = np.zeros(system.cells, bool)
    inner[system.places[0][(slice(1, None),) * len(shape)].ravel()] = True
    return system, values, inner, inner & (values >= 1) & (values <= 2)


@pytest.mark.parametrize(("floor", "width"), [(0, 3), (1, 1)])
def test_audit(floor, width, claim):
    """Every target is decided by tables of whole numbers; a sample against its interval."""
    system, values, inner, primary = table((50, 20, 10), 1)
    rng = np.random.default_rng(2)
    small = np.flatnonzero(inner & (values >= 3) & (values <= 6))
    hidden = primary.copy()
    hidden[rng.choice(small, 400, replace=False)] = True
    printed = Printed.suppressed(system, values, hidden, floor=floor)
    rows = np.flatnonzero(primary)
    asked = Protection.widths(rows, values[rows], width)
    start = time.process_time()
    found = audit(printed, asked, values=values)
    took = time.process_time() - start
    start = time.process_time()
    some = rng.choice(len(rows), 4, replace=False)
    ends = intervals(printed, rows[some], effort=0.05)
    plain = (time.process_time() - start) / len(some) * len(rows)
    print(
        f"\n50x20x10, {len(rows):,} primary, floor {floor}, width {width}: {found}, {took:.1f} s "
        f"(at most 20); by intervals about {plain:,.0f} s, ratio {plain / took:.0f}"
    )
    claim(
        "suppression", f"Audit of 50 x 20 x 10 with a floor of {floor}, width {width}", ours=took,
        rival="an interval for each cell (from 4 of them)", theirs=plain,
        size=f"{len(rows):,} primary cells", why="One table that fits speaks for many cells.",
    )  # fmt: skip
    assert not found.doubt.any()
    assert (ends.upper - ends.lower >= width)[found.safe[some]].all()
    assert (ends.seen_high - ends.seen_low < width)[found.broken[some]].all()
    assert took <= 20


@pytest.mark.parametrize("seed", [1, 2])
def test_optimal_patterns(seed):
    """8x6x4, every linear width at least 3: the proven optimum, audited."""
    system, values, _, primary = table((8, 6, 4), seed)
    rows = np.flatnonzero(primary)
    asked = Protection.widths(rows, values[rows], 3)
    start = time.process_time()
    found = optimal(system, values, primary, asked, forced=values == 0, seconds=120)
    took = time.process_time() - start
    judged = audit(Printed.suppressed(system, values, found.hidden), asked, values=values)
    print(f"\n8x6x4, {len(rows)} primary: {found}, {took:.1f} s; {judged}")
    assert found.bound <= found.cost
    assert judged.linear.all()
    assert (found.stopped is None) == (found.gap == 0)


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
def test_a_hundred_small_tables(shape):
    """Each is as cheap as the cheapest of all patterns."""
    rng = np.random.default_rng(11)
    names = ("values", "cells", "log")
    solved = sum(compare(shape, number % 2, names[number % 3], rng) for number in range(100))
    print(f"\n{shape}: {solved} of 100 can be protected, and their optimum is that of all patterns")
    assert solved >= 40

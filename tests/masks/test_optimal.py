"""The cheapest suppression against all patterns of small tables."""

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.optimal import optimal
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System
from sumcases import counted, crossed, two_codings, variables
from suppressioncases import COSTS, compare, problem, protects


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
@pytest.mark.parametrize("floor", [0, 1])
@pytest.mark.parametrize("name", COSTS)
def test_all_patterns(shape, floor, name):
    rng = np.random.default_rng([*shape, floor, len(name)])
    assert sum(compare(shape, floor, name, rng) for _ in range(8)) >= 2


def test_fine_cells_that_no_sheet_prints():
    """Two codings of one variable: what is printed is what is protected, and little is hidden."""
    system = two_codings()
    rng = np.random.default_rng(3)
    for _ in range(5):
        _, values = counted(system, rng, mean=4.0)
        row = int(rng.choice(np.flatnonzero(values > 0)))
        primary = np.arange(system.cells) == row
        asked = Protection.widths([row], values[[row]], 2)
        found = optimal(system, values, primary, asked, costs=1.0)
        assert found.gap == 0
        assert protects(system, values, found.hidden, asked, 0)
        for other in np.flatnonzero(found.hidden & ~primary):
            fewer = found.hidden.copy()
            fewer[other] = False
            assert not protects(system, values, fewer, asked, 0)


def test_a_fine_cell_in_no_printed_sum_rises_without_limit():
    """Its line and its column are left out, and so are the totals: only its fall is asked about."""
    a, b = variables(3, 2)
    left = Grouping.cut(a, {"A1": ["A1"], "A2": ["A2"]}, total=False)
    other = Grouping.cut(b, {"B1": ["B1"]}, total=False)
    first = Sheet("1", (left, Grouping.of(b)))
    system = System.of([first, Sheet("2", (Grouping.of(a), other))])
    fine, values = counted(system, np.random.default_rng(5), mean=9.0)
    open_ = np.bincount(system.sums.indices, minlength=system.columns) == 0
    assert open_.sum() == 1
    bare = system.cells + int(np.argmax(open_))
    row = int(system.places[0][0, 1])
    primary = np.arange(system.cells) == row
    asked = Protection.widths([row, bare], [values[row], fine[open_][0]], [3, 3])
    found = optimal(system, values, primary, asked)
    alone = optimal(system, values, primary, asked.take([0]))
    assert found.gap == 0
    assert found.cost == alone.cost
    assert (found.hidden == alone.hidden).all()


@pytest.mark.parametrize("scale", [1e-3, 1e7])
def test_magnitudes(scale):
    """The unit of the values changes nothing but the cost."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        system, values, primary, forced, asked = problem((3, 3), 0, rng)
        wide = Protection(asked.rows, asked.low * scale, asked.high * scale, asked.width * scale)
        try:
            one = optimal(system, values, primary, asked, forced=forced)
        except DataError:
            continue
        other = optimal(system, values * scale, primary, wide, forced=forced)
        assert other.cost == pytest.approx(one.cost * scale)
        assert protects(system, values, other.hidden, asked, 0)


def test_never_dearer_than_the_start():
    """One unit of work is soon spent: the start is given back, with a bound and the gap."""
    system = crossed(5, 4, 3)
    _, values = counted(system, np.random.default_rng(1), mean=4.0)
    inner = np.zeros(system.cells, bool)
    inner[system.places[0][1:, 1:, 1:].ravel()] = True
    primary = inner & (values >= 1) & (values <= 2)
    rows = np.flatnonzero(primary)
    asked = Protection.widths(rows, values[rows], 3)
    start = values > 0
    spent = optimal(system, values, primary, asked, forced=values == 0, effort=0.01, start=start)
    assert spent.stopped
    assert "gap" in spent.stopped
    assert 0 < spent.gap < 1
    assert spent.cost <= values[start].sum()
    assert (spent.hidden >= primary).all()
    done = optimal(system, values, primary, asked, forced=values == 0, start=spent.hidden)
    assert spent.bound <= done.cost <= spent.cost
    assert done.gap == 0
    assert protects(system, values, done.hidden, asked, 0)
    with pytest.raises(DataError, match="the pattern to start from"):
        optimal(system, values, primary, asked, start=primary)


def test_primary_cells_may_not_be_forced():
    system = crossed(2, 2)
    _, values = counted(system, np.random.default_rng(1), mean=4.0)
    primary = np.arange(system.cells) == 3
    with pytest.raises(DataError, match="must be printed"):
        optimal(system, values, primary, Protection.widths([3], values[[3]], 1), forced=primary)

"""Fine cells that are 0 in every table, by linear programs of SciPy that share no code."""

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.data.codebook import Variable
from discreet.intruder.sums.zeros import always_zero
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

NEAR = 1e-6


def linked(rng):
    """Linked sheets of some lines of two of three variables, some of them filtered."""
    sizes = rng.integers(2, 5, 3)
    variables = [
        Variable(name, tuple(f"{name}{i}" for i in range(size)))
        for name, size in zip("ABC", sizes, strict=True)
    ]

    def some(variable):
        number = int(rng.integers(1, variable.size + 1))
        return [str(one) for one in rng.choice(variable.categories, number, replace=False)]

    sheets = []
    for name in range(int(rng.integers(2, 5))):
        one, other = (variables[i] for i in rng.choice(3, 2, replace=False))
        lines = Grouping.of(one).keep(["Total", *some(one)])
        where = (Grouping.only(other, some(other)),) if rng.random() < 0.7 else ()
        groupings = (lines,) if where else (lines, Grouping.of(other).keep(some(other)))
        sheets.append(Sheet(str(name), groupings, where=where))
    return System.of(sheets)


def most(printed, column):
    system = printed.system
    cost = np.zeros(system.columns)
    cost[column] = -1.0
    sums = system.sums.toarray()
    known = np.isfinite(printed.upper)
    found = linprog(
        cost, np.r_[sums[known], -sums], np.r_[printed.upper[known], -printed.lower],
        system.agree.toarray() if system.agree.shape[0] else None,
        np.zeros(system.agree.shape[0]) if system.agree.shape[0] else None,
    )  # fmt: skip
    return np.inf if found.status == 3 else -found.fun


@pytest.mark.parametrize("seed", range(60))
def test_cells_are_0_where_programs_show_that_they_are_never_more(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    system = linked(rng)
    codes = {n: rng.integers(0, v.size, 12) for n, v in system.variables.items()}
    fine = system.fine(codes, rng.integers(1, 4, 12).astype(float))
    hidden = rng.random(system.cells) < rng.choice([0.0, 0.2])
    printed = Printed.suppressed(system, system.sums @ fine, hidden, whole=False)
    every = np.ones(system.columns, bool)
    found, doubt = always_zero(printed, fine, every, NEAR)
    expected = [most(printed, column) < NEAR for column in range(system.columns)]
    assert found.tolist() == expected
    assert not doubt.any()
    monkeypatch.setattr("discreet.intruder.sums.zeros.MOST", 0)
    found, doubt = always_zero(printed, fine, every, NEAR)
    assert not found[~np.array(expected)].any()
    assert (found | doubt)[expected].all()

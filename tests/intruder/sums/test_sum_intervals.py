"""Intervals of printed cells against every table of whole numbers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.errors import InconsistentRelease
from discreet.intruder.sums.intervals import intervals
from discreet.intruder.sums.protection import target_sums
from discreet.release.printed import Printed
from sumcases import KINDS, counted, crossed, every_table, published

SHARE = {"two ways": 0.6, "three ways": 0.8, "two codings": 0.7, "linked": 0.75}  # hidden


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("floor", [0, 1])
def test_every_table(kind, floor):
    system = KINDS[kind]()
    rng = np.random.default_rng([floor, *kind.encode()])
    rows = np.arange(system.cells + system.columns)
    sums = target_sums(system, rows)
    used = 0
    for share in np.linspace(0.2, SHARE[kind], 25):
        fine, _, printed = published(system, rng, floor=floor, share=share)
        if (tables := every_table(printed)) is None:
            continue
        used += 1
        assert (tables == fine).all(1).any()
        found, targets = intervals(printed, rows), sums @ tables.T
        least, most = targets.min(1), targets.max(1)
        assert (found.lower <= least).all()
        assert (found.upper >= most).all()
        proven = found.proof == "whole"
        assert np.array_equal(found.lower[proven], least[proven])
        assert np.array_equal(found.upper[proven], most[proven])
        assert proven.all()
        assert (found.fit_low <= least + 1e-6).all()
        assert (found.fit_high >= most - 1e-6).all()
    assert used >= 20


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e9])
@pytest.mark.parametrize("kind", KINDS)
def test_magnitudes_against_another_library(kind, scale):
    """Fractions: linear ends, whatever the unit."""
    system = KINDS[kind]()
    rng = np.random.default_rng([5, *kind.encode()])
    rows = np.arange(system.cells + system.columns)
    sums = target_sums(system, rows).toarray()
    both = np.vstack([system.sums.toarray(), system.agree.toarray()])
    for _ in range(3):
        fine, _ = counted(system, rng)
        fine *= scale * rng.uniform(0.5, 2)
        values = system.sums @ fine
        hidden = rng.random(system.cells) < 0.6
        printed = Printed.suppressed(system, values, hidden, whole=False)
        found = intervals(printed, rows)
        fixed = np.r_[~hidden, np.ones(system.agree.shape[0], bool)]
        right = np.r_[values, np.zeros(system.agree.shape[0])][fixed] / scale
        for row in rows:
            for sign, end in ((1, found.lower[row]), (-1, found.upper[row])):
                other = linprog(sign * sums[row], A_eq=both[fixed], b_eq=right)
                best = sign * other.fun if other.status == 0 else np.inf
                assert end / scale == pytest.approx(best, abs=1e-5)
        assert (found.proof == "linear").all()


def test_without_limit():
    """A hidden cell in a table of hidden totals: no end above."""
    system = crossed(2, 2)
    _, values = counted(system, np.random.default_rng(1), mean=3)
    for whole in (True, False):
        printed = Printed.suppressed(system, values, np.ones(system.cells, bool), whole=whole)
        found = intervals(printed, np.arange(system.cells))
        assert (found.lower == 0).all()
        assert np.isinf(found.upper).all()


def test_contradictions_are_errors():
    system = crossed(2, 2)
    _, values = counted(system, np.random.default_rng(1), mean=3)
    values[system.places[0][0, 0]] += 1
    with pytest.raises(InconsistentRelease, match="no table"):
        intervals(Printed.exact(system, values), [0])


def test_a_stopped_search_still_bounds():
    system = crossed(4, 4, 4)
    fine, values = counted(system, np.random.default_rng(1), mean=3)
    hidden = np.random.default_rng(2).random(system.cells) < 0.7
    rows = np.arange(system.cells + system.columns)
    targets = target_sums(system, rows) @ fine
    found = intervals(Printed.suppressed(system, values, hidden), rows, seconds=1e-9)
    assert found.stopped
    assert (found.lower <= targets).all()
    assert (found.upper >= targets).all()
    assert (found.proof == "none").any()

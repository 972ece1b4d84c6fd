"""Audits of printed sheets against every table of whole numbers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.errors import DataError
from discreet.intruder.sums.audit import audit
from discreet.intruder.sums.intervals import intervals
from discreet.intruder.sums.protection import Protection, target_sums
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System
from sumcases import KINDS, counted, crossed, every_table, published, variables

SHARE = {"two ways": 0.6, "three ways": 0.8, "two codings": 0.7, "linked": 0.7}  # hidden


def truly(protection, sums, tables):
    """Which targets have what is asked in these tables."""
    targets = sums @ tables.T
    low, high = targets.min(1), targets.max(1)
    return (low <= protection.low) & (high >= protection.high) & (high - low >= protection.width)


def asked(rng, system, fine, scale=1):
    rows = rng.choice(system.cells + system.columns, 10, replace=False)
    sums = target_sums(system, rows)
    levels = {
        "lower": rng.integers(0, 2, len(rows)) * scale,
        "upper": rng.integers(0, 2, len(rows)) * scale,
        "sliding": rng.integers(0, 4, len(rows)),
    }
    return sums, Protection.of(rows, sums @ fine, **levels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("floor", [0, 1])
@pytest.mark.parametrize("told", [False, True])
def test_every_table(kind, floor, told):
    """Decided as by enumeration, whether or not the search begins at the true table."""
    system = KINDS[kind]()
    rng = np.random.default_rng([floor, told, *kind.encode()])
    some = 0
    for share in np.linspace(0.3, SHARE[kind], 15):
        fine, values, printed = published(system, rng, floor=floor, share=share)
        if (tables := every_table(printed)) is None:
            continue
        sums, protection = asked(rng, system, fine)
        found = audit(printed, protection, values=values if told else None)
        true = truly(protection, sums, tables)
        assert np.array_equal(found.safe, true)
        assert np.array_equal(found.broken, ~true)
        some += int((true & (protection.needs() > 0)).sum())
    assert some


@pytest.mark.parametrize("kind", KINDS)
def test_intruders_who_know_cells(kind):
    system = KINDS[kind]()
    rng = np.random.default_rng([7, *kind.encode()])
    worse = 0
    for _ in range(20):
        fine, values, printed = published(system, rng, floor=0, share=SHARE[kind])
        if (tables := every_table(printed)) is None:
            continue
        sums, protection = asked(rng, system, fine)
        hidden = np.flatnonzero(printed.hidden)
        intruders = [
            rng.choice(hidden, min(size, len(hidden)), replace=False) for size in (1, 1, 2)
        ]
        found = audit(printed, protection, values=values, intruders=intruders)
        true = truly(protection, sums, tables)
        worse += int(true.sum())
        for rows in intruders:
            sees = (values[rows] == np.asarray(system.sums[rows] @ tables.T).T).all(1)
            true &= truly(protection, sums, tables[sees]) | np.isin(protection.rows, rows)
        worse -= int(true.sum())
        assert np.array_equal(found.safe, true)
        assert np.array_equal(found.broken, ~true)
    assert worse


def test_intruders_need_values():
    system = crossed(2, 2)
    printed = Printed.exact(system, counted(system, np.random.default_rng(1))[1])
    with pytest.raises(DataError, match="give the values"):
        audit(printed, Protection.widths([0], [1], 1), intruders=[[1]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-6, 1234.5, 1e10])
def test_magnitudes(kind, scale):
    """Fractions decide, against linear programs of another library; intruders too."""
    system = KINDS[kind]()
    rng = np.random.default_rng([9, *kind.encode()])
    both = np.vstack([system.sums.toarray(), system.agree.toarray()])
    zero = np.zeros(system.agree.shape[0])
    for _ in range(4):
        fine = counted(system, rng)[0] * scale
        values = system.sums @ fine
        hidden = rng.random(system.cells) < 0.6
        sums, asked_for = asked(rng, system, fine, scale)
        wide = Protection(
            asked_for.rows, asked_for.low, asked_for.high, asked_for.width * scale / 2
        )
        intruder = rng.choice(np.flatnonzero(hidden), 1)
        printed = Printed.suppressed(system, values, hidden, whole=False)
        found = audit(printed, wide, values=values, intruders=[intruder])
        true = np.ones(len(wide), bool)
        for known in (np.zeros(0, int), intruder):
            shown = np.r_[~hidden | np.isin(np.arange(system.cells), known), zero == 0]
            ends = np.array(
                [_ends(row, both[shown], np.r_[values, zero][shown] / scale) for row in sums]
            )
            true &= wide.given(*ends.T * scale, 1e-5 * scale) | np.isin(wide.rows, known)
        assert np.array_equal(found.safe, true)
        assert np.array_equal(found.broken, ~true)
        assert not found.whole.any()


def _ends(row, matrix, values):
    sides = []
    for sign in (1, -1):
        found = linprog(sign * row.toarray().ravel(), A_eq=matrix, b_eq=values)
        sides.append(sign * found.fun if found.status == 0 else np.inf)
    return sides


def test_a_stopped_audit_calls_nothing_safe_that_was_not_shown():
    system = crossed(4, 4, 4)
    fine, values = counted(system, np.random.default_rng(1), mean=3)
    hidden = np.random.default_rng(2).random(system.cells) < 0.7
    rows = np.flatnonzero(hidden)
    printed = Printed.suppressed(system, values, hidden)
    found = audit(printed, Protection.widths(rows, values[rows], 2), fine=fine, seconds=1e-9)
    assert found.stopped
    assert not found.safe.any()
    assert found.doubt.any()


def test_fine_cells_must_be_those_of_the_values():
    system = crossed(2, 2)
    fine, values = counted(system, np.random.default_rng(1))
    printed = Printed.exact(system, values)
    with pytest.raises(DataError, match="fine cells sum to"):
        audit(printed, Protection.widths([0], [1], 1), values=values, fine=fine + 1)


def test_an_outer_system_proves_nothing_safe():
    """Three sheets in a ring, whose joint table is too large to list: only bounds hold."""
    a, b, c = variables(2, 2, 2)
    pairs = [(a, b), (b, c), (a, c)]
    sheets = [Sheet(str(i), tuple(map(Grouping.of, pair))) for i, pair in enumerate(pairs)]
    system = System.of(sheets, most_joint=4)
    assert system.outer
    _, values = counted(system, np.random.default_rng(1), mean=4)
    hidden = np.ones(system.cells, bool)
    printed = Printed.suppressed(system, values, hidden)
    rows = np.arange(system.cells)
    found = audit(printed, Protection.widths(rows, values, 1), values=values)
    assert not found.safe.any()
    assert not found.linear.any()
    ends = intervals(printed, rows)
    assert (ends.lower <= values).all()
    assert (ends.upper >= values).all()
    assert (ends.proof == "none").all()
    known = Printed.suppressed(system, values, np.zeros(system.cells, bool))
    assert audit(known, Protection.widths(rows, values, 1), values=values).broken.all()

"""Complementary suppression: published cases, every table one by one, laws."""

import contextlib
import itertools
import math

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.data.hierarchy import Hierarchy
from discreet.effort import Clock
from discreet.errors import DataError, SolverError, Stopped
from discreet.intruder.sums.audit import audit
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress import prover
from discreet.masks.suppress.cubes import Cubes
from discreet.masks.suppress.elimination import determined
from discreet.masks.suppress.heuristic import Search
from discreet.masks.suppress.problem import Unprotectable, priced, some_table
from discreet.masks.suppress.suppress import suppress
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System


def crossed(counts):
    """A table with all its totals: system, values, fine cells."""
    counts = np.asarray(counts)
    variables = [
        Variable("ABC"[i], tuple(map(str, range(size)))) for i, size in enumerate(counts.shape)
    ]
    system = System.of([Sheet("1", tuple(Grouping.of(v) for v in variables))])
    codes = np.indices(counts.shape).reshape(counts.ndim, -1)
    fine = system.fine(dict(zip("ABC", codes, strict=False)), counts.ravel().astype(float))
    return system, system.sums @ fine, fine


def random_table(seed, most=5):
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, most + 1, rng.integers(2, 4))
    return crossed(rng.poisson(rng.choice([1.5, 3.0, 6.0]) * rng.lognormal(0, 0.6, shape)))


def linked():
    """Regions on two levels by sectors, by legal form, by size class; sectors by size class."""
    rng = np.random.default_rng(5)
    levels = Hierarchy.of(dict(zip("abcdef", "NNNSSS", strict=True)))
    region = Variable("Region", tuple("abcdef"), hierarchy=levels)
    sector, form, size = (
        Variable(name, tuple(map(str, range(n))))
        for name, n in (("Sector", 4), ("Form", 3), ("Size", 3))
    )
    sheets = [
        Sheet("1", (Grouping.of(region), Grouping.of(sector))),
        Sheet("2", (Grouping.of(region, levels=1), Grouping.of(form))),
        Sheet("3", (Grouping.of(sector), Grouping.of(size))),
        Sheet("4", (Grouping.of(region, levels=1), Grouping.of(size))),
    ]
    system = System.of(sheets)
    shape = (6, 4, 3, 3)
    counts = rng.poisson(0.3 * rng.lognormal(0, 0.7, shape))
    codes = dict(
        zip(("Region", "Sector", "Form", "Size"), np.indices(shape).reshape(4, -1), strict=True)
    )
    return system, system.sums @ system.fine(codes, counts.ravel().astype(float))


def small(values):
    return np.flatnonzero((values >= 1) & (values <= 2))


def ranges(system, values, hidden, floor, known=(), more=3):
    """The least and most of each row over whole tables, whose cells are at most `more` larger.

    One by one: cells in turn, each sum checked when its last cell is set.
    """
    sums = system.sums.toarray().astype(int)
    open_ = hidden.copy()
    open_[list(known)] = False
    low = np.where(open_, floor, values).astype(int)
    high = np.where(open_, values + more, values).astype(int)
    columns = [np.flatnonzero(sums[:, c]) for c in range(system.columns)]
    last = [int(np.flatnonzero(row)[-1]) for row in sums]
    cell = [next(r for r in rows if sums[r].sum() == 1) for rows in columns]
    least, most = values.astype(int).copy(), values.astype(int).copy()
    total = np.zeros(system.cells, int)

    def place(c):
        if c == system.columns:
            np.minimum(least, total, out=least)
            np.maximum(most, total, out=most)
            return
        for n in range(low[cell[c]], high[cell[c]] + 1):
            total[columns[c]] += n
            ends = [r for r in columns[c] if last[r] == c]
            if (total[columns[c]] <= high[columns[c]]).all() and (total[ends] >= low[ends]).all():
                place(c + 1)
            total[columns[c]] -= n

    place(0)
    return least, most


def test_the_table_of_fischetti_and_salazar():
    """Fischetti & Salazar 2001, table 1: three partners of 22, 59 in all, and 5 to 30 is left."""
    system, values, _ = crossed([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    secret = system.places[0][2, 3]
    asked = Protection.of([secret], [22], lower=5, upper=8)
    found = suppress(system, values, asked, [secret])
    assert sorted(values[found.hidden]) == [8, 12, 17, 22]
    assert found.amount == found.cost == 37
    assert found.count == 3
    assert found.audit.safe.all()
    least, most = ranges(system, values, found.hidden, 0, more=17)
    assert (least[secret], most[secret]) == (5, 30)


def test_three_ones_in_a_row_are_pinned_by_a_floor():
    """Where zeros are printed, three hidden ones with their total are 1 each."""
    system, values, _ = crossed([[1, 1, 1, 9], [9, 8, 7, 9], [5, 6, 7, 8]])
    ones = np.flatnonzero(values == 1)
    asked = Protection.widths(ones, values[ones], 1)
    loose = suppress(system, values, asked, ones, floor=0)
    tight = suppress(system, values, asked, ones, floor=1)
    assert tight.cost > loose.cost
    least, most = ranges(system, values, tight.hidden, 1)
    assert (least[ones] >= 1).all()
    assert (most[ones] > least[ones]).all()


@pytest.mark.parametrize("seed", range(24))
def test_every_table_one_by_one(seed):
    """Widths by enumeration, which shares nothing with the search."""
    rng = np.random.default_rng(seed)
    shape = ((3, 3), (3, 4), (2, 2, 2), (2, 3, 2))[seed % 4]
    system, values, _ = crossed(rng.integers(0, 5, shape))
    secret, floor = small(values), seed // 4 % 2
    must = values == 0 if floor else None
    width = 1 if floor else 2
    try:
        found = suppress(
            system, values, Protection.widths(secret, values[secret], width), secret,
            floor=floor, must=must, effort=0.25,
        )  # fmt: skip
    except Unprotectable:
        assert floor  # everything else could be hidden
        hidden = (values >= 1) & np.ones(system.cells, bool)
        least, most = ranges(system, values, hidden, 1, more=1)
        assert (most[secret] - least[secret] < width).any()
        return
    assert found.hidden[secret].all()
    assert not (floor and (values[found.hidden] == 0).any())
    least, most = ranges(system, values, found.hidden, floor, more=2)
    assert (most[secret] - least[secret] >= width).all()
    assert (found.audit.high - found.audit.low >= width).all()


@pytest.mark.parametrize("seed", range(6))
def test_against_somebody_in_a_cell(seed):
    """Who knows one primary cell learns none of the others, by enumeration."""
    system, values, _ = crossed(np.random.default_rng(seed).integers(1, 6, (3, 3)))
    secret = small(values)
    alone = [[int(row)] for row in secret if values[row] == 1]
    asked = Protection.widths(secret, values[secret], 1)
    found = suppress(system, values, asked, secret, intruders=alone)
    for known in alone:
        least, most = ranges(system, values, found.hidden, 0, known, more=1)
        others = np.setdiff1d(secret, known)
        assert (most[others] > least[others]).all()


@pytest.mark.parametrize("seed", range(60))
def test_an_audit_agrees(seed):
    """Random tables, each primary cell with its width over whole numbers by another program."""
    system, values, _ = random_table(seed, most=4)
    secret, floor = small(values), seed % 2
    asked = Protection.widths(secret, values[secret], 1 if floor else 3)
    try:
        found = suppress(
            system, values, asked, secret, floor=floor, must=values == 0 if floor else None,
            effort=0.1,
        )  # fmt: skip
    except Unprotectable:
        assert floor
        return
    assert found.audit.whole.all()
    judged = audit(found.masked.printed, asked, values=values)
    assert judged.safe.all(), (seed, judged)


@pytest.mark.parametrize("seed", range(12))
def test_each_cell_has_its_own_levels(seed):
    """Lower, upper and sliding levels that differ from cell to cell."""
    rng = np.random.default_rng(seed)
    system, values, _ = random_table(seed + 60, most=4)
    secret = small(values)
    size = len(secret)
    asked = Protection.of(
        secret,
        values[secret],
        lower=rng.integers(0, 1 + values[secret]),
        upper=rng.integers(0, 5, size),
        sliding=rng.integers(0, 6, size),
    )
    found = suppress(system, values, asked, secret, effort=0.25)
    assert audit(found.masked.printed, asked, values=values).safe.all()
    assert asked.given(found.audit.low, found.audit.high).all()


def test_linked_tables_with_levels():
    system, values = linked()
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 3)
    assert len(system.parts) > 1
    assert len(secret) > 5
    found = suppress(system, values, asked, secret)
    assert audit(found.masked.printed, asked, values=values).safe.all()
    assert "proven by whole tables" in found.said[0]
    linear = suppress(system, values, asked, secret, proof="linear")
    assert linear.audit.linear.all()
    assert linear.audit.safe.sum() <= len(secret)


@pytest.mark.parametrize("unit", [1e-2, 1.0, 1e9])
def test_amounts_with_upper_and_lower_levels(unit):
    """Magnitudes: the ends by linear programs of another library."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(3)
    system, values, _ = crossed(rng.lognormal(4, 1, (4, 4, 3)))
    secret = system.places[0][[1, 2, 3], [2, 2, 4], [1, 3, 2]]
    asked = Protection.of(
        secret,
        unit * values[secret],
        lower=0.1 * unit * values[secret],
        upper=0.2 * unit * values[secret],
    )
    found = suppress(system, unit * values, asked, secret, whole=False)
    assert found.said == ("3 cells are proven by linear bounds.",)
    assert (found.audit.low <= asked.low * (1 + 1e-9)).all()
    sums = system.sums.toarray()
    shown = ~found.hidden
    for at, row in enumerate(secret):
        for sign, end in ((1, asked.low[at]), (-1, asked.high[at])):
            best = linprog(sign * sums[row], A_eq=sums[shown], b_eq=values[shown])
            assert best.status == 3 or best.fun <= sign * end / unit + 1e-6  # 3: without end


def test_whole_tables_are_not_claimed_of_halves():
    """Three margins of 2x2x2: half a cube away from a table there is none of whole numbers."""
    pair = [Variable(name, ("0", "1")) for name in "ABC"]
    system = System.of(
        [
            Sheet(f"{i}{j}", (Grouping.of(pair[i]), Grouping.of(pair[j])))
            for i, j in itertools.combinations(range(3), 2)
        ]
    )
    cube = np.array([1, -1, -1, 1, -1, 1, 1, -1]) / 2
    fine = np.arange(3.0, 11.0)
    values = system.sums @ fine
    secret = [int(system.places[0][1, 1])]
    asked = Protection.widths(secret, values[secret], 3)
    found = suppress(system, values, asked, secret, fine=fine)
    assert found.audit.whole.all()
    assert audit(found.masked.printed, asked, values=values).safe.all()
    with pytest.raises(SolverError, match="fine"):
        suppress(system, values, asked, secret, fine=fine + cube)
    halves = suppress(system, values, asked, secret, fine=fine + cube, proof="linear")
    assert halves.audit.linear.all()
    assert not halves.audit.safe.any()


@pytest.mark.parametrize("seed", range(6))
def test_without_cubes(seed, monkeypatch):
    """Where no cube is found, programs over the whole system hide as safely."""
    none = np.zeros(0, np.int64)

    def cover(self, targets, needs, costs, note=False):
        return np.zeros(len(costs), bool), none if note else targets

    monkeypatch.setattr(Search, "cover", cover)
    system, values, _ = random_table(seed, most=3)
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 2)
    found = suppress(system, values, asked, secret, effort=0.2)
    assert audit(found.masked.printed, asked, values=values).safe.all()
    unique = suppress(system, values, asked, secret, guarantee="unique")
    assert not rank_determined(system, unique.hidden)[secret].any()


@pytest.mark.parametrize("seed", range(4))
def test_few_cubes_step_by_step(seed, monkeypatch):
    """Too many cubes to try: each step is bettered in turn, and what is hidden is as safe."""
    monkeypatch.setattr(prover, "CUBES", 3)
    system, values, _ = random_table(seed, most=4)
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 2)
    found = suppress(system, values, asked, secret, effort=0.2)
    assert audit(found.masked.printed, asked, values=values).safe.all()


def test_a_cell_that_no_table_prints():
    """Three margins give away a fine cell; some of their cells are hidden for it."""
    pair = [Variable(name, ("0", "1", "2")) for name in "ABC"]
    system = System.of(
        [
            Sheet(f"{i}{j}", (Grouping.of(pair[i]), Grouping.of(pair[j])))
            for i, j in itertools.combinations(range(3), 2)
        ]
    )
    fine = np.zeros(27)
    fine[[0, 4, 8, 9, 13, 18, 26]] = [1, 5, 3, 4, 6, 2, 7]
    values = system.sums @ fine
    asked = Protection.widths([system.cells], [1], 2)
    nothing = Printed.exact(system, values)
    assert audit(nothing, asked, values=values).broken.all()
    found = suppress(system, values, asked, [], fine=fine)
    assert found.count > 0
    assert audit(found.masked.printed, asked, values=values).safe.all()


def rank_determined(system, hidden):
    sums = system.sums.toarray()
    shown = sums[~hidden]
    rank = np.linalg.matrix_rank(shown)
    alike = [np.linalg.matrix_rank(np.vstack([shown, sums[r]])) == rank for r in range(len(sums))]
    return np.array(alike) & hidden


@pytest.mark.parametrize("seed", range(8))
def test_determined_cells_by_ranks(seed):
    system, _, _ = random_table(seed, most=4)
    hidden = np.random.default_rng(seed).random(system.cells) < 0.4
    assert np.array_equal(determined(system, hidden), rank_determined(system, hidden))


@pytest.mark.parametrize("seed", range(8))
def test_unique_hides_nothing_for_nothing(seed):
    """No primary cell is determined; were a secondary one published, some would be."""
    system, values, _ = random_table(seed + 20, most=4)
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 1)
    found = suppress(system, values, asked, secret, guarantee="unique", must=values == 0)
    assert found.audit is None
    assert not found.hidden[values == 0].any()
    assert not rank_determined(system, found.hidden)[secret].any()
    for row in np.flatnonzero(found.secondary):
        hidden = found.hidden.copy()
        hidden[row] = False
        assert rank_determined(system, hidden)[secret].any()


def test_nothing_is_hidden_for_nothing():
    """After pruning no secondary cell of a small table can be published alone."""
    for seed in range(4):
        system, values, _ = random_table(seed + 40, most=3)
        secret = small(values)
        asked = Protection.widths(secret, values[secret], 2)
        found = suppress(system, values, asked, secret)
        for row in np.flatnonzero(found.secondary):
            hidden = found.hidden.copy()
            hidden[row] = False
            least, most = ranges(system, values, hidden, 0, more=2) if values.max() < 12 else (0, 1)
            narrow = most - least
            assert np.ndim(narrow) == 0 or (narrow[secret] < 2).any()


def test_cubes_are_changes_of_the_whole_system():
    """Whatever steps: some fine cells move as the rows say, parts agreeing."""
    system, _ = linked()
    cubes = Cubes(system)
    rng = np.random.default_rng(0)
    sums = np.vstack([system.sums.toarray(), system.agree.toarray()])
    first, starts, options = cubes.through(rng.choice(system.cells, 20, replace=False))
    for at, start in zip(first, starts, strict=True):
        steps = [rng.choice(options[at + a : at + b]) for a, b in itertools.pairwise(start)]
        rows, signs = cubes.rows(np.array(steps))
        change = np.zeros(len(sums))
        change[rows] = signs
        fine = np.linalg.lstsq(sums, change, rcond=None)[0]
        assert len(rows)
        assert np.abs(sums @ fine - change).max() < 1e-9


def test_cells_that_must_be_published():
    system, values, _ = crossed([[1, 5, 7], [6, 8, 9], [4, 3, 5]])
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 2)
    free = suppress(system, values, asked, secret)
    shown = np.flatnonzero(free.secondary)[:1]
    other = suppress(system, values, asked, secret, must=shown)
    assert not other.hidden[shown].any()
    assert other.cost >= free.cost
    everything = np.setdiff1d(np.arange(system.cells), secret)
    with pytest.raises(Unprotectable, match=r"A 0, B 0 of table 1.*width of 2"):
        suppress(system, values, asked, secret, must=everything)
    with pytest.raises(Unprotectable, match="cannot"):
        suppress(system, values, asked, secret, must=everything, guarantee="unique")


def test_a_table_of_one_line_hides_its_total():
    system, values, _ = crossed([[1]])
    assert system.cells == 1
    asked = Protection.widths([0], values, 2)
    found = suppress(system, values, asked, [0])
    assert found.count == 0
    assert found.audit.safe.all()
    system, values, _ = crossed([[1], [4]])
    secret = small(values)
    found = suppress(system, values, Protection.widths(secret, 1, 2), secret)
    assert found.count == 1
    assert found.amount == 4


def test_last_years_pattern_is_preferred():
    system, values, _ = crossed([[1, 5, 5], [6, 8, 9], [6, 9, 8]])
    secret = small(values)
    asked = Protection.widths(secret, 1, 2)
    for partner in ([1, 1], [2, 2], [1, 2]):
        costs = priced(values, "value")
        at = system.places[0]
        rows = [at[1, 1 + partner[1]], at[1 + partner[0], 1], at[1 + partner[0], 1 + partner[1]]]
        costs[rows] = 0.1
        found = suppress(system, values, asked, secret, costs=costs)
        assert set(np.flatnonzero(found.secondary)) == set(rows)
    already = suppress(system, values, asked, secret, hidden=rows)
    assert already.hidden[rows].all()
    assert already.cost == 0


@pytest.mark.parametrize("costs", ["one", "log"])
def test_the_same_seed_the_same_pattern(costs):
    system, values, _ = random_table(8, most=3)
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 3)
    one, two = (suppress(system, values, asked, secret, costs=costs, starts=2) for _ in range(2))
    assert np.array_equal(one.hidden, two.hidden)
    assert one.cost == pytest.approx(priced(values, costs)[one.secondary].sum())


def test_what_is_shown():
    system, values, _ = crossed([[1, 5, 5], [6, 8, 9], [6, 9, 8]])
    secret = small(values)
    found = suppress(system, values, Protection.widths(secret, 1, 2), secret)
    assert repr(found) == (
        "Suppression(1 primary and 3 secondary cells of 16: Audit(1 targets: 1 safe, 0 broken))"
    )
    assert found.to_frame()["why"].tolist().count("secondary") == 3
    assert np.array_equal(found.masked.hidden, found.hidden)
    assert np.array_equal(found.masked.printed.hidden, found.hidden)
    assert found.said == ("1 cell is proven by whole tables.",)


def test_an_optimum_costs_no_more():
    system, values, _ = crossed(np.random.default_rng(4).poisson(5, (4, 4)))
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 3)
    found = suppress(system, values, asked, secret)
    best = suppress(system, values, asked, secret, method="optimal")
    assert best.cost <= found.cost
    assert best.gap == 0
    assert best.audit.safe.all()


@pytest.mark.parametrize("seed", range(3))
def test_a_clock_stops(seed):
    """Without time there is no answer, or one that protects and says so."""
    system, values, _ = random_table(seed)
    secret = small(values)
    asked = Protection.widths(secret, values[secret], 3)
    stopped, safe = "before", True
    with contextlib.suppress(Stopped):
        found = suppress(system, values, asked, secret, seconds=Clock(1e-9))
        stopped = found.stopped
        safe = audit(found.masked.printed, asked, values=values).safe.all()
    assert stopped
    assert safe


def test_wrong_input_is_named():
    system, values, _ = crossed([[1, 5], [6, 8]])
    asked = Protection.widths(small(values), 1, 2)
    for error, change in (
        ("costs is 'dear'", {"costs": "dear"}),
        ("guarantee is 'sure'", {"guarantee": "sure"}),
        ("must be published", {"must": small(values)}),
        ("floor", {"floor": 2}),
        ("add up", {"fine": np.ones(4)}),
        ("0 or more", {"costs": -np.ones(system.cells)}),
    ):
        with pytest.raises(DataError, match=error):
            suppress(system, values, asked, small(values), **change)
    with pytest.raises(DataError, match="not among the primary"):
        suppress(system, values, asked, [])
    with pytest.raises(DataError, match="whole=False"):
        suppress(system, values + 0.5, asked, small(values))


def test_some_table_has_the_values():
    system, values = linked()
    fine = some_table(system, values, True, 0.0, math.inf)
    assert np.array_equal(system.sums @ fine, values)
    assert not (system.agree @ fine).any()
    assert (fine >= 0).all()
    assert np.array_equal(fine, np.round(fine))

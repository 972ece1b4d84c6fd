"""Rounding: against every table one by one, and what must hold for all."""

import itertools

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.errors import DataError, DisclosureError, Stopped
from discreet.masks.rounding import (
    Circulation,
    chances,
    controlled,
    conventional,
    masked,
    program,
    random_rounding,
)
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System


def variable(name, size):
    return Variable(name, tuple(f"{name}{code}" for code in range(size)))


def crossed(*sizes):
    lines = [Grouping.of(variable(f"v{axis}", size)) for axis, size in enumerate(sizes)]
    return System.of([Sheet("1", tuple(lines))])


def levels(name, sizes):
    """Total, groups and categories, without any class of the program but lines."""
    whole = variable(name, sum(sizes))
    ends = np.cumsum([0, *sizes])
    groups = {f"{name}{code}": [f"{name}{code}"] for code in range(whole.size)}
    for number, (first, last) in enumerate(itertools.pairwise(ends)):
        groups[f"group {number}"] = [f"{name}{code}" for code in range(first, last)]
    return Grouping.cut(whole, groups)


def neighbours(value, base, further=0):
    low, high = value // base, -(-value // base)
    return range(max(0, low - further), high + further + 1)


def by_brute_force(system, fine, base, further=0):
    """The fewest cells that leave their neighbours, then the least distance."""
    sums = system.sums.toarray().astype(int)
    values = sums @ fine
    tries = [neighbours(value, base, further) for value in fine]
    tables = np.array(list(itertools.product(*tries))) * base
    shown = tables @ sums.T
    low, high = values // base * base, -(-values // base) * base
    out = ((shown < low) | (shown > high)).sum(1)
    good = ((shown >= low - further * base) & (shown <= high + further * base)).all(1)
    if not good.any() or (not further and out[good].min() > 0):
        return None
    few = out[good].min()
    return few, np.abs(shown - values)[good & (out == few)].sum(1).min()


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 3), (2, 2, 2), (9,)])
def test_least_distance(sizes):
    system, rng = crossed(*sizes), np.random.default_rng(sum(sizes))
    for _ in range(12):
        base = int(rng.integers(2, 8))
        fine = rng.integers(0, 12, system.columns)
        best = by_brute_force(system, fine, base)
        found = controlled(system, system.sums @ fine, base)
        if best is None:
            assert found.exceptions.any()
        else:
            assert not found.exceptions.any()
            assert (found.distance, found.gap) == (best[1], 0)


def test_exceptions_are_the_fewest():
    """Three ways may have no rounding to neighbours (Causey, Cox & Ernst 1985)."""
    system, rng, seen = crossed(2, 2, 2), np.random.default_rng(7), 0
    for _ in range(150):
        fine = rng.integers(0, 3, 8)
        found = controlled(system, system.sums @ fine, 2)
        if not found.exceptions.any():
            continue
        seen += 1
        if seen > 4:
            break
        assert by_brute_force(system, fine, 2) is None
        few, distance = by_brute_force(system, fine, 2, further=1)
        assert (found.exceptions.sum(), found.distance) == (few, distance)
        assert "neighbouring multiples" in found.said[0]
        printed = found.masked.printed
        assert (printed.lower <= system.sums @ fine).all()
        assert (printed.upper >= system.sums @ fine).all()
    assert seen > 4


def holds(system, found, values, base):
    """Neighbours, multiples, and a table of whole multiples that has all these sums."""
    shown = found.values
    assert (shown % base == 0).all()
    assert (np.abs(shown - values) < base).all()
    assert (shown[values % base == 0] == values[values % base == 0]).all()
    assert (found.masked.printed.lower <= values).all()
    assert (found.masked.printed.upper >= values).all()
    assert (found.masked.printed.lower == np.maximum(0, shown - base + 1)).all()
    assert (found.masked.printed.upper == shown + base - 1).all()


def test_hierarchies_and_tables_that_share_variables_add_up():
    rng = np.random.default_rng(5)
    area, age, sex = levels("area", (2, 3, 2)), levels("age", (3, 2)), variable("sex", 2)
    coarse = Grouping.cut(area.variable, {"north": ["area0", "area1"], "area3": ["area3"]})
    sheets = [
        Sheet("1", (area, Grouping.of(sex))),
        Sheet("2", (coarse, age)),
    ]
    system = System.of(sheets)
    codes = {
        "area": rng.integers(0, 7, 400),
        "age": rng.integers(0, 5, 400),
        "sex": rng.integers(0, 2, 400),
    }
    values = system.sums @ system.fine(codes, np.ones(400))
    found = controlled(system, values, 5)
    assert not found.exceptions.any()
    holds(system, found, values, 5)
    first, second = (found.values[rows] for rows in system.places)
    labels = area.labels
    assert (first[:, 0] == first[:, 1:].sum(1)).all()
    for number, within in enumerate([("0", "1"), ("2", "3", "4"), ("5", "6")]):
        parts = [labels.index(f"area{code}") for code in within]
        assert (first[labels.index(f"group {number}")] == first[parts].sum(0)).all()
    ages = age.labels
    inner = [ages.index(f"age{code}") for code in range(5)]
    assert (second[:, 0] == second[:, inner].sum(1)).all()
    north = labels.index("area0"), labels.index("area1")
    assert second[1, 0] == first[list(north), 0].sum()
    # the rest of the people, whom no line of the second table shows
    assert (second[0] >= second[1:].sum(0)).all()


def test_cells_that_are_not_printed_may_be_any_multiple():
    """Only margins are printed: they agree on their total, and fine cells are free."""
    one, other = Grouping.of(variable("x", 3)), Grouping.of(variable("y", 4))
    system = System.of([Sheet("1", (one,)), Sheet("2", (other,))])
    rng = np.random.default_rng(2)
    codes = {"x": rng.integers(0, 3, 77), "y": rng.integers(0, 4, 77)}
    values = system.sums @ system.fine(codes, np.ones(77))
    found = controlled(system, values, 10)
    holds(system, found, values, 10)
    for rows in system.places:
        shown = found.values[rows]
        assert shown[0] == shown[1:].sum()


def test_weights():
    system = crossed(2, 2)
    values = system.sums @ np.array([1, 2, 3, 4])
    weights = np.ones(9)
    row = int(system.places[0][2, 2])  # a 4, which free rounding may leave at 0
    weights[row] = 100
    assert controlled(system, values, 5, weights=weights).values[row] == 5


def test_large_three_ways_say_their_gap(monkeypatch):
    """By a core and halves of the table, as where there are too many cells for one program."""
    system, rng = crossed(8, 7, 6), np.random.default_rng(3)
    values = system.sums @ (rng.geometric(0.2, system.columns) - 1)
    best = controlled(system, values, 5)
    monkeypatch.setattr(program, "SMALL", 50)
    one = controlled(system, values, 5)
    two = controlled(system, values, 5)
    assert best.gap == 0
    assert best.distance <= one.distance <= best.distance + one.gap
    assert (one.values == two.values).all()
    holds(system, one, values, 5)
    assert 0 <= one.gap <= 0.03 * one.distance
    shown = one.values[system.places[0]]
    for axis in range(3):
        total, rest = np.split(shown, [1], axis)
        assert (total.squeeze(axis) == rest.sum(axis)).all()


def test_seconds_only_stop():
    system = crossed(12, 10, 8)
    values = system.sums @ np.random.default_rng(1).integers(0, 20, system.columns)
    with pytest.raises(Stopped, match="seconds"):
        controlled(system, values, 5, seconds=1e-6)


@pytest.mark.parametrize("sizes", [(6, 5), (4,)])
def test_unbiased_over_draws(sizes):
    system, rng = crossed(*sizes), np.random.default_rng(11)
    values = system.sums @ rng.integers(0, 40, system.columns)
    drawn = Circulation.of(system, values, 7).draw(rng, 10_000)
    error = drawn.std(0) / 100
    assert (np.abs(drawn.mean(0) - values) <= 3 * error + 1e-9).mean() > 0.97
    assert (np.abs(drawn.mean(0) - values) <= 4.5 * error + 1e-9).all()
    assert (np.abs(drawn - values) < 7).all()
    shown = drawn[:, system.places[0]]
    for axis in range(1, shown.ndim):
        total, rest = np.split(shown, [1], axis)
        assert (total.squeeze(axis) == rest.sum(axis)).all()
    up = (drawn > values).mean(0)
    expected = chances(values, 7, (values // 7 + 1) * 7)
    assert np.abs(up - expected).max() < 4.5 * 0.5 / 100


def test_unbiased_with_levels_of_one_variable():
    rng = np.random.default_rng(4)
    area = levels("area", (2, 3, 1))
    system = System.of([Sheet("1", (area, Grouping.of(variable("sex", 3))))])
    values = system.sums @ rng.integers(0, 30, system.columns)
    drawn = Circulation.of(system, values, 5).draw(rng, 10_000)
    error = drawn.std(0) / 100
    assert (np.abs(drawn.mean(0) - values) <= 4.5 * error + 1e-9).all()
    shown = drawn[:, system.places[0]]
    labels = area.labels
    parts = [labels.index("area2"), labels.index("area3"), labels.index("area4")]
    assert (shown[:, labels.index("group 1")] == shown[:, parts].sum(1)).all()
    assert (shown[:, :, 0] == shown[:, :, 1:].sum(2)).all()


def test_unbiased_amounts_and_one_draw():
    system, rng = crossed(3, 3), np.random.default_rng(1)
    values = system.sums @ (rng.random(9) * 50)
    found = controlled(system, values, 2.5, unbiased=True, rng=rng)
    assert found.gap is None
    assert not found.masked.whole
    assert (np.abs(found.values - values) < 2.5).all()
    assert (found.masked.printed.lower <= values).all()
    assert (found.masked.printed.upper >= values).all()


def test_unbiased_is_refused_where_there_is_no_network():
    rng = np.random.default_rng(1)
    both = System.of([Sheet("1", (levels("area", (2, 2)), levels("age", (2, 2))))])
    for system in (both, crossed(2, 2, 2)):
        values = system.sums @ rng.integers(0, 9, system.columns)
        with pytest.raises(DataError, match="without bias"):
            controlled(system, values, 5, unbiased=True, rng=rng)
        assert not controlled(system, values, 5).exceptions.any()


@pytest.mark.parametrize("base", [2, 3, 4, 5, 10])
def test_what_a_reader_knows_of_conventional_rounding(base):
    """The least and the largest count that are shown as r, one by one."""
    system, counts = crossed(1), np.arange(10 * base)
    shown = conventional(counts, base)
    for count in counts[: 8 * base]:
        printed = masked(system, np.full(system.cells, float(count)), base).printed
        same = counts[shown == shown[count]]
        assert (printed.lower[0], printed.upper[0]) == (same.min(), same.max())


def test_random_rounding():
    rng = np.random.default_rng(0)
    values = np.repeat(np.arange(11), 20_000)
    shown = random_rounding(values, 5, rng).reshape(11, -1)
    assert np.abs(shown.mean(1) - np.arange(11)).max() < 4 * 2.5 / np.sqrt(20_000)
    assert (shown[0] == 0).all()
    assert (shown[5] == 5).all()
    each = chances(np.full(3, 7), 5, [0, 5, 10])
    assert np.allclose(each, [0, 0.6, 0.4])


def test_masked_by_itself_is_not_additive():
    system = crossed(2)
    values = system.sums @ np.array([2, 2])
    shown = masked(system, values, 5).values
    assert sorted(shown) == [0, 0, 5]
    drawn = masked(system, values, 5, rng=np.random.default_rng(1))
    assert (drawn.printed.upper == drawn.values + 4).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"base": 0},
        {"values": -np.ones(9)},
        {"values": np.ones(3)},
        {"unbiased": True},
        {"weights": -np.ones(9)},
    ],
)
def test_wrong_input(wrong):
    system = crossed(2, 2)
    given = {"values": system.sums @ np.arange(4.0), "base": 5} | wrong
    with pytest.raises(DisclosureError):
        controlled(system, **given)

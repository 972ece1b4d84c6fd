"""Margins that a mask keeps, by brute force over all of them; models that move, by other code."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.models.loglinear import LogLinear
from discreet.table.formula import Formula
from discreet.table.load import load
from discreet.table.table import Table
from discreet.utility.close import models_close
from discreet.utility.kept import _maximal, margins_kept


def subsets(names):
    return chain.from_iterable(combinations(names, k) for k in range(1, len(names) + 1))


def swapped(rng, shape, people=80):
    """A table, and one where some records swapped the values of some columns."""
    records = np.column_stack([rng.integers(0, n, people) for n in shape])
    other = records.copy()
    columns = rng.choice(len(shape), rng.integers(1, len(shape)), replace=False)
    rows = rng.choice(people, 6, replace=False)
    other[np.ix_(rows, columns)] = records[np.ix_(np.roll(rows, 1), columns)]
    tables = []
    for each in (records, other):
        dense = np.zeros(shape, int)
        np.add.at(dense, tuple(each.T), 1)
        tables.append(Table.of(dense, **{n: range(k) for n, k in zip("ABCD", shape, strict=True)}))
    return tables


@pytest.mark.parametrize("seed", range(20))
def test_maximal_kept_margins_by_brute_force(seed):
    one, two = swapped(np.random.default_rng(seed), (2, 3, 2, 3))
    kept = {
        m for m in subsets(one.names)
        if np.array_equal(*(t.dense().sum(tuple(k for k, n in enumerate("ABCD") if n not in m))
                            for t in (one, two)))
    }  # fmt: skip
    found = margins_kept(one, two)
    assert found.complete
    assert {m for m in subsets(one.names) if found.formula.contains(m)} == kept
    maximal = {m for m in kept if not any(set(m) < set(o) for o in kept)}
    assert set(found.formula.margins) == maximal
    model = "A*B + C*D"
    assert found.keeps(model) == ({("A", "B"), ("C", "D")} <= kept)


@pytest.mark.parametrize("seed", range(40))
def test_maximal_sets_of_any_family_are_found(seed):
    """Sets within one of a few, drawn; and whatever the limit, none is named that is not kept."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 8))
    tops = {int(s) for s in rng.integers(0, 1 << k, rng.integers(1, 7))}
    is_kept = lambda s: any(not s & ~top for top in tops)  # noqa: E731
    wanted = {s for s in tops if not any(s != t and not s & ~t for t in tops)}
    found, complete = _maximal(is_kept, k, 10**6)
    assert complete
    assert set(found) == wanted
    assert len(found) == len(wanted)
    some, done = _maximal(is_kept, k, 5)
    assert set(some) <= wanted
    assert done or len(some) <= len(wanted)


def test_sixty_variables():
    """One column is swapped: all without it is kept, and so is the column by itself."""
    rng = np.random.default_rng(0)
    records = rng.integers(0, 3, (300, 60)).astype(np.uint8)
    moved = records.copy()
    moved[:5, 7] = np.roll(records[:5, 7], 1)
    variables = [Variable(f"v{k}", ("0", "1", "2")) for k in range(60)]
    ones = np.ones(300, np.int64)
    one, two = (Table.from_cells(variables, c, ones) for c in (records, moved))
    found = margins_kept(one, two)
    assert found.complete
    assert found.formula.contains([f"v{k}" for k in range(60) if k != 7])
    assert not found.formula.contains([f"v{k}" for k in range(60)])
    assert found.formula.contains(["v7"])


def test_kept_models_are_estimated_the_same():
    one, two = swapped(np.random.default_rng(2), (2, 3, 2, 3))
    model = margins_kept(one, two).formula
    fits = [LogLinear(model).fit(t).expected_array() for t in (one, two)]
    np.testing.assert_allclose(*fits, atol=1e-6)


def test_a_table_keeps_itself_and_nothing_of_another_total():
    tract = load("example:tract")
    assert margins_kept(tract, tract).formula.margins == (tract.names,)
    more = margins_kept(tract, tract.dense() + 1)
    assert (more.formula.margins, more.total) == ((), False)
    assert not more.keeps("Race")
    assert more.to_frame()["margin"].tolist() == ["(none)"]


def test_a_search_that_ends_early_says_so():
    czech = load("example:czech")
    fit = LogLinear(Formula.parse("A*B*C + D*E*F", czech.names)).fit(czech).expected_array()
    short = margins_kept(czech, fit, most=10)
    assert not short.complete
    assert "maybe more" in repr(short)
    whole = margins_kept(czech, fit)
    assert str(whole.formula) == "A*B*C + D*E*F"
    assert all(whole.formula.contains(m) for m in short.formula.margins)


def test_u_terms_of_a_two_way_table_are_log_odds_ratios():
    """Of a 2x2 table 4 u_12 = log odds ratio, with the standard error of Woolf 1955."""
    n, m = np.array([[30, 10], [20, 40]]), np.array([[28, 12], [22, 38]])
    names = {"A": ["a", "b"], "B": ["c", "d"]}
    found = models_close(Table.of(n, **names), Table.of(m, **names), "A*B").to_frame()
    row = found[found["term"] == "A*B"].iloc[0]
    ratio = [np.log(t[0, 0] * t[1, 1] / (t[0, 1] * t[1, 0])) for t in (n, m)]
    assert 4 * row["true"] == pytest.approx(ratio[0], abs=1e-9)
    assert 4 * row["masked"] == pytest.approx(ratio[1], abs=1e-9)
    assert 4 * row["standard error"] == pytest.approx(np.sqrt((1 / n).sum()), abs=1e-9)
    assert row["in standard errors"] == pytest.approx(
        (ratio[1] - ratio[0]) / np.sqrt((1 / n).sum()), abs=1e-8
    )


def test_main_effect_of_independence_has_the_error_of_a_logit():
    """u_A(1) = logit(p)/2 where margins alone are fitted: standard error 1/(2 sqrt(N p q))."""
    table = Table.of([[30, 10], [20, 40]], A=["a", "b"], B=["c", "d"])
    found = models_close(table, table, "A + B")
    assert found.greatest == pytest.approx(0, abs=1e-8)
    first = found.to_frame().iloc[0]
    assert first["true"] == pytest.approx(np.log(40 / 60) / 2, abs=1e-9)
    assert first["standard error"] == pytest.approx(0.5 / np.sqrt(100 * 0.4 * 0.6), abs=1e-9)


def test_fits_with_zeros_have_no_u_terms_and_say_so():
    blond = load("example:blond")
    found = models_close(blond, blond, "Hair*Income")
    assert (found.terms, found.hellinger) == ((), 0.0)
    assert "zeros" in found.said[0]
    assert found.to_frame()["model"].tolist() == ["Hair*Income"]
    assert found.to_json()["greatest"] is None


def test_categories_in_another_order_are_the_same_table():
    one = Table.of([[3, 5], [2, 7]], A=["a", "b"], B=["c", "d"])
    two = Table.of([[7, 2], [5, 3]], A=["b", "a"], B=["d", "c"])
    assert models_close(one, two, "A*B").greatest < 1e-7
    assert margins_kept(one, two).formula.margins == (("A", "B"),)
    with pytest.raises(DataError, match="has the category 'z'"):
        models_close(one, Table.of([[3, 5], [2, 7]], A=["a", "z"], B=["c", "d"]), "A*B")
    with pytest.raises(DataError, match="has shape"):
        models_close(one, [1, 2], "A*B")


def test_frames_come_out():
    one, two = swapped(np.random.default_rng(5), (2, 2, 2, 2))
    assert isinstance(margins_kept(one, two).to_frame(), pd.DataFrame)
    assert set(margins_kept(one, two).to_json()) == {"formula", "total", "by_order", "complete"}

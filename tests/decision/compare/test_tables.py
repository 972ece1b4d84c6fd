"""Masks of a table, and what one intruder believes: against all tables of the total, one by one."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln

from discreet.data.codebook import Variable
from discreet.data.hierarchy import Hierarchy
from discreet.decision.compare import cellbeliefs, rowbeliefs
from discreet.decision.compare.tables import TABLE_METHODS, make_table, table_risk, table_worth
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError
from discreet.masks.cellkey import count_ptable
from discreet.table.table import Table

TABLE = Table.of([[[1, 3], [0, 2]], [[2, 0], [1, 1]]], A=["a", "b"], B=["x", "y"], C=["0", "1"])
AREA = Hierarchy((("n1", "north"), ("n2", "north"), ("s1", "south"), ("s2", "south")))
NESTED = Table(
    (Variable("Area", ("n1", "n2", "s1", "s2"), hierarchy=AREA), Variable("Sex", ("f", "m"))),
    np.array([[0, 0], [0, 1], [1, 1], [2, 0], [3, 0], [3, 1]], np.uint8),
    np.array([1, 4, 2, 1, 1, 3]),
)
GROUPS = {"north": ["n1", "n2"], "south": ["s1", "s2"]}


def every_table(table):
    """All tables of the total over the cells, by bars between stars."""
    cells, total = math.prod(table.shape), table.total
    found, place = [], [0] * cells

    def fill(cell, left):
        if cell == cells - 1:
            place[cell] = left
            found.append(tuple(place))
            return
        for n in range(left + 1):
            place[cell] = n
            fill(cell + 1, left - n)

    fill(0, total)
    return np.array(found)


ALL, ALL_NESTED = every_table(TABLE), every_table(NESTED)


def made(method, options=None, *, table=TABLE, seed=3, policy=None):
    return make_table(table, method, options or {}, policy or Policy(), np.random.default_rng(seed))


def members(table, label):
    """The cells that a row of a printed frame adds up."""
    chosen = []
    for cell, categories in enumerate(product(*(v.categories for v in table.variables))):
        names = [v.name for v in table.variables]
        held = dict(zip(names, categories, strict=True))
        if all(
            said == "Total" or held[name] == said or held[name] in GROUPS.get(said, ())
            or held[name] in said.split(" or ")
            for name, said in label.items()
        ):  # fmt: skip
            chosen.append(cell)
    return chosen


def printed(candidate, table, every):
    """Of each printed row: its cells, what is shown, and its sum in every table."""
    names = [v.name for v in table.variables]
    for row in candidate.frame.to_dict("records"):
        cells = members(table, {name: str(row[name]) for name in names})
        shown = None if pd.isna(row["count"]) else int(row["count"])
        yield cells, shown, every[:, cells].sum(1)


def agree(candidate, table, every, weight, within=1e-9):
    """The beliefs are the weighted shares of the tables; the estimate too, if it is asked for."""
    weight = weight / weight.sum()
    small = [i for i, n in enumerate(table.dense().ravel()) if 1 <= n <= 2]
    assert candidate.guarded.tolist() == small
    for cell, chances in zip(small, candidate.beliefs, strict=True):
        assert chances.sum() == pytest.approx(1)
        brute = np.zeros(table.total + 1)
        np.add.at(brute, every[:, cell], weight)
        long = np.zeros(table.total + 1)
        long[: len(chances)] = chances
        assert long == pytest.approx(brute, abs=within)
    return weight @ every


def margin_fits(table, every, margins):
    dense, fits = table.dense(), np.ones(len(every), bool)
    tables = every.reshape(-1, *table.shape)
    for kept in margins:
        axes = tuple(a for a in range(len(table.shape)) if a not in kept)
        true = dense.sum(axes)
        other = tables.sum(tuple(a + 1 for a in axes))
        fits &= (other == true).reshape(len(every), -1).all(1)
    return fits.astype(float)


@pytest.mark.parametrize(
    ("release", "margins"),
    [
        ("A*B", [(0, 1)]),
        ("A*B + B*C", [(0, 1), (1, 2)]),
        ("A*B + B*C + A*C", [(0, 1), (1, 2), (0, 2)]),
        ("C", [(2,)]),
    ],
)
def test_margins(release, margins):
    weight = margin_fits(TABLE, ALL, margins)
    found = made("margins", {"release": release})
    mean = agree(found, TABLE, ALL, weight)
    assert found.estimate == pytest.approx(mean)
    assert found.exact
    assert found.error == 0
    kept = made("perturb", {"keep": release})
    agree(kept, TABLE, ALL, weight)
    drawn = kept.estimate.astype(int)
    assert weight[(drawn == ALL).all(1)] == 1


def test_whole_is_certain():
    found = made("whole")
    assert table_risk(found, TABLE, act=0.9) == {
        "disclosed": 1, "perceived": 1, "expected": 1, "highest": 1
    }  # fmt: skip
    assert found.verdict is Verdict.FAIL
    assert table_worth(TABLE, found.estimate) == 1


@pytest.mark.parametrize(("table", "every"), [(TABLE, ALL), (NESTED, ALL_NESTED)])
@pytest.mark.parametrize("options", [{}, {"optimal": True}])
def test_suppression(table, every, options):
    """A gap holds 1 or more, since zeros are printed."""
    policy = Policy.of({"small.width": 1, "published.least": 2, "attribute.check": False})
    found = made("suppress", options, table=table, policy=policy)
    weight, gaps = np.ones(len(every)), 0
    for _, shown, sums in printed(found, table, every):
        gaps += shown is None
        weight *= sums >= 1 if shown is None else sums == shown
    assert gaps
    assert weight.sum() > 1
    agree(found, table, every, weight)


def reach(kind, base):
    return {
        "conventional": (base // 2, -(-base // 2) - 1), "controlled": (base - 1, base - 1),
        "random": (base - 1, base - 1), "unbiased": (base - 1, base - 1),
    }[kind]  # fmt: skip


@pytest.mark.parametrize(("table", "every"), [(TABLE, ALL), (NESTED, ALL_NESTED)])
@pytest.mark.parametrize("kind", ["controlled", "conventional", "random"])
@pytest.mark.parametrize("base", [3, 5])
def test_rounding(table, every, kind, base):
    found = made("round", {"base": base, "kind": kind}, table=table)
    weight, rows = np.ones(len(every)), {}
    below, above = reach(kind, base)
    for cells, shown, sums in printed(found, table, every):
        if len(cells) == every.shape[1] or tuple(cells) in rows:
            continue  # the total is known, and the same cells are rounded once
        rows[tuple(cells)] = shown
        weight *= (sums >= shown - below) & (sums <= shown + above)
        if kind == "random":
            up = sums % base / base
            weight *= np.where(shown == sums - sums % base, 1 - up, up)
    agree(found, table, every, weight)
    assert found.exact
    assert (found.estimate % base == 0).all()


def test_chains_agree_with_all_tables(monkeypatch):
    """Drawn where the tables are too many to list, and then it says so."""
    monkeypatch.setattr(rowbeliefs, "LISTED", 0)
    for module in (rowbeliefs, cellbeliefs):
        monkeypatch.setattr(module, "ERROR", 0.006)
    monkeypatch.setattr(cellbeliefs, "summed", lambda *_: None)
    for kind in ("controlled", "random"):
        found = made("round", {"base": 3, "kind": kind})
        weight = np.ones(len(ALL))
        for cells, shown, sums in printed(found, TABLE, ALL):
            if len(cells) < 8:
                weight *= (sums >= shown - 2) & (sums <= shown + 2)
                up = sums % 3 / 3
                weight *= (
                    1 if kind == "controlled" else np.where(shown == sums - sums % 3, 1 - up, up)
                )
        assert not found.exact
        assert 0 < found.error <= 0.006
        assert any("chains" in text for text in found.said)
        agree(found, TABLE, ALL, weight, within=5 * found.error)


def test_chains_of_tables_that_fit(monkeypatch):
    monkeypatch.setattr(cellbeliefs, "summed", lambda *_: None)
    found = made("margins", {"release": "A*B + B*C"})
    assert not found.exact
    assert 0 < found.error < 0.02
    agree(found, TABLE, ALL, margin_fits(TABLE, ALL, [(0, 1), (1, 2)]), within=5 * found.error)


def test_merged_categories():
    """What is merged is known only together; the hierarchy's groups likewise."""
    found = made("merge", {"merge": {"Area": [["n1", "n2"]]}}, table=NESTED)
    weight = np.ones(len(ALL_NESTED))
    for _, shown, sums in printed(found, NESTED, ALL_NESTED):
        weight *= sums == shown
    agree(found, NESTED, ALL_NESTED, weight)
    assert len(found.frame) == 6
    policy = Policy.of({"small.width": 1, "published.least": 2, "attribute.check": False})
    levels = made("merge", table=NESTED, policy=policy)
    weight = np.ones(len(ALL_NESTED))
    for _, shown, sums in printed(levels, NESTED, ALL_NESTED):
        weight *= sums == shown
    agree(levels, NESTED, ALL_NESTED, weight)


def test_nothing_but_the_total_is_the_prior():
    """All categories merged: a cell has n with C(N - n + K - 2, K - 2) / C(N + K - 1, K - 1)."""
    everything = {v.name: [list(v.categories)] for v in TABLE.variables}
    found = made("merge", {"merge": everything})
    prior = [math.comb(10 - n + 6, 6) / math.comb(17, 7) for n in range(11)]
    for chances in found.beliefs:
        assert chances == pytest.approx(prior)
    unseen = made("private", {"epsilon": 1e-9})
    for chances in unseen.beliefs:
        assert chances == pytest.approx(prior, abs=1e-7)


def test_much_epsilon_is_the_table():
    found = made("private", {"epsilon": 50.0})
    assert table_risk(found, TABLE, act=0.999)["disclosed"] == 1
    assert table_worth(TABLE, found.estimate) == 1


def chance(n, shown, ptable):
    rows = (ptable.i == min(n, ptable.i.max())) & (n + ptable.v == shown)
    return float(ptable.p[rows].sum())


@pytest.mark.parametrize("options", [{}, {"D": 3, "V": 1.5, "js": 1}, {"release": "A*C"}])
def test_cell_keys(options):
    found = made("cell-key", options)
    ptable = count_ptable(options.get("D", 2), options.get("V", 0.9), js=options.get("js", 0))
    weight = np.ones(len(ALL))
    for _, shown, sums in printed(found, TABLE, ALL):
        weight *= np.array([chance(n, shown, ptable) for n in range(11)])[sums]
    assert found.exact
    assert found.verdict is None
    agree(found, TABLE, ALL, weight)


def test_cell_keys_with_totals():
    """Rows over the same people have one noise; all others are taken as independent."""
    found = made("cell-key", {"totals": True})
    ptable, logs, seen = count_ptable(2, 0.9), np.zeros(len(ALL)), {}
    for cells, shown, sums in printed(found, TABLE, ALL):
        table = np.array([chance(n, shown, ptable) for n in range(11)])
        with np.errstate(divide="ignore"):
            own = np.log(table)[sums]
        here = (ALL[:, cells] > 0) @ (1 << np.array(cells))
        fresh = np.ones(len(ALL), bool)
        for others, other_shown in seen.values():
            same = (others == here) & (here > 0)
            fresh &= ~same
            if other_shown != shown:
                logs[same] = -np.inf
        logs += np.where(fresh | np.isinf(own), own, 0)
        seen[tuple(cells)] = here, shown
    agree(found, TABLE, ALL, np.exp(logs - logs.max()), within=max(1e-9, 5 * found.error))
    assert not found.exact  # keys that are sums may tell more


def dirichlet_multinomial(y, a):
    """The log probability of counts y by a Dirichlet of a, without the multinomial coefficient."""
    y, a = y.reshape(-1), a.reshape(len(a), -1)
    rise = (gammaln(a + y) - gammaln(a)).sum(1)
    return rise + gammaln(a.sum(1)) - gammaln(a.sum(1) + y.sum())


@pytest.mark.parametrize("model", ["saturated", "A*B + B*C", "A*B", "A + B*C"])
def test_synthetic_copies(model):
    """The predictive probability of every copy, part by part."""
    found = made("synthesise", {"model": model, "copies": 2})
    named = {tuple(map(str, row[:3])): row[3:] for row in found.frame.itertuples(index=False)}
    order = list(product(*(v.categories for v in TABLE.variables)))
    copies = np.array([named.get(cell, (0, 0)) for cell in order]).T.reshape(2, 2, 2, 2)
    assert (copies.sum((1, 2, 3)) == 10).all()
    assert found.estimate == pytest.approx(copies.mean(0).ravel())
    weight = sum(copy_log(model, y, ALL.reshape(-1, 2, 2, 2)) for y in copies)
    agree(found, TABLE, ALL, np.exp(weight - weight.max()))


def copy_log(model, y, n):
    """Part by part; a variable that the model leaves out is uniform."""
    if model == "saturated":
        return dirichlet_multinomial(y, n + 1 / 8)
    if model == "A + B*C":
        ends = dirichlet_multinomial(y.sum((1, 2)), n.sum((2, 3)) + 1 / 2)
        return ends + dirichlet_multinomial(y.sum(0), n.sum(1) + 1 / 4)
    first = dirichlet_multinomial(y.sum(2), n.sum(3) + 1 / 4)
    if model == "A*B":
        return first
    yc, nc = y.sum(0), n.sum(1) + 1 / 4
    return first + sum(dirichlet_multinomial(yc[b], nc[:, b]) for b in range(2))


@pytest.mark.parametrize("release", [None, "A*C", "A*B + C"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_private_counts(release, epsilon):
    """(1 - r) / (1 + r) r^|z| of every noisy cell, r = exp(-epsilon / margins)."""
    found = made("private", {"epsilon": epsilon} | ({"release": release} if release else {}))
    margins = {None: ["A*B*C"]}.get(release) or release.split(" + ")
    r, weight = math.exp(-epsilon / len(margins)), np.ones(len(ALL))
    for row in found.frame.itertuples():
        label = dict(zip(row.margin.split("*"), row.cell.split(", "), strict=True))
        sums = ALL[:, members(TABLE, label)].sum(1)
        weight *= (1 - r) / (1 + r) * r ** np.abs(sums - row.noisy)
    agree(found, TABLE, ALL, weight)
    assert found.exact
    assert found.verdict is None
    assert any("not private" in text for text in found.said)


def test_too_many_sums_meet_the_total_on_average(monkeypatch):
    monkeypatch.setattr(cellbeliefs, "MOST_TERMS", 0)
    found = made("private", {"epsilon": 1.0})
    monkeypatch.undo()
    exact = made("private", {"epsilon": 1.0})
    assert not found.exact
    assert cellbeliefs.ON_AVERAGE in found.said
    for one, other in zip(found.beliefs, exact.beliefs, strict=True):
        assert one == pytest.approx(other, abs=0.06)
    assert found.estimate == pytest.approx(exact.estimate)


def test_nobody_is_where_nobody_can_be():
    """A cell that is impossible is 0 in every table."""
    table = TABLE.excluding([{"A": "a", "B": "y", "C": "0"}])
    every = ALL[ALL[:, 2] == 0]
    for method, options in [("margins", {"release": "A*B"}), ("private", {"epsilon": 1.0})]:
        found = made(method, options, table=table)
        if method == "margins":
            weight = margin_fits(table, every, [(0, 1)])
        else:
            noisy = found.frame["noisy"].to_numpy()
            weight = np.exp(-np.abs(every - noisy).sum(1))
        agree(found, table, every, weight)


OPTIONS = {
    "margins": {"release": "A*B + C"},
    "perturb": {"keep": "A*B + C"},
    "merge": {"merge": {"C": [["0", "1"]]}},
    "private": {"epsilon": 1.0},
    "suppress": {"release": "A*B + C"},
    "synthesise": {"model": "A*B + C"},
}


@pytest.mark.parametrize("method", TABLE_METHODS)
def test_the_same_seed_makes_the_same(method):
    one, other = (made(method, OPTIONS.get(method), seed=5) for _ in range(2))
    assert one.frame.equals(other.frame)
    assert (one.estimate == other.estimate).all()
    assert one.said == other.said
    for a, b in zip(one.beliefs, other.beliefs, strict=True):
        assert a.sum() == pytest.approx(1)
        assert (a >= 0).all()
        assert (a == b).all()
    assert one.parameters == other.parameters
    assert one.verdict == other.verdict
    risk = table_risk(one, TABLE, act=0.9)
    assert risk["disclosed"] <= risk["perceived"]
    assert risk["expected"] <= risk["highest"] <= 1
    assert 0 <= table_worth(TABLE, one.estimate) <= 1


def test_no_small_count_is_no_risk():
    table = Table.of([[5, 6], [7, 0]], A=["a", "b"], B=["x", "y"])
    found = made("private", {"epsilon": 1.0}, table=table)
    assert table_risk(found, table, act=0.9)["highest"] == 0


def test_worth_is_the_mean_over_orders():
    """1 - mean over orders 1, 2, 3 of mean sqrt(1/2 sum (sqrt p - sqrt q)^2)."""
    rng = np.random.default_rng(2)
    other = rng.integers(0, 9, TABLE.shape)
    p, q = TABLE.dense() / 10, other / other.sum()
    means = []
    for order, sets in enumerate([[(0,), (1,), (2,)], [(0, 1), (0, 2), (1, 2)], [(0, 1, 2)]], 1):
        away = []
        for kept in sets:
            axes = tuple(a for a in range(3) if a not in kept)
            away.append(math.sqrt(((np.sqrt(p.sum(axes)) - np.sqrt(q.sum(axes))) ** 2).sum() / 2))
        assert len(sets) == math.comb(3, order)
        means.append(np.mean(away))
    assert table_worth(TABLE, other) == pytest.approx(1 - np.mean(means))
    own = 1 - np.sqrt(((np.sqrt(p.sum((1, 2))) - np.sqrt(q.sum((1, 2)))) ** 2).sum() / 2)
    assert table_worth(TABLE, other, ["A"]) == pytest.approx(own)


@pytest.mark.parametrize(
    ("method", "options", "said"),
    [
        ("blur", {}, "no mask of a table is called 'blur'"),
        ("round", {"basis": 3}, "round has no option 'basis'"),
        ("round", {"base": 1}, "base is 1"),
        ("round", {"kind": "up"}, "kind is 'up'"),
        ("margins", {}, "margins needs 'release'"),
        ("merge", {"merge": {"A": [["a"], ["a", "b"]]}}, "in two groups"),
        ("merge", {"merge": {}, "release": "A"}, "not both"),
        ("synthesise", {"model": "A*B + B*C + A*C"}, "not decomposable"),
        ("cell-key", {"release": "A*B", "totals": True}, "for the whole table"),
    ],
)
def test_wrong_options(method, options, said):
    with pytest.raises(DataError, match=said):
        made(method, options)

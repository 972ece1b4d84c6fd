"""Sums and who is behind them: SSBtools `magnitude1`, rules by hand, and what rivals can tell.

The data and the tables are those of "Magnitude table suppression", a vignette of GaussSuppression
1.2 (Langsrud & Lupp, Statistics Norway).
"""

import numpy as np
import pandas as pd
import pytest

from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.judge import judge_batch
from discreet.decision.batch.masking import mask
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.risk.cells.sensitive import (
    Weighting,
    dominance,
    p_percent,
    requested,
    too_few,
)
from discreet.sheets.contributions import Contributions
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System
from discreet.table.microdata import Microdata

MAGNITUDE1 = """
Agriculture Portugal A 75.9
Agriculture Portugal B 24.5
Agriculture Spain A 96.6
Agriculture Spain B 43.2
Entertainment Iceland B 16.8
Entertainment Portugal B 7.1
Entertainment Portugal D 2.3
Entertainment Spain A 77.4
Entertainment Spain B 11.5
Entertainment Spain C 16.4
Governmental Portugal B 21.6
Governmental Portugal D 2.0
Governmental Spain C 6.5
Governmental Spain D 2.7
Industry Iceland B 9.6
Industry Iceland C 8.8
Industry Iceland D 1.9
Industry Portugal B 25.7
Industry Portugal D 3.4
Industry Spain C 8.4
"""
SECTORS = {"private": ["Agriculture", "Entertainment", "Industry"], "public": ["Governmental"]}
COUNTRIES = {"EU": ["Portugal", "Spain"], "nonEU": ["Iceland"]}
OFF = {"contributors.least": 0, "contributors.p": 0}
PASS = Verdict.PASS


def frame():
    rows = [line.split() for line in MAGNITUDE1.strip().splitlines()]
    return pd.DataFrame(rows, columns=["sector4", "geo", "company", "value"]).astype(
        {"value": float}
    )


def read(data, names, measure):
    people = Microdata.read(data, records=True)
    return Records.read(people, variables=names, measures=[measure])


def magnitude1(measure):
    records = read(frame(), ["sector4", "geo"], measure)
    lines = tuple(Grouping.of(variable) for variable in records.variables)
    return records, Sheet("1", lines, measure)


@pytest.mark.parametrize(
    ("keys", "primary", "hidden", "without"),
    [
        ({"contributors.least": 2}, 2, 7, 6),  # maxN = 1: a single contributor is too few
        ({"contributors.n": 1, "contributors.k": 80}, 4, 9, 7),
        ({"contributors.p": 10}, 8, 10, 9),
    ],
    ids=["maxN=1", "(1,80)", "p=10"],
)
@pytest.mark.parametrize("optimal", [False, True], ids=["heuristic", "optimal"])
def test_magnitude1_sector4_by_geo(keys, primary, hidden, without, optimal):
    """GaussSuppression: primary and suppressed cells, with and without its singletons.

    For p = 10 without singletons no figure is printed: 9 is what suffices here. Unlike it, we ask
    that each interval reaches as far as the rule says.
    """
    records, sheet = magnitude1(Measure(value="value"))
    made = mask(records, [sheet], Policy.of(OFF | keys), optimal=optimal)
    assert (made.primary, made.hidden, made.verdict) == ((primary,), hidden, PASS)
    alone = Policy.of(OFF | keys | {"contributors.alone": False})
    made = mask(records, [sheet], alone, optimal=optimal)
    assert (made.primary, made.hidden, made.verdict) == ((primary,), without, PASS)


def test_magnitude1_primary_cells_of_the_vignette():
    """Tables 2 and 3: single contributors, and the largest above 80 percent."""
    measure = Measure(value="value")
    records, sheet = magnitude1(measure)
    cells = Contributions.of(System.of([sheet]), records, measure)

    def named(found):
        return {tuple(cells.label(row).values()) for row in np.flatnonzero(found.cells).tolist()}

    single = {("Entertainment", "Iceland"), ("Industry", "Spain")}
    assert named(too_few(cells, 2)) == single
    largest = {("Governmental", "Portugal"), ("Industry", "Portugal")}
    assert named(dominance(cells, 1, 80)) == single | largest
    share = cells.largest[:, 0] / np.maximum(cells.values, 1e-9)
    told = {tuple(cells.label(row).values()): share[row] for row in range(cells.printed)}
    # the vignette prints seven digits
    assert told["Governmental", "Portugal"] == pytest.approx(0.9152542, abs=5e-8)
    assert told["Industry", "Portugal"] == pytest.approx(0.8831615, abs=5e-8)
    assert told["Agriculture", "Portugal"] == pytest.approx(0.7559761, abs=5e-8)
    assert told["Total", "Total"] == pytest.approx(0.2089552, abs=5e-8)


def test_magnitude1_contributors_of_the_hierarchy():
    """Table 7: contributors by company of 7 x 6 cells."""
    measure = Measure(value="value", holding="company")
    records = read(frame(), ["sector4", "geo"], measure)
    sector, geo = records.variables
    own = {name: [name] for name in sector.categories} | SECTORS
    where = {name: [name] for name in geo.categories} | COUNTRIES
    sheet = Sheet("7", (Grouping.cut(sector, own), Grouping.cut(geo, where)), measure)
    cells = Contributions.of(System.of([sheet]), records, measure)
    rows = cells.system.places[0]
    columns = [
        sheet.groupings[1].labels.index(name)
        for name in ("Iceland", "Portugal", "Spain", "nonEU", "EU", "Total")
    ]
    printed = {
        "Agriculture": [0, 2, 2, 0, 2, 2],
        "Entertainment": [1, 2, 3, 1, 4, 4],
        "Governmental": [0, 2, 2, 0, 3, 3],
        "Industry": [3, 2, 1, 3, 3, 3],
        "private": [3, 3, 3, 3, 4, 4],
        "public": [0, 2, 2, 0, 3, 3],
        "Total": [3, 3, 4, 3, 4, 4],
    }
    for label, expected in printed.items():
        line = rows[sheet.groupings[0].labels.index(label)]
        assert cells.number[line[columns]].tolist() == expected, label
    # Table 6: private, EU has A 249.9, B 112.0, C 24.8, D 5.7
    place = rows[sheet.groupings[0].labels.index("private"), columns[4]]
    assert cells.largest[place][:5].tolist() == pytest.approx([249.9, 112.0, 24.8, 5.7, 0.0])


# Rules by hand


def one_cell(rows, measure):
    """A cell c beside a large one, from rows of its contributors."""
    data = pd.DataFrame([{"cell": "c"} | row for row in rows])
    others = [{"cell": "other"} | rows[0] | {"v": 50.0}] * 9
    data = pd.concat([data, pd.DataFrame(others)], ignore_index=True)
    if measure.holding:
        data.loc[data.cell == "other", measure.holding] = [f"o{i}" for i in range(9)]
    records = read(data, ["cell"], measure)
    cells = Contributions.of(
        System.of([Sheet("1", (Grouping.of(records.variables[0]),), measure)]), records, measure
    )
    row = next(i for i in range(cells.printed) if cells.label(i)["cell"] == "c")
    return cells, row


def found(rule, row):
    return bool(rule.cells[row]), float(rule.reach[row])


def test_p_percent_by_hand():
    """80, 15, 5: the second tells the first to within the rest, 5. p = 10 asks for 8."""
    cells, row = one_cell([{"v": 80.0}, {"v": 15.0}, {"v": 5.0}], Measure(value="v"))
    # UPL = 0.10 * 80 - (100 - 80 - 15) = 8 - 5 = 3
    assert found(p_percent(cells, 10), row) == (True, pytest.approx(3.0))
    # 0.0625 * 80 = 5, just what the third covers
    assert found(p_percent(cells, 6.25), row) == (False, 0.0)
    # pq (10, 50): the others are known to half before: 10/50 * 80 - 5 = 11
    assert found(p_percent(cells, 10, q=50), row) == (True, pytest.approx(11.0))
    # the second and third together know all of the rest: 0.0625 * 80 - 0 = 5
    assert found(p_percent(cells, 6.25, coalition=2), row) == (True, pytest.approx(5.0))


def test_dominance_by_hand():
    """80, 15, 5: (1, 75) asks for 100/75 * 80 = 106 2/3, (2, 95) for just 100."""
    cells, row = one_cell([{"v": 80.0}, {"v": 15.0}, {"v": 5.0}], Measure(value="v"))
    assert found(dominance(cells, 1, 75), row) == (True, pytest.approx(20 / 3))
    assert found(dominance(cells, 1, 80), row) == (False, 0.0)
    assert found(dominance(cells, 2, 95), row) == (False, 0.0)
    # 100/90 * 95 - 100 = 5.5556
    assert found(dominance(cells, 2, 90), row) == (True, pytest.approx(50 / 9))


def test_two_contributors_of_one_owner_are_one():
    """40, 40 of one owner, 15, 5: alone 40 of 100, together 80."""
    rows = [
        {"v": 40.0, "o": "X"},
        {"v": 40.0, "o": "X"},
        {"v": 15.0, "o": "Y"},
        {"v": 5.0, "o": "Z"},
    ]
    apart, row = one_cell([{"v": r["v"]} for r in rows], Measure(value="v"))
    assert apart.number[row] == 4
    # 0.10 * 40 - (100 - 40 - 40) < 0
    assert found(p_percent(apart, 10), row) == (False, 0.0)
    held, row = one_cell(rows, Measure(value="v", holding="o"))
    assert held.number[row] == 3
    assert held.largest[row, :3].tolist() == [80, 15, 5]
    assert found(p_percent(held, 10), row) == (True, pytest.approx(3.0))
    assert found(too_few(held, 4, percent=10), row) == (True, pytest.approx(10.0))
    assert not too_few(apart, 4).cells[row]


def test_who_has_no_owner_stands_alone():
    rows = [{"v": 10.0, "o": None}, {"v": 10.0, "o": None}, {"v": 10.0, "o": "X"}]
    cells, row = one_cell(rows, Measure(value="v", holding="o"))
    assert cells.number[row] == 3


def test_both_conventions_for_weights():
    """30 with weight 3, 8 and 2 with weight 1: the weighted sum is 100."""
    rows = [{"v": 30.0, "w": 3.0}, {"v": 8.0, "w": 1.0}, {"v": 2.0, "w": 1.0}]
    cells, row = one_cell(rows, Measure(value="v", weight="w"))
    assert cells.values[row] == 100
    # total: x1 = 30 in 100, so 0.10 * 30 - (100 - 30 - 8) < 0
    assert found(p_percent(cells, 10), row) == (False, 0.0)
    # repeated: 30, 30, 30, 8, 2; 0.10 * 30 - (100 - 60) < 0; two largest 60 of 100
    assert found(p_percent(cells, 10, weighting=Weighting.REPEATED), row) == (False, 0.0)
    # (2, 50) total: 100/50 * 38 - 100 < 0; repeated: 100/50 * 60 - 100 = 20
    assert found(dominance(cells, 2, 50), row) == (False, 0.0)
    two = dominance(cells, 2, 50, Weighting.REPEATED)
    assert found(two, row) == (True, pytest.approx(20.0))
    # (4, 90) repeated: 98 of 100 > 90: 100/90 * 98 - 100 = 8.8889; total has 40 of 100
    four = dominance(cells, 4, 90, Weighting.REPEATED)
    assert found(four, row) == (True, pytest.approx(80 / 9))
    assert found(dominance(cells, 4, 90), row) == (False, 0.0)


def test_who_asked_is_protected():
    """The third asked, and has 12 of 100."""
    rows = [
        {"v": 48.0, "r": "no"},
        {"v": 40.0, "r": ""},
        {"v": 12.0, "r": "yes"},
    ]
    cells, row = one_cell(rows, Measure(value="v", request="r"))
    assert cells.asked[row] == 12
    assert found(requested(cells, 10, percent=20), row) == (True, pytest.approx(20.0))
    assert found(requested(cells, 12), row) == (True, pytest.approx(10.0))  # "so much or more"
    assert found(requested(cells, 12.1), row) == (False, 0.0)


def test_a_shadow_is_judged_in_place_of_the_value():
    """By turnover 80, 15, 5 the need is 3 of 100; profits of 10 are shown: 3 * 10/100 = 0.3."""
    rows = [{"v": 4.0, "t": 80.0}, {"v": 3.0, "t": 15.0}, {"v": 3.0, "t": 5.0}]
    cells, row = one_cell(rows, Measure(value="v", shadow="t"))
    assert (cells.values[row], cells.judged[row]) == (10, 100)
    assert found(p_percent(cells, 10), row) == (True, pytest.approx(0.3))
    plain, row = one_cell(rows, Measure(value="v"))
    # 0.10 * 4 - 3 < 0
    assert not p_percent(plain, 10).cells[row]


def test_nothing_is_no_contribution():
    """A firm with 0 is none: 2 contributors. An empty cell is too few only where that is said."""
    cells, row = one_cell([{"v": 10.0}, {"v": 10.0}, {"v": 0.0}], Measure(value="v"))
    assert cells.number[row] == 2
    assert found(too_few(cells, 3, percent=15), row) == (True, pytest.approx(3.0))
    assert not too_few(cells, 2).cells[row]
    empty, row = one_cell([{"v": 0.0}], Measure(value="v"))
    assert not too_few(empty, 3).cells[row]
    assert found(too_few(empty, 3, zeros=True), row) == (True, 5.0)  # of an average of 50
    assert not p_percent(empty, 10).cells[row]


# What rivals can tell behind a mask


def firms(rng, *, owners=False):
    """Firms of three sectors in a hierarchy of four places, a few large."""
    many = int(rng.integers(25, 45))
    data = pd.DataFrame(
        {
            "S": rng.choice(["s0", "s1", "s2"], many),
            "P": rng.choice(["p0", "p1", "p2", "p3"], many),
            "v": np.round(np.exp(rng.normal(2, 1.3, many)), 1) + 0.1,
        }
    )
    if owners:
        data["o"] = rng.integers(0, many // 2, many).astype(str)
    measure = Measure(value="v", holding="o" if owners else None)
    records = read(data, ["S", "P"], measure)
    sector, place = records.variables
    lines = {name: [name] for name in place.categories}
    lines |= {"west": list(place.categories[:2]), "east": list(place.categories[2:])}
    sheets = [
        Sheet("1", (Grouping.of(sector), Grouping.cut(place, lines)), measure),
    ]
    return data, records, sheets


def cell_of(data, sheet, label):
    """The rows of data in a printed cell, by its label."""
    kept = np.ones(len(data), bool)
    for grouping in sheet.groupings:
        line = grouping.lines[grouping.labels.index(label[grouping.name])]
        names = [grouping.variable.categories[code] for code in line.codes]
        kept &= data[grouping.name].isin(names).to_numpy()
    return kept


class Rival:
    """What follows for a sum from printed cells, by linear programs over the inner cells."""

    def __init__(self, data, sheet, values):
        inner = data.groupby(["S", "P"]).size().index
        grid = pd.MultiIndex.from_product([data.S.unique(), data.P.unique()])
        self.cells = sorted(set(grid) | set(inner))
        self.rows, self.shown = [], []
        for label, value in zip(sheet.labels(), values.ravel(), strict=True):
            self.rows.append(self.row(sheet, dict(zip(sheet.names, label, strict=True))))
            self.shown.append(value)
        self.rows, self.shown = np.array(self.rows), np.array(self.shown)

    def row(self, sheet, label):
        grid = pd.DataFrame(self.cells, columns=["S", "P"])
        return cell_of(grid, sheet, label).astype(float)

    def ends(self, row, more=()):
        from scipy.optimize import linprog

        printed = ~np.isnan(self.shown)
        left = np.vstack([self.rows[printed], *(r for r, _ in more)])
        right = np.r_[self.shown[printed], [value for _, value in more]]
        low = linprog(row, A_eq=left, b_eq=right, bounds=(0, None))
        high = linprog(-row, A_eq=left, b_eq=right, bounds=(0, None))
        assert low.status == 0
        assert high.status in (0, 3)
        return low.fun, (np.inf if high.status == 3 else -high.fun)


@pytest.mark.parametrize("rule", ["p", "nk"])
@pytest.mark.parametrize("owners", [False, True], ids=["firms", "owners"])
def test_no_rival_tells_the_largest(rule, owners):
    """The second largest estimates x1 <= U - x2 from the interval [L, U] of a hidden cell X.

    p%: U - x2 >= (1 + p/100) x1, which is U >= X + UPL, UPL = p/100 x1 - (X - x1 - x2); below,
    L <= X - UPL. (n, k): U >= 100/k (x1 + ... + xn), and as far below. Whoever is alone in hidden
    cells knows these, too.
    """
    keys = {"contributors.p": 10} if rule == "p" else {"contributors.n": 2, "contributors.k": 85}
    judged = 0
    for seed in range(2):
        data, records, sheets = firms(np.random.default_rng(seed), owners=owners)
        made = mask(records, sheets, Policy.of(OFF | keys))
        assert made.verdict is PASS
        sheet, values = made.shown()[0]
        rival = Rival(data, sheet, values)
        names = data["o"] if owners else pd.Series(data.index)
        hidden = []
        for label, value in zip(sheet.labels(), values.ravel(), strict=True):
            label = dict(zip(sheet.names, label, strict=True))
            own = cell_of(data, sheet, label)
            parts = data.v[own].groupby(names[own]).sum().sort_values(ascending=False)
            total = parts.sum()
            x1, x2 = [*parts.tolist(), 0.0, 0.0][:2]
            need = 0.1 * x1 - (total - x1 - x2) if rule == "p" else (x1 + x2) / 0.85 - total
            if need > 1e-6 and len(parts):
                assert np.isnan(value), f"{label} is printed"
            if np.isnan(value):
                who = parts.index[0] if len(parts) == 1 else None
                hidden.append((rival.row(sheet, label), total, need, who))
        for row, total, need, _ in hidden:
            if need <= 1e-6:
                continue
            judged += 1
            loners = {who for *_, who in hidden if who is not None}
            views = [()]
            for loner in loners:
                known = [(r, t) for r, t, _, who in hidden if who == loner]
                if not any((r == row).all() for r, _ in known):
                    views.append(known)
            for view in views:
                low, high = rival.ends(row, view)
                assert high >= total + need - 1e-4 * total, seed
                assert low <= max(0, total - need) + 1e-4 * total, seed
    assert judged > 4


def test_a_sheet_of_sums_fails_and_its_mask_passes():
    records, sheet = magnitude1(Measure(value="value", holding="company"))
    policy = Policy.of(OFF | {"contributors.p": 10})
    batch = judge_batch(records, [sheet], policy)
    assert batch.verdict is Verdict.FAIL
    case = SheetCase.of(records, [sheet], sheet.measure, policy)
    assert "p% (10)" in [reason.rule for reason in batch.together.reasons]
    assert int(case.primary.sum()) == mask(records, [sheet], policy).primary[0]

"""Primary rules, against their definitions contribution by contribution."""

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.decision.batch.demands import demands
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.risk.cells.sensitive import Weighting, dominance, p_percent, requested, too_few
from discreet.sheets.contributions import KEPT, Contributions
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System
from discreet.table.table import Table


def cells(*parts, weights=None, asked=None, judged=None):
    """Cells by their contributions, as a sheet of one variable would have them."""
    variable = Variable("C", tuple(f"c{i}" for i in range(len(parts))))
    lines = {category: [category] for category in variable.categories}
    system = System.of([Sheet("1", (Grouping.cut(variable, lines, total=False),))])
    largest, heavy = np.zeros((len(parts), KEPT)), np.ones((len(parts), KEPT))
    values = np.zeros(len(parts))
    for i, own in enumerate(parts):
        order = np.argsort(own)[::-1]
        weight = np.ones(len(own)) if weights is None else np.array(weights[i])
        values[i] = (np.array(own) * weight).sum()
        for rank, place in enumerate(order[:KEPT]):
            largest[i, rank], heavy[i, rank] = own[place], weight[place]
    number = np.array([sum(x > 0 for x in own) for own in parts])
    alone = np.where(number == 1, 0, -1)
    none = np.zeros(len(parts))
    return Contributions(
        system, Measure(value="v"), values, np.zeros(0, int), values,
        values if judged is None else np.array(judged, float), number, largest, heavy,
        none if asked is None else np.array(asked, float), alone,
        np.array([len(own) for own in parts]), 1.0,
        Table.of(number, C=variable.categories),
    )  # fmt: skip


def drawn(seed, number=200):
    rng = np.random.default_rng(seed)
    return [
        sorted(np.round(rng.gamma(0.6, 20, rng.integers(1, 9)), 1) + 0.1, reverse=True)
        for _ in range(number)
    ]


@pytest.mark.parametrize("p", [5, 10, 40])
@pytest.mark.parametrize("coalition", [1, 2])
def test_p_percent_is_how_well_the_next_largest_tell_the_first(p, coalition):
    """X less what they have is their estimate of x1: it is too good if off by less than p%."""
    parts = drawn(p)
    found = p_percent(cells(*parts), p, coalition=coalition)
    for i, own in enumerate(parts):
        estimate = sum(own) - sum(own[1 : 1 + coalition])
        assert found.cells[i] == (estimate < own[0] * (1 + p / 100) - 1e-9)
        if found.cells[i]:
            # with a value as far above as asked the estimate is off by p percent
            reached = sum(own) + found.reach[i] - sum(own[1 : 1 + coalition])
            assert reached == pytest.approx(own[0] * (1 + p / 100))


@pytest.mark.parametrize(("n", "k"), [(1, 60), (2, 85), (3, 90)])
def test_dominance_is_the_share_of_the_largest(n, k):
    parts = drawn(n)
    found = dominance(cells(*parts), n, k)
    for i, own in enumerate(parts):
        assert found.cells[i] == (sum(own[:n]) > k / 100 * sum(own) + 1e-9)
        if found.cells[i]:
            assert sum(own[:n]) / (sum(own) + found.reach[i]) == pytest.approx(k / 100)


def test_repeated_weights_are_so_many_contributors():
    """A contribution with weight w counts as w contributors of its size."""
    rng = np.random.default_rng(3)
    parts = drawn(4)
    weights = [rng.integers(1, 4, len(own)).tolist() for own in parts]
    weighted = cells(*parts, weights=weights)
    repeated = [
        sorted((x for x, w in zip(own, ws, strict=True) for _ in range(w)), reverse=True)
        for own, ws in zip(parts, weights, strict=True)
    ]
    plain = cells(*repeated)
    for rule in (
        lambda c, w: p_percent(c, 10, weighting=w),
        lambda c, w: dominance(c, 2, 70, w),
        lambda c, w: dominance(c, 4, 85, w),
    ):
        one, other = rule(weighted, Weighting.REPEATED), rule(plain, Weighting.TOTAL)
        assert (one.cells == other.cells).all()
        assert one.reach == pytest.approx(other.reach)


def test_on_the_limit_a_cell_is_safe():
    found = cells([50.0, 30.0, 20.0])
    assert not dominance(found, 1, 50).cells[0]
    assert not dominance(found, 2, 80).cells[0]
    assert not p_percent(found, 40).cells[0]
    assert p_percent(found, 40.01).cells[0]
    asked = cells([50.0, 30.0, 20.0], asked=[20.0])  # who asked is protected from so much on
    assert requested(asked, 20).cells[0]
    assert not requested(asked, 20.1).cells[0]


def test_few_contributors_and_what_they_ask():
    found = too_few(cells([5.0], [5.0, 5.0], [5.0, 5.0, 5.0], [0.0]), 3, percent=20)
    assert found.cells.tolist() == [True, True, False, False]
    assert found.reach.tolist() == [1, 2, 0, 0]
    assert len(found) == 2
    assert repr(found) == "Sensitive(contributors: 2 of 4 cells)"


def test_more_than_are_kept_is_an_error():
    with pytest.raises(ValueError, match="7 of 6"):
        dominance(cells([1.0]), 7, 50)


def test_demands_are_of_the_rules_that_are_asked():
    found = cells([80.0, 15.0, 5.0], [40.0, 30.0, 30.0])
    keys = {"contributors.least": 0, "contributors.p": 10, "contributors.n": 1}
    rules = {d.rule: d for d in demands(found, Policy.of(keys | {"contributors.k": 75}))}
    assert set(rules) == {"p% (10)", "(1, 75) dominance"}
    p = rules["p% (10)"]
    # 0.10 * 80 - 5 = 3 either way
    assert (p.cells.tolist(), p.low.tolist(), p.high.tolist()) == ([0], [97], [103])
    assert not demands(found, Policy.of({"contributors.least": 0, "contributors.p": 0}))


def test_a_sheet_may_ask_for_more():
    table = Table.of(np.array([4, 12]), A=["x", "y"])
    variable = table.variables[0]
    records = Records.of_table(table)

    def hidden(least):
        sheet = Sheet("1", (Grouping.of(variable),), options={"least": least})
        own = Contributions.of(System.of([sheet]), records, Measure())
        found = demands(own, Policy.of({"published.least": 3, "attribute.check": False}))
        return [d.rule for d in found]

    assert hidden(3) == []
    assert hidden(5) == ["published cells"]
    assert hidden(1) == []  # not for less
    with pytest.raises(DataError, match="least = 'many'"):
        hidden("many")

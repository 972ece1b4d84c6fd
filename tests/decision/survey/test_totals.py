"""Totals that give suppressed cells back: every table that fits, and every choice of cells."""

from itertools import chain, combinations, product

import numpy as np
import pytest

from discreet.decision.law.verdict import Verdict
from discreet.decision.survey.combine import combine
from discreet.decision.survey.plugin import plug_in
from discreet.decision.survey.publish import publish
from discreet.decision.survey.totals import guard_totals, read_totals
from discreet.errors import DataError


def fits(n, y, hidden, sums):
    """Every y with the published cells and sums, hidden ones from 1 to n."""
    ranges = [range(1, n[row] + 1) if hidden[row] else [y[row]] for row in range(len(y))]
    tables = np.array(list(product(*ranges)))
    keep = np.all([tables[:, list(rows)].sum(1) == y[list(rows)].sum() for rows in sums], axis=0)
    return tables[keep]


def rule_hides(found, row):
    """The counts from the least to the largest that the rule suppresses there, term by term."""
    from scipy.stats import betabinom

    c = found.counts
    n, N = int(c.n[row]), int(c.N[row])
    hides = []
    for y in range(1, n + 1):
        t = np.arange(N - n + 1)
        ratio = betabinom.pmf(t, N - n, 1 + y, 4 + n - y) @ np.exp(-(y + t) / 10)
        hides += [y] if ratio >= found.rule.ratio else []
    return range(min(hides), max(hides) + 1)


def drawn(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 5, 6)
    N = n * rng.integers(2, 9, 6)
    y = np.array([rng.integers(0, k + 1) for k in n])
    region = rng.integers(0, 2, 6)
    found = publish(n, N, y, alpha=1, beta=4, ratio=float(rng.uniform(0.5, 0.9)))
    sums = [range(6), *(np.flatnonzero(region == r) for r in np.unique(region))]
    return found, {"all": None, "region": region.tolist()}, n, y, sums


@pytest.mark.parametrize("seed", range(14))
def test_the_intervals_and_the_least_loss(seed):
    found, totals, n, y, sums = drawn(seed)
    kept = guard_totals(found, totals)
    hidden = ~kept.publication.publish
    tables = fits(n, y, hidden, sums)
    assert kept.lower.tolist() == tables.min(0).tolist()
    assert kept.upper.tolist() == tables.max(0).tolist()
    primary = np.flatnonzero(~found.publish)
    back = [row for row in primary if tables[:, row].min() == tables[:, row].max()]
    assert kept.given_back.tolist() == back
    inside = np.all([np.isin(tables[:, i], rule_hides(found, i)) for i in primary], axis=0)
    told = [row for row in primary if np.ptp(tables[inside][:, row]) == 0 and row not in back]
    assert kept.told.tolist() == told
    review = Verdict.REVIEW if told else Verdict.PASS
    assert kept.verdict is (Verdict.FAIL if back else review)
    assert guard_totals(found, totals, known=False).told.tolist() == []
    assert not set(back) & {i for i, one in enumerate(kept.status) if one == "suppressed"}
    # no cheaper choice of further cells opens all that can be opened
    spare = [row for row in np.flatnonzero(found.publish) if y[row] > 0]
    choices = chain.from_iterable(combinations(spare, k) for k in range(len(spare) + 1))
    best, reach = np.inf, len(primary) - len(back)
    for more in choices:
        cost = float(found.R0[list(more)].sum())
        if cost < best:
            mask = ~found.publish
            mask[list(more)] = True
            open_ones = np.ptp(fits(n, y, mask, sums), axis=0)[primary] > 0
            best = cost if open_ones.sum() >= reach else best
    assert found.R0[kept.secondary].sum() == pytest.approx(best)


@pytest.mark.parametrize("seed", range(0, 14, 3))
def test_without_more_suppression_what_is_given_back_is_said(seed):
    found, totals, n, y, sums = drawn(seed)
    kept = guard_totals(found, totals, secondary=False)
    tables = fits(n, y, ~found.publish, sums)
    alone = [row for row in np.flatnonzero(~found.publish) if np.ptp(tables[:, row]) == 0]
    assert kept.given_back.tolist() == alone
    assert not len(kept.secondary)
    if alone:  # what is known is published, whatever it is called
        assert kept.publication.risk_taken > found.risk_taken


def test_a_single_suppressed_cell_is_a_difference():
    found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    bare = guard_totals(found, {"all": None}, secondary=False)
    assert bare.status == ["given back", "published", "published"]
    kept = guard_totals(found, {"all": None})
    # one of three is suppressed, two are published: who knows the rule needs no total
    assert kept.told.tolist() == [0]
    assert kept.verdict is Verdict.REVIEW
    assert guard_totals(found, {"all": None}, known=False).verdict is Verdict.PASS
    # with the third, both would be 1 of a total of 2: no cell that is suppressed is empty
    assert kept.status == ["suppressed", "suppressed for a total", "published"]
    assert kept.publication.publish.tolist() == [False, False, True]
    assert kept.publication.data_published == pytest.approx(1 / 4)
    assert kept.gap == 0
    # of a total of 4 over three cells that are not empty, none can be open by 2
    assert guard_totals(found, {"all": None}, width=2).verdict is Verdict.FAIL
    more = publish([9, 9, 9], [20, 20, 200], [1, 4, 5], alpha=1, beta=10, ratio=0.8)
    wide = guard_totals(more, {"all": None}, width=3, known=False)
    assert wide.verdict is Verdict.PASS
    assert wide.upper[0] - wide.lower[0] >= 3


def test_a_column_that_does_not_divide_is_a_total_of_all():
    found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    for totals in ({"land": ["x"] * 3}, {"land": ["x"] * 3, "all": None}):
        kept = guard_totals(found, totals, secondary=False)
        assert kept.status == ["given back", "published", "published"]


def test_large_tables_part_by_part(monkeypatch):
    """120 cells in 15 regions: what is given back is given back region by region."""
    monkeypatch.setattr("discreet.decision.survey.sums.LARGE", 60)
    rng = np.random.default_rng(8)
    n = rng.integers(3, 30, 120)
    y = rng.binomial(n, rng.beta(1, 10, 120))
    region = rng.integers(0, 15, 120)
    found = publish(n, n * rng.integers(2, 10, 120), y, alpha=1, beta=10, ratio=0.65)
    kept = guard_totals(found, {"region": region.tolist(), "all": None})
    hidden = ~kept.publication.publish
    for r in range(15):
        rows = np.flatnonzero((region == r) & hidden)
        if len(rows):
            total = y[rows].sum()
            low = [max(1, total - (n[rows].sum() - n[row])) for row in rows]
            high = [min(n[row], total - (len(rows) - 1)) for row in rows]
            assert kept.lower[rows].tolist() == low
            assert kept.upper[rows].tolist() == high
    whole = guard_totals(found, {"all": None})
    assert not len(whole.given_back)
    assert whole.gap is None or whole.gap == 0


def test_a_total_of_one_cell_is_the_cell():
    found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    kept = guard_totals(found, {"region": ["a", "b", "b"]})
    assert kept.status == ["given back", "published", "published"]


def test_empty_cells_that_may_be_suppressed():
    """With a floor on the estimate, an empty cell may be hidden too: then 0 is possible."""
    from discreet.decision.survey.plugin import plug_in

    found = publish([9, 9, 9], [20, 20, 200], [1, 0, 5], alpha=1, beta=10)
    cut = plug_in(found, floor=5).decided("combined")
    kept = guard_totals(cut, {"all": None})
    assert kept.floor == 0
    assert kept.lower[:2].tolist() == [0, 0]


def test_joined_cells_are_a_published_sum():
    found = publish([3, 3, 5, 5], [8, 8, 20, 9], [1, 2, 1, 1], alpha=1, beta=10, ratio=0.8)
    joined = combine(found)
    kept = guard_totals(found, {"all": None}, combined=joined)
    assert [group.rows for group in joined.combined] == [(0, 1), (2, 3)]
    # two sums, 3 and 2; whom a suppressed cell was joined with may be an empty one
    assert kept.status == ["published joined"] * 4
    assert kept.lower.tolist() == [1, 0, 0, 1]
    assert kept.upper.tolist() == [3, 2, 1, 2]


def test_names_of_totals():
    columns = {"region": ["a", "b"], "town": ["x", "y"]}
    assert read_totals("", columns) == read_totals("none", columns) == {}
    assert list(read_totals("town, all", columns)) == ["town", "all"]
    with pytest.raises(DataError, match="did you mean 'region'"):
        read_totals("regions", columns)
    found = publish([3, 3], [8, 8], [1, 2], alpha=1, beta=10)
    with pytest.raises(DataError, match="1 label for 2 cells"):
        guard_totals(found, {"region": ["a"]})
    with pytest.raises(DataError, match="width is 0"):
        guard_totals(found, {"all": None}, width=0)
    with pytest.raises(DataError, match="no total is named"):
        guard_totals(found, {})


def test_what_a_plug_in_rule_or_the_best_set_tells_is_no_pass():
    n, N, y = [10, 10, 20, 20], [100] * 4, [1, 1, 9, 8]  # both below 2: the total of 2 says which
    found = plug_in(publish(n, N, y, alpha=1, beta=9), floor=10).decided("weighted")
    kept = guard_totals(found, {"all": None})
    assert str(kept.verdict) == "REVIEW"
    assert kept.told.tolist() == [0, 1]
    assert str(guard_totals(found, {"all": None}, known=False).verdict) == "PASS"
    best = publish(n, N, y, alpha=1, beta=9, risk=0.6, edge="best")
    kept = guard_totals(best, {"all": None})
    assert str(kept.verdict) == "REVIEW"
    assert "not worked out" in str(kept.stopped)

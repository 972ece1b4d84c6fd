"""Distances of margins against pandas, by hand, and as metrics."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.table.load import load
from discreet.table.table import Table
from discreet.utility import counted
from discreet.utility.counted import hellinger, total_variation
from discreet.utility.distances import by_order


def random_table(rng, shape=(2, 3, 4), people=60):
    cells = rng.multinomial(people, rng.dirichlet(np.ones(np.prod(shape)) / 2)).reshape(shape)
    return Table.of(cells, **{name: range(n) for name, n in zip("ABCD", shape, strict=False)})


def brute(one, two, names):
    """Both distances of a margin, from frames of cells."""
    both = pd.concat([one.assign(file=0), two.assign(file=1)])
    wide = both.pivot_table(
        index=list(names),
        columns="file",
        values="count",
        aggfunc="sum",
        fill_value=0,
        observed=True,
    )
    p, q = (wide[side] / wide[side].sum() for side in (0, 1))
    return np.sqrt(1 - np.sqrt(p * q).sum().clip(0, 1)), (p - q).abs().sum() / 2


def test_two_known_distributions():
    """p = (9/25, 16/25), q = (16/25, 9/25): H^2 = 1 - 2 * 12/25 = 1/25."""
    p, q = np.array([9, 16]) / 25, np.array([16, 9]) / 25
    assert hellinger(p, q) == pytest.approx(0.2, abs=1e-15)
    assert total_variation(p, q) == pytest.approx(7 / 25, abs=1e-15)
    table = Table.of([9, 16], A=["x", "y"])
    found = by_order(table, Table.of([16, 9], A=["x", "y"]))
    assert found.mean(1) == pytest.approx(0.2)
    assert found.score() == pytest.approx(0.8)
    assert found.score("total variation") == pytest.approx(1 - 0.28)


def test_distributions_that_share_no_cell_are_at_distance_one():
    table = Table.of([4, 0], A=["x", "y"])
    found = by_order(table, Table.of([0, 9], A=["x", "y"]))
    assert (found.hellinger, found.total_variation) == ([1.0], [1.0])


@pytest.mark.parametrize("seed", range(8))
def test_every_margin_agrees_with_pandas(seed):
    rng = np.random.default_rng(seed)
    one, two = random_table(rng), random_table(rng, people=90)
    found = by_order(one, two)
    frames = [t.to_frame().astype(dict.fromkeys(t.names, str)) for t in (one, two)]
    expected = [brute(*frames, m) for order in (1, 2, 3) for m in combinations("ABC", order)]
    assert found.margins == tuple(m for o in (1, 2, 3) for m in combinations("ABC", o))
    np.testing.assert_allclose(found.hellinger, [h for h, _ in expected], atol=1e-7)
    np.testing.assert_allclose(found.total_variation, [t for _, t in expected], atol=1e-12)
    rows = found.to_frame()
    assert list(rows["margins"]) == [3, 3, 1]
    assert rows["hellinger"][1] == pytest.approx(np.mean([h for h, _ in expected[3:6]]), abs=1e-7)
    assert rows["worst hellinger"][0] == pytest.approx(max(h for h, _ in expected[:3]), abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_laws_of_a_metric(seed):
    rng = np.random.default_rng(seed)
    a, b, c = (random_table(rng) for _ in range(3))
    ab, ba, bc, ac = by_order(a, b), by_order(b, a), by_order(b, c), by_order(a, c)
    for measure in ("hellinger", "total variation"):
        assert by_order(a, a).of(measure).max() == 0
        np.testing.assert_allclose(ab.of(measure), ba.of(measure), atol=1e-14)
        assert (ac.of(measure) <= ab.of(measure) + bc.of(measure) + 1e-12).all()
        # adding up never moves tables further apart
        whole = ab.of(measure)[-1]
        assert (ab.of(measure) <= whole + 1e-12).all()
    assert (ab.hellinger**2 <= ab.total_variation + 1e-12).all()
    assert (ab.total_variation <= np.sqrt(2) * ab.hellinger + 1e-12).all()


def test_scale_order_of_axes_and_of_categories_do_not_matter():
    rng = np.random.default_rng(3)
    one, two = random_table(rng), random_table(rng)
    plain = by_order(one, two)
    turned = Table.of(two.dense()[:, ::-1] * 7, A=range(2), B=[2, 1, 0], C=range(4))
    again = by_order(one, turned.reorder(["C", "A", "B"]))
    np.testing.assert_allclose(plain.hellinger, again.hellinger, atol=1e-14)


def test_an_array_of_estimates_is_a_table_that_has_these_counts():
    rng = np.random.default_rng(4)
    one, two = random_table(rng), random_table(rng)
    as_array = by_order(one, two.dense() / 3)
    np.testing.assert_allclose(as_array.hellinger, by_order(one, two).hellinger, atol=1e-14)


def test_large_margins_are_compared_without_an_array(monkeypatch):
    rng = np.random.default_rng(5)
    one, two = random_table(rng), random_table(rng)
    expected = by_order(one, two)
    monkeypatch.setattr(counted, "MOST_DENSE", 5)
    np.testing.assert_allclose(by_order(one, two).hellinger, expected.hellinger, atol=1e-14)
    np.testing.assert_allclose(
        by_order(one, two).total_variation, expected.total_variation, atol=1e-14
    )


def test_a_sample_of_margins_is_called_so():
    czech = load("example:czech")
    whole, part = by_order(czech, czech), by_order(czech, czech, most=10)
    assert not whole.sampled
    assert part.sampled
    assert "a sample" in repr(part)
    assert [sum(len(m) == k for m in part.margins) for k in (1, 2, 3)] == [6, 10, 10]
    assert part.to_frame()["possible"].tolist() == [6, 15, 20]
    assert by_order(czech, czech, most=10).margins == part.margins


def test_all_pairs_and_triples_of_sixteen_variables():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 2, (3000, 16))
    variables = [Variable(f"v{k}", ("0", "1")) for k in range(16)]
    table = Table.from_cells(variables, codes.astype(np.uint8), np.ones(3000, np.int64))
    found = by_order(table, np.ones(table.shape))
    assert len(found.margins) == 16 + 120 + 560
    assert 0 < found.mean(1) < found.mean(2) < found.mean(3) < 0.1


def test_what_cannot_be_compared_is_refused():
    table = Table.of([[4, 1], [2, 3]], A=range(2), B=range(2))
    with pytest.raises(DataError, match=r"shape \(2,\)"):
        by_order(table, [1, 2])
    with pytest.raises(DataError, match="a count is -1"):
        by_order(table, [[-1, 2], [3, 4]])
    with pytest.raises(DataError, match="no finite"):
        by_order(table, [[np.nan, 2], [3, 4]])
    with pytest.raises(DataError, match="over the same variables"):
        by_order(table, table.margin("A"))
    with pytest.raises(DataError, match="order 3 is asked for"):
        by_order(table, table, orders=[3])
    with pytest.raises(DataError, match="no measure 'chi'"):
        by_order(table, table).score("chi")
    with pytest.raises(DataError, match="counts nobody"):
        by_order(table, Table.of([[0, 0], [0, 0]], A=range(2), B=range(2)))


def test_it_draws_itself():
    czech = load("example:czech")
    found = by_order(czech, np.ones(czech.shape))
    worst = f"41 margins of up to 3 variables: at worst {found.hellinger.max():.3f}"
    assert found.plot(width=340).to_dict()["description"].startswith(worst)
    same = by_order(czech, czech, orders=[1]).plot().to_dict()
    assert same["description"] == "6 margins of up to 1 variable: all as they were"

"""Uncertainty about the numbers of categories, against brute force that shares no code.

A belief is cut into many equal slices of each range; estimates are tried one by one.
"""

import numpy as np
import pytest

import discreet as dc
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.risk.uncertainty import (
    Absolute,
    Largest,
    Lengths,
    Loss,
    LossAtValues,
    OnValues,
    OverUnder,
    RelativeError,
    Variance,
    on_values,
)
from discreet.risk.uncertainty.named import uncertainty_named

SLICES = 1500
NUMERIC = {
    "variance": lambda e, x: (e - x) ** 2,
    "relative": lambda e, x: (e / x - 1) ** 2,
    "absolute": lambda e, x: np.abs(e - x),
    "over-under:1:3": lambda e, x: np.where(e > x, e - x, 3 * (x - e)),
}


def case(rng, *, points=False):
    """Ranges that touch or do not, and a belief over them."""
    k = int(rng.integers(2, 5))
    edges = np.sort(rng.uniform(1, 30, k + 1)).round(2)
    names = tuple(f"c{i}" for i in range(k))
    ends = {name: (float(edges[i]), float(edges[i + 1])) for i, name in enumerate(names)}
    if points:
        ends[names[0]] = (float(edges[0]), float(edges[0]))
    return names, ends, rng.dirichlet(np.ones(k))


def slices(ends, p, within):
    """Values and masses: midpoints, or equal slices weighted by the density."""
    values, mass = [], []
    for (low, high), share in zip(ends.values(), p, strict=True):
        if within == "midpoint" or low == high:
            values.append([(low + high) / 2])
            mass.append([share])
            continue
        x = low + (high - low) * (np.arange(SLICES) + 0.5) / SLICES
        power = -1.0 if within == "uniform" else float(within.split(":")[1])
        w = x ** (-power - 1)
        values.append(x)
        mass.append(share * w / w.sum())
    return np.concatenate(values), np.concatenate(mass)


def least(loss, values, mass):
    """Over a grid of estimates, then a finer one around the best."""
    low, high = values.min(), values.max()
    for _ in range(4):
        acts = np.linspace(low, high, 41)
        risks = [float(mass @ loss(e, values)) for e in acts]
        best = int(np.argmin(risks))
        low, high = acts[max(0, best - 1)], acts[min(40, best + 1)]
    return min(risks)


def variable(names):
    return dc.codebooks.Variable("x", names)


@pytest.mark.parametrize("within", ["midpoint", "uniform", "pareto:1.3"])
@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("seed", range(3))
def test_each_is_the_least_expected_loss(seed, name, within):
    names, ends, p = case(np.random.default_rng(seed), points=seed == 1)
    asked = on_values(uncertainty_named(name), variable(names), ends, within=within)
    expected = least(NUMERIC[name], *slices(ends, p, within))
    assert asked(Belief.discrete(names, p)) == pytest.approx(expected, rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("within", ["midpoint", "uniform", "pareto:2.5"])
def test_a_written_function_is_the_same_as_what_it_spells(within):
    names, ends, p = case(np.random.default_rng(7))
    belief = Belief.discrete(names, p)
    spelt = on_values(Loss(lambda e, x: (e - x) ** 2), variable(names), ends, within=within)
    named = on_values(Variance(), variable(names), ends, within=within)
    if within == "midpoint":  # the guesses are the values themselves
        values, mass = slices(ends, p, within)
        risks = [mass @ (e - values) ** 2 for e in values]
        assert spelt(belief) == pytest.approx(min(risks))
    else:
        assert spelt(belief) == pytest.approx(named(belief), rel=1e-5)


@pytest.mark.parametrize("within", ["midpoint", "uniform", "pareto:0.8"])
@pytest.mark.parametrize("seed", range(3))
def test_a_loss_written_at_values_is_linear_between_them(seed, within):
    rng = np.random.default_rng(seed)
    names, ends, p = case(rng)
    at, matrix = [8.0, 2.0, 25.0], rng.uniform(0, 10, (3, 3))
    asked = on_values(LossAtValues(matrix, at=at), variable(names), ends, within=within)
    values, mass = slices(ends, p, within)
    order = np.argsort(at)
    risks = [mass @ np.interp(values, np.sort(at), row[order]) for row in matrix]
    found = asked.best(Belief.discrete(names, p))
    assert found.uncertainty == pytest.approx(min(risks), rel=1e-4)
    assert found.estimate == int(np.argmin(risks))


def test_a_file_of_losses_on_values_and_one_on_categories(tmp_path):
    path = tmp_path / "loss.csv"
    path.write_text("act,10,40\nlow,0,30\nhigh,10,0\n")
    estates = dc.load("example:estates")
    found = dc.knowledge(
        estates, target="Estate", uncertainty=f"loss:{path}", limit=1, top=50, within="uniform"
    )
    p = estates.margin("Estate").counts / estates.total
    x, w = slices({"a": (10, 20), "b": (20, 30), "c": (30, 50)}, p, "uniform")
    low, high = w @ np.interp(x, [10, 40], [0, 30]), w @ np.interp(x, [10, 40], [10, 0])
    assert found.rows[0].after == pytest.approx(min(low, high), rel=1e-5)
    path.write_text("act,10-19,20-29,30+\nlow,0,1,3\nhigh,1,0,0\n")
    found = dc.knowledge(estates, target="Estate", uncertainty=f"loss:{path}", limit=0.1)
    assert found.rows[0].after == pytest.approx(min(p @ [0, 1, 3], p @ [1, 0, 0]))
    assert not isinstance(found.rule.uncertainty, OnValues)


def test_lengths_are_those_of_the_possible_values():
    estate = dc.load("example:estates").variable("Estate")
    belief = Belief.discrete(estate.categories, [0.5, 0.5, 0])
    assert on_values(Lengths(), estate)(belief) == 10
    assert on_values(Lengths(), estate, within="uniform")(belief) == 20


@pytest.mark.parametrize("seed", range(20))
def test_concave_in_the_shares_and_never_below_the_midpoints(seed):
    rng = np.random.default_rng(seed)
    names, ends, p = case(rng)
    q = rng.dirichlet(np.ones(len(names)))
    for inner in (Variance(), Absolute(), RelativeError(), OverUnder(2, 1)):
        for within in ("midpoint", "uniform", "pareto:1.1"):
            u = on_values(inner, variable(names), ends, within=within)
            mixed = u(Belief.discrete(names, (p + q) / 2))
            assert mixed >= (u(Belief.discrete(names, p)) + u(Belief.discrete(names, q))) / 2 - 1e-9
    for inner in (Variance(), Absolute(), OverUnder(2, 1)):
        low, high = (
            on_values(inner, variable(names), ends, within=w) for w in ("midpoint", "uniform")
        )
        assert low(Belief.discrete(names, p)) <= high(Belief.discrete(names, p)) + 1e-9


def test_a_relative_error_at_midpoints_can_be_too_high_and_the_note_says_so():
    ends = {"a": (1, 1), "b": (1, 199)}
    asked = on_values(RelativeError(), variable(("a", "b")), ends)
    spread = on_values(RelativeError(), variable(("a", "b")), ends, within="uniform")
    even = Belief.discrete(["a", "b"], [0.5, 0.5])
    assert asked(even) > spread(even)
    assert "too low, or too high" in asked.notes[1]
    assert "whole mixture" in spread.notes[1]


@pytest.mark.parametrize("name", ["variance", "absolute", "lengths", "over-under"])
def test_what_is_infinite_in_a_tail_is_refused_and_not_passed(name):
    estates = dc.load("example:estates")
    with pytest.raises(DataError, match="infinite where a range has a Pareto tail"):
        dc.knowledge(estates, target="Estate", uncertainty=name, limit=1, within="pareto:0.9")


def test_a_written_loss_that_is_infinite_in_a_tail_is_refused():
    estates, square = dc.load("example:estates"), Loss(lambda e, x: (e - x) ** 2)
    with pytest.raises(DataError, match="infinite, or nearly"):
        dc.knowledge(estates, target="Estate", uncertainty=square, limit=1, within="pareto:1.9")


def test_a_tail_of_finite_variance_is_followed_to_its_end():
    estate = dc.load("example:estates").variable("Estate")
    belief = Belief.discrete(estate.categories, [0.5, 0.25, 0.25])
    exact = on_values(Variance(), estate, within="pareto:2.5")(belief)
    square = on_values(Loss(lambda e, x: (e - x) ** 2), estate, within="pareto:2.5")
    alpha, start = 2.5, 30.0
    tail = (alpha / (alpha - 1) * start, alpha / (alpha - 2) * start**2)
    inner = []
    for low in (10.0, 20.0):
        x = np.linspace(low, low + 10, 200_001)
        w = x ** (-alpha - 1)
        inner.append((np.average(x, weights=w), np.average(x**2, weights=w)))
    first, second = np.average([*inner, tail], axis=0, weights=[0.5, 0.25, 0.25])
    assert exact == pytest.approx(second - first**2, rel=1e-4)
    assert square(belief) == pytest.approx(exact, rel=1e-3)


def test_what_is_about_categories_takes_no_values():
    estate = dc.load("example:estates").variable("Estate")
    assert on_values(Largest(), estate) == Largest()
    with pytest.raises(DataError, match="about categories, not about their values"):
        on_values(Largest(), estate, top=90)
    with pytest.raises(DataError, match=r"'North.*' of 'Region' is a label and no number"):
        on_values(Variance(), dc.load("example:estates").variable("Region"))


def test_a_policy_limits_the_variance_of_what_the_codebook_says(tmp_path):
    (tmp_path / "e.csv").write_text("Region,Pay,n\nN,low,8\nN,high,1\nS,low,5\nS,high,5\n")
    (tmp_path / "e.toml").write_text("[variables.Pay]\nvalues = { low = [0, 10], high = 30 }\n")
    table = dc.load(tmp_path / "e.csv", count="n", codebook=tmp_path / "e.toml")
    change = {"knowledge.target": "Pay", "knowledge.group": "Region", "published.least": 0}
    change |= {"knowledge.uncertainty": "variance", "attribute.check": False, "small.width": 0}
    for limit, verdict in [(61, "PASS"), (62, "FAIL")]:  # N: 8 x 1 / 81 x 25^2
        policy = dc.Policy.of(change | {"knowledge.limit": limit})
        reasons = dc.decide(table, "Region*Pay", policy).reasons
        assert [r.verdict.name for r in reasons if r.rule == "knowledge"] == [verdict]


@pytest.mark.parametrize("within", ["uniform", "pareto:1.3"])
def test_a_written_loss_with_a_cusp_at_the_estimate(within):
    names, ends, p = case(np.random.default_rng(3))
    asked = on_values(Loss(lambda e, x: np.abs(e - x) ** 0.5), variable(names), ends, within=within)
    expected = least(lambda e, x: np.abs(e - x) ** 0.5, *slices(ends, p, within))
    assert asked(Belief.discrete(names, p)) == pytest.approx(expected, rel=2e-4)

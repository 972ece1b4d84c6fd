"""Merged and left out categories, for a prior, for classes of priors, for every prior.

Duncan & Lambert 1986, section 6; what is found by corners and programs is held against priors
drawn from the class, and against all splits on a grid.
"""

import math

import numpy as np
import pytest

import discreet as dc
from discreet.errors import DataError
from discreet.risk.knowledge.withheld import EVERY, NONE, SOME

COUNTS = {"a": 5, "b": 3, "c": 8, "d": 4}
LOSS = dc.uncertainty.Loss([[0, 2, 1, 3], [1, 0, 4, 1], [2, 1, 0, 1], [1, 1, 1, 1]])
UNCERTAINTIES = [
    dc.uncertainty.Largest(),
    dc.uncertainty.Entropy(),
    dc.uncertainty.Weighted({"a": 1, "b": 2, "c": 3, "d": 1}),
    dc.uncertainty.TwoSided(1, 1),
    dc.uncertainty.ByProbability(),
    LOSS,
]


def named(uncertainty):
    return type(uncertainty).__name__


def u(uncertainty, p):
    return uncertainty(dc.Belief.discrete(list(COUNTS), p))


def by_hand(hide, prior):
    """What is believed under one prior, by the function that enumeration has checked."""
    if hide.get("merge"):
        groups = {"x": COUNTS["a"] + COUNTS["b"], "y": COUNTS["c"] + COUNTS["d"]}
        return dc.uncertainty.merged(groups, {"x": ["a", "b"], "y": ["c", "d"]}, prior)
    rest = {name: n for name, n in COUNTS.items() if name not in hide["suppress"]}
    return dc.uncertainty.suppressed(rest, hide["suppress"], prior)


MERGE = {"merge": {"x": ["a", "b"], "y": ["c", "d"]}}
SUPPRESS = {"suppress": ["a", "b"]}


@pytest.mark.parametrize("uncertainty", UNCERTAINTIES, ids=named)
@pytest.mark.parametrize("hide", [MERGE, SUPPRESS], ids=["merged", "left out"])
def test_the_worst_of_a_class_of_dirichlet_priors_and_their_mixtures(uncertainty, hide):
    """None of 150 priors of the class, and none of their mixtures, leaves less; a corner does."""
    rng = np.random.default_rng(3)
    low = rng.uniform(0.1, 2, 4)
    high = low + rng.uniform(0, 3, 4)
    ends = dict(zip(COUNTS, zip(low, high, strict=True), strict=True))
    priors = dc.uncertainty.Priors.weights(ends)
    found = dc.uncertainty.withheld(COUNTS, limit=0, uncertainty=uncertainty, prior=priors, **hide)
    lowest = found.rows[0].lowest
    drawn = [
        dc.uncertainty.Dirichlet.of(dict(zip(COUNTS, w, strict=True)))
        for w in [
            *rng.uniform(low, high, (50, 4)),
            *np.where(rng.random((50, 4)) < 0.5, low, high),
        ]
    ]
    pairs = rng.integers(len(drawn), size=(50, 2))
    mixed = [
        dc.uncertainty.Mixture.of([drawn[i], drawn[j]], [0.3, 0.7]) for i, j in pairs if i != j
    ]
    seen = [uncertainty(by_hand(hide, prior)) for prior in (*drawn, *mixed)]
    assert min(seen) >= lowest - 1e-9
    corners = [
        dict(zip(COUNTS, w, strict=True))
        for w in np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(4, -1).T
    ]
    reached = [uncertainty(by_hand(hide, dc.uncertainty.Dirichlet.of(w))) for w in corners]
    assert min(reached) == pytest.approx(lowest, abs=1e-12)


@pytest.mark.parametrize("uncertainty", UNCERTAINTIES, ids=named)
@pytest.mark.parametrize("seed", range(2))
def test_the_worst_of_a_class_with_bounds_on_shares(uncertainty, seed):
    """Against shares that are drawn until they keep the bounds, and pushed to their ends."""
    rng = np.random.default_rng(seed)
    middle = rng.dirichlet(np.full(4, 3.0))
    ends = {
        name: (max(0.0, p - rng.uniform(0, 0.2)), min(1.0, p + rng.uniform(0, 0.2)))
        for name, p in zip(COUNTS, middle, strict=True)
    }
    priors = dc.uncertainty.Priors.shares(ends)
    low, high = np.array(list(ends.values())).T
    drawn = []
    for _ in range(120):
        p, target = middle.copy(), rng.uniform(-1, 1, 4)
        for _ in range(30):  # towards a corner, within the bounds and the sum
            i, j = rng.choice(4, 2, replace=False)
            move = min(high[i] - p[i], p[j] - low[j])
            p[i], p[j] = (p[i] + move, p[j] - move) if target[i] > target[j] else (p[i], p[j])
        share = rng.random()
        share = 1 - 1e-9 if share < 0.5 else share  # what is published is never ruled out
        p = share * p + (1 - share) * middle
        drawn.append(dc.uncertainty.Independent.of(dict(zip(COUNTS, p, strict=True))))
    for hide in ({"merge": {"x": ["a", "b"]}}, {"suppress": ["a", "b"]}):
        found = dc.uncertainty.withheld(
            COUNTS, limit=0, uncertainty=uncertainty, prior=priors, **hide
        )
        groups = {"x": 8, "c": 8, "d": 4}
        seen = [
            uncertainty(
                dc.uncertainty.merged(groups, {"x": ["a", "b"]}, prior)
                if "merge" in hide
                else by_hand(hide, prior)
            )
            for prior in drawn
        ]
        assert found.rows[0].lowest - 1e-9 <= min(seen) <= found.rows[0].lowest + 0.02


def grid(hide, steps=16):
    """Every belief that some prior leads to, on a grid."""
    n = np.array(list(COUNTS.values()), float)
    r = n / n.sum()
    thirds = [
        np.array([i, j, steps - i - j]) / steps
        for i in range(steps + 1)
        for j in range(steps + 1 - i)
    ]
    for split in thirds:
        if "merge" in hide:
            yield split, np.append(split * r[:3].sum(), r[3])
        else:
            rest = n[2:] / n[2:].sum()
            yield split, np.array([*split[:2], *(split[2] * rest)])


@pytest.mark.parametrize("uncertainty", UNCERTAINTIES, ids=named)
@pytest.mark.parametrize(
    "hide",
    [{"merge": {"x": ["a", "b", "c"]}}, {"suppress": ["a", "b"]}],
    ids=["three merged", "two left out"],
)
@pytest.mark.parametrize("where", [0.1, 0.5, 0.9, 1.1])
def test_for_every_prior_for_some_or_for_none(uncertainty, hide, where):
    """Three categories on a grid: who is within the limit, and the shares of those who are."""
    seen = [(split, u(uncertainty, p)) for split, p in grid(hide)]
    least, most = min(x for _, x in seen), max(x for _, x in seen)
    limit = least + where * (most - least) if where != 0.1 else max(0.0, least * 0.99)
    found = dc.uncertainty.withheld(COUNTS, limit=limit, uncertainty=uncertainty, **hide).rows[0]
    assert found.lowest == pytest.approx(least, abs=1e-9)  # at a corner, and corners are listed
    expected = {0.1: EVERY, 0.5: SOME, 0.9: SOME}.get(where, found.holds)
    assert found.holds == expected
    if found.holds != SOME:
        assert where in (0.1, 1.1)
        return
    assert u(uncertainty, found.best.mass) >= limit - 1e-9
    for place, name in enumerate(["a", "b", "c"][: len(found.shares)]):
        inside = [split[place] for split, x in seen if x >= limit]
        low, high = found.shares[name]
        assert low <= min(inside, default=1) + 1e-7
        assert high >= max(inside, default=0) - 1e-7
        if inside and where == 0.5:
            assert low >= min(inside) - 2.5 / 16
            assert high <= max(inside) + 2.5 / 16


@pytest.mark.parametrize("uncertainty", UNCERTAINTIES, ids=named)
def test_no_prior_is_enough_beyond_the_most_that_any_leaves(uncertainty):
    for hide in ({"merge": {"x": ["a", "b", "c"]}}, {"suppress": ["a", "b"]}):
        most = max(u(uncertainty, p) for _, p in grid(hide, 24))
        limit = most * 1.05 + 0.001
        found = dc.uncertainty.withheld(COUNTS, limit=limit, uncertainty=uncertainty, **hide)
        assert found.rows[0].holds == NONE
        assert "for no prior" in found.rows[0].words


def test_the_ends_for_an_entropy_are_those_of_the_limit():
    rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.Entropy(), 1.2)
    low, high = dc.uncertainty.splits(rule, COUNTS, ("a", "b"))

    def left(s):
        return u(rule.uncertainty, [0.4 * s, 0.4 * (1 - s), 0.4, 0.2])

    assert low == pytest.approx(1 - high, abs=1e-7)
    for end, beyond in ((low, -1e-6), (high, 1e-6)):
        assert left(end) >= 1.2 - 1e-11
        assert left(end + beyond) < 1.2
    ends = dc.uncertainty.suppressed_shares(rule, COUNTS, "a")
    x = ends[1]
    rest = (1 - x) / 15
    assert u(rule.uncertainty, [x, 3 * rest, 8 * rest, 4 * rest]) == pytest.approx(1.2, abs=1e-8)
    hard = dc.uncertainty.KnowledgeRule(dc.uncertainty.Entropy(), 1.38)
    assert dc.uncertainty.splits(hard, COUNTS, ("a", "b")) is None


def test_a_published_share_may_be_too_much_for_every_prior():
    """Merging others does not help; nor does a class of priors."""
    found = dc.uncertainty.withheld({"a": 1, "b": 2, "c": 7}, merge={"x": ["a", "b"]}, limit=0.4)
    assert found.rows[0].holds == NONE
    assert found.rows[0].words == "for no prior: c is published with 70%"
    assert not found.within


def test_nobody_elsewhere_tells_that_all_are_where_nothing_is_shown():
    found = dc.uncertainty.withheld({"a": 4, "b": 0, "c": 0}, suppress="a", limit=0.1)
    assert found.rows[0].lowest == 0
    both = dc.uncertainty.withheld({"a": 4, "b": 3, "c": 0}, suppress=["a", "b"], limit=0.1)
    assert both.rows[0].words == "for priors whose share of a, among a and b, is 10% to 90%"


def test_several_merges_within_bounds_on_shares_are_an_outer_bound():
    """No prior of the class leaves less; the first line says that some splits may not be its."""
    ends = {"a": (0.1, 0.4), "c": (0.3, 0.5)}
    priors = dc.uncertainty.Priors.shares(ends)
    found = dc.uncertainty.withheld(COUNTS, limit=0.5, prior=priors, **MERGE)
    assert "an outer bound" in repr(found)
    rng = np.random.default_rng(5)
    kept = [p for p in rng.dirichlet(np.ones(4), 2000) if 0.1 <= p[0] <= 0.4 and 0.3 <= p[2] <= 0.5]
    assert len(kept) > 100
    for p in kept:
        prior = dc.uncertainty.Independent.of(dict(zip(COUNTS, p, strict=True)))
        assert u(dc.uncertainty.Largest(), by_hand(MERGE, prior).mass) >= found.rows[0].lowest


def test_one_prior_and_the_gain():
    prior = dc.uncertainty.Independent.of({"a": 0.1, "b": 0.3, "c": 0.3, "d": 0.3})
    found = dc.uncertainty.withheld(
        COUNTS, merge={"x": ["a", "b"]}, limit=0.2, measure="gain", prior=prior
    )
    row = found.rows[0]
    assert row.before == pytest.approx(0.7)
    assert row.worst.mass.tolist() == pytest.approx([0.1, 0.3, 0.4, 0.2])
    assert found.within
    assert repr(found) == "Withheld(a and b merged: within the limit for this prior)"


def test_tables_by_group_frames_documents_and_charts():
    estates = dc.load("example:estates")
    asked = {"target": "Estate", "group": "Region", "merge": {"20+": ["20-29", "30+"]}}
    found = dc.uncertainty.withheld(estates, limit=0.25, **asked)
    assert found.rows[0].label == "North Central"
    assert found.to_frame()["within"].tolist() == [row.within for row in found.rows]
    document = found.to_json()
    assert document["verdict"] == "FAIL"
    assert document["targets"][0]["holds_for"] == "no prior"
    assert "Prior share" in str(found.plot().to_dict())
    three = {"merge": {"all": list(estates.variable("Estate").categories)}}
    assert dc.uncertainty.withheld(estates, limit=0.25, target="Estate", **three).plot()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "either which"),
        ({"merge": {"x": ["a", "b"]}, "suppress": "c"}, "either which"),
        ({"merge": {"x": ["a", "z"]}}, "no category 'z'"),
        ({"merge": {"x": ["a", "b"], "y": ["b", "c"]}}, "'b' is merged twice"),
        ({"merge": {"x": ["a", "b"]}, "total_known": True}, "goes with suppressed"),
        ({"merge": {"x": ["a", "b"]}, "measure": "gain"}, "give one prior"),
        (
            {"merge": {"x": ["a", "b"]}, "prior": dc.uncertainty.Priors.weights({"a": (1, 2)})},
            "'b' has no bounds",
        ),
        (
            {"merge": {"x": ["a", "b"]}, "prior": dc.uncertainty.Priors.shares({"z": (0, 1)})},
            "'z', which is no category",
        ),
        (
            {
                "suppress": "a",
                "prior": dc.uncertainty.Priors.shares(dict.fromkeys(COUNTS, (0.0, 0.2))),
            },
            "cannot sum to 1",
        ),
        (
            {
                "suppress": "a",
                "prior": dc.uncertainty.Priors.weights(dict.fromkeys(COUNTS, (0.0, 0.0))),
            },
            "every weight of the class is 0",
        ),
    ],
)
def test_bad_questions(asked, message):
    with pytest.raises(DataError, match=message):
        dc.uncertainty.withheld(COUNTS, limit=0.1, **asked)


def test_beyond_the_limit_is_said_so():
    prior = dc.uncertainty.Independent.of({"a": 0.8, "b": 0.1, "c": 0.1})
    asked = {"suppress": "a", "limit": 0.3, "prior": prior}
    found = dc.uncertainty.withheld({"a": 5, "b": 4, "c": 1}, **asked)
    assert repr(found) == "Withheld(a left out: beyond the limit for this prior)"


@pytest.mark.parametrize("text", ["", "a", "a=x", "=0.1", "weights:a=1:y", "a=0.5:0.2", "a=0:2"])
def test_bad_classes(text):
    with pytest.raises(DataError):
        dc.uncertainty.Priors.parse(text)


def test_the_entropy_of_a_pair_is_most_at_the_middle():
    found = dc.uncertainty.withheld(
        COUNTS, merge={"x": ["a", "b"]}, uncertainty="entropy", limit=1.1
    )
    row = found.rows[0]
    assert row.holds == SOME
    assert row.highest == pytest.approx(
        -sum(p * math.log(p) for p in (0.2, 0.2, 0.4, 0.2)), abs=1e-6
    )

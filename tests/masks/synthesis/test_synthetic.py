"""Synthetic tables keep what they promise, and what an intruder believes of them is right."""

import itertools
import math

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.masks.synthesis.attribute import attribute_risk
from discreet.masks.synthesis.counts import count_belief
from discreet.masks.synthesis.graphical import graphical
from discreet.masks.synthesis.reproduced import reproduced
from discreet.masks.synthesis.synthesise import synthesise
from discreet.models.decomposed import LogLinearCells
from discreet.models.latent import LatentClasses
from discreet.risk.release.believed_counts import BeliefRisk
from discreet.table.load import load
from discreet.table.table import Table

CZECH = load("example:czech")
FORMULA = "A*C*E + A*D*E + B*C + F"


def made(table=CZECH, formula=FORMULA, seed=1, **more):
    model = LogLinearCells.fit(table, formula)
    return synthesise(table, model, rng=np.random.default_rng(seed), **more)


def random_table(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(2, (2, 3, 2))
    counts[0, 0, 0] += 1
    return Table.of(counts, A="xy", B="xyz", C="xy")


@pytest.mark.parametrize("formula", [FORMULA, "A*B + B*C + A*C + D + E + F"])
def test_totals_are_kept_and_seeds_repeat(formula):
    one, two = made(formula=formula, copies=3), made(formula=formula, copies=3)
    assert [t.total for t in one.tables] == [CZECH.total] * 3
    assert list(one.tables) == list(two.tables)
    assert one.tables[0] != one.tables[1]
    assert one.pooled.total == 3 * CZECH.total
    assert not one.partly


@pytest.mark.parametrize("seed", range(10))
def test_partly_synthetic_copies_keep_the_other_margin(seed):
    table = random_table(seed)
    replaced = [["A"], ["B", "C"], ["C", "A"]][seed % 3]
    found = made(table, "A*B + B*C", seed, variables=replaced, copies=3)
    kept = [name for name in "ABC" if name not in replaced]
    for copy in found.tables:
        assert copy.margin(kept) == table.margin(kept)
    assert found.partly
    assert set(found.replaced) == set(replaced)


def test_copies_follow_the_model():
    """The mean of many copies is the posterior mean."""
    table = random_table(3)
    model = LogLinearCells.fit(table, "A*B + B*C", weight=3)
    found = synthesise(table, model, copies=2_000, rng=np.random.default_rng(2))
    counts = np.stack([copy.dense().ravel() for copy in found.tables])
    exact = table.total * model.predictive(1, np.random.default_rng(0))
    error = counts.std(0) / math.sqrt(len(counts))
    assert (np.abs(counts.mean(0) - exact) <= 5 * error + 1e-9).all()
    part = synthesise(table, model, variables=["C"], copies=2_000, rng=np.random.default_rng(3))
    counts = np.stack([copy.dense() for copy in part.tables])
    bc = table.dense().sum(0) + 3 / 6
    exact = table.dense().sum(2)[:, :, None] * (bc / bc.sum(1, keepdims=True))[None]
    error = counts.std(0) / math.sqrt(len(counts))
    assert (np.abs(counts.mean(0) - exact) <= 5 * error + 1e-9).all()


def test_nobody_is_impossible():
    table = Table.of([[4, 0], [3, 9]], A="xy", B="xy").excluding([{"A": "x", "B": "y"}])
    for variables in (None, ["B"]):
        found = made(table, "A + B", variables=variables, copies=20)
        assert not any(copy.dense()[0, 1] for copy in found.tables)


def test_records_are_the_people_of_a_copy():
    found = made(copies=2)
    people = found.to_records(1, np.random.default_rng(0))
    assert len(people) == CZECH.total
    counted = people.groupby(list("ABCDEF"), observed=True).size()
    assert sorted(counted) == sorted(found.tables[1].counts)
    with pytest.raises(DataError, match="no copy 2"):
        found.to_records(2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"copies": 0}, "0 copies"),
        ({"variables": []}, "no variable"),
        ({"variables": ["Z"]}, "no variable 'Z'"),
    ],
)
def test_what_cannot_be_made_is_refused(more, message):
    with pytest.raises(DataError, match=message):
        made(**more)


def test_a_model_of_another_table_is_refused():
    model = LogLinearCells.fit(random_table(1), "A")
    with pytest.raises(DataError, match="fit it"):
        synthesise(CZECH, model, rng=np.random.default_rng(1))


# Attributes


def test_attribute_beliefs_by_brute_force():
    """P(s | x) from the pooled copies' closed form, cell by cell."""
    found = made(copies=4)
    cells = CZECH.small(5)
    risk = attribute_risk(CZECH, found, ["B", "A*F"], cells, act=0.8)
    pooled = found.pooled.dense()
    model = LogLinearCells.fit(found.pooled, FORMULA).predictive(1, np.random.default_rng(0))
    p = model.reshape(CZECH.shape)
    right = stated = 0
    top = 0.0
    for cell, n in zip(cells.codes, cells.counts, strict=True):
        a, b, c, d, e, f = map(int, cell)
        belief = p[a, :, c, d, e, f] / p[a, :, c, d, e, f].sum()
        top += n * belief.max()
        right += n * (belief.argmax() == b)
        stated += n * (belief.max() >= 0.8)
    people = cells.counts.sum()
    one = risk.of("copies", "B")
    assert one.perceived == pytest.approx(top / people)
    assert one.right == pytest.approx(right / people)
    assert one.stated == pytest.approx(stated / people)
    both = risk.of("copies", "A*F").belief
    assert both.shape == (len(cells), 4)
    for one in risk.found:
        assert np.allclose(one.belief.sum(1), 1)
    # by the margin everybody is believed to have the most frequent value
    margin = CZECH.margin("B").dense() / CZECH.total
    assert risk.of("margin", "B").perceived == pytest.approx(margin.max())
    assert pooled.sum() == 4 * CZECH.total


def test_copies_of_a_saturated_model_give_attributes_away():
    """Nearly everybody in a table of two patterns: what the copies say is right."""
    table = Table.of([[50, 1], [1, 50]], A="xy", B="xy")
    found = made(table, "A*B", copies=5)
    risk = attribute_risk(table, found, "B", table.nonzero())
    assert risk.of("copies").right > 0.97
    assert risk.of("margin").right == pytest.approx(0.5)
    # of those in the small cells it is wrong, and sure
    few = attribute_risk(table, found, "B").of("copies")
    assert few.right == 0
    assert few.stated == 1
    assert few.right_stated == 0


def test_a_model_without_refit_needs_one():
    model = LatentClasses.fit(CZECH, 2, rng=np.random.default_rng(1))
    found = synthesise(CZECH, model, rng=np.random.default_rng(1))
    with pytest.raises(DataError, match="has no refit"):
        attribute_risk(CZECH, found, "B", CZECH.small(5))

    def fit(table):
        return LatentClasses.fit(table, 2, rng=np.random.default_rng(1))

    again = synthesise(CZECH, fit, rng=np.random.default_rng(1))
    assert attribute_risk(CZECH, again, "B", CZECH.small(5), draws=3).people == 49


# Who is reproduced


def test_reproduced_by_brute_force():
    found = made(copies=3)
    got = reproduced(CZECH, found, at_most=5)
    dense = CZECH.dense()
    few = [c for c in itertools.product(range(2), repeat=6) if 1 <= dense[c] <= 5]
    copies = [copy.dense() for copy in found.tables]
    assert got.cells == len(few)
    assert got.in_a_copy == pytest.approx(np.mean([[copy[c] > 0 for c in few] for copy in copies]))
    assert got.in_any == pytest.approx(np.mean([any(copy[c] for copy in copies) for c in few]))
    p = found.model.predictive(1, np.random.default_rng(0)).reshape(dense.shape)
    chance = [1 - (1 - p[c]) ** CZECH.total for c in few]
    assert got.expected == pytest.approx(np.mean(chance))
    with pytest.raises(DataError, match="no cell has"):
        reproduced(Table.of([3, 4], A="xy"), made(Table.of([3, 4], A="xy"), "A"))


def test_reproduced_where_variables_are_kept():
    """Everybody's A is kept: a cell of A*B shows again if somebody with this A gets this B."""
    table = Table.of([[1, 6], [4, 4]], A="xy", B="xy")
    found = made(table, "A*B", variables=["B"], copies=400)
    got = reproduced(table, found)
    p = (1 + 1 / 4) / (7 + 2 / 4)
    exact = 1 - (1 - p) ** 7
    assert got.expected == pytest.approx(exact)
    assert got.by_margins == pytest.approx(1 - (1 - 5 / 15) ** 7)
    # parameters are drawn, so that copies differ more than with the mean alone
    assert 0.1 < got.in_a_copy <= exact + 0.05


# Counts


@pytest.mark.parametrize("variables", [None, ["B"]])
def test_count_beliefs_by_simulation(variables):
    """Tables from the prior, copies of each: how often each true count has these counts."""
    weight, people, m = 3.0, 12, 2
    rng, seen = np.random.default_rng(11), {}
    each = weight / 4
    table = Table.of([[3, 2], [3, 4]], A="xy", B="xy")
    for _ in range(15_000):
        if variables is None:
            n = rng.multinomial(people, rng.dirichlet([each] * 4))
            copies = [rng.multinomial(people, rng.dirichlet(n + each))[0] for _ in range(m)]
        else:  # the first row has five people
            n = rng.multinomial(5, rng.dirichlet([each] * 2))
            copies = [rng.multinomial(5, rng.dirichlet(n + each))[0] for _ in range(m)]
        seen.setdefault(tuple(sorted(copies)), []).append(n[0])
    model = LogLinearCells.fit(table, "A*B", weight=weight)
    found = synthesise(table, model, variables=variables, copies=m, rng=np.random.default_rng(5))
    belief = count_belief(found, table.all().take([0]))
    assert belief.exact
    counts = tuple(sorted(int(copy.dense()[0, 0]) for copy in found.tables))
    truths = np.array(seen[counts])
    assert len(truths) > 300
    for n in range(6):
        p = belief.probability(n)[0]
        error = math.sqrt(max(p * (1 - p), 1e-4) / len(truths))
        assert abs((truths == n).mean() - p) < 4 * error


def test_count_beliefs_of_a_model():
    found = made(copies=5)
    cells = CZECH.small(5)
    belief = count_belief(found, cells)
    assert not belief.exact
    sums = np.add.reduceat(belief.mass, belief.starts[:-1])
    assert np.allclose(sums, 1)
    model = LogLinearCells.fit(found.pooled, FORMULA)
    p = model.predictive(1, np.random.default_rng(0)).reshape(CZECH.shape)
    expected = CZECH.total * p[tuple(cells.codes.T)]
    assert np.abs(belief.mean / expected - 1).max() < 0.1
    assert BeliefRisk(CZECH, cells, belief).identified() <= 1


def test_count_beliefs_about_cells_that_hardly_occur():
    """Posterior draws near 0 and near 1: probabilities stay probabilities."""
    table = Table.of([[900, 0, 0], [0, 0, 0], [0, 0, 1]], A="xyz", B="xyz")
    found = synthesise(
        table, LogLinearCells.fit(table, "A + B", weight=1e-3), rng=np.random.default_rng(1)
    )
    belief = count_belief(found, table.all())
    assert np.allclose(np.add.reduceat(belief.mass, belief.starts[:-1]), 1)
    assert belief.probability(0)[4] > 0.99
    assert abs(belief.mean[0] - 900) < 5


def test_more_copies_of_a_saturated_model_say_more():
    table = load("example:tract")
    cells = table.small()

    def mean(copies):
        truth = [
            count_belief(made(table, "Gender*Race*Income", seed, copies=copies), cells).probability(
                cells.counts
            )
            for seed in range(20)
        ]
        return float(np.mean(truth))

    assert mean(1) < mean(20)
    assert mean(20) > 0.5


def test_one_possible_cell_is_known():
    table = Table.of([[3], [4]], A="xy", B="x")
    belief = count_belief(made(table, "A*B", variables=["B"]), table.all())
    assert belief.probability([3, 4]).tolist() == [1, 1]


def test_the_chosen_model_synthesises():
    found = synthesise(CZECH, graphical, copies=2, rng=np.random.default_rng(1))
    assert "log-linear model" in found.method
    assert found.to_json()["copies"] == 2
    assert list(found.to_frame().columns) == [*"ABCDEF", "copy 1", "copy 2"]

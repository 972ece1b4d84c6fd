"""What a refusal tells, against direct filtering of every table that fits."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clocks import set_clock
from discreet.errors import DataError, InconsistentRelease, Stopped
from discreet.intruder.posterior.exact.decomposable import draw_tables
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.refusals import refusal_posterior
from discreet.release.release import Release
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables

ONES = Table.of([[1, 1], [1, 1]], A=[0, 1], B=[0, 1])


def unique(table, request):
    """No sub-table is published that makes a cell unique."""
    return any(1 in table.margin(names).counts for names in request.margins)


def test_two_by_two_collapses_to_one_table():
    """Meek's discussion of Dobra, Fienberg & Trottini 2003: margins (2, 2) and (2, 2)."""
    found = refusal_posterior(Release.margins(ONES, "A + B"), "A*B", unique)
    assert found.tables == (3, 1)
    assert found.after.matrix() == pytest.approx(np.tile([0, 1, 0], (4, 1)))
    assert found.after.probability_of(ONES) == 1
    assert found.entropy_after == (0, 0)
    # saturated, prior 1/2: weights 9/64, 1/16, 9/64
    assert found.probability == pytest.approx(2 / 11)
    assert found.told == pytest.approx(np.log(11 / 2))


RULES = {
    "unique": unique,
    "largest": lambda table, request: int(table.counts.max()) == 2,
    "corner": lambda table, request: table.lookup(np.zeros((1, len(table.names)), np.uint8))[0] < 1,
}


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40)
@given(data=st.data())
def test_restricted_beliefs_by_brute_force(rule, data):
    array = data.draw(small_tables(most_people=6, most_cells=12))
    margins = data.draw(releases(array.ndim))
    weights = data.draw(st.sampled_from([CellWeights.uniform(), CellWeights.dirichlet(0.3)]))
    release = Release.margins(named(array), letters(margins))
    request = release.formula.of([release.names], release.names)
    tables = fibre(array, margins)
    assume(len(tables) <= 2_000)
    flat = tables.reshape(len(tables), -1)
    logs = weights.log(np.ones((flat.size, 1)) * weights.parameters, flat.ravel())
    p = np.exp(logs.reshape(flat.shape).sum(1))
    p /= p.sum()
    kept = np.array([RULES[rule](named(table), request) for table in tables])
    if not kept.any():
        with pytest.raises(InconsistentRelease, match="would have led to the refusal"):
            refusal_posterior(release, request, RULES[rule], weights=weights)
        return
    found = refusal_posterior(release, request, RULES[rule], weights=weights)
    q, most = p * kept / p[kept].sum(), int(tables.max())
    wanted = np.stack([q @ (flat == n) for n in range(most + 1)], axis=1)
    assert found.after.matrix(most) == pytest.approx(wanted, abs=1e-9)
    assert found.tables == (len(tables), kept.sum())
    assert found.probability == pytest.approx(p[kept].sum())
    entropy = -np.sum(q[q > 0] * np.log(q[q > 0]))
    assert found.entropy_after[0] == pytest.approx(entropy, abs=1e-9)
    assert found.after.entropy == pytest.approx(entropy, abs=1e-9)
    before = exact_posterior(release, weights=weights)
    assert found.before.matrix(most) == pytest.approx(before.matrix(most), abs=1e-9)
    assert found.entropy_before[0] == pytest.approx(before.entropy, abs=1e-9)
    at = flat.tolist().index(array.ravel().tolist())
    assert found.after.probability_of(named(array)) == pytest.approx(q[at], abs=1e-9)


def rare(table, request):
    """The table has two empty cells or more."""
    return len(table.counts) <= 7


def within(found, exact):
    """Every probability within four standard errors, and the entropies too."""
    for mine, right in ((found.before, exact.before), (found.after, exact.after)):
        for count in range(4):
            apart = np.abs(mine.probability(count) - right.probability(count))
            assert (apart <= 4 * mine.standard_error(count) + 1e-12).all()
    assert found.probability == pytest.approx(exact.probability, abs=4 * found.standard_error)


@pytest.mark.parametrize(
    "weights", [CellWeights.multinomial(), CellWeights.dirichlet(3.0)], ids=lambda w: w.name
)
def test_weighted_draws_agree_with_enumeration(weights):
    table = Table.of([[3, 1, 0], [2, 4, 1], [1, 0, 5]], A=range(3), B=range(3))
    release = Release.margins(table, "A + B")
    exact = refusal_posterior(release, "A*B", rare, weights=weights)
    found = refusal_posterior(release, "A*B", rare, weights=weights, limit=10, seed=4)
    assert exact.exact
    assert not found.exact
    assert found.tables is None
    assert 500 < found.after.effective < 10_000
    assert 0.05 < exact.probability < 0.95
    within(found, exact)
    for mine, right in (
        (found.entropy_before, exact.entropy_before),
        (found.entropy_after, exact.entropy_after),
    ):
        assert mine[0] == pytest.approx(right[0], abs=4 * mine[1] + 1e-9)
        assert mine[1] < 0.05


def test_weights_by_a_function_of_the_cell_count_zeros_too():
    table = Table.of([[2, 1], [1, 2]], A=range(2), B=range(2))
    release = Release.margins(table, "A + B")
    weights = CellWeights.of(lambda codes, n: np.where(n == 0, -1.0, -0.1 * n), "odd")
    exact = refusal_posterior(release, "A*B", unique, weights=weights)
    found = refusal_posterior(release, "A*B", unique, weights=weights, limit=1)
    assert exact.exact
    assert not found.exact
    within(found, exact)


def test_a_given_sample():
    table = Table.of([[3, 1, 0], [2, 4, 1], [1, 0, 5]], A=range(3), B=range(3))
    release = Release.margins(table, "A + B")
    exact = refusal_posterior(release, "A*B", rare, weights=CellWeights.multinomial())
    sample = list(draw_tables(release, draws=3_000, seed=1))
    found = refusal_posterior(release, "A*B", rare, sample=sample)
    within(found, exact)
    assert found.entropy_after is None
    half = refusal_posterior(release, "A*B", rare, sample=sample, sample_weights=[1.0, 0] * 1_500)
    assert half.before.effective == pytest.approx(1_500)


def test_several_refusals_add_up():
    """Each rules out tables; a request of several margins is one request."""
    cube = named(np.array([[[1, 2], [2, 0]], [[0, 1], [1, 2]]]))
    release = Release.margins(cube, "A + B + C")
    one, other = "A*B", "B*C"
    first = refusal_posterior(release, one, unique)
    second = refusal_posterior(release, other, unique)
    both = refusal_posterior(release, [one, other], unique)
    either = refusal_posterior(release, "A*B + B*C", unique)
    assert both.tables[1] < min(first.tables[1], second.tables[1])
    assert both.tables[1] + either.tables[1] == first.tables[1] + second.tables[1]


def test_a_rule_that_always_refuses_tells_nothing():
    release = Release.margins(ONES, "A + B")
    found = refusal_posterior(release, "A*B", lambda table, request: True)
    assert found.told == 0
    assert found.after.matrix() == pytest.approx(found.before.matrix())
    assert found.tables == (3, 3)


def test_how_it_is_shown():
    release = Release.margins(ONES, "A + B")
    found = refusal_posterior(release, "A*B", unique)
    assert repr(found) == (
        "RefusalPosterior(A*B refused: 1 of 3 tables left, entropy 0.00 of 1.04 nats; "
        "exact, 1 of 3 tables)"
    )
    assert found.to_frame()["after_p1"].tolist() == [1, 1, 1, 1]
    drawn = refusal_posterior(release, "A*B", unique, limit=1)
    assert "probability 0.1" in repr(drawn)
    assert "standard_error" in drawn.to_frame()
    assert found.plot() is not None


def test_what_is_wrong():
    release = Release.margins(ONES, "A + B")

    def never(table, request):
        return False

    with pytest.raises(InconsistentRelease, match=r"none of the 3 tables that fit A \+ B"):
        refusal_posterior(release, "A*B", never)
    with pytest.raises(DataError, match=r"none of 100 draws .* at most 0.03 with 95%"):
        refusal_posterior(release, "A*B", never, limit=1, draws=100)
    with pytest.raises(DataError, match="no request was refused"):
        refusal_posterior(release, [], never)
    with pytest.raises(DataError, match="draws is 1"):
        refusal_posterior(release, "A*B", never, limit=1, draws=1)
    with pytest.raises(DataError, match="does not fit"):
        refusal_posterior(release, "A*B", unique, sample=[named(np.array([[2, 1], [1, 0]]))])
    with pytest.raises(DataError, match="has no table"):
        refusal_posterior(release, "A*B", unique, sample=[])
    with pytest.raises(DataError, match="has its own weights"):
        refusal_posterior(release, "A*B", unique, sample=[ONES], weights=CellWeights.multinomial())
    with pytest.raises(DataError, match="without a sample"):
        refusal_posterior(release, "A*B", unique, sample_weights=[1])
    cube = named(np.ones((2, 2, 2), int))
    with pytest.raises(DataError, match="is not decomposable"):
        refusal_posterior(Release.margins(cube, "A*B + B*C + A*C"), "A*B*C", unique, limit=1)


def test_who_is_stopped_says_so(monkeypatch):
    """A look at the clock for each draw that the rule is asked about: some are left out."""
    release = Release.margins(named(np.full((3, 3), 4)), "A + B")
    asked = {"refuses": unique, "limit": 1, "draws": 100}
    whole = refusal_posterior(release, "A*B", **asked)
    set_clock(monkeypatch, 1.0)
    found = refusal_posterior(release, "A*B", seconds=50, **asked)
    assert whole.stopped is None
    assert "the rule was asked about" in found.stopped
    assert "of 100 draws. Allow more seconds." in found.stopped
    assert repr(found).endswith(", stopped)")
    assert found.standard_error > whole.standard_error
    assert not found.exact
    with pytest.raises(Stopped, match="before there was an answer"):
        refusal_posterior(Release.margins(ONES, "A + B"), "A*B", unique, seconds=1)

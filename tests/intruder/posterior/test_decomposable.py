"""Decomposable models: closed form and draws against sums over all tables; marginal likelihood."""

import dataclasses
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from discreet.errors import DataError
from discreet.intruder.posterior.average.hyper_dirichlet import log_marginal
from discreet.intruder.posterior.exact import decomposable
from discreet.intruder.posterior.exact.decomposable import decomposable_posterior, draw, draw_tables
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.load import load
from oracle import letters, named, releases, small_tables
from published.test_dobra_erosheva_fienberg_2002_frontiers import BETA_3


def decomposable_release(data, array):
    release = Release.margins(named(array), letters(data.draw(releases(array.ndim))))
    assume(release.formula.is_decomposable)
    assume(all(release.formula.contains([name]) for name in release.names))
    return release


@settings(max_examples=60)
@given(small_tables(most_people=12), st.data())
def test_the_closed_form_is_the_sum_over_all_tables(array, data):
    release = decomposable_release(data, array)
    closed = decomposable_posterior(release)
    summed = exact_posterior(release, weights=CellWeights.multinomial())
    assert closed.matrix(12) == pytest.approx(summed.matrix(12), abs=1e-9)
    assert closed.entropy == pytest.approx(summed.entropy, abs=1e-9)
    true = named(array)
    assert closed.probability_of(true) == pytest.approx(summed.probability_of(true), abs=1e-9)
    assert closed.exact


@settings(max_examples=15)
@given(small_tables(most_people=12), st.data())
def test_draws_are_within_four_standard_errors(array, data):
    release = decomposable_release(data, array)
    closed, drawn = (decomposable_posterior(release, draws=n, seed=7) for n in (None, 4_000))
    for count in range(13):
        p = closed.probability(count)
        error = np.sqrt(np.maximum(p * (1 - p), 1 / 4_000) / 4_000)
        assert (np.abs(drawn.probability(count) - p) <= 4.5 * error).all()
    assert not drawn.exact
    assert drawn.effective == 4_000


@settings(max_examples=10)
@given(small_tables(most_people=12), st.data())
def test_many_people_are_drawn_by_how_many_of_each_kind(array, data):
    release = decomposable_release(data, array)
    closed = decomposable_posterior(release)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decomposable, "MOST_MATCHED", 0)
        drawn = decomposable_posterior(release, draws=1_000, seed=7)
        table = next(draw_tables(release, seed=3))
    assert all(table.margin(t.names) == t for t in release.tables)
    for count in range(13):
        p = closed.probability(count)
        error = np.sqrt(np.maximum(p * (1 - p), 1 / 1_000) / 1_000)
        assert (np.abs(drawn.probability(count) - p) <= 4.5 * error).all()


@settings(max_examples=30)
@given(small_tables(most_people=12), st.data())
def test_every_draw_keeps_the_released_margins(array, data):
    release = decomposable_release(data, array)
    for table in draw_tables(release, draws=5, seed=3):
        assert all(table.margin(t.names) == t for t in release.tables)
    counts = draw(release, draws=5, seed=3)
    same = [table.dense().ravel() for table in draw_tables(release, draws=5, seed=3)]
    assert np.array_equal(counts, np.array(same))


def test_whole_tables_are_drawn_as_often_as_they_are_probable():
    array = np.array([[[2, 1], [0, 1]], [[1, 0], [2, 1]]])
    release = Release.margins(named(array), "A*B + B*C")
    n = 20_000
    tables, times = np.unique(draw(release, draws=n, seed=1), axis=0, return_counts=True)
    closed = decomposable_posterior(release)
    p = np.array([closed.probability_of(named(t.reshape(2, 2, 2).astype(int))) for t in tables])
    assert p.sum() == pytest.approx(1)
    assert (np.abs(times / n - p) < 4 * np.sqrt(p * (1 - p) / n) + 1e-12).all()


def test_the_same_seed_gives_the_same_tables():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    assert np.array_equal(draw(release, draws=9, seed=4), draw(release, draws=9, seed=4))
    assert not np.array_equal(draw(release, draws=9, seed=4), draw(release, draws=9, seed=5))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: Release.margins(t, "A*B + B*C + A*C"), "is not decomposable"),
        (lambda t: Release.margins(t, "A*B"), "no margin has C"),
        (
            lambda t: Release.margins(t, "A*B + C").insider({"A": 0, "C": 0}, 2),
            "is known besides the margins",
        ),
    ],
)
def test_what_has_no_closed_form(change, says):
    table = named(np.array([[[2, 1], [0, 1]], [[1, 0], [2, 1]]]))
    with pytest.raises(DataError, match=says):
        decomposable_posterior(change(table))


def test_no_draws_are_refused():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    with pytest.raises(DataError, match="draws is 0"):
        decomposable_posterior(release, draws=0)


def test_drawn_beliefs_have_errors():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    drawn = decomposable_posterior(release, draws=100, seed=1)
    p = drawn.probability(0)
    assert (drawn.standard_error(0) > 0).all()
    assert drawn[6].standard_error(0) == pytest.approx(drawn.standard_error(0)[6])
    assert drawn.standard_error(0)[6] == pytest.approx(math.sqrt(p[6] * (1 - p[6]) / 100))
    assert drawn.to_frame()["standard_error"].gt(0).all()
    told = drawn.to_json()["diagnostics"]
    assert (told["exact"], told["effective_draws"], told["tables"]) == (False, 100, None)
    assert 0.04 < told["largest_standard_error"] <= 0.05
    uneven = dataclasses.replace(drawn, effective=np.linspace(10, 100, len(drawn)))
    assert uneven.standard_error(0)[0] > drawn.standard_error(0)[0]
    assert uneven[0].effective == 10


@pytest.mark.nltcs
def test_every_small_cell_of_a_large_table(nltcs):
    """Closed form and 400 draws of the frontier for beta = 3; a draw keeps all margins."""
    release = Release.margins(nltcs, [[nltcs.names[p - 1] for p in m] for m in BETA_3])
    small = nltcs.small()
    closed = decomposable_posterior(release, small)
    drawn = decomposable_posterior(release, small, draws=400, seed=1)
    p = closed.matrix(2)
    error = np.sqrt(p * (1 - p) / 400)
    off = (np.abs(drawn.matrix(2) - p) / np.maximum(error, 1e-3))[p * (1 - p) > 0.02]
    assert np.mean(off**2) == pytest.approx(1, abs=0.05)
    assert int((closed.guess == small.counts).sum()) == 219
    (table,) = draw_tables(release)
    assert all(table.margin(t.names) == t for t in release.tables)


# Marginal likelihood


def compositions(total, cells):
    for parts in product(range(total + 1), repeat=cells):
        if sum(parts) == total:
            yield np.array(parts)


@pytest.mark.parametrize("formula", ["A*B + B*C", "A + B*C", "A + B + C", "A*B*C", "A*C + B"])
@pytest.mark.parametrize("prior", [0.5, np.random.default_rng(1).gamma(1, 1, (2, 2, 2)) + 0.1])
def test_the_probabilities_of_all_margins_sum_to_one(formula, prior):
    seen = {}
    for counts in compositions(3, 8):
        release = Release.margins(named(counts.reshape(2, 2, 2)), formula)
        key = tuple(t.dense().tobytes() for t in release.tables)
        seen[key] = log_marginal(release, prior=prior)
    assert sum(map(math.exp, seen.values())) == pytest.approx(1)


def test_the_saturated_marginal_is_dirichlet_multinomial():
    n = np.array([[3.0, 0], [1, 2]])
    release = Release.margins(named(n.astype(int)), "A*B")
    wanted = gammaln(7) + gammaln(2) - gammaln(8)
    wanted += np.sum(gammaln(n + 0.5) - gammaln(0.5) - gammaln(n + 1))
    assert log_marginal(release, prior=0.5) == pytest.approx(wanted)


def test_a_smaller_model_is_judged_on_its_own_margins():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    narrow = Release.margins(load("example:tract"), "Race + Income*Gender")
    assert log_marginal(release, "Race + Income*Gender") == pytest.approx(log_marginal(narrow))


@pytest.mark.parametrize(
    ("formula", "prior", "says"),
    [
        ("A*B + B*C + A*C", 0.5, "is not decomposable"),
        ("A*B*C", 0.5, r"A\*B\*C is not in the release"),
        ("A + B", -1, "not above 0"),
        ("A + B", np.ones(3), "the prior has the shape"),
    ],
)
def test_marginals_that_are_refused(formula, prior, says):
    table = named(np.array([[[2, 1], [0, 1]], [[1, 0], [2, 1]]]))
    with pytest.raises(DataError, match=says):
        log_marginal(Release.margins(table, "A*B + B*C + A*C"), formula, prior=prior)

"""Chains against exact sums over every table, and against full Markov bases."""

from itertools import combinations

import numpy as np
import pytest

from chaincases import MODELS, PAIRS, compare, random_release, reached
from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.chains import chains as chains_module
from discreet.intruder.posterior.chains.chains import chain_draws, chain_posterior
from discreet.intruder.posterior.chains.convergence import errors
from discreet.intruder.posterior.chains.markov_bases import minimal_basis
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import letters, named

UNIFORM = CellWeights.uniform()
# exact, by enumeration: probabilities of 0, 1, 2
CZECH = [[0.1140, 0.1541, 0.1808], [0.2376, 0.2352, 0.2045], [0.1807, 0.1920, 0.1833]]


@pytest.mark.parametrize("decomposable", [True, False], ids=["decomposable", "not"])
def test_chains_against_enumeration(decomposable):
    """Reduced; the benchmark has a hundred releases."""
    rng, all_off = np.random.default_rng(2012), []
    for case in range(10 if decomposable else 15):
        release = random_release(rng, decomposable=decomposable)
        moves = "dynamic" if case % 3 == 2 else "auto"
        drawn, far = compare(release, UNIFORM, draws=2_000, seed=case, moves=moves)
        seen, fit = reached(release, drawn)
        assert seen == fit
        all_off.append(far)
        all_off.append(compare(release, MODELS[case % 3], draws=1_000, seed=case, moves=moves)[1])
    far = np.concatenate(all_off)
    assert np.abs(far).max() < 5
    assert np.sqrt(np.mean(far**2)) == pytest.approx(1, abs=0.25)


def test_the_minimal_basis_of_no_three_way_interaction():
    """Aoki & Takemura 2003: 27 moves of four people and 54 of six."""
    moves = minimal_basis((3, 3, 3), PAIRS, 7)
    people = np.maximum(moves, 0).sum(1)
    assert len(moves) == 81
    assert np.unique(people, return_counts=True)[1].tolist() == [27, 54]
    for axes in PAIRS:
        assert not moves.reshape(-1, 3, 3, 3).sum(3 - sum(axes) + 1).any()
    assert len(minimal_basis((2, 2, 2), PAIRS, 5)) == 1
    assert len(minimal_basis((3, 4), [(0,), (1,)], 3)) == 18
    with pytest.raises(DataError, match="too many moves to list"):
        minimal_basis((5, 5, 5), PAIRS, 4)


def test_the_same_tables_as_by_the_full_basis():
    """3 x 3 x 3 with few people, where the smallest moves alone do not reach everything."""
    rng = np.random.default_rng(3)
    sizes = []
    while len(sizes) < 8:
        array = np.bincount(rng.integers(0, 27, rng.integers(8, 30)), minlength=27)
        release = Release.margins(named(array.reshape(3, 3, 3)), letters(PAIRS))
        if not 2 <= exact_posterior(release).tables <= 200:
            continue
        seen = {}
        for moves in ("basis", "dynamic"):
            drawn = chain_draws(release, weights=UNIFORM, draws=1_000, moves=moves)
            tables = np.unique(drawn.counts.reshape(-1, 27), axis=0)
            assert all(not (tables - array).reshape(-1, 3, 3, 3).sum(a + 1).any() for a in range(3))
            seen[moves] = {table.tobytes() for table in tables}
        assert seen["basis"] == seen["dynamic"]
        assert len(seen["basis"]) == exact_posterior(release).tables
        sizes.append(len(seen["basis"]))
    assert max(sizes) > 20


def test_two_tables_that_only_a_move_of_six_people_joins():
    """The fibre of a move of degree six: no cube fits either table."""
    move = minimal_basis((3, 3, 3), PAIRS, 6)[-1].reshape(3, 3, 3)
    release = Release.margins(named(np.maximum(move, 0)), letters(PAIRS))
    assert exact_posterior(release).tables == 2
    found = chain_posterior(release, weights=UNIFORM)
    assert found.probability(0) == pytest.approx(np.where(move.ravel() == 0, 1, 0.5), abs=0.05)


def test_the_small_cells_of_the_czech_table():
    """All 4-way margins: 705,884 tables; the benchmark sums over them."""
    table = load("example:czech")
    release = Release.margins(table, list(combinations("ABCDEF", 4)))
    found = chain_posterior(release, table.small(), weights=UNIFORM, standard_error=0.01)
    assert found.convergence.converged
    assert found.diagnostics()["largest_standard_error"] <= 0.01
    assert (found.low + np.diff(found.starts) - 1 <= [10, 9, 9]).all()
    assert found.matrix() == pytest.approx(np.array(CZECH), abs=0.05)


def test_what_is_known_besides_the_margins():
    array = np.array([[2, 1, 0], [1, 2, 3], [0, 2, 2]])
    release = Release.margins(named(array), "A + B").between({"A": 1, "B": 2}, 2, 3)
    release = release.impossible({"A": 0, "B": 2})
    drawn, far = compare(release, MODELS[0], draws=2_000, seed=1)
    assert np.abs(far).max() < 5
    assert set(np.unique(drawn.counts[:, :, 5])) == {2, 3}
    assert not drawn.counts[:, :, 2].any()
    told = Release.margins(named(array), "A + B").insider({"A": 0, "B": 0}, 2)
    assert (chain_draws(told, weights=UNIFORM, draws=50).counts[:, :, 0] == 2).all()


def test_a_variable_in_no_margin():
    array = np.random.default_rng(0).poisson(0.4, (2, 2, 3))
    release = Release.margins(named(array), "A + B")
    for moves in ("auto", "dynamic"):
        assert np.abs(compare(release, UNIFORM, draws=2_000, seed=1, moves=moves)[1]).max() < 5


def test_from_a_table_that_fits():
    table = load("example:tract")
    release = Release.margins(table, "Race*Income + Income*Gender + Race*Gender")
    found = chain_posterior(release, table.small(), start=table, seed=3)
    exact = exact_posterior(release, table.small())
    assert found.matrix() == pytest.approx(exact.matrix(), abs=0.05)
    other = named(np.ones((2, 2), int))
    with pytest.raises(DataError, match="does not fit"):
        chain_posterior(Release.margins(other, "A + B"), start=named(np.eye(2, dtype=int)))


def test_the_same_seed_gives_the_same_draws():
    release = Release.margins(load("example:tract"), "Race*Income + Gender")
    first, again, other = (
        chain_draws(release, weights=UNIFORM, draws=100, seed=seed).counts[:, :100]
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_warning_that_cannot_be_overlooked():
    table = load("example:czech")
    release = Release.margins(table, list(combinations("ABCDEF", 4)))
    with pytest.warns(ConvergenceWarning, match=r"not converged: .*requested\. Allow more effort"):
        found = chain_posterior(release, weights=UNIFORM, standard_error=1e-5, effort=0.01)
    assert "NOT CONVERGED" in repr(found)
    assert "NOT CONVERGED" in found._repr_html_()
    said = found.diagnostics()
    assert (said["converged"], said["requested_standard_error"]) == (False, 1e-5)
    assert "the standard error is" in said["problems"][-1]
    assert said["draws_per_chain"] >= 8
    assert found.convergence.to_frame().shape == (64, 4)
    assert "not the 1e-05 that was requested" in repr(found.convergence)


def test_chains_that_stay_where_they_are_have_not_converged():
    from discreet.intruder.posterior.chains.convergence import judge

    counts = np.zeros((2, 100, 2), np.int32)
    counts[1, :, 0] = 1
    found = judge(counts, requested=None, accepted=0.0, moves=1, seconds=0.1)
    assert found.r_hat[0] > 1e3
    assert not found.converged
    assert found.effective[0] < 5


def test_errors_of_independent_draws():
    """Batch means of independent draws give the binomial standard error."""
    counts = (np.random.default_rng(1).random((4, 5_000, 30)) < 0.3).astype(np.int32)
    error, effective = errors(counts)
    assert np.median(error) == pytest.approx(np.sqrt(0.21 / 20_000), rel=0.15)
    assert (effective <= 20_000).all()
    assert effective.min() > 9_000


def test_what_is_refused():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender + Race*Gender")
    known = release.between({"Race": "Chinese", "Gender": "Male", "Income": "over $25,000"}, 0, 2)
    with pytest.raises(DataError, match="more is known of single cells"):
        chain_posterior(known, moves="basis")
    with pytest.raises(DataError, match="there are no moves 'fast'"):
        chain_posterior(release, moves="fast")
    with pytest.raises(DataError, match="at least 2 chains"):
        chain_posterior(release, chains=1)
    with pytest.raises(DataError, match="give one above 0"):
        chain_posterior(release, standard_error=0)
    with pytest.raises(DataError, match="no table that none gives a weight"):
        chain_posterior(release, weights=CellWeights.of(lambda c, n: n - np.inf, "none"))


def test_chains_that_go_on_are_not_judged_whole(monkeypatch):
    """Judging every cell took most of the time of a draw: one that fails is enough to go on."""
    judged, judge = [], chains_module.judge_in_time
    monkeypatch.setattr(
        chains_module,
        "judge_in_time",
        lambda counts, *given, **more: (
            judged.append(counts.shape[1]) or judge(counts, *given, **more)
        ),
    )
    rng = np.random.default_rng(0)
    counts = rng.multinomial(10**6, rng.dirichlet(np.full(64, 0.2))).reshape(4, 4, 4)
    table = Table.of(counts, A=list("wxyz"), B=list("wxyz"), C=list("wxyz"))
    release = Release.margins(table, "A*B + B*C + A*C")
    chain_draws(release, weights=CellWeights.multinomial(), seed=1)
    assert judged == [1_000, 4_000]  # not those of 2,000

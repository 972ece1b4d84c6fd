"""Perturbed tables: margins kept in every draw, the model's own probabilities, nothing told."""

import dataclasses
import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import chi2

import discreet as dc
from discreet.effort import Clock, Effort
from discreet.errors import DataError, InconsistentRelease, Stopped
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.masks.perturb import Source, drawing, exact, perturb, perturb_release
from discreet.masks.perturb.models import odds
from discreet.release.release import Release
from oracle import fibre, named

PAIRS = "A*B + A*C + B*C"
DRAWS = 1_000


def axes_of(formula):
    return [tuple(sorted(ord(name) - 65 for name in m.split("*"))) for m in formula.split(" + ")]


def factorials(tables):
    """1 / prod n! of each table, as a log."""
    return np.array([-sum(math.lgamma(n + 1) for n in t.ravel().tolist()) for t in tables])


def chances(tables, logs=None):
    logs = factorials(tables) if logs is None else logs
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def seen(found, tables):
    """How often each table of the fibre was drawn; all draws are in it."""
    place = {t.tobytes(): i for i, t in enumerate(np.asarray(tables, np.int64))}
    counts = np.zeros(len(tables))
    for drawn in found.tables():
        counts[place[np.ascontiguousarray(drawn.dense()).tobytes()]] += 1
    return counts


def misfit(observed, expected):
    """The p-value of a chi-square test; rare tables are put together."""
    order = np.argsort(expected)[::-1]
    observed, expected = observed[order], expected[order]
    often = max(1, int((expected >= 5).sum()))
    o = np.append(observed[:often], observed[often:].sum())
    e = np.append(expected[:often], expected[often:].sum())
    o, e = o[e > 0], e[e > 0]
    return chi2.sf(((o - e) ** 2 / e).sum(), max(1, len(o) - 1))


CASES = {
    "random matching": ((2, 3, 2), "A*B + B*C"),
    "block by block": ((3, 3, 3), PAIRS),
    "parts": ((2, 2, 2, 2), "A*B + A*C + B*C + D"),
    "independent": ((3, 4), "A + B"),
}


@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_probabilities_of_the_model(case):
    shape, formula = CASES[case]
    array = np.random.default_rng(7).poisson(1.2, shape)
    tables = fibre(array, axes_of(formula))
    found = perturb(named(array), formula, draws=DRAWS, seed=3)
    assert found.exact
    assert len(tables) > 5
    assert misfit(seen(found, tables), DRAWS * chances(tables)) > 1e-4
    logs = [found.log_probability(named(t)) for t in tables]
    np.testing.assert_allclose(np.exp(logs), chances(tables), rtol=1e-9)


@pytest.mark.parametrize("word", ["uniform", "saturated"])
def test_other_weights(word):
    array = np.random.default_rng(5).poisson(1.5, (2, 2, 3))
    tables = fibre(array, axes_of(PAIRS))
    logs = np.zeros(len(tables))
    if word == "saturated":
        logs = factorials(tables) + np.array(
            [sum(math.lgamma(n + 0.5) for n in t.ravel().tolist()) for t in tables]
        )
    found = perturb(named(array), PAIRS, model=word, draws=DRAWS, seed=1)
    assert misfit(seen(found, tables), DRAWS * chances(tables, logs)) > 1e-4
    assert found.silent


def test_a_list_and_the_states_of_sums_give_the_same(monkeypatch):
    """Where states are too many, tables are listed: both by the same weights."""
    release = Release.margins(dc.load("example:tract"), "Race*Income + Income*Gender + Race*Gender")
    weights = CellWeights.multinomial()
    mean = exact_posterior(release, weights=weights).mean
    for entries in (exact.MOST_ENTRIES, 10):
        monkeypatch.setattr(exact, "MOST_ENTRIES", entries)
        rng = np.random.default_rng(2)
        counts = exact.exact_draws(release, weights, 20_000, rng, Effort(), Clock())[1]
        error = counts.std(0) / math.sqrt(len(counts))
        assert (np.abs(counts.mean(0) - mean) <= 4 * error + 1e-9).all()


@pytest.mark.parametrize(
    ("example", "formula"),
    [
        ("tract", "Race*Income + Income*Gender"),
        ("tract", "Race*Income + Income*Gender + Race*Gender"),
        ("czech", "A*B*C + B*D + D*E + E*F"),
        ("czech", "A*C*D*E + A*B*C*E + B*F"),
    ],
)
def test_examples_keep_their_margins_and_meet_expectations(example, formula):
    table = dc.load(f"example:{example}")
    found = perturb(table, formula, draws=DRAWS, seed=11)
    release = Release.margins(table, formula)
    for drawn in found.tables():
        assert all(drawn.margin(t.names) == t for t in release.tables)
    assert found.exact
    assert any(drawn != table for drawn in found.tables())
    dense = np.array([drawn.dense().ravel() for drawn in found.tables()])
    known = dc.posterior(release, model=release.formula)
    assert known.exact
    error = dense.std(0) / math.sqrt(len(dense))
    # so many cells are compared that one in 16,000 may be off by more than 4 errors
    assert (np.abs(dense.mean(0) - known.mean) <= 4 * error + 1e-9).all()


def test_parts_meet_their_expectations():
    """Given C, A*B and D*E are independent: E n = E n_ABC E n_CDE / n_C, times the share of F."""
    table, formula = dc.load("example:czech"), "A*B + A*C + B*C + C*D + D*E + C*E + F"
    found = perturb(table, formula, draws=DRAWS, seed=11)
    assert found.method == "exact, parts drawn and matched at random"
    weights = CellWeights.multinomial()
    one, other = (
        exact_posterior(Release.margins(table.margin(names), pairs), weights=weights).mean.reshape(
            2, 2, 2
        )
        for names, pairs in (("A*B*C", "A*B + A*C + B*C"), ("C*D*E", "C*D + D*E + C*E"))
    )
    c, f = table.margin("C").dense(), table.margin("F").dense()
    mean = np.einsum("abc,cde,c,f->abcdef", one, other, 1 / c, f / f.sum()).ravel()
    dense = np.array([drawn.dense().ravel() for drawn in found.tables()])
    assert (np.abs(dense.mean(0) - mean) <= 4 * dense.std(0) / math.sqrt(DRAWS) + 1e-9).all()


def test_chains_meet_the_exact_expectations(monkeypatch):
    """The way of last resort, on a table whose beliefs are exact."""
    table, formula = dc.load("example:tract"), "Race*Income + Income*Gender + Race*Gender"

    def refused(*_):
        raise DataError("too many")

    monkeypatch.setattr(drawing, "exact_draws", refused)
    found = perturb(table, formula, draws=DRAWS, seed=4)
    release = Release.margins(table, formula)
    assert not found.exact
    assert found.convergence.converged
    assert "R-hat" in found.method
    assert len(found) == DRAWS
    assert found.silent
    for drawn in found.tables():
        assert all(drawn.margin(t.names) == t for t in release.tables)
    dense = np.array([drawn.dense().ravel() for drawn in found.tables()])
    mean = exact_posterior(release, weights=CellWeights.multinomial()).mean
    worth = np.minimum(found.convergence.bulk, DRAWS)
    assert (np.abs(dense.mean(0) - mean) <= 4 * dense.std(0) / np.sqrt(worth) + 1e-9).all()
    again = perturb(table, formula, draws=DRAWS, seed=4)
    assert (again.counts == found.counts).all()


def test_draws_are_of_every_chain(monkeypatch):
    """Evenly, so that what the chains say of their worth holds for the draws."""
    release = Release.margins(dc.load("example:tract"), "Race*Income + Income*Gender + Race*Gender")
    whole = drawing.chain_draws(release, weights=CellWeights.multinomial(), draws=1_000)
    marked = np.zeros_like(whole.counts)
    marked[..., 0], marked[..., 1] = np.indices(whole.counts.shape[:2])
    run = dataclasses.replace(whole, counts=marked)
    monkeypatch.setattr(drawing, "chain_draws", lambda *_, **__: run)
    made = odds(release, None, None)
    for wanted in (1, 2, 8, 100, 1_000, 4_000):
        found = drawing._chained(release, made, wanted, 1, 1.0, Clock()).counts[:, :2]
        assert len(np.unique(found, axis=0)) == wanted
        assert tuple(found[-1]) == (3, whole.counts.shape[1] - 1)
        assert np.ptp(np.bincount(found[:, 0], minlength=4)) <= 1
        for chain in range(4) if wanted >= 8 else ():
            apart = np.diff(found[found[:, 0] == chain, 1])
            assert apart.min() >= 1000 // (wanted / 4) - 1


def test_a_larger_table_by_chains():
    """Three two-way margins of 5 x 4 x 4 cells: too many tables to list."""
    array = np.random.default_rng(1).poisson(2, (5, 4, 4))
    table = named(array)
    found = perturb(table, PAIRS, draws=100, seed=1)
    assert not found.exact
    assert found.convergence.worst["r_hat"] <= 1.01
    for drawn in found.tables():
        assert all((drawn.dense().sum(axis) == array.sum(axis)).all() for axis in range(3))
    assert len({drawn.dense().tobytes() for drawn in found.tables()}) > 50


def test_many_variables():
    """Twenty variables in a chain of pairs: 10^6 cells, drawn exactly."""
    codes = np.random.default_rng(1).integers(0, 2, (400, 20)).astype(np.uint8)
    variables = named(np.zeros((2,) * 20, int)).variables
    table = dc.Table.from_cells(variables, codes, np.ones(400, np.int64))
    pairs = [[a.name, b.name] for a, b in pairwise(variables)]
    found = perturb(table, dc.Formula.of(pairs, table.names), draws=20, seed=1)
    assert found.exact
    assert found.table().total == 400
    assert all(
        drawn.margin(pair) == table.margin(pair) for drawn in found.tables() for pair in pairs
    )


def test_zeros_that_must_be_stay():
    array = np.random.default_rng(2).poisson(2, (2, 3, 2))
    array[0, 2, :] = 0
    array[1, :, 1] = 0
    stated = [{"A": 0, "B": 2}, {"A": 1, "C": 1}]
    table = named(array).excluding(stated)
    tables = fibre(array, [(0,), (1,), (2,)], zeros=[{0: 0, 1: 2}, {0: 1, 2: 1}])
    found = perturb(table, "A + B + C", draws=DRAWS, seed=1)
    assert misfit(seen(found, tables), DRAWS * chances(tables)) > 1e-4
    assert found.table().impossible == table.impossible


def test_a_part_with_a_zero_is_matched_with_the_others():
    array = np.random.default_rng(3).poisson(1.0, (2, 2, 2, 2))
    array[0, 1] = 0
    table = named(array).excluding([{"A": 0, "B": 1}])
    tables = fibre(array, [(0,), (1,), (2,), (3,)], zeros=[{0: 0, 1: 1}])
    assert len(tables) > 5
    found = perturb(table, "A + B + C + D", draws=DRAWS, seed=1)
    assert "matched" in found.method
    assert found.exact
    assert misfit(seen(found, tables), DRAWS * chances(tables)) > 1e-4


def test_known_cells_and_ranges_stay():
    """A published cell ties A and B, a range C and D: two parts."""
    array = np.random.default_rng(6).poisson(1.0, (2, 2, 2, 2))
    release = Release.margins(named(array), "A + B + C + D")
    release = release.publish({"A": 0, "B": 0}, int(array[0, 0].sum()))
    low = int(array[:, :, 1, 1].sum())
    release = release.between({"C": 1, "D": 1}, low, low + 1)
    tables = fibre(array, [(0,), (1,), (2,), (3,)])
    same = tables[:, 0, 0].sum((1, 2)) == array[0, 0].sum()
    within = tables[:, :, :, 1, 1].sum((1, 2))
    tables = tables[same & (within >= low) & (within <= low + 1)]
    found = perturb(named(array), release, draws=DRAWS, seed=1)
    assert "matched" in found.method
    assert "2 known cells" in str(found)
    assert len(tables) > 10
    assert misfit(seen(found, tables), DRAWS * chances(tables)) > 1e-4


def test_a_variable_that_nothing_is_known_of_is_even():
    array = np.random.default_rng(3).poisson(3, (2, 2, 3))
    found = perturb(named(array), "A*B", draws=DRAWS, seed=1)
    each = np.array([t.dense().reshape(-1, 3) for t in found.tables()])
    mean, expected = each.mean(0), array.sum(2).reshape(-1, 1) / 3
    assert (np.abs(mean - expected) <= 4 * np.sqrt(expected * 2 / 3 / DRAWS) + 1e-9).all()
    assert (each.sum(2) == array.sum(2).ravel()).all()


# A model fitted to the table


def fitted(array):
    """No three-way effect, by scaling until it fits."""
    m = np.ones(array.shape)
    for _ in range(2_000):
        for axis in range(3):
            sums = m.sum(axis, keepdims=True)
            m *= np.divide(
                array.sum(axis, keepdims=True), sums, out=np.zeros_like(sums), where=sums > 0
            )
    return m


def test_a_fitted_model_has_its_own_odds():
    array = np.array([[[6, 1], [5, 1]], [[1, 4], [2, 5]]])
    tables = fibre(array, [(0, 1), (2,)])
    logs = factorials(tables) + (tables * np.log(fitted(array))).reshape(len(tables), -1).sum(1)
    found = perturb(named(array), "A*B + C", model=PAIRS, draws=DRAWS, seed=1)
    assert found.source is Source.TABLE
    assert not found.silent
    assert "review" in str(found)
    assert "tells more" in str(found)
    assert misfit(seen(found, tables), DRAWS * chances(tables, logs)) > 1e-4
    assert misfit(seen(found, tables), DRAWS * chances(tables)) < 1e-4  # not those of the margins


def test_a_model_within_the_release_is_the_release():
    array = np.array([[[3, 1], [2, 4]], [[1, 3], [4, 2]]])
    one, other = (
        perturb(named(array), PAIRS, model=m, draws=50, seed=1) for m in (None, "A*B + C")
    )
    assert (one.counts == other.counts).all()
    assert other.silent


def test_nobody_is_drawn_where_the_fit_has_nobody():
    array = np.array([[[3, 0], [2, 4]], [[1, 0], [4, 2]]])
    found = perturb(named(array), "A + B + C", model="A + B*C", draws=200, seed=1)
    assert all(t.dense()[:, 0, 1].sum() == 0 for t in found.tables())


# What an intruder learns


def likelihoods(tables, formula, **more):
    """P(draw | truth), a row a truth."""
    rows = []
    for truth in tables:
        found = perturb(named(truth), formula, seed=1, **more)
        rows.append([math.exp(found.log_probability(named(drawn))) for drawn in tables])
    return np.array(rows)


def test_a_draw_tells_nothing_beyond_the_margins():
    """By enumeration: whatever is drawn, the posterior of the truth is that given the margins."""
    array = np.array([[[2, 1], [0, 2]], [[1, 0], [2, 1]]])
    for formula in (PAIRS, "A*B + B*C", "A + B*C"):
        tables = fibre(array, axes_of(formula))
        given = likelihoods(tables, formula)
        np.testing.assert_allclose(given.sum(1), 1)
        prior = np.random.default_rng(1).dirichlet(np.ones(len(tables)))  # any intruder's
        joint = prior[:, None] * given
        after = joint / joint.sum(0)
        np.testing.assert_allclose(after, np.repeat(prior[:, None], len(tables), 1), rtol=1e-8)
        # not only in probability: with the same seed the very same table is drawn
        drawn = {perturb(named(t), formula, seed=8).counts.tobytes() for t in tables}
        assert len(drawn) == 1


def test_a_draw_of_a_fitted_model_tells_more():
    array = np.array([[[2, 1], [0, 2]], [[1, 0], [2, 1]]])
    tables = fibre(array, [(0, 1), (1, 2)])
    given = likelihoods(tables, "A*B + B*C", model=PAIRS)
    prior = chances(tables)
    after = prior[:, None] * given
    after /= after.sum(0)
    assert np.abs(after - prior[:, None]).max() > 0.05


def test_the_public_can_draw_it_too():
    table = dc.load("example:tract")
    formula = "Race*Income + Income*Gender"
    release = Release.margins(table, formula)
    assert (perturb_release(release, seed=5).counts == perturb(table, formula, seed=5).counts).all()


# What it says


def test_it_says_what_it_is():
    found = perturb(dc.load("example:tract"), "Race*Income + Income*Gender", seed=1)
    assert str(found).startswith(
        "perturbed: keeps Race*Income + Gender*Income; other counts are draws from the log-linear "
        "model of these margins, and no counts of the data. How drawn: exact"
    )
    assert "tells nothing" in str(found)
    frame = found.to_frame()
    assert list(frame.columns) == ["draw", "Gender", "Race", "Income", "perturbed"]
    assert frame["perturbed"].sum() == 742
    said = found.to_json()
    assert said["silent"]
    assert said["exact"]
    assert said["source"] == "margins"


def test_given_odds_are_not_taken_for_silent():
    found = perturb(
        dc.load("example:tract"),
        "Race*Income + Income*Gender",
        model=CellWeights.dirichlet(2),
        seed=1,
    )
    assert found.source is Source.GIVEN
    assert not found.silent
    assert "not proven" in str(found)


def test_the_same_seed_is_the_same_table():
    table = dc.load("example:czech")
    for formula in ("A*B + B*C + A*C + D", "A*B*C + C*D*E*F"):
        one, same, other = (perturb(table, formula, seed=s) for s in (1, 1, 2))
        assert one.table() == same.table() != other.table()


def test_what_cannot_be_drawn_is_said():
    table = dc.load("example:tract")
    release = Release.margins(table, "Race*Income")
    with pytest.raises(DataError, match="at least one table"):
        perturb(table, release, draws=0, seed=1)
    other = dc.Table.of(table.dense() + 1, **{v.name: v.categories for v in table.variables})
    with pytest.raises(InconsistentRelease, match="does not have the released margins"):
        perturb(other, release, seed=1)
    with pytest.raises(DataError, match="larger than the release"):
        odds(release, "Race*Gender", None)
    with pytest.raises(DataError, match="no draw 1"):
        perturb(table, release, seed=1).table(1)
    nothing = CellWeights.of(lambda codes, counts: np.full(len(counts), -np.inf), "nothing")
    with pytest.raises(DataError):
        perturb(table, "Race*Income + Income*Gender", model=nothing, seed=1)


def test_the_clock_stops_and_decides_nothing():
    table = dc.load("example:czech")
    pairs = [[a, b] for a in "ABCDEF" for b in "ABCDEF" if a < b]
    with pytest.raises(Stopped):
        perturb(table, dc.Formula.of(pairs, table.names), seed=1, seconds=1e-6)


def test_random_releases_are_kept():
    rng = np.random.default_rng(9)
    for _ in range(25):
        shape = tuple(rng.integers(2, 4, rng.integers(2, 5)))
        array = rng.poisson(rng.uniform(0.3, 3), shape)
        array.flat[0] += 1
        letters = [chr(65 + i) for i in range(len(shape))]
        masks = {
            tuple(letter for letter, b in zip(letters, bits, strict=True) if b)
            for bits in product((0, 1), repeat=len(shape))
        } - {()}
        masks = sorted(masks)
        margins = [masks[i] for i in rng.choice(len(masks), min(3, len(masks)), replace=False)]
        table = named(array)
        found = perturb(table, dc.Formula.of(margins, table.names), draws=3, seed=1)
        for drawn in found.tables():
            assert all(drawn.margin(m) == table.margin(m) for m in margins)

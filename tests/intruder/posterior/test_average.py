"""Log-linear models as the intruder's, and their average, against brute force and quadrature."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.average.average import average_posterior
from discreet.intruder.posterior.average.evidence import evidence, predictive
from discreet.intruder.posterior.average.hyper_dirichlet import log_marginal
from discreet.intruder.posterior.average.model_chains import chain_models
from discreet.intruder.posterior.average.parameters import (
    Target,
    chain_draws,
    importance_posterior,
    log_predictive,
    log_release,
)
from discreet.intruder.posterior.average.sensitivity import prior_sensitivity
from discreet.intruder.posterior.chains.augment import augment_posterior
from discreet.intruder.posterior.chains.augment_walk import walk_posterior
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.one_model import under_model
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.models.importance import bridge
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.load import load
from oracle import fibre, letters, named
from quadrature import log_constant

TRACT = load("example:tract")
RELEASE = Release.margins(TRACT, "Race*Income + Income*Gender")
ROUTES = {"augment": augment_posterior, "importance": importance_posterior}


def sets_of(table, formula):
    return [tuple(table.names.index(n) for n in m) for m in Formula.parse(formula, table.names)]


def brute(array, release, model, prior):
    """All tables, their joint log probabilities with the release under a decomposable model."""
    table = named(array)
    tables = fibre(array, sets_of(table, release))
    logs = []
    for each in tables:
        whole = Release.margins(named(each), [table.names])
        margins = log_marginal(whole, model, prior=prior)
        tree = Formula.parse(model, table.names).junction_tree
        ways = sum(_factorials(each, table, node) for node in tree.nodes)
        ways -= sum(_factorials(each, table, s) for s in tree.separators)
        logs.append(margins + ways - gammaln(each + 1.0).sum())
    return tables, np.array(logs)


def _factorials(array, table, names):
    kept = [table.names.index(name) for name in names]
    rest = tuple(a for a in range(array.ndim) if a not in kept)
    return gammaln(array.sum(rest) + 1.0).sum()


def agree(found, tables, logs, times=5):
    """Every probability is that of the weighted tables, within some standard errors."""
    chances = np.exp(logs - logsumexp(logs))
    flat = tables.reshape(len(tables), -1)
    for count in range(int(flat.max()) + 1):
        exact = chances @ (flat == count)
        off = np.abs(found.probability(count) - exact)
        assert (off <= times * found.standard_error(count) + 1e-9).all(), count


CASES = [
    ((2, 2, 3), "A + B + C", "A*B + C"),
    ((2, 3, 2), "A*B + C", "A*B + B*C"),
    ((2, 2, 2), "A*B + C", "A*B*C"),
    ((2, 2, 2), "A*B + B*C", "A*B + B*C"),
    ((2, 2, 2, 2), "A*B + C*D", "A*B + B*C + C*D"),
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("shape", "release", "model"), CASES)
def test_decomposable_models_against_brute_force(shape, release, model, route):
    array = np.random.default_rng(7).poisson(0.6, shape)
    tables, logs = brute(array, release, model, 0.4)
    public = Release.margins(named(array), release)
    found = ROUTES[route](public, model, prior=0.4, standard_error=0.015)
    agree(found, tables, logs)
    assert found.tables == len(tables)


@pytest.mark.parametrize(("shape", "release", "model"), CASES)
def test_marginal_likelihood_against_brute_force(shape, release, model):
    array = np.random.default_rng(8).poisson(1.0, shape)
    _, logs = brute(array, release, model, 0.4)
    public = Release.margins(named(array), release)
    found = evidence(public, model, prior=0.4)
    assert found.log == pytest.approx(logsumexp(logs), abs=4 * found.error + 1e-9)
    parsed = Formula.parse(model, public.names)
    sampled = log_release(Target.of(public, parsed, 0.4), error=0.01)
    assert sampled[0] == pytest.approx(logsumexp(logs), abs=4 * sampled[1] + 1e-9)


def test_marginal_likelihood_is_exact_where_separators_are_released():
    array = np.random.default_rng(9).poisson(1.0, (2, 2, 2))
    public = Release.margins(named(array), "A*B + C")
    assert evidence(public, "A*B + B*C").method == "exact"
    assert evidence(public, "A*B + B*C + A*C").method == "sampled"


def test_marginal_likelihood_of_no_three_way_interaction_against_quadrature():
    """2 x 2 x 2, all pairs released: 20 random tables, each within 1%."""
    rng = np.random.default_rng(10)
    base = np.full((2, 2, 2), 0.5)
    before = log_constant(base)
    for _ in range(20):
        array = rng.poisson(rng.gamma(1.0, 6, (2, 2, 2)))
        release = Release.margins(named(array), "A*B + B*C + A*C")
        tables = fibre(array, list(combinations(range(3), 2)))
        ways = logsumexp(-gammaln(tables + 1.0).sum((1, 2, 3)))
        exact = gammaln(array.sum() + 1) + ways + log_constant(base + array) - before
        found = evidence(release, "A*B + B*C + A*C", error=0.002)
        assert found.log == pytest.approx(exact, abs=0.01)
        assert found.error <= 0.003


def test_bridge_sampling_against_importance_sampling():
    model = Formula.parse("Race*Income + Income*Gender + Race*Gender", TRACT.names)
    target = Target.of(RELEASE, model, 0.5)
    log, error = log_release(target)
    after, off = bridge(target.log_posterior, chain_draws(target, after=True))
    before, more = bridge(target.log_prior, chain_draws(target, after=False))
    assert target.log_margin + after - before == pytest.approx(
        log, abs=4 * np.hypot(error, np.hypot(off, more))
    )


def test_known_cells_are_known_to_every_route():
    array = np.random.default_rng(11).poisson(1.0, (2, 2, 3))
    table = named(array)
    release = Release.margins(table, "A*B + C").publish({"A": 0, "B": 1, "C": 2}, array[0, 1, 2])
    tables, logs = brute(array, "A*B + C", "A*B + B*C", 0.5)
    fit = tables[:, 0, 1, 2] == array[0, 1, 2]
    for route in ROUTES.values():
        found = route(release, "A*B + B*C", standard_error=0.01)
        agree(found, tables[fit], logs[fit])
    found = evidence(release, "A*B + B*C")
    assert found.log == pytest.approx(logsumexp(logs[fit]), abs=4 * found.error)


def test_the_table_itself():
    """Equations (8) and (9): the probabilities of all tables that fit sum to one."""
    array = np.random.default_rng(12).poisson(1.0, (2, 2, 2))
    table = named(array)
    release = Release.margins(table, "A*B + C")
    tables, logs = brute(array, "A*B + C", "A*B + B*C", 0.5)
    exact = np.exp(logs - logsumexp(logs))
    for route in ROUTES.values():
        found = route(release, "A*B + B*C", standard_error=0.005)
        chances = np.array([found.probability_of(named(each)) for each in tables])
        assert chances.sum() == pytest.approx(1)
        assert chances == pytest.approx(exact, abs=0.05)
        assert found.entropy == pytest.approx(-exact @ np.log(exact), abs=0.15)
        assert found.probability_of(named(array + 1)) == 0


def test_a_release_that_leaves_one_table():
    array = np.array([[3, 0], [0, 2]])
    release = Release.margins(named(array), "A + B").publish({"A": 0, "B": 0}, 3)
    found = augment_posterior(release, "A*B", chains=8)
    assert found.guess.tolist() == [3, 0, 0, 2]
    assert found.standard_error(3).tolist() == [0, 0, 0, 0]
    average = average_posterior(release)
    assert average.matrix(3)[0].tolist() == [0, 0, 0, 1]


# The average


def test_weights_sum_to_one_and_the_average_is_the_mixture():
    found = average_posterior(RELEASE, TRACT.small(), standard_error=0.01)
    assert sum(model.weight for model in found.models) == pytest.approx(1)
    mixed = sum(model.weight * model.posterior.matrix() for model in found.models)
    assert found.matrix() == pytest.approx(mixed)
    chances = [model.posterior.probability_of(TRACT) for model in found.models]
    weights = [model.weight for model in found.models]
    assert found.probability_of(TRACT) == pytest.approx(np.dot(weights, chances))


@pytest.mark.parametrize("model", ["A*B + C", "A*B*C", "A*B + B*C"])
def test_average_of_one_model_is_that_model(model):
    array = np.random.default_rng(13).poisson(1.0, (2, 2, 2))
    release = Release.margins(named(array), "A*B + C")
    average = average_posterior(release, models=[model], standard_error=0.01)
    alone = under_model(release, model, standard_error=0.01)
    assert average.models[0].weight == 1
    assert average.matrix(9) == pytest.approx(alone.matrix(9), abs=1e-12)
    assert average.entropy == alone.entropy


def test_average_over_decomposable_models_against_brute_force():
    array = np.random.default_rng(14).poisson(1.0, (2, 2, 2))
    release = Release.margins(named(array), "A*B + C")
    models = ["A*B + C", "A*B + B*C", "A*B + A*C", "A*B*C"]
    total = [brute(array, "A*B + C", model, 0.5) for model in models]
    logs = logsumexp([logs for _, logs in total], axis=0)
    found = average_posterior(release, models=models, standard_error=0.005)
    agree(found, total[0][0], logs)
    exact = np.array([logsumexp(logs) for _, logs in total])
    weights = np.exp(exact - logsumexp(exact))
    assert [m.weight for m in found.models] == pytest.approx(weights.tolist(), abs=0.01)


def test_paper_weights_of_the_decomposable_model_are_closed():
    """The mean of P(release | theta) given the release: a prior that has seen it already."""
    found = predictive(RELEASE, RELEASE.formula)
    fitted = TRACT.dense() + 0.5
    assert found.log == pytest.approx(log_marginal(RELEASE, prior=fitted), abs=4 * found.error)


def test_paper_weights_by_both_routes():
    model = "Race*Income + Income*Gender + Race*Gender"
    chains = augment_posterior(RELEASE, model, standard_error=0.01).notes
    target = Target.of(RELEASE, Formula.parse(model, TRACT.names), 0.5)
    log, error = log_predictive(target)
    off = np.hypot(error, chains["log_predictive_error"])
    assert chains["log_predictive"] == pytest.approx(log, abs=4 * off)


def test_average_as_a_document():
    found = average_posterior(RELEASE, TRACT.small(), standard_error=0.02, model_prior="size")
    said = found.to_json(TRACT.small().counts)
    assert said["models"][0]["model"] == "Race*Income + Gender*Income"
    for model in said["models"]:
        assert model["prior_probability"] == pytest.approx(1 / 3)
        assert {"prior", "weight", "log_marginal_likelihood", "log_marginal_likelihood_error"} <= (
            set(model)
        )
    assert said["diagnostics"]["reached"]
    assert len(found.models_frame()) == 3
    assert "average over 3 models" in repr(found)


def test_a_standard_error_that_is_not_reached_cannot_be_overlooked():
    with pytest.warns(ConvergenceWarning, match="NOT the 1e-05 asked for"):
        found = augment_posterior(
            RELEASE, "Race*Income*Gender", standard_error=1e-5, effort=1e-3, chains=16
        )
    assert "NOT" in found.method
    assert not found.diagnostics()["reached"]


def test_more_chains_and_time_lower_the_error():
    rough = augment_posterior(RELEASE, "Race*Income*Gender", standard_error=0.02)
    fine = augment_posterior(RELEASE, "Race*Income*Gender", standard_error=0.006)
    exact = exact_posterior(RELEASE)
    for found in (rough, fine):
        for count in range(3):
            off = np.abs(found.probability(count) - exact.probability(count))
            assert (off <= 5 * found.standard_error(count) + 1e-12).all()
    assert fine.diagnostics()["largest_standard_error"] <= 0.006
    assert fine.notes["r_hat"] <= 1.05


# One entry


def test_the_way_is_chosen_by_the_model():
    small = TRACT.small()
    assert posterior(RELEASE, small).method == "exact, 59,400 tables"
    assert posterior(RELEASE, small, model="uniform").model == "uniform"
    own = posterior(RELEASE, small, model="Race*Income + Income*Gender")
    assert own.method == "exact, closed form"
    drawn = posterior(RELEASE, small, model=RELEASE.formula, draws=100)
    assert drawn.method == "100 independent draws"
    saturated = posterior(RELEASE, small, model="Race*Income*Gender", prior=0.3)
    same = exact_posterior(RELEASE, small, weights=CellWeights.dirichlet(0.3))
    assert saturated.matrix() == pytest.approx(same.matrix())
    pairs = "Race*Income + Income*Gender + Race*Gender"
    between = posterior(RELEASE, small, model=pairs, standard_error=0.01)
    assert between.method.startswith("importance sampling of 5 parameters")


def test_a_model_of_the_release_that_is_not_decomposable():
    array = np.random.default_rng(15).poisson(2.0, (2, 2, 2))
    release = Release.margins(named(array), letters(combinations(range(3), 2)))
    found = posterior(release, model="A*B + B*C + A*C")
    assert found.exact
    tables = fibre(array, list(combinations(range(3), 2)))
    agree(found, tables, -gammaln(tables + 1.0).sum((1, 2, 3)))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "Race + Income"}, "does not contain the released margin"),
        ({"draws": 10}, "only under the decomposable model"),
        ({"draws": 10, "model": "Race*Income*Gender"}, "only under the decomposable model"),
        ({"prior": 0}, "above 0"),
        ({"prior": -1, "model": "average"}, "above 0"),
        ({"model": "average", "weights": "best"}, "choose proper or paper"),
        ({"model": "average", "standard_error": 0}, "above 0"),
    ],
)
def test_refusals(options, says):
    with pytest.raises(DataError, match=says):
        posterior(RELEASE, **options)


def test_refuses_models_and_priors_of_the_average():
    with pytest.raises(DataError, match="list each once"):
        average_posterior(RELEASE, models=["Race*Income*Gender"] * 2)
    with pytest.raises(DataError, match="at least one"):
        average_posterior(RELEASE, models=[])
    with pytest.raises(DataError, match="prior probabilities for 3 models"):
        average_posterior(RELEASE, model_prior=[0.5, 0.5])


def test_refuses_a_fibre_that_is_too_large_to_list():
    table = load("example:czech")
    release = Release.margins(table, "A*B + C*D + E*F")
    with pytest.raises(DataError, match="too many to list"):
        Blocks.of(release)


# How beliefs depend on the prior


def test_prior_sensitivity():
    small = TRACT.small()
    found = prior_sensitivity(RELEASE, small, priors=(1.0, 0.1), standard_error=0.02)
    assert found.priors == (0.1, 1.0)
    frame = found.to_frame()
    assert len(frame) == 8
    assert frame["prior"].tolist() == [0.1, 1.0] * 4
    assert np.allclose(frame[["p0", "p1", "p2", "more"]].sum(axis=1), 1)
    assert len(found.models_frame()) == 6
    low, high = found.ranges(small.counts).T
    assert (low <= high).all()
    chart = found.plot(counts=small.counts).to_dict()
    assert "the true count" in str(chart["title"])
    with pytest.raises(DataError, match="at least one"):
        prior_sensitivity(RELEASE, small, priors=())


def test_prior_sensitivity_of_one_model_has_no_weights():
    found = prior_sensitivity(RELEASE, TRACT.small(), model="saturated")
    assert "by up to 0.17" in repr(found)
    with pytest.raises(DataError, match="no weights"):
        found.models_frame()


def test_an_average_leaves_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = average_posterior(RELEASE, TRACT.small(), standard_error=0.02)
    assert found.standard_error(1).max() <= 0.02


# Where the tables are too many to list


@pytest.mark.parametrize(("shape", "release", "model"), CASES[1:4])
def test_walking_through_tables_against_brute_force(shape, release, model):
    array = np.random.default_rng(16).poisson(0.8, shape)
    tables, logs = brute(array, release, model, 0.5)
    public = Release.margins(named(array), release)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = walk_posterior(public, model, standard_error=0.02, effort=0.05)
    agree(found, tables, logs, times=6)


def test_chains_that_change_model_against_brute_force():
    array = np.random.default_rng(14).poisson(1.0, (2, 2, 2))
    release = Release.margins(named(array), "A*B + C")
    models = ["A*B + C", "A*B + B*C", "A*B + A*C", "A*B*C"]
    total = [brute(array, "A*B + C", model, 0.5) for model in models]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = chain_models(release, standard_error=0.01, effort=0.05)
    exact = np.array([logsumexp(logs) for _, logs in total])
    weights = np.exp(exact - logsumexp(exact))
    seen = {frozenset(model.sets): share for model, share in found.visits.items()}
    for model, weight in zip(models, weights, strict=True):
        share, off = seen[frozenset(Formula.parse(model, "ABC").sets)]
        assert share == pytest.approx(weight, abs=6 * max(off, 0.005))
    assert sum(share for share, _ in found.visits.values()) == pytest.approx(1)
    assert found.mass[0].sum() == pytest.approx(1)


def test_average_where_neither_models_nor_tables_can_be_listed():
    table = load("example:czech")
    release = Release.margins(table, "A*C*E + A*D*E + B*C + F")
    with pytest.warns(ConvergenceWarning, match="not converged"):
        found = average_posterior(release, table.small(), effort=0.02)
    assert "NOT CONVERGED" in found.method
    assert found.models[0].evidence is None
    assert sum(model.weight for model in found.models) <= 1 + 1e-9
    with pytest.raises(DataError, match="name some models"):
        average_posterior(release, table.small(), weights="paper", effort=0.02)


def test_chains_that_change_model_need_a_decomposable_release():
    table = load("example:czech")
    release = Release.margins(table, "A*B + B*C + C*D + A*D + E + F")
    with pytest.raises(DataError, match="is not decomposable"):
        average_posterior(release, table.small(), effort=0.02)


def test_entropy_of_an_average_by_brute_force():
    array = np.random.default_rng(17).poisson(1.0, (2, 2, 2))
    release = Release.margins(named(array), "A*B + C")
    models = ["A*B + C", "A*B*C"]
    logs = logsumexp([brute(array, "A*B + C", model, 0.5)[1] for model in models], axis=0)
    chances = np.exp(logs - logsumexp(logs))
    found = average_posterior(release, models=models)
    assert found.entropy == pytest.approx(-chances @ np.log(chances))


def test_what_is_not_released_says_nothing_of_a_model():
    """Gender is in the model and in no released margin: the evidence is that of Race alone."""
    table = load("example:tract").margin("Race*Gender")
    both = evidence(Release.margins(table, "Race"), "Race + Gender")
    one = evidence(Release.margins(table.margin("Race"), "Race"), "Race", prior=1.0)
    assert both.log == pytest.approx(one.log)

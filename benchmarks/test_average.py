"""Beliefs under log-linear models and their average: to how many digits, in how many seconds.

The rival of both samplers is quadrature over the two parameters that the release of the tract
table leaves open, which is exact to all digits but works for 2 x J x K tables only.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import ConvergenceWarning
from discreet.intruder.posterior.average.evidence import evidence
from discreet.intruder.posterior.average.model_chains import chain_models
from discreet.intruder.posterior.average.parameters import importance_posterior
from discreet.intruder.posterior.chains.augment import augment_posterior
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.one_model import under_model
from discreet.intruder.posterior.posterior import posterior
from discreet.models.space import decomposable_models
from discreet.release.release import Release
from discreet.table.load import load

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from quadrature import given_two_margins

TABLE = load("example:tract")
RELEASE = Release.margins(TABLE, "Race*Income + Income*Gender")
PAIRS = "Race*Income + Income*Gender + Race*Gender"


def by_quadrature():
    log, fibres, chances = given_two_margins(TABLE.dense(), 0.5)
    found = [
        np.trim_zeros(np.bincount(fibres[k][:, i, j], chances[k]), "f")
        for i, j, k in np.ndindex(*TABLE.shape)
    ]
    return log, np.concatenate(found)


def timed(work, *arguments, **options):
    start = time.perf_counter()
    found = work(*arguments, **options)
    return found, time.perf_counter() - start


def test_what_the_command_runs():
    """All models, weights, beliefs and the probability of the true table: 10 seconds at most."""
    for weights in ("proper", "paper"):
        found, seconds = timed(posterior, RELEASE, model="average", weights=weights)
        print(f"\naverage, {weights} weights: {seconds:.1f} s, {found.diagnostics()}")
        print(found.models_frame().to_string(index=False))
        print(found.to_frame(counts=TABLE.dense().ravel()).round(4).to_string(index=False))
        assert found.diagnostics()["largest_standard_error"] <= 0.002
        assert found.probability_of(TABLE) > 1e-5
        assert seconds < 10


@pytest.mark.large
def test_both_routes_against_quadrature(claim):
    """No second-order interaction to a standard error of .001 on all 107 probabilities: hard for
    data augmentation, whose tables hardly move when people are many and interactions unknown."""
    (log, exact), spent = timed(by_quadrature)
    print(f"\nquadrature: {spent:.1f} s")
    for route in (importance_posterior, augment_posterior):
        found, seconds = timed(route, RELEASE, PAIRS, standard_error=0.001)
        z = (found.mass - exact) / found.errors
        print(
            f"{route.__name__}: {seconds:.1f} s ({seconds / spent:.1f} times), {found.method}, "
            f"largest z {np.abs(z).max():.2f}, spread {z.std():.2f}"
        )
        assert np.abs(z).max() < 4.5
        name = "importance" if route is importance_posterior else "augmentation"
        claim(
            "beliefs", f"No second-order interaction in the tract table, by {name}", ours=seconds,
            rival="quadrature of two parameters", theirs=spent, size="107 probabilities",
            why="Quadrature works for 2 x J x K tables alone; draws stop at an error of .001.",
        )  # fmt: skip
    one = evidence(RELEASE, PAIRS, error=0.002)
    print(f"log marginal likelihood {one.log:.4f} +- {one.error:.4f}, by quadrature {log:.4f}")
    assert abs(one.log - log) < 4 * one.error


def test_saturated_by_augmentation_against_the_sum():
    """Nine parameters and slow chains; the sum over 59,400 tables is exact."""
    exact, spent = timed(exact_posterior, RELEASE)
    for route in (importance_posterior, augment_posterior):
        found, seconds = timed(route, RELEASE, "Race*Income*Gender", standard_error=0.002)
        z = (found.mass - exact.mass) / found.errors
        print(f"\n{route.__name__}: {seconds:.1f} s, {seconds / spent:.0f} times the sum; "
              f"largest z {np.abs(z).max():.2f}, spread {z.std():.2f}")  # fmt: skip
        assert np.abs(z).max() < 4.5


def test_many_models_of_four_variables():
    """Czech table, A to D of 18 people: 4 pairs of 6 released, all 26 models."""
    whole = load("example:czech").margin("A*B*C*D")
    small = type(whole)(whole.variables, whole.codes, np.maximum(1, whole.counts // 100))
    release = Release.margins(small, "A*B + B*C + C*D + A*D")
    found, seconds = timed(posterior, release, model="average", standard_error=0.005)
    print(f"\n{seconds:.1f} s, {found.method}, {found.diagnostics()}")
    assert len(found.models) == 26
    assert abs(sum(model.weight for model in found.models) - 1) < 1e-9


def test_a_table_that_is_too_large_to_list():
    """Czech table: 1,841 people, tables walked through; known to be slow to mix."""
    table = load("example:czech")
    release = Release.margins(table, "A*C*E + A*D*E + B*C + F")
    own, _ = timed(under_model, release, release.formula, table.small())
    found, seconds = timed(
        under_model, release, "A*C*D*E + B*C + F", table.small(), standard_error=0.02
    )
    print(f"\n{seconds:.1f} s, {found.convergence}")
    print(own.matrix().round(3), found.matrix().round(3))


MIXED = ["A + B + C + D + E + F", "A*C + B*C + A*D + E + F", "A*C*E + A*D*E + B*C + F"]


@pytest.mark.parametrize("formula", MIXED)
def test_czech_averages_mix_in_a_minute(formula):
    """2^6, 1,841 people: up to 18,154 models, many as likely as the best, so that chains which
    know the whole table hardly change model. R-hat below 1.05 in 60 seconds."""
    table = load("example:czech")
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found, seconds = timed(
            posterior, Release.margins(table, formula), table.small(), model="average", seconds=60
        )
    spent = time.process_time() - begun
    notes = found.diagnostics()
    print(f"\n{formula}: {seconds:.0f} s ({spent:.0f} s of processor), {found.method}")
    print({key: notes[key] for key in ("r_hat", "effective_draws", "largest_standard_error")})
    assert notes["r_hat"] < 1.05
    assert notes["effective_draws"] > 5_000


def test_every_model_of_a_small_table():
    """A + B + C of 2^3: the chains against all 8 models, each with exact evidence."""
    table = load("example:czech").margin("A*B*C")
    small = type(table)(table.variables, table.codes, np.maximum(1, table.counts // 40))
    release = Release.margins(small, "A + B + C")
    models = decomposable_models(release.formula, lambda model: 0.0)
    weights = np.array([evidence(release, model).log for model in models])
    shares = np.exp(weights - weights.max())
    shares /= shares.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        parts = [under_model(release, model).matrix(20) for model in models]
        exact = np.einsum("m,mij->ij", shares, parts)
        found = chain_models(release, standard_error=0.002)
    got = np.zeros_like(exact)
    for cell, (low, mass) in enumerate(zip(found.low, found.mass, strict=True)):
        kept = mass[: max(0, 21 - low)]
        got[cell, low : low + len(kept)] = kept
    print(f"\n{found.method}: largest difference {np.abs(got - exact).max():.4f}")
    assert np.abs(got - exact).max() < 0.01

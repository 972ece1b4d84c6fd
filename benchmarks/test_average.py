"""Beliefs under log-linear models and their average: to how many digits, in how many seconds.

The rival of both samplers is quadrature over the two parameters that the release of the tract
table leaves open, which is exact to all digits but works for 2 x J x K tables only.
"""

import sys
import time
from pathlib import Path

import numpy as np

from discreet.intruder.posterior.average.evidence import evidence
from discreet.intruder.posterior.average.parameters import importance_posterior
from discreet.intruder.posterior.chains.augment import augment_posterior
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.one_model import under_model
from discreet.intruder.posterior.posterior import posterior
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


def test_both_routes_against_quadrature():
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

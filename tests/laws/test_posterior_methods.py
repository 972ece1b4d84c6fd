"""Every way to beliefs keeps one contract: `discreet.intruder.posterior.method.Method`."""

import json
import warnings

import numpy as np
import pytest
from scipy.special import gammaln

from clocks import set_clock
from discreet.effort import Clock
from discreet.errors import ConvergenceWarning, DataError, Stopped
from discreet.intruder.posterior.method import Question
from discreet.intruder.posterior.posterior import METHODS, posterior
from discreet.release.release import Release
from oracle import fibre, letters, named

PRIOR = 0.5
SHAPES = {"pairs": ((2, 3), [(0,), (1,)]), "chain": ((2, 2, 2), [(0, 1), (1, 2)])}
OWN = {"pairs": "A + B", "chain": "A*B + B*C"}
WHOLE = {"pairs": "A*B", "chain": "A*B*C"}
MODELS = {
    "closed form": (OWN,),
    "independent draws": (OWN,),
    "sum over tables": (OWN, WHOLE, "saturated", "uniform"),
    "chains": (OWN, WHOLE, "saturated", "uniform"),
    "importance sampling": (WHOLE,),
    "data augmentation": (WHOLE,),
    "data augmentation by chains": (WHOLE,),
    "average": ("average",),
}
CASES = [
    pytest.param(METHODS[name], shape, model if isinstance(model, str) else model[shape],
                 id=f"{name}-{shape}-{model if isinstance(model, str) else model[shape]}")
    for name, models in MODELS.items()
    for shape in SHAPES
    for model in models
    if name != "average" or shape == "pairs"  # whose two models have closed-form weights
]  # fmt: skip
each = pytest.mark.parametrize(("method", "shape", "model"), CASES)


def case(shape, seed):
    """A random small table and what is released of it."""
    sizes, margins = SHAPES[shape]
    people = np.random.default_rng(seed).integers(0, np.prod(sizes), 9)
    array = np.bincount(people, minlength=np.prod(sizes)).reshape(sizes)
    return array, margins, Release.margins(named(array), letters(margins))


def asked(method, shape, model, seed=0, error=0.02, **more):
    question = Question(
        case(shape, seed)[2], model=model, prior=PRIOR, standard_error=error, seed=seed, **more
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return method(question)


def brute(shape, model, seed):
    """Every table that fits, and its probability."""
    array, margins, _ = case(shape, seed)
    tables = fibre(array, margins)
    tables = tables.reshape(len(tables), -1)

    def normal(logs):
        mass = np.exp(logs - logs.max())
        return mass / mass.sum()

    saturated = (gammaln(tables + PRIOR) - gammaln(tables + 1.0)).sum(1)
    own = -gammaln(tables + 1.0).sum(1)
    if model == "uniform":
        return tables, normal(np.zeros(len(tables)))
    if model == OWN[shape]:
        return tables, normal(own)
    if model != "average":
        return tables, normal(saturated)
    # two models alike a priori, weighed by the probability of the release under each
    rows, columns = array.shape
    sums = ((array.sum(1), PRIOR * columns), (array.sum(0), PRIOR * rows))
    independent = sum(dirichlet_multinomial(n, np.full(len(n), a)) for n, a in sums)
    logs = [dirichlet_multinomial(t, np.full(len(t), PRIOR)) for t in tables]
    weights = normal(np.array([independent, np.logaddexp.reduce(logs)]))
    return tables, weights[0] * normal(own) + weights[1] * normal(saturated)


def dirichlet_multinomial(n, a):
    ends = gammaln(n.sum() + 1.0) + gammaln(a.sum()) - gammaln(n.sum() + a.sum())
    return float(ends + (gammaln(a + n) - gammaln(a) - gammaln(n + 1.0)).sum())


def test_every_method_is_held_to_the_contract():
    assert set(MODELS) == set(METHODS)
    assert all(method.name == name for name, method in METHODS.items())


@each
@pytest.mark.parametrize("seed", [1, 2])
def test_beliefs_are_probabilities_within_the_bounds_that_agree_with_brute_force(
    method, shape, model, seed
):
    found = asked(method, shape, model, seed)
    tables, mass = brute(shape, model, seed)
    assert found.stopped is None
    assert np.add.reduceat(found.mass, found.starts[:-1]) == pytest.approx(1, abs=1e-9)
    assert (found.mass >= 0).all()
    low, high = tables.min(0), tables.max(0)
    assert (found.low >= low).all()
    assert (found.low + np.diff(found.starts) - 1 <= high).all()
    for count in range(int(high.max()) + 1):
        true = mass @ (tables == count)
        error = found.standard_error(count)
        assert (np.abs(found.probability(count) - true) <= 4 * error + 1e-9).all()
    assert found.exact == (method.name in ("closed form", "sum over tables"))


@each
def test_a_seed_gives_its_beliefs_again_whatever_the_clock_says(method, shape, model, monkeypatch):
    first = asked(method, shape, model, error=0.05)
    for step in (0.0, 1e6):
        set_clock(monkeypatch, step)
        again = asked(method, shape, model, error=0.05)
        assert np.array_equal(first.mass, again.mass)
        assert first.method == again.method
        assert again.stopped is None


@each
@pytest.mark.parametrize("looks", [1, 8, 200])
def test_who_is_stopped_says_so(method, shape, model, looks, monkeypatch):
    """After so many looks at the clock the time is up."""
    whole = asked(method, shape, model)
    set_clock(monkeypatch, 1.0)
    said = ""
    try:
        found = asked(method, shape, model, clock=Clock(looks))
    except Stopped as stopped:
        found, said = None, str(stopped)
    if found is None:
        assert f"limit of {looks} seconds" in said
        assert "allow more seconds" in said
        return
    if found.stopped is None:
        assert np.array_equal(found.mass, whole.mass)
        return
    assert not found.exact
    assert "stopped" in repr(found)
    assert json.loads(json.dumps(found.to_json()))["stopped"] == found.stopped
    assert "Allow more seconds" in found.stopped


@each
def test_the_door_finds_each_method_by_its_name(method, shape, model):
    release = case(shape, 1)[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = posterior(release, model=model, method=method.name, standard_error=0.05)
    assert len(found) == np.prod(SHAPES[shape][0])


def test_a_method_that_does_not_fit_says_why():
    release = case("pairs", 1)[2]
    with pytest.raises(DataError, match="there is no method 'magic'; choose auto, closed form"):
        posterior(release, method="magic")
    for name, method in METHODS.items():
        for model in ("saturated", "average", "A + B"):
            reason = method.fits(Question(release, model=model))
            if reason is not None:
                with pytest.raises(DataError) as raised:
                    posterior(release, model=model, method=name)
                assert str(raised.value) == reason
    assert METHODS["closed form"].fits(Question(release, model="saturated"))
    assert METHODS["chains"].fits(Question(release, model="average"))
    assert METHODS["importance sampling"].fits(Question(release, model="uniform"))
    assert METHODS["average"].fits(Question(release, model="saturated"))

"""What is predicted of a sensitive value from a released file with errors in every column."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from discreet.errors import DataError
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.harm import Costs, harm
from discreet.risk.linkage.identification import identify
from discreet.risk.linkage.inference import Covariate, logistic

COSTS = {"FN": 1, "TN": 2, "FF": 10, "FT": 6, "TF": 8, "TT": 5}
AGE = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 0.02}}})


def observed(y, q, rng):
    return (y ^ (rng.random(len(y)) > q)).astype(np.int64)


def test_wrong_values_do_not_bias_what_is_fitted():
    """Values that are wrong with probability .1, covariates as they are."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=50_000)
    p = expit(0.5 + 1.5 * x)
    fit = logistic(observed(rng.random(len(x)) < p, 0.9, rng), [Covariate.number("x", x)], 0.9)
    assert fit.prior[:, 1] == pytest.approx(p, abs=0.03)
    assert (np.abs(fit.coefficients - [0.5, 1.5]) < 3 * fit.standard_errors).all()


@pytest.mark.parametrize("seed", range(2))
def test_errors_in_covariates_do_not_bias_what_is_fitted(seed):
    """A number with error that goes with one without, another, and a category that is wrong in 15
    of 100; taken as they are, the slopes are too flat by more than a fourth."""
    rng = np.random.default_rng(seed)
    n = 10_000
    age, height = 3 + 2 * rng.normal(size=n), rng.normal(size=n)
    income, town = 0.5 * age + rng.normal(size=n), rng.integers(0, 3, n)
    true = np.array([-1.5, 0.8, -0.5, 0.6, 0.7, -1])
    town_effect = np.array([0, *true[4:]])[town]
    y = rng.random(n) < expit(
        true[0] + true[1] * age + true[2] * income + true[3] * height + town_effect
    )
    seen = observed(y, 0.95, rng)
    old, tall = age + 1.2 * rng.normal(size=n), height + 0.6 * rng.normal(size=n)
    told = np.where(rng.random(n) < 0.85, town, (town + rng.integers(1, 3, n)) % 3)
    named = np.array([*"abc"], object)[told]

    def fitted(spread, other, keep):
        columns = Covariate.number("age", old, spread), Covariate.number("income", income)
        more = Covariate.number("height", tall, other), Covariate.category("town", named, keep)
        return logistic(seen, [*columns, *more], 0.95)

    naive, fit = fitted(0, 0, 1.0), fitted(1.2, 0.6, 0.85)
    assert (np.abs(naive.coefficients[1:]) < 0.75 * np.abs(true[1:]) + 0.02).all()
    assert (naive.coefficients[1] + 10 * naive.standard_errors[1]) < true[1]
    assert (np.abs(fit.coefficients - true) < 3 * fit.standard_errors).all()
    # who is predicted from values with the same errors is predicted alike
    assert fit.chance == pytest.approx(naive.chance, abs=0.02)


def direct(seen, q, means, spread, shares, beta):
    """Minus the log-likelihood of a number with normal error and a category with errors, by sums
    over a fine grid of true numbers and over true categories."""
    grid = np.linspace(-7, 7, 701)
    weight = norm.pdf(grid) * (grid[1] - grid[0])
    p = np.zeros(len(seen))
    for place, effect in enumerate([0, *beta[2:]]):
        at = beta[0] + beta[1] * (means[:, None] + spread * grid) + effect
        p += shares[:, place] * (expit(at) @ weight)
    pi = q * p + (1 - q) * (1 - p)
    return -np.log(np.where(seen == 1, pi, 1 - pi)).sum(), p


def test_a_small_file_against_integration():
    """Ages vary by 4 and are in error by 1.5, so that true ages are .859375 of the way from the
    mean to the released one, with variance 1.5^2 .859375. 6 of 10 say a, right 9 times of 10: the
    share of a is (.6 - .1) / .8 = .625, and an a is true with .9 .625 / .6 = .9375, a b false
    with .1 .625 / .4 = .15625."""
    age = np.tile([-6.0, -4, -3, -2, -1, 1, 2, 3, 4, 6], 6)
    age *= 4 / age.std()
    sex = np.array([*"abaabaabab"] * 6, object)
    rng = np.random.default_rng(1)
    seen = (rng.random(60) < expit(0.2 * age + (sex == "b"))).astype(np.int64)
    reliability = 1 - 1.5**2 / 16
    shares = np.where((sex == "a")[:, None], [0.9375, 0.0625], [0.15625, 0.84375])
    fit = logistic(
        seen, [Covariate.number("age", age, 1.5), Covariate.category("sex", sex, 0.9)], 0.95
    )
    case = seen, 0.95, reliability * age, 1.5 * np.sqrt(reliability), shares
    best = minimize(lambda b: direct(*case, b)[0], np.zeros(3), method="Nelder-Mead",
                    options={"xatol": 1e-7, "fatol": 1e-10})  # fmt: skip
    assert fit.coefficients == pytest.approx(best.x, rel=2e-3)
    assert fit.chance == pytest.approx(direct(*case, fit.coefficients)[1], abs=1e-6)


def test_errors_of_two_numbers_are_one_integral():
    """b t is normal: the chance is its mean over a grid of both true numbers."""
    rng = np.random.default_rng(4)
    z = rng.multivariate_normal([0, 0], [[2, 0.8], [0.8, 1]], 400)
    seen = (rng.random(400) < expit(z @ [1, -1])).astype(np.int64)
    errors = np.array([0.7, 0.4])
    fit = logistic(
        seen, [Covariate.number("x", z[:, 0], 0.7), Covariate.number("y", z[:, 1], 0.4)], 1
    )
    whole, noise = np.cov(z.T, bias=True), np.diag(errors**2)
    mean = z.mean(0) + (z[0] - z.mean(0)) @ np.linalg.solve(whole, whole - noise)
    root = np.linalg.cholesky(noise - noise @ np.linalg.solve(whole, noise))
    grid = np.linspace(-6, 6, 121)
    first, second = np.meshgrid(grid, grid)
    weight = norm.pdf(first) * norm.pdf(second) * 0.1**2
    line = fit.coefficients[0] + sum(
        b * (m + r[0] * first + r[1] * second)
        for b, m, r in zip(fit.coefficients[1:], mean, root, strict=True)
    )
    assert fit.chance[0] == pytest.approx((expit(line) * weight).sum(), abs=1e-6)


def test_errors_that_cannot_be():
    x = np.array([1.0, 2, 3, 4, 5, 6])
    y = np.array([0, 1, 0, 1, 0, 1])
    with pytest.raises(DataError, match=r"'x' has a spread of 1\.708 as released, of which 1\.8"):
        logistic(y, [Covariate.number("x", x, 1.8)], 1)
    almost = x + np.array([0.1, -0.1, 0, 0.1, -0.1, 0])
    both = [Covariate.number("x", x, 1.0), Covariate.number("z", almost)]
    with pytest.raises(DataError, match="errors of x are larger than what these columns vary"):
        logistic(y, both, 1)
    with pytest.raises(DataError, match="2 values of 'c' tell nothing"):
        logistic(y, [Covariate.category("c", np.array([*"ababab"], object), 0.5)], 1)
    wide = [Covariate.category(n, np.array([*"abcdef"], object), 0.9) for n in "cdef"]
    with pytest.raises(DataError, match="c, d, e, f have 1,296 combinations"):
        logistic(y, wide, 1)
    with pytest.raises(DataError, match=r"q = 0\.5"):
        logistic(y, [Covariate.number("x", x)], 0.5)


@pytest.fixture
def files():
    rng = np.random.default_rng(8)
    age = rng.permutation(np.arange(20, 80, 0.5))
    people = pd.DataFrame({"id": range(len(age)), "age": age, "sex": rng.integers(0, 2, len(age))})
    people["ill"] = np.where(rng.random(len(age)) < expit((age - 50) / 20), "yes", "no")
    return people, people.assign(age=age + rng.normal(size=len(age)) / 50)


def felt(files, **content):
    known = {"sensitive": "ill", "q": 0.9, "predict": ["age", "sex"]}
    known["bayes"] = {"F": {"no": 0, "yes": 1}, "T": {"no": 0, "yes": 1}}
    records = read_records(*files, AGE, id="id", also=["ill", "age", "sex"])
    found = identify(records, AGE, act=0.3)
    return found, harm(records, found, Costs.of(known | content))


def test_a_harm_file_with_errors(files):
    """A category may be written in numbers. The harm is what is believed of yes (equation 3)."""
    age, sex = files[1]["age"].to_numpy(), files[1]["sex"].to_numpy()
    seen = (files[1]["ill"] == "yes").to_numpy() * 1
    for spread, keep in ((0.0, 1.0), (8.0, 0.95)):
        errors = {"age": {"spread": spread}, "sex": {"keep": keep}} if spread else {}
        found, cost = felt(files, errors=errors)
        covariates = [Covariate.number("age", age, spread), Covariate.category("sex", sex, keep)]
        p = logistic(seen, covariates, 0.9).chance
        right = np.where(seen == 1, 0.9, 0.1)
        believed = right * p / (right * p + (1 - right) * (1 - p))
        assert found.linked.sum() > 80
        assert cost.harm[found.linked] == pytest.approx(
            believed[found.links.best[found.linked]], abs=1e-4
        )
    with pytest.raises(DataError, match="'age' has a spread of 17"):
        felt(files, errors={"age": {"spread": 20.0}})
    with pytest.raises(DataError, match=r"row 1 of .* in 'sex', where a number is needed"):
        felt([f.assign(sex=[*"fm"] * 60) for f in files], errors={"sex": {"spread": 1}})
    gone = files[1].assign(age=files[1]["age"].where(files[1]["id"] > 0))
    person = Intruder.of({"keys": {"sex": {"kind": "category", "keep": 0.9}}})
    records = read_records(files[0], gone, person, id="id", also=["ill", "age", "sex"])
    costs = Costs.of({"sensitive": "ill", "costs": COSTS, "predict": "age"})
    with pytest.raises(DataError, match="'age' has missing values"):
        harm(records, identify(records, person), costs)


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ({"town": {"spread": 1}}, "'town', which is not known"),
        ({"age": 2.0}, "errors.age of .* must be a table"),
        ({"age": {"spread": 1, "keep": 0.5}}, "needs the spread of a number, or keep"),
        ({"age": {"spread": 0}}, "spread in errors.age of .* is 0"),
        ({"age": {"keep": 1.5}}, "keep in errors.age of .* is 1.5"),
        ({"age": {"sd": 1}}, "'sd'"),
    ],
)
def test_errors_that_are_refused(errors, words):
    content = {"sensitive": "ill", "costs": COSTS, "predict": ["age"], "errors": errors}
    with pytest.raises(DataError, match=words):
        Costs.of(content)


@pytest.mark.parametrize("number", [2, 3])
def test_beliefs_of_a_category_are_those_of_all_truths(number):
    """P[true | released] sums to 1 and gives back the released shares."""
    labels = np.array([str(k) for k in [0] * 50 + [1] * 30 + [number - 1] * 20], object)
    covariate = Covariate.category("c", labels, 0.9)
    beliefs = covariate.beliefs
    assert beliefs.sum(1) == pytest.approx(1)
    table = np.full((number, number), 0.1 / (number - 1)) + np.eye(number) * (
        0.9 - 0.1 / (number - 1)
    )
    shares = np.array([np.mean(labels == str(k)) for k in range(number)])
    for true, said in itertools.product(range(number), repeat=2):
        rows = labels == str(said)
        held = beliefs.mean(0)[true] * table[true, said] / shares[said]
        assert beliefs[rows, true] == pytest.approx(held, abs=1e-6)

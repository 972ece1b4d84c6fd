"""Interval overlap by hand; estimates against numpy and scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import minimize

from discreet.errors import DataError
from discreet.utility.overlap import estimates, interval_overlap
from discreet.utility.regression import linear, logistic, mean, proportion


@pytest.mark.parametrize(
    ("a", "b", "overlap"),
    [
        ((0, 1), (0, 1), 1),
        ((0, 2), (1, 3), 0.5),
        ((0, 4), (1, 2), 0.5 * (1 / 4 + 1)),
        ((0, 4), (3, 5), 0.5 * (1 / 4 + 1 / 2)),
        ((0, 1), (1, 2), 0),
        ((0, 1), (5, 6), 0),
        ((2, 2), (2, 2), 1),
        ((0, 4), (3, 3), 0.5),
        ((0, 4), (5, 5), 0),
    ],
)
def test_overlap_by_hand(a, b, overlap):
    """Karr et al. 2006, section 3: the mean of the shares that two intervals have in common."""
    assert interval_overlap(a, b) == pytest.approx(overlap, abs=1e-15)
    assert interval_overlap(b, a) == pytest.approx(overlap, abs=1e-15)


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 70, n)
    sex = rng.choice(["f", "m"], n)
    wage = 5 + 0.1 * age + 2 * (sex == "m") + rng.normal(0, 2, n)
    ill = rng.random(n) < 1 / (1 + np.exp(4 - 0.07 * age))
    frame = pd.DataFrame({"age": age, "sex": sex, "wage": wage, "ill": np.where(ill, "yes", "no")})
    return frame.assign(w=rng.integers(1, 5, n))


def test_means_and_proportions():
    one, two = people(1), people(2)
    found = estimates(one, two, [mean("wage"), proportion("sex", "f")], level=0.9).to_frame()
    z = stats.norm.ppf(0.95)
    for row, (a, b) in enumerate(
        [(one["wage"], two["wage"]), (one["sex"] == "f", two["sex"] == "f")]
    ):
        a, b = a.astype(float), b.astype(float)
        assert found["true low"][row] == pytest.approx(a.mean() - z * a.sem())
        assert found["masked high"][row] == pytest.approx(b.mean() + z * b.sem())
        assert found["standardised"][row] == pytest.approx((b.mean() - a.mean()) / a.sem())
        ends = [(x.mean() - z * x.sem(), x.mean() + z * x.sem()) for x in (a, b)]
        assert found["overlap"][row] == pytest.approx(interval_overlap(*ends))


def test_linear_regression_by_scipy():
    one = people(3)
    found = estimates(one, one, [linear("wage", ["age"])]).to_frame()
    known = stats.linregress(one["age"], one["wage"])
    assert found["true"].tolist() == pytest.approx([known.intercept, known.slope])
    half = (found["true high"] - found["true low"]) / 2 / stats.norm.ppf(0.975)
    assert half.tolist() == pytest.approx([known.intercept_stderr, known.stderr])
    assert (found["overlap"] == 1).all()


def test_regressions_with_categories():
    one = people(4)
    x = np.column_stack([np.ones(len(one)), one["age"], one["sex"] == "m"]).astype(float)
    found = estimates(one, one, [linear("wage", ["age", "sex"])])
    assert found.names[2] == "linear wage on age, sex: sex=m"
    np.testing.assert_allclose(found.true, np.linalg.lstsq(x, one["wage"], rcond=None)[0])
    y = (one["ill"] == "yes").to_numpy(float)
    wanted = minimize(
        lambda b: np.logaddexp(0, x @ b).sum() - y @ (x @ b), np.zeros(3), method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-9, "maxiter": 5000},
    ).x  # fmt: skip
    fit = estimates(one, one, [logistic("ill", ["age", "sex"], "yes")])
    np.testing.assert_allclose(fit.true, wanted, atol=1e-4)
    p = 1 / (1 + np.exp(-x @ wanted))
    error = np.sqrt(np.diag(np.linalg.inv(x.T @ (x * (p * (1 - p))[:, None]))))
    np.testing.assert_allclose(fit.true_error, error, rtol=1e-4)


def test_weights_count_records_as_often_and_errors_are_robust():
    """Weighted estimates are those of repeated records; errors of a mean are linearised."""
    one = people(5, 80)
    goals = [mean("wage"), linear("wage", ["age"]), logistic("ill", ["age"], "yes")]
    weighted = estimates(one, one, goals, weight="w")
    repeated = one.loc[one.index.repeat(one["w"])]
    np.testing.assert_allclose(weighted.true, estimates(repeated, one, goals).true, atol=1e-6)
    w, y = one["w"].to_numpy(float), one["wage"].to_numpy()
    middle = np.average(y, weights=w)
    error = np.sqrt((w**2 * (y - middle) ** 2).sum() * len(y) / (len(y) - 1)) / w.sum()
    assert weighted.true_error[0] == pytest.approx(error)
    same = one.assign(w=3)
    plain, alike = estimates(same, same, goals[:1]), estimates(same, same, goals[:1], weight="w")
    assert plain.true_error[0] == pytest.approx(alike.true_error[0])


def test_intervals_of_weighted_regression_cover():
    """Records are drawn with chances that depend on the outcome; the weights repair it."""
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(200):
        x = rng.normal(size=800)
        y = 1 + 2 * x + rng.normal(size=800) * (1 + np.abs(x))
        chance = np.where(y > 1, 0.6, 0.2)
        taken = rng.random(800) < chance
        file = pd.DataFrame({"x": x, "y": y, "w": 1 / chance})[taken]
        found = estimates(file, file, [linear("y", ["x"])], weight="w").to_frame()
        covered += found["true low"][1] <= 2 <= found["true high"][1]
    assert 0.90 <= covered / 200 <= 0.985


def test_missing_values_and_categories_that_are_gone():
    one = people(6)
    one.loc[:20, "wage"] = np.nan
    two = one.assign(sex="f")
    found = estimates(one, two, [mean("wage"), linear("wage", ["sex"])])
    assert found.true[0] == pytest.approx(one["wage"].mean())
    assert np.isnan(found.masked[2])
    assert found.overlap[2] == 0
    assert found.to_json()["estimates"][2]["masked"] is None


def test_coefficients_are_compared_with_the_same_base():
    """A category that is recoded away as the base leaves nothing to compare, and that is said."""
    one = people(9).assign(
        town=lambda f: np.where(f["age"] < 35, "a", np.where(f["age"] < 50, "b", "c"))
    )
    extra = one.assign(town=one["town"].replace({"c": "*"}))  # sorts before the base
    found = estimates(one, extra, [linear("wage", ["town"])])
    assert [name.rpartition(" ")[2] for name in found.names] == ["constant", "town=b", "town=c"]
    np.testing.assert_allclose(found.masked[:2], found.true[:2])
    assert np.isnan(found.masked[2])
    gone = estimates(
        one, one.assign(town=one["town"].replace({"a": "b"})), [linear("wage", ["town"])]
    )
    assert np.isnan(gone.masked).all()
    assert gone.mean == 0
    assert "nobody has town=a" in gone.said[0]
    coarse = estimates(one, one.assign(age="20-70"), [mean("age"), linear("wage", ["age"])])
    assert (coarse.mean, len(coarse.said)) == (0, 2)


def test_what_cannot_be_estimated_is_refused():
    one = people(7, 10)
    with pytest.raises(DataError, match="lower end first"):
        interval_overlap((1, 0), (0, 1))
    with pytest.raises(DataError, match="where a number is needed"):
        estimates(one, one, [mean("sex")])
    with pytest.raises(DataError, match="not 0 or 1"):
        estimates(one, one, [logistic("age", ["wage"])])
    with pytest.raises(DataError, match="list of names"):
        linear("wage", "age")
    with pytest.raises(DataError, match="too few"):
        estimates(one[:1], one, [mean("wage")])
    with pytest.raises(DataError, match="level=2"):
        estimates(one, one, [mean("wage")], level=2)

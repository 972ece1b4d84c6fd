"""The pMSE against a plain optimiser and its null means against simulated files."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from discreet.errors import DataError
from discreet.utility.logistic import fit_logistic, independent
from discreet.utility.propensity import pmse

NAMES = ["a", "b", "c"]


def simulate(null, files, people, copies, seed, *, shape=(2, 2, 3)):
    """Ratios of the pMSE to its mean, for masked files that lose nothing under one reading.

    Cells are drawn from one distribution; a synthesised file is drawn from the independence model
    fitted to the true file, whose margins are all that a model of main effects looks at.
    """
    rng = np.random.default_rng(seed)
    margins = [rng.dirichlet(np.full(n, 5.0)) for n in shape]
    found = []
    for _ in range(files):
        true = [rng.choice(len(p), people, p=p) for p in margins]
        fitted = [np.bincount(c, minlength=n) / people for c, n in zip(true, shape, strict=True)]
        source = margins if null == "independent" else fitted
        masked = [rng.choice(len(p), copies, p=p) for p in source]
        one, two = (pd.DataFrame(dict(zip(NAMES, each, strict=True))) for each in (true, masked))
        one, two = one.astype(str), two.astype(str)
        result = pmse(one, two, columns=NAMES, null=null)
        assert result.parameters == 1 + sum(n - 1 for n in shape)
        found.append((result.ratio, result.standardised))
    return np.array(found)


@pytest.mark.parametrize("null", ["independent", "synthesised"])
def test_null_means_by_simulation(null):
    """Within four standard errors of 1, and more than ten from the other form's mean."""
    found = simulate(null, files=250, people=900, copies=600, seed=7)
    ratio, error = found[:, 0].mean(), found[:, 0].std() / np.sqrt(len(found))
    assert abs(ratio - 1) < 4 * error
    other = 1 / 0.6 if null == "synthesised" else 0.6  # 1 - c = .6
    assert abs(ratio - other) > 5 * error
    assert found[:, 1].std() == pytest.approx(1, abs=0.2)


def by_optimiser(x, y):
    """Log-likelihood maximised by another method."""

    def loss(b):
        odds = x @ b
        return np.logaddexp(0, odds).sum() - y @ odds

    def slope(b):
        return x.T @ (1 / (1 + np.exp(-x @ b)) - y)

    return minimize(loss, np.zeros(x.shape[1]), jac=slope, method="BFGS", tol=1e-10).x


@pytest.mark.parametrize(
    ("model", "squares"), [("main", False), ("main", True), ("two-way", False)]
)
def test_pmse_of_mixed_columns_by_another_method(model, squares):
    rng = np.random.default_rng(1)
    files = []
    for shift, n in ((0.0, 120), (0.4, 90)):
        sex = rng.choice(["f", "m"], n)
        age = rng.normal(40 + 10 * shift, 12, n)
        files.append(pd.DataFrame({"sex": sex, "age": age, "town": rng.choice(["x", "y", "z"], n)}))
    found = pmse(*files, columns=["sex", "age", "town"], model=model, squares=squares)
    both = pd.concat(files, ignore_index=True)
    z = ((both["age"] - both["age"].mean()) / both["age"].std()).to_numpy()
    m, y1, y2 = (
        (both[c] == v).to_numpy(float) for c, v in (("sex", "m"), ("town", "y"), ("town", "z"))
    )
    x = [np.ones(len(both)), m, z, y1, y2]
    if squares:
        x.append(z**2)
    if model == "two-way":
        x += [m * z, m * y1, m * y2, z * y1, z * y2]
    x = np.column_stack(x)
    y = np.repeat([0.0, 1.0], [120, 90])
    p = 1 / (1 + np.exp(-x @ by_optimiser(x, y)))
    assert found.parameters == x.shape[1]
    assert found.share == pytest.approx(90 / 210)
    assert found.pmse == pytest.approx(np.mean((p - 90 / 210) ** 2), rel=1e-5)
    assert not found.regularised


def test_a_saturated_model_of_one_column_by_hand():
    """p_i is the share of masked records among those alike: .4 of f, .6 of m."""
    true = pd.DataFrame({"sex": ["f"] * 6 + ["m"] * 4})
    masked = pd.DataFrame({"sex": ["f"] * 4 + ["m"] * 6})
    found = pmse(true, masked, columns=["sex"])
    assert found.pmse == pytest.approx(0.01, abs=1e-9)
    assert found.mean() == pytest.approx(0.25 / 20)
    assert found.mean("synthesised") == pytest.approx(0.125 / 20)
    assert found.deviation() == pytest.approx(np.sqrt(2) * 0.25 / 20)
    assert found.to_frame()["ratio"].tolist() == pytest.approx([0.8, 1.6])


def test_the_same_file_has_no_pmse_and_separated_files_say_so():
    rng = np.random.default_rng(2)
    file = pd.DataFrame({"a": rng.choice(list("xy"), 50), "n": rng.normal(size=50)})
    assert pmse(file, file, columns=["a", "n"]).pmse == pytest.approx(0, abs=1e-12)
    coarse = file.assign(a="*")
    found = pmse(file, coarse, columns=["a", "n"])
    assert found.regularised
    assert found.pmse == pytest.approx(0.25, abs=1e-3)
    assert "separated" in repr(found)
    assert found.to_json()["said"]


def test_one_record_apart_is_separation():
    """A category that a single true record has: its log odds have no finite estimate."""
    true = pd.DataFrame({"a": ["x"] * 3000 + ["rare"]})
    masked = pd.DataFrame({"a": ["x"] * 3001})
    assert pmse(true, masked, columns=["a"]).regularised


def test_missing_values_are_a_category_and_an_indicator():
    true = pd.DataFrame({"a": ["x", None, "x", "y"] * 20, "n": [1.0, None, 2.0, 3.0] * 20})
    masked = pd.DataFrame({"a": ["x", None, "y", None] * 20, "n": [1.0, 2.0, 3.0, None] * 20})
    assert pmse(true, masked, columns=["a"]).parameters == 3
    found = pmse(true, masked, columns=["n"])
    assert found.parameters == 3


def test_columns_that_follow_from_others_are_not_parameters():
    x = np.array([[1.0, 0, 1, 0], [1, 1, 0, 2], [1, 0, 1, 0], [1, 1, 0, 5]])
    assert independent(x, np.ones(4)).tolist() == [0, 1, 3]


def test_counts_are_repeated_rows():
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    n = rng.integers(1, 5, 12)
    yes = rng.binomial(n, 0.5)
    yes[0] = n[0]
    one = fit_logistic(x, yes.astype(float), n.astype(float))
    rows = np.repeat(x, n, axis=0)
    y = np.concatenate([np.repeat([1.0, 0.0], [a, b - a]) for a, b in zip(yes, n, strict=True)])
    two = fit_logistic(rows, y, np.ones(len(y)))
    np.testing.assert_allclose(one.coefficients, two.coefficients, atol=1e-6)
    np.testing.assert_allclose(one.coefficients, by_optimiser(rows, y), atol=1e-4)


def test_wrong_words_are_refused():
    file = pd.DataFrame({"a": list("xyxy")})
    with pytest.raises(DataError, match="null='none'"):
        pmse(file, file, columns=["a"], null="none")
    with pytest.raises(DataError, match="model='three'"):
        pmse(file, file, columns=["a"], model="three")
    with pytest.raises(DataError, match="no column 'b'"):
        pmse(file, file, columns=["b"])
    with pytest.raises(DataError, match="tell nothing apart"):
        pmse(file.assign(a="x"), file.assign(a="x"), columns=["a"])

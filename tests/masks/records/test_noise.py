"""Noise of the stated spread and correlation, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.noise import Noise

N = 20_000


def people(seed, n=N):
    rng = np.random.default_rng(seed)
    a = rng.normal(40, 12, n)
    frame = pd.DataFrame({"a": a, "b": 2 * a + rng.normal(0, 30, n), "c": rng.lognormal(3, 1, n)})
    frame.loc[rng.random(n) < 0.1, "b"] = np.nan
    return RecordFile(frame)


@pytest.mark.parametrize("keep", ["nothing", "means"])
@pytest.mark.parametrize("kind", ["independent", "correlated", "multiplicative"])
def test_noise_has_the_law_that_the_key_says(kind, keep):
    file = people(1)
    names = ("c",) if kind == "multiplicative" else ("a", "b")
    mask = Noise(names, spread=0.3, kind=kind, keep=keep)
    masked = mask.apply(file, np.random.default_rng(5))
    assert mask.broken(file, masked) == []
    units = {}
    for name in names:
        x, y = masked.data[name].to_numpy(), file.data[name].to_numpy()
        times = kind == "multiplicative"
        gap = np.log(x / y) if times else x - y
        key = masked.keys[name]
        assert key.kind is (Kind.LOGNORMAL if times else Kind.NORMAL)
        spread = 0.3 * (1 if times else np.nanstd(y, ddof=1))
        assert key.spread == (pytest.approx(spread),)
        units[name] = gap / spread
        there = gap[~np.isnan(y)] / spread
        assert kstest(there, "norm").pvalue > 1e-3
        if keep == "means":
            assert abs(there.mean()) < 1e-12
    if kind != "multiplicative":
        both = ~np.isnan(units["b"])
        found = np.corrcoef(units["a"][both], units["b"][both])[0, 1]
        told = masked.correlation.get(("a", "b"), 0.0)
        whole = file.data.dropna()
        assert told == (0 if kind == "independent" else pytest.approx(whole["a"].corr(whole["b"])))
        assert abs(np.arctanh(found) - np.arctanh(told)) < 4 / np.sqrt(both.sum())


def test_correlated_noise_keeps_correlations():
    """Kim 1986: covariances are 1 + spread^2 times those before."""
    file = RecordFile(people(2).data.dropna())
    masked = Noise(("a", "b"), spread=0.5, kind="correlated").apply(file, np.random.default_rng(6))
    before, after = (np.cov(d[["a", "b"]].T) for d in (file.data, masked.data))
    assert after == pytest.approx(before * 1.25, rel=0.05)


def test_a_list_is_in_units_of_the_columns():
    masked = Noise.of({"columns": ["a", "c"], "spread": [2, 5]}).apply(
        people(3), np.random.default_rng(7)
    )
    assert [masked.keys[name].spread for name in "ac"] == [(2.0,), (5.0,)]
    assert (masked.data["c"] - people(3).data["c"]).std() == pytest.approx(5, rel=0.03)


def test_members_who_share_a_number_are_told_of():
    frame = pd.DataFrame({"home": [1, 1, 2, 2], "rent": [5.0, 5, 9, 9], "age": [3.0, 40, 50, 20]})
    file = RecordFile(frame, household="home")
    said = Noise(("rent", "age"), spread=0.1).apply(file, np.random.default_rng(1)).said
    assert any("share rent" in one for one in said)
    assert not any("share age" in one for one in said)


def test_the_promise_is_looked_at():
    file = people(4, 100)
    mask = Noise("b", spread=0.1, keep="means")
    masked = mask.apply(file, np.random.default_rng(8))
    for wrong in (
        masked.data.assign(b=masked.data["b"] + 1e-3),
        masked.data.assign(b=masked.data["b"].fillna(3)),
        masked.data.assign(a=0),
        masked.data.assign(b=masked.data["b"].to_numpy()[::-1]),
    ):
        assert mask.broken(file, type(masked)(wrong, masked.rows, masked.keys))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"spread": 0}, "spread of noise is 0"),
        ({"spread": 0.1, "kind": "loud"}, "'loud'"),
        ({"spread": 0.1, "keep": "moments"}, "'moments'"),
        ({"spread": 0.1, "kind": "multiplicative"}, "numbers above 0"),
        ({"spread": (1, 2, 3)}, "3 values for 2 columns"),
        ({"spread": 0.1, "columns": ("zero", "a")}, "does not vary"),
        ({"spread": 0.1, "kind": "correlated", "columns": ("a", "twice")}, "depend on each other"),
    ],
)
def test_wrong_options(options, said):
    file = people(5, 50)
    data = file.data.assign(a=file.data["a"] - 40, zero=1.0)
    data["twice"] = 2 * data["a"]
    with pytest.raises(DataError, match=said):
        Noise(**{"columns": ("a", "b"), **options}).apply(
            RecordFile(data), np.random.default_rng(1)
        )


@pytest.mark.parametrize(("kind", "spread"), [("independent", 4000.0), ("multiplicative", 2.0)])
def test_the_last_digits_tell_nothing(kind, spread):
    """Of a sum or a factor in floating point they tell which of two numbers it can be of."""
    rng = np.random.default_rng(5)
    pay = rng.choice([700, 1700], 20_000)
    file = RecordFile(pd.DataFrame({"pay": pay}))
    x = Noise("pay", spread=(spread,), kind=kind).apply(file, rng).data["pay"].to_numpy()

    def can_be(y):
        if kind == "multiplicative":
            factor = x / y
            near = [np.nextafter(factor, 0), factor, np.nextafter(factor, np.inf)]
            return np.any([y * one == x for one in near], 0)
        noise = np.abs(x - y)
        return (np.abs(x) >= noise) | (np.remainder(x, np.spacing(noise)) == 0)

    low, high = can_be(700), can_be(1700)
    told = low != high
    assert told.sum() > 500
    assert (np.where(low, 700, 1700) == pay)[told].mean() < 0.6

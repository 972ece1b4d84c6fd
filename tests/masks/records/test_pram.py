"""PRAM: the matrix is invariant, and records follow it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.pram import Pram, deviation


def some_file(rng, n=400):
    data = pd.DataFrame(
        {
            "town": rng.choice(list("abcdefg"), n, p=rng.dirichlet(np.ones(7))),
            "size": rng.integers(1, 5, n),
            "weight": rng.uniform(1, 9, n),
        }
    )
    data.loc[rng.integers(0, n, 5), "town"] = None
    return RecordFile(data, weight="weight")


def test_invariant_to_1e_12_on_100_files():
    rng = np.random.default_rng(1)
    worst = 0.0
    for turn in range(100):
        file = some_file(rng, int(rng.integers(10, 300)))
        options = {"keep": rng.uniform(0, 1), "alpha": rng.uniform(0, 1), "weighted": turn % 2 > 0}
        mask = Pram(("town", "size"), **options)
        masked = mask.apply(file, rng)
        assert mask.broken(file, masked) == []
        for name, key in masked.keys.items():
            assert key.kind is Kind.CATEGORY
            labels = file.data[name].dropna()
            labels = labels.astype(str)
            weights = file.data["weight"] if options["weighted"] else file.data["weight"] * 0 + 1
            p = weights.loc[labels.index].groupby(labels).sum()
            p /= p.sum()
            R = pd.DataFrame(key.matrix).T.reindex(index=p.index, columns=p.index).fillna(0)
            worst = max(worst, np.abs(p.to_numpy() @ R.to_numpy() - p.to_numpy()).max())
            assert np.allclose(R.sum(axis=1), 1, atol=1e-12)
        assert masked.data["town"].isna().equals(file.data["town"].isna())
        assert masked.data["size"].dtype == file.data["size"].dtype
    assert worst < 1e-12


def test_the_diagonal_is_at_least_what_is_kept():
    """alpha P Q + (1 - alpha) I with P_ii >= keep: at least alpha keep q_ii + 1 - alpha."""
    rng = np.random.default_rng(2)
    file = some_file(rng)
    matrix = Pram("town", keep=0.9, alpha=0.5).apply(file, rng).keys["town"].matrix
    assert all(row[name] > 0.5 for name, row in matrix.items())
    plain = Pram("town", keep=0.9, invariant=False).apply(file, rng).keys["town"].matrix
    assert all(row[name] >= 0.9 for name, row in plain.items())
    assert deviation(file, "town", plain) > 1e-6


def test_records_follow_the_matrix():
    """Chi-square of changes counted over files against the matrix."""
    rng = np.random.default_rng(3)
    file = RecordFile(pd.DataFrame({"town": list("aaaaaabbbc") * 400}))
    matrix = {
        "a": {"a": 0.7, "b": 0.2, "c": 0.1}, "b": {"a": 0.3, "b": 0.7},
        "c": {"a": 0.25, "b": 0.25, "c": 0.5},
    }  # fmt: skip
    mask = Pram("town", matrix={"town": matrix})
    masked = mask.apply(file, rng)
    assert mask.broken(file, masked) == []
    seen = pd.crosstab(file.data["town"], masked.data["town"])
    for name, row in matrix.items():
        expected = np.array([row.get(to, 0) for to in "abc"]) * seen.loc[name].sum()
        there = expected > 0
        assert seen.loc[name].to_numpy()[~there].sum() == 0
        off = ((seen.loc[name].to_numpy() - expected)[there] ** 2 / expected[there]).sum()
        assert chi2.sf(off, there.sum() - 1) > 1e-4


def test_a_household_changes_as_a_whole():
    rng = np.random.default_rng(4)
    home = np.repeat(np.arange(200), 3)
    data = pd.DataFrame({"home": home, "town": rng.choice(list("abc"), 200)[home]})
    data["sex"] = rng.choice(["f", "m"], 600)
    file = RecordFile(data, household="home")
    masked = Pram(("town", "sex"), keep=0.3, alpha=1.0).apply(file, rng)
    assert masked.data.groupby("home")["town"].nunique().max() == 1
    assert (masked.data["town"] != data["town"]).any()
    changed = (masked.data["sex"] != data["sex"]).groupby(home).sum()
    assert set(changed) == {0, 1, 2, 3}


def test_a_broken_promise_is_found():
    rng = np.random.default_rng(5)
    file = some_file(rng)
    mask = Pram("town")
    masked = mask.apply(file, rng)
    masked.data.loc[file.data["town"].isna(), "town"] = "a"
    assert mask.broken(file, masked) == ["missing values of 'town' have changed."]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": "town", "keep": 1.5}, "keep is 1.5"),
        ({"columns": "town", "matrix": {"sex": {}}}, "not in columns"),
        ({"columns": "town", "matrix": {"town": {"a": {"a": 1}}}}, "no row for 'b'"),
        ({"columns": "town", "matrix": {"town": {"a": {"a": 0.5}}}}, "sum to 0.5"),
        ({"columns": "town", "weighted": True}, "no weight"),
    ],
)
def test_errors_name_the_value(options, said):
    file = RecordFile(pd.DataFrame({"town": list("ab")}))
    with pytest.raises(DataError, match=said):
        Pram.of(options).apply(file, np.random.default_rng(1))

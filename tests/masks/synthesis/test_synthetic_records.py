"""Synthetic files of records."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.synthesis.records import PrivateRecords, Synthesise


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    ill = np.where(rng.random(n) < np.where(sex == "f", 0.7, 0.2), "yes", "no")
    town = rng.choice(["A", "B", None], n, p=[0.5, 0.4, 0.1])
    grade = rng.integers(1, 4, n)
    return pd.DataFrame({"sex": sex, "ill": ill, "town": town, "grade": grade})


MODELS = [
    {"model": "graphical"},
    {"model": "averaged"},
    {"model": "formula", "formula": "sex*ill + town + grade"},
    {"model": "latent", "classes": 2},
]


@pytest.mark.parametrize("options", MODELS, ids=lambda o: o["model"])
def test_fully_synthetic_records_belong_to_nobody(options):
    file, mask = RecordFile(people()), Synthesise.of(options)
    masked = mask.apply(file, np.random.default_rng(1))
    assert (masked.rows == -1).all()
    assert not masked.keys
    assert mask.broken(file, masked) == []
    assert masked.data["grade"].dtype == file.data["grade"].dtype
    assert set(masked.data["town"].dropna()) == {"A", "B"}
    assert masked.data["town"].isna().any()
    assert any("belongs to nobody" in one for one in masked.said)
    again = mask.apply(file, np.random.default_rng(1))
    assert again.data.equals(masked.data)
    rates = [d.groupby("sex")["ill"].apply(lambda i: (i == "yes").mean()) for d in
             (file.data, masked.data)]  # fmt: skip
    assert (rates[0] - rates[1]).abs().max() < 0.2
    assert rates[1]["f"] - rates[1]["m"] > 0.2


def test_copies_stand_below_each_other():
    file, mask = RecordFile(people()), Synthesise(copies=3)
    masked = mask.apply(file, np.random.default_rng(1))
    assert masked.data["copy"].value_counts().tolist() == [300] * 3
    assert mask.broken(file, masked) == []


def test_partly_synthetic_records_stay_where_they_are():
    file = RecordFile(people(), weight="grade")
    mask = Synthesise(columns=("ill",), given=("sex",))
    masked = mask.apply(file, np.random.default_rng(1))
    assert (masked.rows == np.arange(300)).all()
    assert masked.keys["ill"].kind is Kind.SWAPPED
    assert mask.broken(file, masked) == []
    assert masked.data[["sex", "town", "grade"]].equals(file.data[["sex", "town", "grade"]])
    assert not masked.data["ill"].equals(file.data["ill"])
    rate = masked.data.groupby("sex")["ill"].apply(lambda i: (i == "yes").mean())
    assert rate["f"] - rate["m"] > 0.25
    alone = Synthesise(columns=("ill", "town")).apply(file, np.random.default_rng(1))
    assert alone.data[["sex", "grade"]].equals(file.data[["sex", "grade"]])


def test_an_intruder_weighs_replaced_columns_by_the_model(monkeypatch):
    file, rng = RecordFile(people()), np.random.default_rng(1)
    saturated = {"given": ("grade",), "model": "formula", "formula": "sex*ill*grade"}
    key = Synthesise(columns=("sex", "ill"), **saturated).apply(file, rng).keys["sex"]
    assert key.joint == ("ill",)
    for label in set(key.seen):
        mine = file.data[key.seen == label]
        assert mine["grade"].nunique() == 1
        shares = (mine["sex"] + " | " + mine["ill"]).value_counts(normalize=True)
        assert set(key.matrix[label]) == set(shares.index)
        assert all(abs(key.matrix[label][one] - p) < 0.01 for one, p in shares.items())
    town = Synthesise(columns=("town",), given=("sex",)).apply(file, rng)
    assert set(next(iter(town.keys["town"].matrix.values()))) == {"A | A", "B | B", " | "}
    monkeypatch.setattr("discreet.masks.synthesis.records.MOST_CHANCES", 6)
    apart = Synthesise(columns=("sex", "ill"), **saturated).apply(file, rng)
    assert [one.joint for one in apart.keys.values()] == [(), ()]
    assert "approximate" in apart.said[-1]
    assert all(
        np.isclose(sum(row.values()), 1)
        for one in apart.keys.values()
        for row in one.matrix.values()
    )
    monkeypatch.setattr("discreet.masks.synthesis.records.MOST_CHANCES", 5)
    with pytest.raises(DataError, match="Group categories"):
        Synthesise(columns=("sex", "ill"), **saturated).apply(file, rng)


def test_a_broken_promise_is_found():
    file, mask = RecordFile(people()), Synthesise(columns=("ill",))
    masked = mask.apply(file, np.random.default_rng(1))
    masked.data.loc[0, "sex"] = "x"
    assert mask.broken(file, masked) == ["a column that is not synthetic has changed."]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (people().assign(age=np.arange(300)), {}, "'age' has 300 different numbers.*cut"),
        (people().assign(w=np.arange(300) / 7), {"columns": ("w",)}, "cut"),
        (people(), {"columns": ("ill",), "given": ("ill",)}, "'ill' is to be replaced"),
        (people(), {"given": ("ill",)}, "name columns"),
        (people(), {"columns": ("ill",), "copies": 2}, "repeat what is kept"),
        (people(), {"columns": ("age",)}, "no column 'age'"),
    ],
)
def test_what_cannot_be_synthetic_is_refused(data, options, message):
    with pytest.raises(DataError, match=message):
        Synthesise.of(options).apply(RecordFile(data), np.random.default_rng(1))


def test_households_and_odd_models_are_refused():
    with pytest.raises(DataError, match="has no 'town'"):
        Synthesise().apply(RecordFile(people(), household="town"), np.random.default_rng(1))
    with pytest.raises(DataError, match="no model 'forest'"):
        Synthesise(model="forest")
    with pytest.raises(DataError, match="formula"):
        Synthesise(formula="a*b")


def test_private_records():
    file, mask = RecordFile(people()), PrivateRecords(epsilon=20)
    masked = mask.apply(file, np.random.default_rng(1))
    assert (masked.rows == -1).all()
    assert mask.broken(file, masked) == []
    assert abs(len(masked) - 300) < 30
    assert any("not for release" in one for one in masked.said)
    rate = masked.data.groupby("sex")["ill"].apply(lambda i: (i == "yes").mean())
    assert rate["f"] - rate["m"] > 0.25

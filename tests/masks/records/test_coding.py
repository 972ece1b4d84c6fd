"""Top and bottom coding."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.coding import Code
from discreet.masks.records.file import RecordFile

RNG = np.random.default_rng(1)


def pay(seed, n=200, **more):
    rng = np.random.default_rng(seed)
    values = np.round(rng.lognormal(3, 1, n), 2)
    values[rng.random(n) < 0.05] = np.nan
    people = pd.DataFrame({"pay": values, "sex": rng.choice(["f", "m"], n), "w": rng.random(n) + 1})
    return RecordFile(people, **more)


@pytest.mark.parametrize("replace", ["threshold", "mean", "label"])
@pytest.mark.parametrize("seed", range(5))
def test_only_what_lies_beyond_changes(seed, replace):
    file = pay(seed)
    mask = Code("pay", low=5.0, high=60.0, replace=replace, least=1)
    masked = mask.apply(file, RNG)
    assert mask.broken(file, masked) == []
    before = file.numbers("pay")
    inside = (before >= 5) & (before <= 60)
    after = masked.data["pay"]
    assert (after[inside].astype(float) == before[inside]).all()
    assert after[before > 60].nunique() == 1
    assert (after.isna() == np.isnan(before)).all()
    key = masked.keys["pay"]
    assert (key.kind, key.low, key.high) == (Kind.TOPCODE, 5.0, 60.0)
    released = RecordFile(masked.data).labels("pay")
    assert set(released[before < 5]) == {key.labels[0]}
    assert set(released[before > 60]) == {key.labels[1]}


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_mean_beyond_keeps_the_mean(weight):
    file = pay(7, weight=weight)
    masked = Code("pay", top=0.05, bottom=0.1, replace="mean").apply(file, RNG)
    there = file.data["pay"].notna()
    weights = file.data["w"][there] if weight else None
    before, after = (np.average(d["pay"][there], weights=weights) for d in (file.data, masked.data))
    assert after == pytest.approx(before, rel=1e-12)


def test_a_share_is_never_exceeded():
    """Ties: 3 of 10 have the largest value; a share of .2 cannot cut between them."""
    file = RecordFile(pd.DataFrame({"age": [1, 2, 3, 4, 5, 6, 7, 9, 9, 9]}))
    for share, high in ((0.0, 9), (0.2, 9), (0.3, 7), (0.4, 6)):
        masked = Code("age", top=share).apply(file, RNG)
        assert masked.keys["age"].high == high
        assert masked.data["age"].max() == high
        assert masked.data["age"].dtype == file.data["age"].dtype
    assert Code("age", bottom=0.25).apply(file, RNG).keys["age"].low == 3


def test_ends_by_column():
    file = RecordFile(pd.DataFrame({"a": [1, 2, 3], "b": [10, 20, 30]}))
    masked = Code(("a", "b"), high=(2, 20)).apply(file, RNG)
    assert masked.data.to_numpy().tolist() == [[1, 10], [2, 20], [2, 20]]


def test_the_promise_is_looked_at():
    file = pay(3)
    mask = Code("pay", high=60.0, replace="mean")
    masked = mask.apply(file, RNG)
    high = file.numbers("pay") > 60
    for wrong in (
        masked.data.assign(pay=masked.data["pay"].where(~high, 60.0)),
        masked.data.assign(pay=file.data["pay"]),
        masked.data.assign(sex="f"),
        masked.data.assign(pay=masked.data["pay"].fillna(20)),
        masked.data.assign(pay=masked.data["pay"] + 1),
    ):
        assert mask.broken(file, type(masked)(wrong, masked.rows, masked.keys))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "no end"),
        ({"high": 3, "top": 0.1}, "both"),
        ({"high": 3, "replace": "zero"}, "'zero'"),
        ({"high": 3, "low": 5}, "above the high end"),
        ({"top": 0.7}, "0.7"),
        ({"high": 400.0, "replace": "mean", "least": 50}, "mean shows them"),
        ({"high": 3, "labels": ("a", "b")}, "labels of top-code"),
        ({"high": (1, 2, 3)}, "3 values for 1 columns"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(DataError, match=said):
        Code("pay", **options).apply(pay(1, 2000), RNG)


def test_weights_and_households_are_not_coded():
    with pytest.raises(DataError, match="the weight"):
        Code("w", high=1).apply(pay(1, weight="w"), RNG)
    with pytest.raises(DataError, match="no column 'age'"):
        Code("age", high=1).apply(pay(1), RNG)

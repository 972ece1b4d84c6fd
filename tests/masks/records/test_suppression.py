"""Local suppression: enough records agree, however blanks are counted."""

import itertools

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.suppression import Suppress
from discreet.risk.uniques.anonymity import k_anonymity

NAMES = ("a", "b", "c")


def some_file(rng):
    n = int(rng.integers(8, 50))
    data = pd.DataFrame(
        {name: rng.choice(list("uvwxyz")[: i + 3], n) for i, name in enumerate("abc")}
    )
    data["other"] = np.arange(n)
    if rng.random() < 0.5:
        data.loc[rng.integers(0, n, 3), "b"] = None
    return RecordFile(data)


def smallest(data, names, missing):
    """The fewest records that agree with one, pair by pair."""
    rows = data[list(names)].fillna("").to_numpy().tolist()

    def agree(x, y):
        return all(u == v or (missing == "any" and "" in (u, v)) for u, v in zip(x, y, strict=True))

    return min(sum(agree(x, y) for y in rows) for x in rows)


@pytest.mark.parametrize("missing", ["own", "any"])
@pytest.mark.parametrize("subsets", [None, 2])
def test_enough_records_agree(missing, subsets):
    rng = np.random.default_rng(1)
    for _ in range(8):
        file, k = some_file(rng), int(rng.integers(2, 6))
        order = tuple(rng.permutation(NAMES)) if rng.random() < 0.5 else ()
        mask = Suppress(NAMES, k=k, missing=missing, priorities=order, all_subsets_of=subsets)
        masked = mask.apply(file, rng)
        for part in itertools.combinations(NAMES, subsets or 3):
            assert smallest(masked.data, part, missing) >= k
        was, now = file.data[list(NAMES)], masked.data[list(NAMES)]
        assert ((now == was) | now.isna()).to_numpy().all()
        for _, alike in was.fillna("").groupby(list(NAMES)):
            assert len(now.loc[alike.index].fillna("").drop_duplicates()) == 1
        assert masked.data["other"].equals(file.data["other"])
        blanks = now.isna().sum() - was.isna().sum()
        told = ", ".join(f"{n} {blanks[n]}" for n in NAMES)
        assert masked.said == (f"{blanks.sum()} values are blanked: {told}.",)
        for name, key in masked.keys.items():
            assert key.kind is Kind.SHARED
            assert key.seen.tolist() == now[name].fillna("").tolist()
        assert set(masked.keys) == {n for n in NAMES if blanks[n]}


@pytest.mark.parametrize("missing", ["own", "any"])
def test_the_library_agrees(missing):
    rng = np.random.default_rng(2)
    file = some_file(rng)
    mask = Suppress(NAMES, k=3, missing=missing)
    masked = mask.apply(file, rng)
    found = k_anonymity(masked.data, list(NAMES), missing=missing, records=True)
    assert found.k >= 3
    assert mask.broken(file, masked) == []
    spoilt = masked.data.copy()
    spoilt.loc[0, "a"] = "never"
    assert len(mask.broken(file, type(masked)(spoilt, masked.rows))) == 2


def test_own_is_the_careful_count():
    rng = np.random.default_rng(3)
    for _ in range(10):
        file = some_file(rng)
        masked = Suppress(NAMES, k=3).apply(file, rng)
        assert smallest(masked.data, NAMES, "any") >= 3


def test_priorities_spare_the_last_column():
    """Blanking town is enough, and is done though sex would take fewer values."""
    people = pd.DataFrame({"sex": list("ffffm"), "town": list("abcda")})
    first = Suppress(("sex", "town"), k=2, priorities=("town", "sex"), missing="any")
    masked = first.apply(RecordFile(people), np.random.default_rng(1))
    assert masked.data["town"].isna().sum() > 0
    last = Suppress(("sex", "town"), k=2, priorities=("sex", "town"), missing="any")
    assert last.apply(RecordFile(people), np.random.default_rng(1)).data["sex"].isna().sum() > 0


def test_nothing_is_blanked_where_all_agree():
    people = pd.DataFrame({"sex": list("ffmm")})
    masked = Suppress("sex", k=2).apply(RecordFile(people), np.random.default_rng(1))
    assert masked.data.equals(people)
    assert not masked.keys


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": "sex", "k": 9}, "fewer than k = 9"),
        ({"columns": "sex", "missing": "none"}, "choose own or any"),
        ({"columns": "sex", "priorities": ["town"]}, "name each of the columns once"),
        ({"columns": "sex", "all_subsets_of": 2}, "from 1 to 1"),
        ({"columns": "sex", "k": 0}, "k is 0"),
    ],
)
def test_errors_name_the_value(options, said):
    file = RecordFile(pd.DataFrame({"sex": list("ffmm")}))
    with pytest.raises(DataError, match=said):
        Suppress.of(options).apply(file, np.random.default_rng(1))


@pytest.mark.parametrize("missing", ["own", "any"])
def test_columns_that_are_blanked_throughout(missing):
    file = RecordFile(pd.DataFrame({"a": list("uvwx"), "b": list("ppqq")}))
    mask = Suppress(("a", "b"), k=2, missing=missing)
    masked = mask.apply(file, np.random.default_rng(1))
    assert masked.data["a"].isna().all()
    assert mask.broken(file, masked) == []
    all_of_them = Suppress(("a", "b"), k=4, missing=missing)
    assert all_of_them.broken(file, all_of_them.apply(file, np.random.default_rng(1))) == []

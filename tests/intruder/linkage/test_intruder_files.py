"""Intruders of every kind as TOML files: written and read back, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Intruder, Key, Kind, Type
from discreet.intruder.linkage.records import read_records

SEEN = np.array(["1.5", 'a "b", c', "", None, "ü"], object)
KEYS = (
    Key("sex", Kind.CATEGORY, keep=0.9, suppressed={"f": 0.1, "m": 0.0}),
    Key("region of birth", Kind.CATEGORY, matrix={"N": {"N": 0.9, "S": 0.1}, "S": {"S": 1.0}}),
    Key("age", Kind.NORMAL, spread=(2.0,), suppressed=0.2),
    Key("income", Kind.LOGNORMAL, spread=(0.1, 0.8), weights=(0.9, 0.1)),
    Key("guess", Kind.NORMAL),
    Key("exact", Kind.EXACT),
    Key("class", Kind.INTERVAL, cuts=(18.0, 65.5), labels=("young", "grown", 'o"ld')),
    Key("all", Kind.INTERVAL, labels=("one",)),
    Key("top", Kind.TOPCODE, low=1.0, high=80.0, labels=("", "80+")),
    Key("bare", Kind.TOPCODE, high=80.0),
    Key("rank", Kind.RANK, window=0.05, law=(0.7, 0.3)),
    Key("hidden", Kind.SUPPRESSED, suppressed=0.0),
    Key("centre", Kind.SHARED, seen=SEEN),
    Key("area", Kind.SWAPPED, keep=0.95, joint=("town", "street"), seen=SEEN[::-1]),
    Key("job", Kind.UNKNOWN),
)


def test_round_trip(tmp_path):
    intruder = Intruder(
        KEYS,
        {("age", "guess"): 0.3},
        population=5000,
        present=True,
        wrong=2.0,
        missed=0.5,
        lose=1e-4,
        top=99,
        types=(Type(0.8), Type(0.2, {"sex": Key("sex", Kind.CATEGORY, keep=0.5)})),
    )
    intruder.write(tmp_path / "who.toml")
    found = Intruder.read(tmp_path / "who.toml")
    assert found == intruder
    for before, after in zip(intruder.keys, found.keys, strict=True):
        if before.seen is None:
            assert after.seen is None
        else:
            assert after.seen.tolist() == before.seen.tolist()
    found.write(tmp_path / "again.toml")
    text = (tmp_path / "again.toml").read_text().replace("again-seen", "who-seen")
    assert text == (tmp_path / "who.toml").read_text()


def test_numbers_that_were_seen_link_as_before(tmp_path):
    rng = np.random.default_rng(0)
    centre = np.repeat(rng.normal(size=4), 3)
    y = pd.DataFrame({"v": rng.normal(size=12), "w": np.arange(12.0)})
    x = pd.DataFrame({"v": centre[[0, 5, 7]], "w": [0.2, 5.3, 6.0]})
    keys = (Key("v", Kind.SHARED, seen=centre.astype(object)), Key("w", Kind.NORMAL, spread=(1.0,)))
    intruder = Intruder(keys)
    intruder.write(tmp_path / "who.toml")
    again = Intruder.read(tmp_path / "who.toml")
    first, second = (
        link(read_records(y, x, one, records=True), one).dense() for one in (intruder, again)
    )
    assert (first == second).all()


def test_joint_columns_are_read():
    y = pd.DataFrame({"a": ["n", "n", "s"], "b": [1, 2, 1], "c": [1, 2, 3]})
    intruder = Intruder((Key("a", Kind.SWAPPED, keep=0.9, joint=("b",)),))
    assert set(read_records(y, y, intruder, records=True).released) == {"a", "b"}
    with pytest.raises(DataError, match="has no column 'b'"):
        read_records(y, y.drop(columns="b"), intruder, records=True)


BAD = [
    ({"kind": "exact", "keep": 0.5}, "has 'keep', which is not known"),
    ({"kind": "exact", "suppressed": 2}, "suppressed in .* is 2; give a number"),
    ({"kind": "interval", "cuts": [2, 1], "labels": ["a", "b", "c"]}, "do not rise"),
    ({"kind": "interval", "cuts": [1], "labels": ["a"]}, "1 cuts and 1 labels"),
    ({"kind": "interval", "labels": ["a"]}, "cuts in .* is None; give a list of numbers"),
    ({"kind": "interval", "cuts": [1], "labels": [1, 2]}, "give a list of texts"),
    ({"kind": "topcode"}, "no low and no high"),
    ({"kind": "topcode", "low": 3, "high": 2}, "not below high"),
    ({"kind": "topcode", "high": 2, "labels": ["x"]}, "1 labels; give two"),
    ({"kind": "rank"}, "window in .* is None"),
    ({"kind": "rank", "window": 0.1, "law": [0.5, 0.4]}, "sums to 0.9"),
    ({"kind": "suppressed"}, "has no suppressed; give the probability"),
    ({"kind": "shared"}, "has no seen; name a CSV file"),
    ({"kind": "shared", "seen": 3}, "seen in .* is 3; name a CSV file"),
    ({"kind": "shared", "seen": "none.csv"}, "cannot read .*none.csv"),
    ({"kind": "swapped", "joint": "town"}, "joint in .* is 'town'; give a list"),
]


@pytest.mark.parametrize(("entry", "words"), BAD)
def test_keys_that_are_refused(entry, words):
    with pytest.raises(DataError, match=words):
        Intruder.of({"keys": {"v": entry}})


def test_types_and_files_that_are_refused(tmp_path):
    keys = {"v": {"kind": "exact"}, "w": {"kind": "category"}}
    for name, entry, words in (
        ("v", {}, "a key of kind exact; types can differ"),
        ("w", {"suppressed": 0.1}, "seen or suppressed of 'w'; say it in the key"),
    ):
        with pytest.raises(DataError, match=words):
            Intruder.of({"keys": keys, "types": [{"share": 1, "keys": {name: entry}}]})
    (tmp_path / "who.toml").write_text('[keys.v]\nkind = "shared"\nseen = "seen.csv"\n')
    (tmp_path / "seen.csv").write_text("w\n1\n")
    with pytest.raises(DataError, match="has no column 'v' with rows"):
        Intruder.read(tmp_path / "who.toml")

"""Record swapping: what it promises to keep, and the law that it tells."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.swapping import Swap


def some_file(rng, n=60, *, households=True):
    sizes = rng.integers(1, 4, n) if households else np.ones(n, int)
    home = np.repeat(np.arange(n), sizes)
    town = rng.integers(0, 6, n)[home]
    data = pd.DataFrame({"home": home, "region": town // 3, "town": [f"t{t}" for t in town]})
    data["size"] = sizes[home]
    data["sex"] = rng.choice(["f", "m"], len(home))
    data["age"] = rng.integers(0, 4, len(home))
    data["weight"] = rng.uniform(1, 9, len(home))
    if rng.random() < 0.3:
        data.loc[data["home"] == 3, "town"] = None
    return RecordFile(data, household="home" if households else None, weight="weight")


def some_mask(rng):
    return Swap(
        ("region", "town") if rng.random() < 0.7 else "town",
        match=[(), "size", ("sex",), (("sex", "age"), ("sex",))][rng.integers(4)],
        rate=float(rng.uniform(0, 0.6)),
        risk=() if rng.random() < 0.3 else ("age", "sex"),
        k=int(rng.integers(2, 5)),
        repeats=20,
    )


@pytest.mark.slow
def test_margins_are_kept_on_100_files():
    rng = np.random.default_rng(1)
    moved = 0
    for turn in range(100):
        file, mask = some_file(rng, 16, households=turn % 3 > 0), some_mask(rng)
        masked = mask.apply(file, rng)
        was, now = file.data, masked.data
        blocks = ["region", "town"] if len(mask.blocks) == 2 else ["town"]
        others = [c for c in was if c not in blocks]
        assert now[others].equals(was[others])
        for names in (["town"], blocks, [*blocks, *mask.kept]):
            counts = [f.fillna("?").groupby(names).size() for f in (was, now)]
            assert counts[0].equals(counts[1])
        homes = [f.fillna("?").groupby(blocks)["home"].nunique() for f in (was, now)]
        assert homes[0].equals(homes[1])
        assert now.fillna("?").groupby("home")[blocks].nunique().max().max() == 1
        assert now["town"].isna().equals(was["town"].isna())
        assert mask.broken(file, masked) == []
        changed = (was.fillna("?") != now.fillna("?")).any(axis=1)
        many = was.loc[changed, "home"].nunique()
        assert masked.said[0].startswith(f"{many} of ")
        if not mask.risk:
            assert many <= np.ceil(mask.rate * was["home"].nunique()) + 1
        moved += many
    assert moved > 300


def test_households_at_risk_are_swapped():
    rng = np.random.default_rng(2)
    for _ in range(10):
        file = some_file(rng)
        mask = Swap(("region", "town"), rate=0.0, risk=("age", "sex"), k=3, repeats=5)
        masked = mask.apply(file, rng)
        data = file.data.dropna()
        alone = data.groupby(["region", "age", "sex"])["home"].transform("size") < 3
        homes = data.loc[alone, "home"].unique()
        moved = masked.data["region"] != file.data["region"]
        left = set(homes) - set(file.data.loc[moved, "home"])
        sizes = file.data.drop_duplicates("home").set_index("home")
        for home in left:  # nobody of the same size was left in the other region
            free = sizes.drop(file.data.loc[file.data["town"] != masked.data["town"], "home"])
            free = free[(free["size"] == sizes["size"][home]) & free["town"].notna()]
            assert (free["region"] == sizes["region"][home]).all()


def test_the_law_is_that_of_many_files():
    """Shares of moves in further draws, against what the key told before it was weighed."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"town": ["a"] * 400 + ["b"] * 300 + ["c"] * 300})
    file = RecordFile(data.assign(sex=rng.choice(["f", "m"], 1000)))
    mask = Swap("town", match="sex", rate=0.3, repeats=200)
    key = mask.apply(file, rng).keys["town"]
    assert (key.kind, key.joint) == (Kind.SWAPPED, ())
    told = pd.DataFrame([key.matrix[s] for s in key.seen]).fillna(0).groupby(data["town"]).mean()
    found = sum(
        pd.crosstab(data["town"], mask.apply(file, rng).data["town"], normalize="index")
        for _ in range(8)
    )
    assert np.abs(found / 8 - told[["a", "b", "c"]]).to_numpy().max() < 0.02


def test_links_are_as_often_right_as_said():
    rng = np.random.default_rng(4)
    said, right = [], []
    for _ in range(2):
        n = 800
        data = pd.DataFrame({"town": rng.integers(0, 6, n), "age": rng.integers(0, 100, n)})
        file = RecordFile(data.astype(str))
        masked = Swap("town", match="age", rate=0.3, repeats=300).apply(file, rng)
        names = ("town", "age")
        links = link(masked.linked_with(file, names), masked.intruder(names))
        alike = links.released.of == links.released.of[links.best]
        said.append(links.perceived)
        right.append(alike / links.released.times[links.released.of[links.best]])
    said, right = np.concatenate(said), np.concatenate(right)
    middle = (said > 0.2) & (said < 0.8)
    assert middle.sum() > 600
    assert abs(said[middle].mean() - right[middle].mean()) < 0.04


def test_a_broken_promise_is_found():
    rng = np.random.default_rng(5)
    file = some_file(rng)
    mask = Swap("town", match="size", rate=0.3, repeats=5)
    masked = mask.apply(file, rng)
    masked.data.loc[0, "town"] = "t9"
    assert "the counts of town, size have changed." in mask.broken(file, masked)
    masked.data.loc[0, "age"] = 9
    assert mask.broken(file, masked) == ["a column that is no block has changed."]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"block": "place"}, "no column 'place'"),
        ({"block": "town", "match": ["town"]}, "in block and in match"),
        ({"block": "town", "rate": 2}, "rate is 2"),
        ({"block": "sex"}, "another 'sex' than the first"),
        ({"block": "town", "risk": "town"}, "in block and in risk"),
        ({"block": "town", "repeats": 0}, "repeats"),
    ],
)
def test_errors_name_the_value(options, said):
    file = some_file(np.random.default_rng(1))
    with pytest.raises(DataError, match=said):
        Swap.of(options).apply(file, np.random.default_rng(1))

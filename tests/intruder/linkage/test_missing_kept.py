"""Masks keep what is missing: whether a released value is missing tells who it is."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from discreet.data.hierarchy import Hierarchy
from discreet.errors import DataError
from discreet.intruder.linkage.compose import compose
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import read_records
from discreet.masks.records.chain import chained, shuffled
from discreet.masks.records.file import RecordFile
from discreet.risk.linkage.calibration import calibration
from discreet.risk.linkage.identification import identify

TREE = {"t": Hierarchy((("a", "A"), ("b", "A"), ("c", "B"), ("d", "B")))}
STEPS = {
    "noise": [{"method": "noise", "columns": ["a"], "spread": (2.0,)}],
    "lognormal": [
        {"method": "noise", "columns": ["a"], "spread": 0.4, "kind": "multiplicative"},
    ],
    "pram": [{"method": "pram", "columns": ["t"], "keep": 0.4}],
    "recode": [{"method": "recode", "columns": ["t"], "levels": {"t": 1}}],
    "blank, noise": [
        {"method": "blank", "columns": ["b"], "k": 2},
        {"method": "noise", "columns": ["b"], "spread": (2.0,)},
    ],
    "noise, sample": [
        {"method": "noise", "columns": ["a"], "spread": (2.0,)},
        {"method": "sample", "share": 0.7},
    ],
}
KEYS = {"pram": "t", "recode": "t", "blank, noise": "b"}


def people(many, rng, lacking):
    a, b = rng.uniform(1, 12, many), rng.integers(1, max(3, many // 2), many).astype(float)
    t = rng.choice(np.array(list("abcd"), object), many)
    t[:2] = ["a", "c"]
    for column, nothing in ((a, np.nan), (b, np.nan), (t, None)):
        column[2 + rng.permutation(many - 2)[:lacking]] = nothing
    return RecordFile(pd.DataFrame({"a": a, "b": b, "t": t}), TREE)


def masked_file(method, file, rng):
    masked = shuffled(chained(STEPS[method]).apply(file, rng), rng)
    keys = [KEYS.get(method, "a")]
    return masked, masked.linked_with(file, keys), masked.intruder(keys)


def densities(method, file, masked):
    """P[released | source] of all pairs, from the mask's own parameters."""
    name = KEYS.get(method, "a")
    source, released = file.data[name].to_numpy(), masked.data[name].to_numpy()
    key = masked.keys[name]
    if method == "blank, noise":  # a value of one record alone is blanked
        source = np.where(source > 4, np.nan, source)
    gone, lacks = pd.isna(source), pd.isna(released)
    found = np.zeros((len(source), len(released)))
    for j, i in np.ndindex(found.shape):
        if gone[j] or lacks[i]:
            found[j, i] = float(gone[j] and lacks[i])
        elif method == "pram":
            found[j, i] = key.matrix[source[j]].get(released[i], 0.0)
        elif method == "recode":
            found[j, i] = float({"a": "A", "b": "A"}.get(source[j], "B") == released[i])
        elif method == "lognormal":
            found[j, i] = norm.pdf(np.log(released[i]), np.log(source[j]), 0.4)
        else:
            found[j, i] = norm.pdf(released[i], source[j], 2.0)
    return found


def by_enumeration(density):
    """Every way to hand the released records to sources."""
    sources, many = density.shape
    orders = np.array(list(permutations(range(sources), many)))
    weights = density[orders, np.arange(many)].prod(1)
    total = np.zeros_like(density)
    for i in range(many):
        total[:, i] = np.bincount(orders[:, i], weights, sources)
    return total / weights.sum()


@pytest.mark.parametrize("method", STEPS)
@pytest.mark.parametrize("lacking", [1, 3])
def test_links_are_those_of_all_ways_that_keep_what_is_missing(method, lacking):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        file = people(7, rng, lacking)
        if method == "blank, noise":
            file.data["b"] = [1.0, 1.0, 4.0, 4.0, 4.0, 5.0, 6.0]
            file.data.loc[5 - lacking : 4, "b"] = np.nan
        masked, records, intruder = masked_file(method, file, rng)
        true = by_enumeration(densities(method, file, masked))
        assert link(records, intruder).dense() == pytest.approx(true, abs=1e-9)


@pytest.mark.parametrize("method", [one for one in STEPS if one != "blank, noise"])
def test_the_only_one_who_lacks_a_value_is_known(method):
    file = people(40, np.random.default_rng(1), 1)
    name = KEYS.get(method, "a")
    for seed in range(9):
        masked, records, intruder = masked_file(method, file, np.random.default_rng(seed))
        there = np.flatnonzero(masked.data[name].isna())
        lone = int(np.flatnonzero(file.data[name].isna())[0])
        if len(there):
            assert link(records, intruder).dense()[lone, there[0]] == pytest.approx(1)
    assert len(there) or method == "noise, sample"


@pytest.mark.parametrize("method", STEPS)
def test_no_link_is_stated_lower_than_it_is_right(method):
    """One in five lacks a value; the best links of many masked files."""
    stated, right = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        _, records, intruder = masked_file(method, people(20, rng, 4), rng)
        found = identify(records, intruder)
        stated.append(found.links.perceived)
        right.append(found.correct)
    stated, right = np.concatenate(stated), np.concatenate(right)
    error = np.sqrt((stated * (1 - stated)).sum()) / len(stated)
    assert abs(stated.mean() - right.mean()) < 4 * error + 1e-9
    assert stated.mean() > 0.05


@pytest.mark.parametrize("method", ["noise", "pram", "lognormal"])
@pytest.mark.parametrize("dense", [None, 0])
def test_links_are_right_as_often_as_said(method, dense):
    """Moderate files, whole and pruned, with a second key that tells much."""
    stated, right = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        file = people(1500, rng, 300)
        file = replace(file, data=file.data.assign(z=rng.normal(0, 1, 1500)))
        name = KEYS.get(method, "a")
        steps = [*STEPS[method], {"method": "noise", "columns": ["z"], "spread": (0.004,)}]
        masked = shuffled(chained(steps).apply(file, rng), rng)
        records, intruder = masked.linked_with(file, [name, "z"]), masked.intruder([name, "z"])
        links = link(records, intruder, **({} if dense is None else {"dense": dense}))
        p, best = links.perceived, links.best
        some = (p >= 0.3) & (p <= 0.7)
        stated.append(p[some])
        right.append(masked.rows[best[some]] == np.flatnonzero(some))
        lacking = file.data[name].isna().to_numpy()
        assert (lacking == masked.data[name].isna().to_numpy()[best]).all()
    assert sum(map(len, stated)) > 500
    assert np.concatenate(right).mean() == pytest.approx(np.concatenate(stated).mean(), abs=0.06)


def test_a_blank_that_noise_follows_is_known():
    """Seven of thirty are blanked: each is one of seven."""
    values = np.r_[np.arange(100.0, 107.0), np.full(23, 5.0)]
    file = RecordFile(pd.DataFrame({"b": values}))
    masked, records, intruder = masked_file("blank, noise", file, np.random.default_rng(1))
    gone = np.flatnonzero(masked.data["b"].isna())
    assert len(gone) == 7
    assert link(records, intruder).dense()[:7, gone] == pytest.approx(1 / 7)


HAND = {
    "normal": ({"kind": "normal", "spread": 1.0}, [1.0, 2.0, 3.0, np.nan]),
    "lognormal": ({"kind": "lognormal", "spread": 1.0}, [1.0, 2.0, 3.0, np.nan]),
    "category": ({"kind": "category", "keep": 0.8}, ["u", "v", "u", None]),
}


def unsaid(kind, source, released):
    """Missing in the release: anybody's; in the source: any released value, as they are spread."""
    found = np.ones((len(source), len(released)))
    if kind == "lognormal":
        source, released = np.log(source), np.log(released)
    there = released[~pd.isna(released)]
    for j, i in np.ndindex(found.shape):
        if pd.isna(released[i]):
            continue
        if kind == "category":
            found[j, i] = 0.8 if source[j] == released[i] else 0.2
            found[j, i] = (there == released[i]).mean() if pd.isna(source[j]) else found[j, i]
        elif np.isnan(source[j]):
            found[j, i] = norm.pdf(released[i], there.mean(), np.sqrt(there.var() + 1))
        else:
            found[j, i] = norm.pdf(released[i], source[j])
    return found


@pytest.mark.parametrize("kind", HAND)
def test_what_is_missing_tells_nothing_unless_said(kind):
    """Two released records of four, one of which lacks the value."""
    how, values = HAND[kind]
    y = pd.DataFrame({"v": values})
    x = y.iloc[[2, 3]].reset_index(drop=True)
    intruder = Intruder.of({"keys": {"v": how}})
    found = link(read_records(y, x, intruder, records=True), intruder).dense()
    expected = by_enumeration(unsaid(kind, y["v"].to_numpy(), x["v"].to_numpy()))
    assert found == pytest.approx(expected, abs=1e-9)
    assert (found[:, 1] > 0.1).all()
    intruder = Intruder.of({"keys": {"v": how | {"missing": "kept"}}})
    found = link(read_records(y, x, intruder, records=True), intruder).dense()
    assert found[:, 1] == pytest.approx([0, 0, 0, 1])


@pytest.mark.parametrize("kind", HAND)
def test_if_more_are_missing_than_were_anybody_may_be_one(kind):
    how, values = HAND[kind]
    y, x = (pd.DataFrame({"v": pd.Series(v)}) for v in (values, [None, None, *values[2:]]))
    x["v"] = x["v"].astype(y["v"].dtype)
    intruder = Intruder.of({"keys": {"v": how | {"missing": "kept"}}})
    found = link(read_records(y, x, intruder, records=True), intruder).dense()
    assert (found[:2, :2] > 0).all()
    assert found[3, 2] == pytest.approx(0)


def test_people_outside_the_source_may_lack_values_too():
    """Three of ten who are released lack it; of the source, one: one in three is theirs."""
    y = pd.DataFrame({"v": [1.0, 2.0, 3.0, 4.0, np.nan]})
    x = pd.DataFrame({"v": [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 1.0, np.nan, np.nan, np.nan]})
    how = {"kind": "normal", "spread": 1.0, "missing": "kept"}
    intruder = Intruder.of({"keys": {"v": how}, "population": 10})
    found = link(read_records(y, x, intruder, records=True), intruder).dense()
    assert found[:4, 7:] == pytest.approx(0)
    assert found[4, 7:] == pytest.approx(1 / 3, abs=1e-6)


def test_files_say_it_and_chains_carry_it(tmp_path):
    keys = {"a": {"kind": "normal", "spread": 1.0, "missing": "kept"}, "t": {"kind": "category"}}
    intruder = Intruder.of({"keys": keys})
    intruder.write(tmp_path / "i.toml")
    assert Intruder.read(tmp_path / "i.toml") == intruder
    assert [key.missing for key in intruder.keys] == ["kept", "any"]
    kept, plain = intruder.keys[0], replace(intruder.keys[0], missing="any")
    assert [compose(p, q).missing for p in (kept, plain) for q in (kept, plain)] == [
        "kept", "any", "any", "any",
    ]  # fmt: skip
    assert compose(Key("a", Kind.TOPCODE, high=3.0), kept, [1, 5]).missing == "kept"
    assert compose(kept, Key("a", Kind.SUPPRESSED, suppressed=0.1)).missing == "kept"
    assert compose(plain, replace(kept, seen=np.array(["1", ""], object))).missing == "kept"


def test_odd_words_are_refused():
    with pytest.raises(DataError, match=r"missing in .* is 'never'; write one of any, kept"):
        Intruder.of({"keys": {"a": {"kind": "normal", "spread": 1, "missing": "never"}}})
    with pytest.raises(DataError, match="missing of 'a' is 'no'; write one of any, kept"):
        Key("a", Kind.NORMAL, missing="no")
    with pytest.raises(DataError, match="'missing', which is not known"):
        Intruder.of({"keys": {"a": {"kind": "exact", "missing": "kept"}}})
    typed = [{"share": 1, "keys": {"a": {"spread": 2, "missing": "kept"}}}]
    with pytest.raises(DataError, match="missing, seen or suppressed of 'a'; say it in the key"):
        Intruder.of({"keys": {"a": {"kind": "normal", "spread": 1}}, "types": typed})


def test_files_drawn_to_calibrate_keep_it_too():
    rng = np.random.default_rng(1)
    _, records, intruder = masked_file("noise", people(30, rng, 6), rng)
    found = calibration(records, intruder, files=60, seed=2)
    assert found.right.mean() == pytest.approx(found.chance.mean(), abs=0.05)

"""Every kind of key: densities by hand against link probabilities, whole and pruned."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from discreet.errors import DataError
from discreet.intruder.linkage.encode import encode
from discreet.intruder.linkage.equation import exact_links
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Intruder, Key, Kind, Type
from discreet.intruder.linkage.reasons import reasons
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.calibration import calibration, draw_file
from discreet.risk.linkage.harmless import harmless
from discreet.risk.linkage.identification import identify
from discreet.risk.linkage.matching import matching

NOISE = Key("z", Kind.NORMAL, spread=(1.5,))  # beside the key that is looked at


def noisy(y, x, spread=1.5):
    return norm.pdf(np.asarray(x)[None, :], np.asarray(y)[:, None], spread)


def checked(key, y, x, chances):
    """Links of the key and of noise, by hand and by the program, whole and pruned."""
    truth = exact_links(chances * noisy(y["z"], x["z"]))
    intruder = Intruder((key, NOISE), lose=1e-9, top=1000)
    records = read_records(y, x, intruder, records=True)
    whole = link(records, intruder)
    assert whole.dense() == pytest.approx(truth, abs=1e-9)
    pruned = link(records, intruder, dense=0, exact=1 << 24)
    assert pruned.dense() == pytest.approx(truth, abs=1e-3)
    told, column = reasons(encode(records, intruder), len(y) - 1, 0), chances[:, 0]
    if not key.continuous:
        assert told[key.name] == pytest.approx(column[-1] / column.mean(), abs=1e-9)
    assert calibration(records, intruder, files=2).chance.shape == (2, len(y))
    return whole


def files(rng, values, released=7):
    """So many people with noise besides; those released in random order."""
    y = pd.DataFrame({"v": values, "z": rng.normal(0, 2, len(values))})
    rows = rng.permutation(len(y))[:released]
    x = y.iloc[rows].reset_index(drop=True)
    x["z"] += rng.normal(0, 1.5, released)
    return y, x, rows


@pytest.mark.parametrize("seed", range(3))
def test_exact(seed):
    rng = np.random.default_rng(seed)
    y, x, _ = files(rng, rng.integers(0, 4, 12))
    equal = y["v"].to_numpy()[:, None] == x["v"].to_numpy()
    checked(Key("v", Kind.EXACT), y, x, equal.astype(float))
    text = x.assign(v=[f"{v}.0" for v in x["v"]])
    checked(Key("v", Kind.EXACT, seen=y["v"].to_numpy(object)), y, text, equal.astype(float))


def test_exact_and_missing_in_both():
    """What is missing stays missing: it tells as much as a value."""
    rng = np.random.default_rng(3)
    y, x, _ = files(rng, np.where(np.arange(12) < 4, np.nan, rng.integers(0, 3, 12)), 8)
    a, b = (t["v"].fillna(-1).to_numpy() for t in (y, x))
    checked(Key("v", Kind.EXACT), y, x, (a[:, None] == b).astype(float))


def test_exact_and_missing_for_reasons_unknown():
    rng = np.random.default_rng(4)
    y, x, _ = files(rng, rng.integers(0, 3, 12).astype(float), 8)
    x.loc[:2, "v"] = np.nan
    a, b = y["v"].to_numpy(), x["v"].to_numpy()
    chances = np.where(np.isnan(b), 1.0, a[:, None] == b)
    checked(Key("v", Kind.EXACT), y, x, chances)


@pytest.mark.parametrize("numeric", [False, True])
def test_interval(numeric):
    rng = np.random.default_rng(5)
    y, x, _ = files(rng, rng.choice([1.0, 17.9, 18.0, 40.0, 65.0, 99.0], 12), 8)
    labels = ("9", "40", "80") if numeric else ("young", "grown", "old")
    place = np.digitize(y["v"], [18, 65])
    code = np.digitize(x["v"], [18, 65])
    x["v"] = [float(labels[c]) if numeric else labels[c] for c in code]
    key = Key("v", Kind.INTERVAL, cuts=(18.0, 65.0), labels=labels)
    checked(key, y, x, (place[:, None] == code).astype(float))


@pytest.mark.parametrize("labels", [(), ("under 20", "60+"), ("15", "70")])
def test_topcode(labels):
    rng = np.random.default_rng(6)
    y, x, _ = files(rng, rng.choice([10, 19, 20, 30, 60, 61, 90], 14), 8)
    if labels:
        side = [np.where(t["v"] < 20, -1, np.where(t["v"] > 60, 1, t["v"])) for t in (y, x)]
        x["v"] = [labels[0] if v < 20 else labels[1] if v > 60 else str(v) for v in x["v"]]
    else:
        side = [t["v"].clip(20, 60).to_numpy() for t in (y, x)]
        x["v"] = x["v"].clip(20, 60)
    key = Key("v", Kind.TOPCODE, low=20.0, high=60.0, labels=labels)
    checked(key, y, x, (side[0][:, None] == side[1]).astype(float))


@pytest.mark.parametrize("kind", [Kind.SUPPRESSED, Kind.EXACT, Kind.CATEGORY])
@pytest.mark.parametrize("by_category", [False, True])
def test_suppressed(kind, by_category):
    """Missing is evidence: of three categories the rare one is suppressed most."""
    rng = np.random.default_rng(7)
    y, x, _ = files(rng, np.resize(["a", "b", "c"], 12), 8)
    x["v"] = ["a", "b", "", "", "c", "b", "a", "c"]
    rates = {"a": 0.1, "b": 0.2, "c": 0.7} if by_category else dict.fromkeys("abc", 0.25)
    gone = y["v"].map(rates).to_numpy()[:, None]
    keep = 0.8 if kind is Kind.CATEGORY else 1.0
    same = y["v"].to_numpy()[:, None] == x["v"].to_numpy()
    chances = np.where(same, keep, (1 - keep) / 2) * (1 - gone)
    chances = np.where(x["v"].to_numpy() == "", gone, chances)
    key = Key("v", kind, keep=keep, suppressed=rates if by_category else 0.25)
    checked(key, y, x, chances)


@pytest.mark.parametrize("kind", [Kind.NORMAL, Kind.RANK])
def test_suppressed_numbers(kind):
    """A number that was missing before stays so; one of four others is suppressed."""
    rng = np.random.default_rng(8)
    values = rng.permutation(12).astype(float)
    values[:2] = np.nan
    y, x, _ = files(rng, values, 8)
    there = np.sort(values[2:])
    x["v"] = [there[2], np.nan, np.nan, there[4], there[5], np.nan, np.nan, there[8]]
    more = {"spread": (1.0,)} if kind is Kind.NORMAL else {"window": 0.4}
    near = norm.pdf(x["v"].to_numpy(), values[:, None], 1)
    if kind is Kind.RANK:
        ranks = [np.searchsorted(there, v) for v in (values, x["v"].to_numpy())]
        within = abs(ranks[0][:, None] - ranks[1]) <= 4
        near = within / [[sum(abs(r - s) <= 4 for s in range(10))] for r in ranks[0]]
    chances = np.where(np.isnan(x["v"].to_numpy()), 0.25, 0.75 * near)
    chances[:2] = np.isnan(x["v"].to_numpy())
    checked(Key("v", kind, suppressed=0.25, **more), y, x, chances)


def by_ranks(values, weight):
    """P[released value | source value]: every pair of ranks, ties at random, ends cut off."""
    order = np.sort(values)
    size = len(order)
    each = np.array([[weight(abs(r - s)) for s in range(size)] for r in range(size)])
    each /= each.sum(1, keepdims=True)

    def chance(y, x):
        return each[np.ix_(order == y, order == x)].sum(1).mean()

    return chance


@pytest.mark.parametrize("case", ["distinct", "tied", "heaped", "coarse"])
@pytest.mark.parametrize("law", [(), (0.6, 0.3, 0.1)])
def test_rank(case, law):
    rng = np.random.default_rng(9)
    values = {
        "distinct": rng.permutation(30),
        "tied": rng.integers(0, 9, 30),
        "heaped": np.concatenate([np.zeros(14), np.arange(1, 17)]),
        "coarse": rng.integers(0, 2, 30),
    }[case].astype(float)
    y, x, _ = files(rng, values, 6)
    reach, window = 5, 5 / 30
    parts = law or (1.0,)

    def weight(away):
        """The part of the histogram over [0, 5.5] that a whole distance covers."""
        edges = np.linspace(0, reach + 0.5, len(parts) + 1)
        low, high = max(away - 0.5, 0), away + 0.5
        covered = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0, None)
        return (2 if away == 0 else 1) * (covered * parts).sum() * (away <= reach)

    chance = by_ranks(values, weight)
    chances = np.array([[chance(a, b) for b in x["v"]] for a in y["v"]])
    checked(Key("v", Kind.RANK, window=window, law=law), y, x, chances)


def test_shared():
    """Groups of three share a centre; some are missing, and two were never released."""
    rng = np.random.default_rng(10)
    y, x, _ = files(rng, rng.normal(size=12), 8)
    seen = np.array([1.5] * 3 + [2.0] * 3 + [np.nan] * 3 + ["", None, None], object)
    x["v"] = ["1.5", "2", "2.0", "", "", "1.50", "", "2"]
    told = [str(s) for s in [1.5] * 3 + [2.0] * 3] + [""] * 4 + ["never"] * 2
    shown = ["1.5", "2.0", "2.0", "", "", "1.5", "", "2.0"]
    chances = (np.array(told)[:, None] == np.array(shown)).astype(float)
    found = checked(Key("v", Kind.SHARED, seen=seen), y, x, chances)
    assert found.perceived[-2:].max() == 0


def test_who_is_never_released_leaves_the_others_present():
    """Half of 3,000 were drawn, and all who were are released: none of these is absent."""
    rng = np.random.default_rng(18)
    y = pd.DataFrame({"v": rng.integers(0, 30, 3000), "z": rng.normal(size=3000)})
    rows = rng.permutation(3000)[:1500]
    seen = np.full(3000, None, object)
    seen[rows] = y["v"].to_numpy()[rows]
    x = y.iloc[rows].reset_index(drop=True)
    x["z"] += rng.normal(0, 0.05, 1500)
    key = Key("v", Kind.SHARED, seen=seen)
    intruder = Intruder((key, Key("z", Kind.NORMAL, spread=(0.05,))), lose=1e-6)
    found = link(read_records(y, x, intruder, records=True), intruder)
    absent = np.setdiff1d(np.arange(3000), rows)
    assert found.null[rows].mean() < 0.01
    assert (found.null[absent] == 1).all()


def test_swapped_stays_or_goes_anywhere():
    rng = np.random.default_rng(11)
    y, x, _ = files(rng, np.resize(["n", "s", "w"], 12), 8)
    y["t"], x["t"] = np.resize([1, 2], 12), np.resize([1, 2, 2], 8)
    labels = [[f"{a} | {b}" for a, b in zip(t["v"], t["t"], strict=True)] for t in (y, x)]
    share = {one: labels[1].count(one) / 8 for one in labels[0] + labels[1]}
    chances = [
        [0.7 if a == b else 0.3 * share[b] / (1 - share[a]) for b in labels[1]] for a in labels[0]
    ]
    key = Key("v", Kind.SWAPPED, keep=0.7, joint=("t",))
    checked(key, y, x, np.array(chances))
    assert Intruder((key, NOISE)).only_keys(["t"]).keys == (key,)


def test_swapped_by_a_matrix():
    """The matrix is looked up by what the office knows of each record, here its risk."""
    rng = np.random.default_rng(12)
    y, x, _ = files(rng, np.resize(["n", "s"], 12), 8)
    matrix = {
        "n risky": {"n": 0.4, "s": 0.6},
        "n": {"n": 0.9, "s": 0.1},
        "s": {"n": 0.2, "s": 0.8},
    }
    seen = y["v"].to_numpy(object)
    seen[0] = "n risky"
    chances = np.array([[matrix[a][b] for b in x["v"]] for a in seen])
    checked(Key("v", Kind.SWAPPED, matrix=matrix, seen=seen), y, x, chances)


def test_noise_around_what_was_top_coded():
    rng = np.random.default_rng(13)
    y, x, _ = files(rng, rng.normal(40, 15, 12), 8)
    seen = np.minimum(y["v"], 45).to_numpy(object)
    chances = norm.pdf(x["v"].to_numpy(), seen.astype(float)[:, None], 2)
    checked(Key("v", Kind.NORMAL, spread=(2.0,), seen=seen), y, x, chances)


def test_many_categories_that_stay():
    """1,100 categories in no table: kept with .9, else any other."""
    rng = np.random.default_rng(14)
    names = np.array([f"c{k}" for k in range(1100)], object)
    y = pd.DataFrame({"v": names, "z": rng.normal(0, 2, 1100)})
    x = y.iloc[:3].reset_index(drop=True)
    x.loc[0, "v"] = "c9"
    same = y["v"].to_numpy()[:, None] == x["v"].to_numpy()
    truth = exact_links(np.where(same, 0.9, 0.1 / 1099) * noisy(y["z"], x["z"]))
    intruder = Intruder((Key("v", Kind.CATEGORY, keep=0.9), NOISE))
    found = link(read_records(y, x, intruder, records=True), intruder)
    assert found.dense() == pytest.approx(truth, abs=1e-9)


def test_released_values_that_the_source_lacks_have_ranks_of_their_own():
    y = pd.DataFrame({"v": np.arange(40.0)})
    x = pd.DataFrame({"v": np.arange(40.0) + 0.5})
    intruder = Intruder((Key("v", Kind.RANK, window=0.05),))
    found = link(read_records(y, x, intruder, records=True), intruder)
    assert (np.argmax(found.dense()[[0, -1]], 1) == [0, 39]).all()
    assert found.dense()[20, 23:].max() == 0


def test_pruning_finds_what_weighing_all_finds(monkeypatch):
    """Heaped ranks, labels with missing ones and blocks that go anywhere, a few pairs at a time."""
    monkeypatch.setattr("discreet.intruder.linkage.search.BATCH", 500)
    rng = np.random.default_rng(17)
    many = 300
    y = pd.DataFrame({"r": np.where(rng.random(many) < 0.3, 0, rng.integers(0, 200, many))})
    y["q"] = rng.normal(size=many)
    y["e"] = rng.choice(["a", "b", "c", ""], many)
    y["f"] = rng.choice(["k", "l", "m", "n"], many)
    y["s"] = rng.choice(["u", "v", "w"], many)
    rows = rng.permutation(many)[:60]
    x = y.iloc[rows].reset_index(drop=True)
    x.loc[:5, "f"] = ""
    keys = (
        Key("r", Kind.RANK, window=0.2),
        Key("q", Kind.RANK, window=0.3, law=(0.5, 0.5)),
        Key("e", Kind.EXACT),
        Key("f", Kind.SUPPRESSED, suppressed=0.1),
        Key("s", Kind.SWAPPED, keep=0.9),
    )
    intruder = Intruder(keys, top=many, lose=1e-9)
    records = read_records(y, x, intruder, records=True)
    whole, pruned = (link(records, intruder, dense=dense) for dense in (10**6, 0))
    assert pruned.dense() == pytest.approx(whole.dense(), abs=1e-6)
    assert (pruned.pairs(rows, np.arange(60)) > 0).all()


def test_twenty_thousand_records():
    """20,000 distinct values that are released as they are, and ranks: every link is certain."""
    rng = np.random.default_rng(0)
    many = 20_000
    y = pd.DataFrame({"a": rng.permutation(many) * 1.5, "b": rng.normal(size=many)})
    order = rng.permutation(many)
    x = y.iloc[order].reset_index(drop=True)
    ranks = np.argsort(np.argsort(x["b"].to_numpy()))
    moved = np.argsort(np.argsort(ranks + rng.uniform(-200, 200, many)))
    x["b"] = np.sort(x["b"].to_numpy())[moved]
    intruder = Intruder((Key("a", Kind.EXACT), Key("b", Kind.RANK, window=0.05)))
    records = replace(read_records(y, x, intruder, records=True), parents=order)
    found = identify(records, intruder)
    assert found.true.best == many
    assert found.perceived.average == pytest.approx(1)


def test_other_measures_know_the_kinds():
    rng = np.random.default_rng(15)
    y, x, rows = files(rng, rng.integers(0, 12, 30), 20)
    y["r"], x["r"] = np.arange(30.0), np.arange(30.0)[rows]
    y["g"] = np.resize(["a", "b", "c"], 30)
    x["g"] = y["g"].to_numpy()[rows]
    keys = (
        Key("v", Kind.INTERVAL, cuts=(4.0, 8.0), labels=("low", "mid", "high")),
        Key("r", Kind.RANK, window=0.1),
        Key("g", Kind.SWAPPED, keep=0.8),
    )
    x["v"] = np.array(["low", "mid", "high"])[np.digitize(x["v"], [4, 8])]
    intruder = Intruder(keys)
    records = replace(read_records(y, x, intruder, records=True), parents=rows)
    data = encode(records, intruder)
    assert matching(records, intruder, data).risk == 1
    found = harmless(records, intruder, limit=0.2)
    assert found.assumed > 0.2
    assert found.grid[-1][1] < 0.2
    assert set(found.without) == {"v", "r", "g"}


def test_drawn_files_follow_every_kind():
    rng = np.random.default_rng(16)
    many = 4000
    y = pd.DataFrame({"e": rng.integers(0, 5, many), "r": np.arange(float(many))})
    y["s"] = rng.choice(["a", "b", "c"], many)
    y["c"], y["n"] = y["s"], rng.normal(size=many)
    keys = (
        Key("e", Kind.EXACT, suppressed=0.3),
        Key("r", Kind.RANK, window=0.1, law=(0.8, 0.2)),
        Key("s", Kind.SWAPPED, keep=0.6),
        Key("c", Kind.CATEGORY, keep=0.9, suppressed={"a": 0.5, "b": 0.0, "c": 0.1}),
        Key("n", Kind.NORMAL, spread=(0.5,), suppressed=0.2),
    )
    intruder = Intruder(keys)
    data = encode(read_records(y, y, intruder, records=True), intruder)
    drawn, parents = draw_file(data, many, np.random.default_rng(1))
    labels = drawn.matches
    e, s, c = (labels.names.index(name) for name in "esc")
    assert (labels.released[:, e] < 0).mean() == pytest.approx(0.3, abs=0.03)
    kept = labels.released[:, e] >= 0
    assert (labels.released[kept, e] == labels.source[parents[kept], e]).all()
    assert (labels.released[:, s] == labels.source[parents, s]).mean() == pytest.approx(
        0.6, abs=0.03
    )
    hidden = labels.released[:, c] < 0
    assert hidden[(y["s"] == "a")[parents]].mean() == pytest.approx(0.5, abs=0.05)
    assert not hidden[(y["s"] == "b")[parents]].any()
    assert ((drawn.released_codes[:, 0] == 3) == hidden).all()
    assert np.isnan(drawn.x[:, 0]).mean() == pytest.approx(0.2, abs=0.03)
    away = abs(drawn.ranks.released[:, 0, 0] - drawn.ranks.source[parents, 0, 0])
    assert away.max() <= 400
    assert (away <= 200).mean() == pytest.approx(0.8, abs=0.03)


def test_keys_that_are_refused():
    y = pd.DataFrame({"v": [1.0, 2.0, 3.0], "w": ["a", "b", "c"]})

    def refused(words, *keys, released=y, **options):
        intruder = Intruder(keys, **options)
        with pytest.raises(DataError, match=words):
            link(read_records(y, released, intruder, records=True), intruder)

    refused("no window", Key("v", Kind.RANK))
    refused("no value in common", Key("w", Kind.EXACT), released=y.assign(w=["x", "y", "z"]))
    refused("does not say what became", Key("v", Kind.SHARED))
    refused("of 2 records, but the source has 3", Key("v", Kind.SHARED, seen=np.array([1, 2])))
    refused("1 cuts and 1 labels", Key("v", Kind.INTERVAL, cuts=(2.0,), labels=("a",)))
    refused("no low and no high", Key("v", Kind.TOPCODE))
    refused("1 labels; give two", Key("v", Kind.TOPCODE, high=2.0, labels=("x",)))
    refused("how often 'c' is suppressed", Key("w", Kind.EXACT, suppressed={"a": 0.1, "b": 0.1}))
    refused("'q' somewhere", Key("v", Kind.RANK, window=0.5, seen=np.array([1, 2, "q"], object)))
    shared = Key("w", Kind.EXACT)
    refused(
        "type 1 names 'w', a key of kind exact",
        shared,
        types=(Type(1.0, {"w": shared}),),
    )
    gone = Key("w", Kind.SHARED, seen=np.array(["a", None, None], object))
    intruder = Intruder((gone,))
    records = read_records(y, y.assign(w="a"), intruder, records=True)
    with pytest.raises(DataError, match="only 1 can be"):
        calibration(records, intruder, files=1)

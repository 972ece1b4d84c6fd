"""Links of whole files: exact against all assignments, pruning, missing values, frames."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, multivariate_normal, norm

from discreet.errors import DataError
from discreet.intruder.linkage.blocking import Candidates, Classes
from discreet.intruder.linkage.encode import encode
from discreet.intruder.linkage.equation import exact_links, exchangeable_links
from discreet.intruder.linkage.links import link, most_events, solve
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.reasons import reasons
from discreet.intruder.linkage.records import read_records

EXAMPLES = Path(__file__).parents[3] / "examples" / "linkage"
AGE_SEX = {
    "keys": {"age": {"kind": "normal", "spread": 2}, "sex": {"kind": "category", "keep": 0.9}}
}


def brute_force(densities):
    sources, released = densities.shape
    links = np.zeros_like(densities)
    for chosen in permutations(range(sources), released):
        links[list(chosen), range(released)] += densities[list(chosen), range(released)].prod()
    return links / links.sum(0)


def numpy(table, name):
    return table[name].to_numpy(object if name == "sex" else float)


def density(y, x, spread=2.0, keep=0.9):
    near = np.exp(-(((numpy(y, "age")[:, None] - numpy(x, "age")) / spread) ** 2) / 2)
    return near * np.where(numpy(y, "sex")[:, None] == numpy(x, "sex"), keep, 1 - keep)


def files(rng, sources, released, spread=2.0, duplicates=False):
    y = pd.DataFrame({"age": rng.normal(40, 5, sources), "sex": rng.choice(["f", "m"], sources)})
    y["sex"] = y["sex"].astype(str)
    if duplicates:
        y.loc[1::2] = y.loc[::2].values[: sources // 2]
        y["age"] = y["age"].astype(float)
    x = y.iloc[rng.permutation(sources)[:released]].copy()
    x["age"] += rng.normal(0, spread, released)
    return y, x.reset_index(drop=True)


@pytest.mark.parametrize("seed", range(40))
def test_every_assignment(seed):
    rng = np.random.default_rng(seed)
    sources = int(rng.integers(1, 8))
    released = int(rng.integers(1, min(5, sources) + 1))
    densities = np.exp(-rng.exponential(rng.choice([0.5, 3, 20]), (sources, released)))
    assert exact_links(densities) == pytest.approx(brute_force(densities), abs=1e-12)


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_small_files(seed, duplicates):
    rng = np.random.default_rng(seed)
    y, x = files(rng, 6, 4, duplicates=duplicates)
    if duplicates:
        x.loc[1] = x.loc[0]
    intruder = Intruder.of(AGE_SEX)
    y.loc[6], x.loc[4] = [40.0, "m"], [40.5, "f"]  # both sexes in both files
    found = link(read_records(y, x, intruder), intruder)
    assert found.dense() == pytest.approx(brute_force(density(y, x)), abs=1e-12)
    assert found.exact == 1
    assert found.null == pytest.approx(1 - found.dense().sum(1), abs=1e-12)
    assert found.perceived == pytest.approx(found.dense().max(1), abs=1e-15)


def test_nothing_underflows():
    """Every record is far from all sources but prefers the same one."""
    logs = -np.arange(1, 7)[:, None] * np.array([100.0, 90.0, 80.0])
    links = exact_links(np.exp(logs))
    assert links.sum(0) == pytest.approx(1)
    assert links == pytest.approx(brute_force(np.exp(logs + 200)), abs=1e-12)


def test_clusters_are_near_the_exact_sum():
    rng = np.random.default_rng(5)
    y, x = files(rng, 14, 11, spread=0.5)
    intruder = Intruder.of(AGE_SEX)
    records = read_records(y, x, intruder)
    found = link(records, intruder, exact=0)
    assert found.exact < 1
    assert found.dense() == pytest.approx(exact_links(density(y, x)), abs=0.05)


def test_pruned_files_agree_with_whole_ones():
    rng = np.random.default_rng(6)
    y, x = files(rng, 400, 60, spread=0.05)
    x.loc[0, "age"] = 200.0  # an outlier, weighed with everybody
    x.loc[1, "age"] = np.nan
    y.loc[5, "age"] = np.nan
    intruder = Intruder.of(
        {
            "keys": {"age": {"kind": "normal", "spread": 0.05}, "sex": AGE_SEX["keys"]["sex"]},
            "top": 400,
            "lose": 1e-6,
        }
    )
    records = read_records(y, x, intruder)
    whole, pruned = link(records, intruder), link(records, intruder, dense=0)
    assert pruned.bound <= 1e-6
    assert pruned.dense() == pytest.approx(whole.dense(), abs=2e-4)


@pytest.mark.parametrize("lose", [0.5, 0.1, 0.001])
def test_pruning_leaves_every_record_a_source(lose):
    """What is not weighed counts as somebody else, so that nobody lacks a source."""
    intruder = Intruder.of(
        {"keys": {**AGE_SEX["keys"], "age": {"kind": "normal", "spread": 0.1}}, "lose": lose}
    )
    for seed in range(5):
        y, x = files(np.random.default_rng(seed), 150, 60, spread=0.1)
        found = link(read_records(y, x, intruder), intruder, dense=0, exact=1 << 14).dense()
        assert found.min() >= 0
        assert max(found.sum(0).max(), found.sum(1).max()) <= 1 + 1e-12


def test_what_pruning_loses_at_most():
    """Of 20 drawn files none loses more; in all they lose about as many as expected."""
    keys = {"keys": {**AGE_SEX["keys"], "age": {"kind": "normal", "spread": 0.5}}}
    lost, expected = 0, 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, chosen = files(rng, 300, 1)[0], rng.permutation(300)[:100]
        x = y.iloc[chosen].reset_index(drop=True)
        x["age"] += rng.normal(0, 0.5, 100)
        x["sex"] = np.where(rng.random(100) < 0.9, x["sex"], np.where(x["sex"] == "f", "m", "f"))
        person = Intruder.of({**keys, "lose": [0.3, 0.05][seed % 2], "top": [8, 150][seed // 10]})
        found = link(read_records(y, x, person), person, dense=0, exact=0)
        here = int((found.pairs(chosen, np.arange(100)) == 0).sum())
        assert here <= found.lost_at_most <= 100
        lost, expected = lost + here, expected + found.lost * 100
    assert expected / 2 < lost < expected + 4 * np.sqrt(expected)


@pytest.mark.parametrize("chance", [1e-6, 1e-3, 0.02, 0.3])
def test_events_are_seldom_more(chance):
    for many in (1, 10, 1_000, 100_000):
        most = most_events(chance * many, 1e-3)
        assert binom.sf(most, many, chance) <= 1e-3
        assert most <= 5 + chance * many + 5 * np.sqrt(chance * many)
    assert most_events(0.0, 1e-3) == 0


def test_what_the_top_leaves_out_is_not_claimed():
    y = pd.DataFrame({"age": np.arange(50) / 1000, "sex": ["f", "m"] * 25})
    x = pd.DataFrame({"age": [0.0], "sex": ["f"]})
    intruder = Intruder.of({**AGE_SEX, "top": 5})
    found = link(read_records(y, x, intruder), intruder, dense=0)
    assert found.left_out > 0.5
    assert found.perceived.max() < 0.05


def test_others_who_are_not_in_the_source():
    """One source record of 100 people who look like it: 1 / 100."""
    y = pd.DataFrame({"age": [40.0, 60.0], "sex": ["f", "m"]})
    intruder = Intruder.of({**AGE_SEX, "population": 200})
    found = link(read_records(y, y.iloc[:1], intruder), intruder)
    assert found.perceived[0] == pytest.approx(0.01, rel=1e-3)


def everybody(densities, population):
    """A row for each of the population: who is no source has the mean density of the sources."""
    others = population - len(densities)
    return np.vstack([densities, np.tile(densities.mean(0), (others, 1))])


@pytest.mark.parametrize("seed", range(30))
def test_every_assignment_to_a_population(seed):
    rng = np.random.default_rng(seed)
    sources, others = int(rng.integers(1, 5)), int(rng.integers(0, 4))
    released = int(rng.integers(1, min(5, sources + others) + 1))
    densities = np.exp(-rng.exponential(rng.choice([0.5, 3, 20]), (sources, released)))
    truth = brute_force(everybody(densities, sources + others))[:sources]
    found = exact_links(densities, population=sources + others)
    assert found == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("exact", [1 << 20, 0])
@pytest.mark.parametrize("others", [1, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_small_files_of_a_population(seed, others, exact):
    """Summed at once it is exact; group by group and by clusters it is near, and says so."""
    y, x = files(np.random.default_rng(seed), 5, 4)
    y["sex"], x["sex"] = ["f", "m", "m", "f", "m"], ["f", "m", "m", "f"]
    y.loc[1], x.loc[1] = y.loc[2], x.loc[2]  # look-alikes
    for keep in (0.9, 1.0):  # tied together, and two groups
        keys = {**AGE_SEX["keys"], "sex": {"kind": "category", "keep": keep}}
        intruder = Intruder.of({"keys": keys, "population": 5 + others})
        found = link(read_records(y, x, intruder), intruder, exact=exact)
        truth = brute_force(everybody(density(y, x, keep=keep), 5 + others))[:5]
        assert found.dense() == pytest.approx(truth, abs=1e-12 if exact else 0.05)
        assert found.exact == bool(exact)


def test_everybody_of_the_population_is_released():
    """Two of three people are known and three records are released: nobody is missing."""
    y, x = pd.DataFrame({"age": [40.0, 60.0]}), pd.DataFrame({"age": [41.0, 39.0, 60.5]})
    intruder = Intruder.of({"keys": {"age": AGE_SEX["keys"]["age"]}, "population": 3})
    for exact in (1 << 20, 0):
        found = link(read_records(y, x, intruder), intruder, exact=exact)
        assert found.null == pytest.approx(0, abs=1e-12)
        assert found.perceived == pytest.approx([0.5, 1], abs=1e-3)


@pytest.mark.parametrize("released", [1, 5, 40])
@pytest.mark.parametrize("sources", [1, 10, 60])
def test_all_are_alike(sources, released):
    """4.2.1 of Lambert 1993: 1 / N, whoever is known and however many are released."""
    others = 100 - sources
    one = [
        Classes(np.zeros(1, np.int64), np.zeros(many, np.int64), np.array([many]))
        for many in (sources, released)
    ]
    edge = np.zeros(1, np.int64)
    alike = Candidates(*one, np.array([0, 1]), edge, np.ones(1), np.zeros(1), 0.0)
    for exact in (1 << 20, 0):
        found = solve(alike, strangers=others, exact=exact).dense()
        assert found == pytest.approx(np.full((sources, released), 0.01), rel=0.01)


@pytest.mark.parametrize("others", [5, 50, 500])
def test_large_files_of_a_population(others):
    """Groups and clusters of 15 records against the exact sum over all."""
    y, x = files(np.random.default_rng(others), 20, 15, spread=0.5)
    for keep in (0.9, 1.0):
        keys = {
            "age": {"kind": "normal", "spread": 0.5},
            "sex": {"kind": "category", "keep": keep},
        }
        intruder = Intruder.of({"keys": keys, "population": 20 + others})
        found = link(read_records(y, x, intruder), intruder, exact=1 << 20)
        truth = exact_links(density(y, x, 0.5, keep), population=20 + others)
        assert found.exact == 0
        assert found.dense() == pytest.approx(truth, abs=0.02)


def test_a_population_that_is_no_population():
    for population, words in ((1, "said to be 1, but there are 2"), (2, "3 records are released")):
        with pytest.raises(DataError, match=words):
            exact_links(np.ones((2, 3)), population=population)


def test_a_target_who_is_there():
    y = pd.DataFrame({"age": [40.0, 41.0, 60.0], "sex": ["f", "m", "f"]})
    intruder = Intruder.of({**AGE_SEX, "present": True})
    found = link(read_records(y, y.iloc[:2], intruder), intruder)
    assert found.null == pytest.approx(0, abs=1e-12)


def test_missing_and_unknown_keys_tell_nothing():
    y = pd.DataFrame({"age": [30.0, 50.0], "sex": ["f", "m"], "job": ["a", "b"]})
    x = pd.DataFrame({"age": [None], "sex": ["m"]}, dtype=object).astype({"age": float})
    keys = {**AGE_SEX["keys"], "job": {"kind": "unknown"}}
    intruder = Intruder.of({"keys": keys})
    found = link(read_records(y, x, intruder), intruder)
    assert found.dense()[:, 0] == pytest.approx([0.1, 0.9])


def test_pram_mixtures_correlation_and_estimates():
    rng = np.random.default_rng(2)
    y = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 30),
            "region": rng.choice(["North", "South"], 30),
            "age": rng.normal(40, 10, 30),
            "income": rng.lognormal(3, 0.5, 30),
            "turnover": rng.lognormal(3, 0.5, 30),
            "wealth": rng.lognormal(3, 0.5, 30),
        }
    )
    x = y.iloc[:9].copy()
    x["turnover"] = x["turnover"] ** 2
    intruder = replace(Intruder.read(EXAMPLES / "intruder.toml"), population=None)
    found = link(read_records(y, x, intruder), intruder)
    assert found.perceived.max() > 0.5
    data = encode(read_records(y, x, intruder), intruder)
    noise = np.array([0.3, -1.0])
    shape = np.array([[4, 0.3 * 2 * 0.3], [0.3 * 2 * 0.3, 0.09]])
    names = [data.numbers.index(name) for name in ("age", "wealth")]
    moved = read_records(
        y, x.assign(age=x["age"] + noise[0], wealth=x["wealth"] * np.exp(noise[1])), intruder
    )
    apart = encode(moved, intruder).x[0, names] - data.x[0, names]
    assert apart @ apart == pytest.approx(noise @ np.linalg.solve(shape, noise))


CARELESS = {
    "keys": {
        "age": {"kind": "normal", "spread": 1},
        "wage": {"kind": "lognormal", "spread": [0.1, 0.3], "weights": [0.5, 0.5]},
        "debt": {"kind": "normal", "spread": 2},
        "sex": {"kind": "category", "keep": 0.95},
        "job": {"kind": "category", "keep": 0.9},
    },
    "types": [
        {"share": 0.7},
        {
            "share": 0.2,
            "keys": {
                "age": {"spread": 4},
                "debt": {"spread": 0.5},
                "sex": {"keep": 0.6},
                "job": {"matrix": {"a": {"a": 0.5, "c": 0.5}, "b": {"b": 1}, "c": {"d": 1}}},
            },
        },
        {"share": 0.1, "keys": {"sex": {"keep": 0.5}}},
    ],
    "lose": 1e-6,
}


def typed_files(rng, sources, released):
    """Three in ten released records are careless: all their keys are masked more."""
    y = pd.DataFrame(
        {
            "age": rng.normal(40, 5, sources),
            "wage": rng.lognormal(3, 0.5, sources),
            "debt": rng.normal(0, 5, sources),
            "sex": np.resize(["f", "m"], sources),
            "job": rng.choice(["a", "b", "c"], sources),
        }
    )
    x = y.iloc[rng.permutation(sources)[:released]].reset_index(drop=True)
    careless = rng.random(released) < 0.3
    x["age"] += rng.normal(0, np.where(careless, 4, 1))
    x["wage"] *= np.exp(rng.normal(0, 0.2, released))
    return y, x


def typed_density(y, x):
    """The sum over types of the product over keys, term by term."""
    jobs = {0: None, 1: CARELESS["types"][1]["keys"]["job"]["matrix"], 2: None}
    found = np.zeros((len(y), len(x)))
    for j, i in np.ndindex(found.shape):
        a, b = y.iloc[j], x.iloc[i]
        wage = [norm.pdf(np.log(b["wage"]), np.log(a["wage"]), s) for s in (0.1, 0.3)]
        for t, (share, age, debt, sex) in enumerate(
            [(0.7, 1, 2, 0.95), (0.2, 4, 0.5, 0.6), (0.1, 1, 2, 0.5)]
        ):
            f = share * norm.pdf(b["age"], a["age"], age) * np.mean(wage)
            f *= 1 if np.isnan(b["debt"]) else norm.pdf(b["debt"], a["debt"], debt)
            f *= sex if a["sex"] == b["sex"] else 1 - sex
            if jobs[t]:
                f *= jobs[t][a["job"]].get(b["job"], 0)
            else:
                f *= 0.9 if a["job"] == b["job"] else 0.1 / 3  # of four categories
            found[j, i] += f
    return found


@pytest.mark.parametrize("seed", range(4))
def test_types_of_records(seed):
    y, x = typed_files(np.random.default_rng(seed), 7, 4)
    x.loc[0, "debt"] = np.nan
    intruder = Intruder.of(CARELESS)
    found = link(read_records(y, x, intruder), intruder)
    assert found.dense() == pytest.approx(brute_force(typed_density(y, x)), abs=1e-12)


def test_types_in_pruned_files():
    y, x = typed_files(np.random.default_rng(4), 300, 30)
    intruder = Intruder.of({**CARELESS, "top": 300})
    records = read_records(y, x, intruder)
    whole, pruned = (link(records, intruder, dense=dense, exact=0) for dense in (10**6, 0))
    assert 0 < pruned.lost < 1e-5
    assert pruned.dense() == pytest.approx(whole.dense(), abs=1e-3)


def test_types_that_agree_are_one():
    y, x = files(np.random.default_rng(1), 30, 9)
    plain = Intruder.of(AGE_SEX)
    same = {"share": 0.5, "keys": {"age": {"spread": 2}, "sex": {"keep": 0.9}}}
    typed = Intruder.of({**AGE_SEX, "types": [same, {"share": 0.5}]})
    first, second = (link(read_records(y, x, person), person).dense() for person in (plain, typed))
    assert second == pytest.approx(first, abs=1e-12)
    assert [t.share for t in typed.only_keys(["sex"]).types] == [0.5, 0.5]
    assert list(typed.only_keys(["sex"]).types[0].keys) == ["sex"]


def test_reasons_average_over_types():
    y = pd.DataFrame({"age": [30.0, 50.0], "sex": ["f", "m"]})
    types = [{"share": 0.5}, {"share": 0.5, "keys": {"sex": {"keep": 0.5}, "age": {"spread": 20}}}]
    intruder = Intruder.of({**AGE_SEX, "types": types})
    told = reasons(encode(read_records(y, y, intruder), intruder), 0, 0)
    age = norm.pdf([0, 20], 0, 2) / 2 + norm.pdf([0, 20], 0, 20) / 2
    assert told == pytest.approx({"age": age[0] / age.mean(), "sex": 0.7 / 0.5})


CORRELATED = {
    "keys": {
        "a": {"kind": "normal", "spread": 1},
        "b": {"kind": "normal", "spread": 2},
        "c": {"kind": "normal", "spread": 0.5},
    },
    "correlation": [{"keys": ["a", "b"], "value": 0.8}, {"keys": ["b", "c"], "value": -0.4}],
}
NOISE = np.array([[1, 1.6, 0], [1.6, 4, -0.4], [0, -0.4, 0.25]])


def correlated_files(rng, sources, released, missing):
    """Some released values are missing, so that all patterns occur."""
    y = rng.normal(0, [3, 6, 1.5], (sources, 3))
    x = y[rng.permutation(sources)[:released]] + rng.multivariate_normal(
        np.zeros(3), NOISE, released
    )
    x[rng.random(x.shape) < missing] = np.nan
    x[0] = np.nan_to_num(x[0])
    return (pd.DataFrame(table, columns=list("abc")) for table in (y, x))


@pytest.mark.parametrize("seed", range(4))
def test_correlated_noise_with_missing_values(seed):
    """The density of what is there: normal with the part of the covariance that belongs to it."""
    y, x = correlated_files(np.random.default_rng(seed), 7, 4, 0.4)
    densities = np.ones((7, 4))
    for j, i in np.ndindex(densities.shape):
        there = np.flatnonzero(~np.isnan(x.iloc[i]))
        if len(there):
            away = (x.iloc[i] - y.iloc[j]).to_numpy()[there]
            densities[j, i] = multivariate_normal(cov=NOISE[np.ix_(there, there)]).pdf(away)
    intruder = Intruder.of(CORRELATED)
    found = link(read_records(y, x, intruder), intruder)
    assert found.dense() == pytest.approx(brute_force(densities), abs=1e-12)


def test_pruned_files_of_correlated_noise():
    y, x = correlated_files(np.random.default_rng(9), 300, 30, 0.2)
    y.iloc[0, 1] = np.nan
    intruder = Intruder.of({**CORRELATED, "top": 300, "lose": 1e-6})
    records = read_records(y, x, intruder)
    whole, pruned = (link(records, intruder, dense=dense, exact=0) for dense in (10**6, 0))
    assert pruned.dense() == pytest.approx(whole.dense(), abs=1e-3)


def test_many_correlated_numbers_with_missing_values():
    names = list("abcdefghijk")
    keys = {name: {"kind": "normal", "spread": 1} for name in names}
    intruder = Intruder.of({"keys": keys, "correlation": CORRELATED["correlation"]})
    y = pd.DataFrame(np.eye(11), columns=names)
    assert link(read_records(y, y, intruder), intruder).exact <= 1
    with pytest.raises(DataError, match="at most 10 numbers"):
        link(read_records(y, y.replace(1.0, np.nan), intruder), intruder)


def test_a_missing_value_changes_only_its_own_record():
    """Of two ways to weigh correlated noise, with and without missing values."""
    y, x = correlated_files(np.random.default_rng(3), 40, 6, 0)
    intruder = Intruder.of(CORRELATED)
    apart = y.max() + 1_000
    y.loc[40], x.loc[6] = apart, apart
    whole = link(read_records(y, x, intruder), intruder).dense()
    x.loc[6, "a"] = np.nan
    assert link(read_records(y, x, intruder), intruder).dense() == pytest.approx(whole, abs=1e-9)


def test_exchangeable_others():
    rng = np.random.default_rng(3)
    target, others = rng.exponential(size=4), rng.exponential(size=4)
    links = exact_links([target, *[others] * 8])
    assert links[0] == pytest.approx(exchangeable_links(target / others, 9), abs=1e-12)


def typed(name, entry, correlated=False, **keys):
    pair = [{"keys": ["age", "debt"], "value": 0.5}] if correlated else []
    debt = {"kind": "normal", "spread": 1}
    return {
        "keys": {**AGE_SEX["keys"], "debt": debt, **keys},
        "types": [{"share": 0.5}, {"share": 0.5, "keys": {name: entry}}],
        "correlation": pair,
    }


BAD = [
    ({}, "describes no key"),
    ({"keys": {"age": {"spread": 2}}}, "has no kind"),
    ({"keys": {"age": {"kind": "gamma"}}}, "'gamma'"),
    ({"keys": {"age": {"kind": "normal"}}}, "no spread"),
    ({"keys": {"age": {"kind": "normal", "spread": -1}}}, "-1; give a number above 0"),
    ({"keys": {"age": {"kind": "normal", "spread": [1, 2]}}}, "2 spreads and 0 weights"),
    ({"keys": {"sex": {"kind": "category", "kept": 1}}}, "'kept'"),
    ({"keys": {"sex": {"kind": "category", "matrix": {"f": {"m": 0.5}}}}}, "sum to 0.5"),
    ({**AGE_SEX, "population": 1.5}, "whole number"),
    ({**AGE_SEX, "types": {"share": 1}}, r"a table \[\[types\]\] for each"),
    ({**AGE_SEX, "types": []}, r"a table \[\[types\]\] for each"),
    ({**AGE_SEX, "types": [{"share": 0.5}, {"share": 0.4}]}, "sum to 0.9, not to 1"),
    ({**AGE_SEX, "types": [{"keys": {}}]}, "share of type 1 of the intruder is None"),
    (typed("size", {"spread": 1}), "type 2 of the intruder has 'size'"),
    (typed("age", {"spread": [1, 2], "weights": [0.5, 0.5]}), "'age', whose spread is"),
    (typed("age", {"keep": 0.5}), "'keep'"),
    (typed("age", {}), "no spread"),
    (typed("age", {"kind": "normal", "spread": 1}), "without a kind"),
    (typed("age", {"spread": 1}, age={"kind": "normal", "spread": "estimated"}), "estimated"),
    (typed("age", {"spread": 1}, age={"kind": "unknown"}), "does not know"),
    (typed("age", {"spread": 1}, correlated=True), "'age', whose noise is correlated"),
    ({**AGE_SEX, "correlation": [{"keys": ["age", "sex"], "value": 0.1}]}, "two normal"),
]


@pytest.mark.parametrize(("content", "words"), BAD)
def test_intruders_that_are_refused(content, words):
    with pytest.raises(DataError, match=words):
        Intruder.of(content)


def test_files_that_are_refused():
    intruder = Intruder.of(AGE_SEX)
    y = pd.DataFrame({"id": [1, 2, 3], "age": [30.0, 40, 50], "sex": ["f", "m", "f"]})

    def refused(words, source=y, released=y, person=intruder, **options):
        with pytest.raises(DataError, match=words):
            link(read_records(source, released, person, **options), person)

    refused("has no column 'sex'", released=y.drop(columns="sex"))
    refused("'age' is numbers in", released=y.astype({"age": str}))
    refused("no category in common", released=y.assign(sex=["1", "2", "1"]))
    refused("not unique: see row 2", source=y.assign(id=1), id="id")
    refused("row 3 of .* has an id", released=y.assign(id=[1, 2, 9]), id="id")
    refused("4 records are released of 3", released=pd.concat([y, y.iloc[:1]]))
    refused(
        "constant in both", source=y.assign(age=1.0, sex="f"), released=y.assign(age=1.0, sex="f")
    )
    sure = Intruder.of({"keys": {"sex": {"kind": "category"}}})
    refused("released record 1 has density 0", released=y.assign(sex=["x", "m", "f"]), person=sure)
    one_f = y.assign(sex=["f", "m", "m"])
    refused("cannot all belong", source=one_f, released=y.assign(sex=["f", "f", "m"]), person=sure)
    small = Intruder.of({**AGE_SEX, "population": 2})
    refused("population is said to be 2", person=small)
    log = Intruder.of({"keys": {"age": {"kind": "lognormal", "spread": 1}}})
    refused("has -1; a lognormal key", source=y.assign(age=-1.0), person=log)
    guess = Intruder.of({"keys": {"age": {"kind": "normal", "spread": "estimated"}}})
    refused("cannot be estimated", person=guess)


def test_far_sources_leave_no_probability_undefined():
    """Weights that underflow to 0 once made links nan, which no threshold finds."""
    rng = np.random.default_rng(0)
    income = np.exp(rng.normal(7, 0.5, 600))
    spread = float(0.03 * income.std())
    people = pd.DataFrame({"id": range(600), "income": income, "sex": rng.choice(["f", "m"], 600)})
    masked = people.assign(income=income + rng.normal(0, spread, 600))
    keys = {"income": {"kind": "normal", "spread": spread}, "sex": {"kind": "category"}}
    intruder = Intruder.of({"keys": keys})
    links = link(read_records(people, masked, intruder, id="id"), intruder)
    assert np.isfinite(links.chances).all()
    assert links.dense().sum(1) == pytest.approx(1, abs=0.05)

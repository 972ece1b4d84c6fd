"""Links of whole files: exact against all assignments, pruning, missing values, frames."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.encode import encode
from discreet.intruder.linkage.equation import exact_links, exchangeable_links
from discreet.intruder.linkage.links import link
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records

EXAMPLES = Path(__file__).parents[2] / "examples" / "linkage"
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


def test_exchangeable_others():
    rng = np.random.default_rng(3)
    target, others = rng.exponential(size=4), rng.exponential(size=4)
    links = exact_links([target, *[others] * 8])
    assert links[0] == pytest.approx(exchangeable_links(target / others, 9), abs=1e-12)


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

"""Beliefs that differ by respondent: against the kernels, against quadrature, and how fast."""

import math
import time
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.integrate import quad

from discreet.errors import DataError
from discreet.intruder.linkage.laws import Law, log_integral
from discreet.linkage import Intruder, Records, harmless, identify, matching, with_replacement

FILES, INTEGRALS = 300, 100


def records_of(people, masked):
    sides = [{name: pa.chunked_array([pa.array(t[name], from_pandas=True)]) for name in t}
             for t in (people, masked)]  # fmt: skip
    parents = np.array([people["id"].tolist().index(k) for k in masked["id"]])
    return Records(*sides, len(people), len(masked), parents)


def noisy_file(rng):
    """Two numbers of normal error, some missing, and a category."""
    many = int(rng.integers(2, 12))
    released = int(rng.integers(1, min(many, 7) + 1))
    y = pd.DataFrame(
        {
            "id": np.arange(many),
            "a": rng.choice(list("xyz"), many),
            "v": rng.lognormal(3, 0.3, many),
            "w": rng.lognormal(3, 0.3, many),
        }
    )
    y = y.astype({"a": str})  # fmt: skip
    x = y.iloc[rng.permutation(many)[:released]].copy()
    for name in "vw":
        x[name] *= rng.lognormal(0, 0.1, released)
        for table in (y, x):
            if rng.random() < 0.4:
                table.loc[table.index[rng.random(len(table)) < 0.3], name] = np.nan
    kinds = {name: str(rng.choice(["normal", "lognormal"])) for name in "vw"}
    spreads = {name: 0.2 if kinds[name] == "lognormal" else 3.0 for name in "vw"}
    more = {"present": bool(rng.random() < 0.3)}
    if rng.random() < 0.3:
        more["population"] = many + int(rng.integers(1, 6))
    rest = {name: {} for name in "vw"}
    for name in "vw":
        rest[name] |= {"missing": "kept"} if rng.random() < 0.4 else {}
        rest[name] |= {"suppressed": 0.2} if rng.random() < 0.4 else {}
    category = {"a": {"kind": "category", "keep": 0.8}} if rng.random() < 0.5 else {}
    if category and rng.random() < 0.5:
        more["types"] = [{"share": 0.7}, {"share": 0.3, "keys": {"a": {"keep": 0.4}}}]
    return y, x, kinds, spreads, rest, category, more, bool(rng.random() < 0.5)


def answers(records, intruder):
    found = identify(records, intruder, act=0.2)
    grid = harmless(records, intruder, limit=0.2).grid
    near = matching(records, intruder, found.data).matched
    apart = with_replacement(found, intruder).largest
    return [*found.links.dense().ravel(), *found.links.null, *np.ravel(grid), near, apart]


def test_columns_of_equal_spreads_agree_with_the_kernels():
    """Hard: missing values, suppression, strangers, types and correlations in one file."""
    compared, worst = 0, 0.0
    for seed in range(FILES):
        rng = np.random.default_rng(seed)
        y, x, kinds, spreads, rest, category, more, tied = noisy_file(rng)
        y = y.assign(sv=spreads["v"], sw=spreads["w"], r=0.4)
        both = []
        for own in (False, True):
            keys = {
                name: {"kind": kinds[name], **rest[name],
                       "spread": {"column": f"s{name}"} if own else spreads[name]}
                for name in "vw"
            }  # fmt: skip
            value = {"column": "r"} if own and seed % 2 else 0.4
            tie = [{"keys": ["v", "w"], "value": value}] if tied else []
            intruder = Intruder.of({"keys": keys | category, "correlation": tie, **more})
            try:
                both.append(answers(records_of(y, x), intruder))
            except DataError:
                both.append(None)
        if None in both:
            assert both == [None, None]
            continue
        compared += 1
        worst = max(worst, float(np.abs(np.subtract(*both)).max()))
    print(f"\n{compared} files, largest difference {worst:.1e}")
    assert compared > 0.8 * FILES
    assert worst < 1e-9


def test_products_of_sources_by_adaptive_quadrature():
    """Hard: sources that contradict each other by up to ten standard deviations."""
    rng = np.random.default_rng(0)
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(INTEGRALS):
            stated = rng.normal(0, rng.choice([0.5, 3, 10]), 4)
            spread = np.exp(rng.normal(0, 0.7, 4))
            kinds = rng.choice(["normal", "laplace", "uniform"], 4, p=[0.4, 0.4, 0.2])
            spread = np.where(kinds == "uniform", spread * 20, spread)
            factors = [(Law(k), np.array([c]), np.array([s]))
                       for k, c, s in zip(kinds, stated, spread, strict=True)]  # fmt: skip
            found = float(log_integral(factors)[0])
            ends = [e for k, c, s in zip(kinds, stated, spread, strict=True)
                    for e in ((c - s, c, c + s) if k == "uniform" else (c,))]  # fmt: skip
            points = np.unique([*ends, *np.linspace(-60, 60, 121)])
            total = sum(
                quad(product, a, b, (kinds, stated, spread), epsabs=0, epsrel=1e-10)[0]
                for a, b in pairwise(points)
            )
            errors.append(abs(np.exp(found) / total - 1) if total > 0 else float(found > -700))
    print(f"\n{INTEGRALS} products, largest relative error {max(errors):.1e}")
    assert max(errors) < 1e-6


def product(t, kinds, stated, spread):
    value = 1.0
    for kind, c, s in zip(kinds, stated, spread, strict=True):
        z = abs(c - t) / s
        if kind == "normal":
            value *= math.exp(-z * z / 2) / (s * math.sqrt(2 * math.pi))
        elif kind == "laplace":
            value *= math.exp(-math.sqrt(2) * z) / (s * math.sqrt(2))
        else:
            value *= (z <= 1) / (2 * s)
    return value


@pytest.mark.parametrize("many", [1_000, 5_000])
def test_how_fast(many):
    """Easy: numbers far apart. Every pair is weighed: time grows with both files."""
    rng = np.random.default_rng(1)
    y = pd.DataFrame({"id": np.arange(many), "v": rng.normal(0, 100, many),
                      "w": rng.normal(0, 100, many), "sd": rng.uniform(0.5, 3, many)})  # fmt: skip
    x = y.assign(v=y["v"] + rng.normal(0, y["sd"]), w=y["w"] + rng.normal(0, 2, many))
    records = records_of(y, x)
    for said in ({"kind": "normal", "spread": 2}, {"kind": "normal", "spread": {"column": "sd"}}):
        keys = {"v": said, "w": {"kind": "normal", "spread": 2}}
        start = time.process_time()
        found = identify(records, Intruder.of({"keys": keys}))
        taken = time.process_time() - start
        print(f"\n{many:,} of {many:,}, {said['spread']}: {taken:.2f} s of processor time")
        assert found.true.risk > 0.4
        assert found.links.lost < 2e-3

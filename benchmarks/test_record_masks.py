"""Masks of records with categories: the lattice on a million records, swaps that intruders weigh.

The lattice is hard at the bottom, where most records are alone, and easy higher up; halving of
paths asks for the middle of it first. Times are processor seconds.
"""

import time

import numpy as np
import pandas as pd

from discreet.data.hierarchy import Hierarchy
from discreet.intruder.linkage.links import link
from discreet.masks.records.file import RecordFile
from discreet.masks.records.recode import Recode
from discreet.masks.records.swapping import Swap

MILLION = 1_000_000
AGES = [[15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70], [20, 40, 60], [40]]
KEYS = ("age", "region", "job", "school", "sex", "married")


def many_people(rng, n=MILLION):
    """Six keys: 90 ages, 400 municipalities in 40 districts in 8 regions, 100 jobs in 10 groups."""
    districts = {f"m{i:03}": f"d{i // 10:02}" for i in range(400)}
    regions = {f"d{i:02}": f"r{i // 5}" for i in range(40)}
    jobs = {f"j{i:02}": f"g{i // 10}" for i in range(100)}
    weight = rng.dirichlet(np.full(400, 2.0))
    data = pd.DataFrame(
        {
            "age": rng.integers(0, 90, n),
            "region": np.array([*districts])[rng.choice(400, n, p=weight)],
            "job": np.array([*jobs])[rng.choice(100, n, p=rng.dirichlet(np.full(100, 2.0)))],
            "school": rng.choice(list("abcde"), n),
            "sex": rng.choice(["f", "m"], n),
            "married": rng.choice(["single", "married", "widowed", "divorced"], n),
        }
    )
    trees = {
        "region": Hierarchy.of(districts | regions),
        "job": Hierarchy.of(jobs),
        "married": Hierarchy.of({"single": "alone", "widowed": "alone", "divorced": "alone"}),
    }
    return RecordFile(data, trees)


def test_a_million_records_with_six_keys():
    file = many_people(np.random.default_rng(1))
    for options in (
        {"k": 5, "loss": "discernibility"},
        {"k": 5, "loss": "discernibility", "suppress": 0.02},
        {"k": 5, "loss": "non-uniform entropy", "suppress": 0.02},
    ):
        mask = Recode(KEYS, cuts={"age": AGES}, **options)
        start = time.process_time()
        found = mask.search(file)
        took = time.process_time() - start
        ladders = {ladder.name: ladder for ladder in mask.ladders(file)}
        seen = pd.DataFrame(
            {n: ladders[n].at(v) for n, v in zip(found.columns, found.levels, strict=True)}
        )
        alike = seen.groupby(list(KEYS))["sex"].transform("size")
        assert (alike < 5).sum() == found.left_out <= options.get("suppress", 0) * MILLION
        assert found.looked < found.nodes
        print(f"{options}: {found}, {found.left_out:,} left out, {took:.1f} s")


def some_people(rng, n, towns=8):
    town = rng.choice(towns, n, p=rng.dirichlet(np.full(towns, 2.0)))
    return pd.DataFrame(
        {
            "region": [f"r{t // 3}" for t in town],
            "town": [f"t{t}" for t in town],
            "age": np.minimum(rng.geometric(1 / 15, n), 30),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abcdefghij"), n, p=np.arange(1, 11) / 55),
        }
    )


def test_links_of_swapped_records_are_as_often_right_as_said():
    """Best links said at .4 to .6, in files whose match columns leave few alike."""
    match, rng = ("age", "sex", "job"), np.random.default_rng(2)
    for options in ({"rate": 0.05}, {"rate": 0.3}, {"rate": 0.02, "risk": ("age",), "k": 30}):
        said, right = [], []
        for seed in range(8):
            file = RecordFile(some_people(rng, 2000))
            mask = Swap(("region", "town"), match=match, **options)
            masked = mask.apply(file, np.random.default_rng(seed))
            names = ("region", "town", *match)
            links = link(masked.linked_with(file, names), masked.intruder(names))
            alike = links.released.of == links.released.of[links.best]
            said.append(links.perceived)
            right.append(alike / links.released.times[links.released.of[links.best]])
        said, right = np.concatenate(said), np.concatenate(right)
        middle = (said >= 0.4) & (said < 0.6)
        print(f"{options}: {middle.sum():,} said at {said[middle].mean():.3f}, right "
              f"{right[middle].mean():.3f}")  # fmt: skip
        assert middle.sum() >= 2000
        assert abs(right[middle].mean() - said[middle].mean()) < 0.03

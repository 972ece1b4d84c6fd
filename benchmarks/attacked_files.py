"""Skewed files for attacks on masks of records, and the masks that are tried on each.

Rare categories, heavy tails, a few businesses that dominate, a rare illness that runs in
households, a column that repeats another and one that is a sum of others: what attacks live on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

import discreet as dc
from discreet.data.hierarchy import Hierarchy

AGES = [[20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 80], [30, 45, 60, 80], [45]]
Step = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Attacked:
    """A file, what the intruder knows of everybody in it, and what nobody should learn.

    `nuisance` are columns that repeat others; they are in the file only where a case asks for them.
    """

    name: str
    data: pd.DataFrame
    keys: tuple[str, ...]
    sensitive: str
    numbers: tuple[str, ...]
    trees: dict[str, Hierarchy] = field(default_factory=dict)
    household: str | None = None
    weight: str | None = None

    def file(self, without: tuple[str, ...] = ()) -> Any:
        return dc.files.RecordFile(
            self.data.drop(columns=list(without)),
            dict(self.trees),
            household=self.household,
            weight=self.weight,
        )


@dataclass(frozen=True, eq=False)
class Trial:
    """A mask of a file, to be judged by the program and attacked by others."""

    of: Attacked
    name: str
    steps: tuple[Step, ...]
    without: tuple[str, ...] = ()


def zipf(many: int, power: float = 1.0) -> np.ndarray:
    weights = 1 / np.arange(1, many + 1) ** power
    return weights / weights.sum()


def census(n: int = 1400, seed: int = 11) -> Attacked:
    """People: many in few regions and jobs, incomes with a heavy tail, illnesses of a few."""
    rng = np.random.default_rng(seed)
    number = np.clip(np.round(rng.normal(8, 2.6, n)), 1, 12).astype(int)
    job = np.minimum(15, rng.choice(12, n, p=zipf(12, 1.2)) + (number > 9) * rng.integers(0, 5, n))
    age = np.minimum(16 + rng.gamma(2.2, 15, n).astype(int), 99)
    income = np.exp(rng.normal(6.5 + 0.15 * number + 0.01 * np.minimum(age, 60), 0.4, n))
    income *= 1 + 0.3 * rng.pareto(2.2, n)
    ill = rng.random(n) < 1 / (1 + np.exp(5 - 0.05 * age))
    kinds = rng.choice(["heart", "lung", "blood", "nerve"], n, p=[0.55, 0.3, 0.1, 0.05])
    region = rng.choice(12, n, p=zipf(12))
    data = pd.DataFrame(
        {
            "region": [f"r{r:02}" for r in region],
            "sex": rng.choice(["f", "m"], n),
            "age": age,
            "education": [f"level {e:02}" for e in number],
            "job": [f"job {j:02}" for j in job],
            "income": np.round(income, -1).astype(int),
            "illness": np.where(ill, kinds, "none"),
            "education_num": number,
        }
    )
    trees = {
        "region": Hierarchy.of({f"r{r:02}": f"part {r // 4}" for r in range(12)}),
        "job": Hierarchy.of({f"job {j:02}": f"group {j // 4}" for j in range(16)}),
        "education": Hierarchy.of({f"level {e:02}": f"tier {e // 4}" for e in range(1, 13)}),
    }
    keys = ("region", "sex", "age", "education", "job")
    return Attacked("census", data, keys, "illness", ("age",), trees)


def businesses(n: int = 1000, seed: int = 12) -> Attacked:
    """Businesses: sectors of a few, sizes over four decades, men and women who make the staff."""
    rng = np.random.default_rng(seed)
    men = np.round(np.exp(rng.normal(2, 1.3, n))).astype(int)
    women = np.round(np.exp(rng.normal(2, 1.3, n))).astype(int)
    staff = men + women
    turnover = np.round(staff * np.exp(rng.normal(4, 0.7, n)) * (1 + rng.pareto(1.5, n)), -1)
    data = pd.DataFrame(
        {
            "sector": [f"s{s:02}" for s in rng.choice(25, n, p=zipf(25, 0.9))],
            "region": [f"r{r}" for r in rng.choice(9, n, p=zipf(9, 0.8))],
            "staff": staff,
            "turnover": turnover,
            "fined": np.where(rng.random(n) < 0.03 + 0.12 * (staff > 80), "yes", "no"),
            "men": men,
            "women": women,
        }
    )
    trees = {"sector": Hierarchy.of({f"s{s:02}": f"branch {s // 5}" for s in range(25)})}
    keys = ("sector", "region", "staff", "turnover")
    return Attacked("businesses", data, keys, "fined", ("staff", "turnover"), trees)


def health(n: int = 1200, seed: int = 13, *, declared: bool = False) -> Attacked:
    """Patients in households of one to six; a rare infection that housemates share, dear cases."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(n), rng.integers(1, 7, n))[:n]
    ward = rng.choice(30, n, p=zipf(30, 0.8))[home]
    infected = (rng.random(n) < 0.012)[home] & (rng.random(n) < 0.7)
    age = rng.integers(0, 95, n)
    cost = np.exp(rng.normal(5.5 + 0.01 * age, 1, n)) * (1 + rng.pareto(1.7, n)) + 8000 * infected
    data = pd.DataFrame(
        {
            "home": home,
            "ward": [f"w{w:02}" for w in ward],
            "sex": rng.choice(["f", "m"], n),
            "age": age,
            "insurer": rng.choice([f"i{i}" for i in range(6)], n, p=zipf(6, 1.5)),
            "cost": np.round(cost, -1).astype(int),
            "infection": np.where(infected, "yes", "no"),
        }
    )
    trees = {"ward": Hierarchy.of({f"w{w:02}": f"side {w // 6}" for w in range(30)})}
    keys = ("ward", "sex", "age", "insurer")
    household = "home" if declared else None
    return Attacked("health", data, keys, "cost", ("age",), trees, household)


def light(of: Attacked) -> Attacked:
    """The same file for an intruder who knows less, so that more masks pass."""
    keys = {
        "census": ("region", "age"), "businesses": ("sector", "staff"),
        "health": ("ward", "sex", "age"),
    }[of.name]  # fmt: skip
    data = of.data.drop(columns="income", errors="ignore")
    trees = {name: tree for name, tree in of.trees.items() if name in data}
    numbers = tuple(name for name in of.numbers if name in keys)
    return replace(
        of, name=f"{of.name}, few keys", data=data, keys=keys, trees=trees, numbers=numbers
    )


def trade(n: int = 1000, seed: int = 14) -> Attacked:
    """Turnover is what is sold at home and abroad, and goes with staff."""
    rng = np.random.default_rng(seed)
    staff = np.round(np.exp(rng.normal(3.5, 0.8, n)), 1)
    home = np.round(staff * np.exp(rng.normal(3.5, 0.15, n)), -2)
    abroad = np.where(rng.random(n) < 0.4, np.round(home * rng.uniform(0, 0.6, n), -2), 0)
    data = pd.DataFrame(
        {
            "sector": [f"s{s:02}" for s in rng.choice(40, n, p=zipf(40, 0.5))],
            "town": [f"t{t:02}" for t in rng.choice(40, n, p=zipf(40, 0.5))],
            "staff": staff,
            "turnover": home + abroad,
            "home": home,
            "abroad": abroad,
        }
    )
    return Attacked("trade", data, ("sector", "town", "staff"), "turnover", ("staff",))


def special_trials() -> Iterator[Trial]:
    """What one file or one mask alone gives away."""
    noise = {"method": "noise", "columns": ["turnover"], "spread": 1.0}
    both = noise | {"columns": ["staff", "turnover"], "kind": "correlated"}
    firms = trade()
    yield Trial(firms, "a sum of the secret", (noise,))
    yield Trial(firms, "noise of key and secret together", (both,), ("home", "abroad"))
    yield Trial(
        firms,
        "noise of key and secret apart",
        (both | {"kind": "independent"},),
        ("home", "abroad"),
    )
    yield Trial(
        firms,
        "a tenth, rank-swapped",
        ({"method": "rank-swap", "columns": ["staff", "turnover"], "window": 0.1},),
        ("home", "abroad"),
    )
    people = light(census())
    sizes = people.data.groupby(["region", "sex"])["age"].transform("size")
    weighted = people.data.assign(weight=np.round(2000 / sizes, 4))
    towns = {"method": "pram", "columns": ["region"], "keep": 0.1, "alpha": 1.0, "invariant": False}
    years = {"method": "noise", "columns": ["age"], "spread": 0.3}
    yield Trial(
        replace(people, data=weighted, weight="weight", name="weighted census"),
        "weights of strata",
        (towns, years),
        ("education_num",),
    )
    asked = light(health())
    ward = asked.data["ward"].str[1:].astype(int).to_numpy()
    rng = np.random.default_rng(15)
    for bit in range(5):  # questions that only some wards ask
        some = np.where(ward >> bit & 1, rng.integers(1, 6, len(ward)).astype(float), np.nan)
        asked = replace(asked, data=asked.data.assign(**{f"question {bit}": some}))
    asked = replace(asked, name="questions", keys=("ward", "sex"), numbers=())
    lost = {
        "method": "pram",
        "columns": ["ward", "sex"],
        "keep": 0.1,
        "alpha": 1.0,
        "invariant": False,
    }
    yield Trial(asked, "blanks that tell a ward", (lost,), ("home",))
    free = {
        "method": "pram",
        "columns": ["ward", "insurer"],
        "keep": 0.1,
        "alpha": 1.0,
        "invariant": False,
    }
    years = {"method": "noise", "columns": ["age"], "spread": 1.5}
    move = {"method": "swap", "block": ["ward"], "match": ["sex"], "rate": 0.9}
    bands = {"method": "recode", "columns": ["age"], "levels": {"age": 2}, "cuts": {"age": AGES}}
    for declared in (False, True):
        said = "declared" if declared else "undeclared"
        for name, steps in {
            "pram, noise": (free, years),
            "swap, bands": (move, bands),
            "bands, pram": (bands, free),
        }.items():
            yield Trial(health(declared=declared), f"{name}, households {said}", steps)


def trials(of: Attacked) -> Iterator[Trial]:
    """Every mask of the registry on a file, in several strengths, and chains."""
    kind = of.name.split(",")[0]
    names = [name for name in of.keys if name not in of.numbers]
    place, first, numbers = names[0], names[:2], list(of.numbers)
    shares = ((0.2, 0.4, 0.5, 0.6, 0.8, 0.95), (0.5,))
    cuts = {n: [of.data[n].quantile(list(one)).tolist() for one in shares] for n in numbers}
    cuts |= {"age": AGES} if "age" in numbers else {}
    keys, secret = list(of.keys), of.sensitive
    recode = {"method": "recode", "columns": keys, "cuts": cuts}
    levels = {name: int(name in cuts or name in of.trees) for name in keys}
    given = recode | {"levels": levels}
    absorbed = absorbing(of.data[place])
    noise = {"method": "noise", "columns": numbers}
    ends = {"method": "top-code", "columns": numbers}
    apart = {"method": "univariate", "columns": numbers}
    groups = {"method": "microaggregate", "columns": numbers}
    pram = {"method": "pram", "columns": names, "keep": 0.4, "alpha": 0.9}
    swap = {"method": "swap", "block": [place], "match": names[1:2], "rate": 0.5}
    ranks = {"method": "rank-swap", "columns": numbers, "window": 0.1}
    some = {"method": "sample", "share": 0.3}
    of_it = [
        n for n in of.data if n not in (*names[:2], *numbers, secret) and of.data[n].nunique() < 13
    ]
    sort = not pd.api.types.is_numeric_dtype(of.data[secret])
    masks: dict[str, list[Step]] = {
        "as it is": [{"method": "sample", "share": 1.0}],
        "sample 2%": [{"method": "sample", "share": 0.02}],
        "sample 30%": [some],
        "recode given": [given],
        "recode k=3": [recode | {"k": 3, "suppress": 0.1}],
        "recode k=10": [recode | {"k": 10, "suppress": 0.02}],
        "recode l=2": [recode | {"l": 2, "sensitive": secret, "suppress": 0.2}],
        "recode t=.3": [recode | {"t": 0.3, "sensitive": secret, "suppress": 0.2}],
        "blank k=2": [{"method": "blank", "columns": keys, "k": 2}],
        "blank k=5 any": [{"method": "blank", "columns": keys, "k": 5, "missing": "any"}],
        "blank pairs": [{"method": "blank", "columns": keys, "k": 4, "all_subsets_of": 2}],
        "blank sensitive": [given, {"method": "blank", "columns": [secret], "k": 20}],
        "pram": [pram],
        "pram weak": [pram | {"columns": first, "keep": 0.8, "alpha": 0.5}],
        "pram free": [pram | {"invariant": False, "keep": 0.1}],
        "pram absorbing": [pram | {"columns": [place], "matrix": {place: absorbed}}],
        "pram sensitive": [pram | {"columns": [secret], "keep": 0.6}],
        "swap": [swap],
        "swap at risk": [swap | {"rate": 0.05, "risk": keys[-1:], "k": 5}],
        "swap all": [swap | {"rate": 1.0, "match": []}],
        "top-code": [ends | {"top": 0.004, "bottom": 0.01}],
        "top-code mean": [ends | {"top": 0.01, "replace": "mean"}],
        "noise": [noise | {"spread": 0.3}],
        "noise means": [noise | {"spread": 0.1, "keep": "means"}],
        "rank-swap": [ranks],
        "rank-swap wide": [ranks | {"window": 0.4}],
        "univariate": [apart | {"k": 5}],
        "univariate median": [apart | {"k": 3, "release": "median"}],
        "microaggregate": [groups | {"k": 4}],
        "synthesise place": [{"method": "synthesise", "columns": [place], "given": of_it[:1]}],
        "synthesise two": [{"method": "synthesise", "columns": first, "given": of_it[:1]}],
        "pram, noise, sample": [pram, noise | {"spread": 0.3}, some],
        "recode, pram": [given, pram | {"columns": names}],
        "top-code, noise": [ends | {"top": 0.05}, noise | {"spread": 0.2}],
        "microaggregate, noise": [groups | {"k": 3}, noise | {"spread": 0.05}],
        "rank-swap, sample": [ranks, some],
        "sample, recode": [some, recode | {"k": 3, "suppress": 0.1}],
        "recode, blank": [given, {"method": "blank", "columns": keys, "k": 3}],
        "swap, pram": [swap, pram | {"columns": names[1:] or of_it[:1]}],
    }  # fmt: skip
    if len(numbers) > 1:
        masks["noise together"] = [noise | {"spread": 0.3, "kind": "correlated"}]
        masks["noise factor"] = [noise | {"spread": 0.2, "kind": "multiplicative"}]
        masks["microaggregate"] = [groups | {"k": 4}]
    if not sort:
        del masks["blank sensitive"], masks["pram sensitive"]
        masks["recode l=2"] = masks["recode k=3"]
        masks["noise sensitive"] = [pram, {"method": "noise", "columns": [secret], "spread": 0.3}]
        masks["rank-swap sensitive"] = [
            pram,
            {"method": "rank-swap", "columns": [secret], "window": 0.1},
        ]
        masks["groups sensitive"] = [pram, {"method": "univariate", "columns": [secret], "k": 8}]
        masks["top-code sensitive"] = [
            pram,
            {"method": "top-code", "columns": [secret], "top": 0.05},
        ]
    copies = {"census": ("education_num",), "businesses": ("men", "women"), "health": ("home",)}
    for name, steps in masks.items():
        yield Trial(of, name, tuple(steps), copies[kind])
    for name in {
        "census": ("pram", "pram free"),
        "businesses": ("noise",),
        "health": ("pram free", "swap"),
    }[kind]:
        yield Trial(of, f"{name}, with what repeats it", tuple(masks[name]))


def absorbing(column: pd.Series) -> dict[str, dict[str, float]]:
    """A matrix by which the most frequent category keeps its own and takes half of each other."""
    first = str(column.value_counts().index[0])
    rows = {str(one): {str(one): 0.5, first: 0.5} for one in sorted(column.unique())}
    return rows | {first: {first: 1.0}}

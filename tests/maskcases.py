"""A survey of people in households, and for every mask options and keys to try it with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from discreet.data.hierarchy import Hierarchy
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import Mask, MaskedFile
from discreet.masks.records.registry import mask_of
from discreet.risk.linkage.identification import identify

TOWNS = {"a": "North", "b": "North", "c": "North", "d": "South", "e": "South", "f": "South"}
JOBS = {"baker": "trade", "smith": "trade", "clerk": "office", "judge": "office", "none": "idle"}


def people(records: int = 600, seed: int = 1, *, missing: float = 0.02) -> RecordFile:
    """Households of one to four with a town, and members with a job, an age and an income."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, records)
    home = np.repeat(np.arange(records), sizes)[:records]
    towns = rng.choice(list(TOWNS), records, p=[0.3, 0.2, 0.1, 0.2, 0.1, 0.1])
    job = rng.choice(list(JOBS), records, p=[0.3, 0.2, 0.2, 0.05, 0.25])
    age = rng.integers(18, 80, records).astype(float)
    income = np.round(np.exp(rng.normal(7, 0.5, records)) * (1 + age / 100), 1)
    savings = np.round(income * np.exp(rng.normal(0, 0.7, records)), 1)
    sex = rng.choice(["f", "m"], records)
    frame = pd.DataFrame(
        {
            "home": home, "region": [TOWNS[t] for t in towns[home]], "town": towns[home],
            "sex": sex, "job": job, "age": age, "income": income, "savings": savings,
            "ill": rng.choice(["no", "yes"], records, p=[0.9, 0.1]),
            "weight": np.round(rng.uniform(5, 15, records), 2),
        }
    )  # fmt: skip
    for name in ("job", "age", "savings"):
        frame.loc[rng.random(records) < missing, name] = None
    trees = {"town": Hierarchy.of(TOWNS), "job": Hierarchy.of(JOBS)}
    return RecordFile(frame, trees, household="home", weight="weight")


# by mask: options, and what an intruder knows
PLACE = ("sex", "job", "town")
CASES: dict[str, list[tuple[dict[str, Any], tuple[str, ...]]]] = {
    "recode": [
        (
            {"columns": ["age", *PLACE], "k": 2, "cuts": {"age": [[30, 40, 50, 60, 70]]},
             "suppress": 0.2},
            ("age", *PLACE),
        ),
        (
            {"columns": ["age", "town"], "levels": {"age": 1, "town": 1},
             "cuts": {"age": [list(range(20, 80, 5))]}},
            ("age", *PLACE),
        ),
    ],
    "blank": [({"columns": ["age", *PLACE], "k": 2}, ("age", *PLACE))],
    "pram": [({"columns": ["job", "town"], "keep": 0.6}, ("age", *PLACE))],
    "swap": [
        (
            {"block": ["region", "town"], "match": ["sex"], "rate": 0.3, "risk": ["age"], "k": 2},
            ("region", "town", "sex", "age"),
        ),
    ],
    "top-code": [({"columns": ["age"], "high": 70, "low": 25}, ("age", *PLACE))],
    "noise": [
        ({"columns": ["income"], "spread": 0.03}, ("income", "sex", "town")),
        (
            {"columns": ["income", "savings"], "spread": 0.08, "kind": "correlated"},
            ("income", "savings", "sex"),
        ),
        (
            {"columns": ["income", "savings"], "spread": 0.06, "kind": "multiplicative"},
            ("income", "savings", "sex"),
        ),
    ],
    "rank-swap": [
        ({"columns": ["income", "savings", "age"], "window": 0.08}, ("income", "savings", "age")),
    ],
    "microaggregate": [({"columns": ["income", "age"], "k": 2, "few": "blank"}, ("income", "age"))],
    "univariate": [({"columns": ["income"], "k": 2}, ("income",))],
    "sample": [({"share": 0.5, "households": False}, ("age", *PLACE))],
}  # fmt: skip
NOBODY = ("synthesise", "private")  # what is made of nobody has no links


def links(mask: Mask, keys: tuple[str, ...], file: RecordFile, rng: Any) -> tuple[Any, Any]:
    """Stated probabilities of best links, and how probably each is right."""
    masked: MaskedFile = mask.apply(file, rng)
    found = identify(masked.linked_with(file, keys), masked.intruder(keys))
    return found.links.perceived, found.correct


def calibrated(
    name: str,
    options: dict[str, Any],
    keys: tuple[str, ...],
    *,
    least: int,
    files: int,
    **made: Any,
) -> tuple[Any, Any]:
    """Links of as many files as give `least` of them between .4 and .6, `files` at most."""
    mask = mask_of(name, options)
    stated: list[Any] = []
    right: list[Any] = []
    rng = np.random.default_rng(7)
    for seed in range(files):
        p, hit = links(mask, keys, people(seed=seed, **made), rng)
        stated.append(p)
        right.append(hit)
        if sum(int(((p >= 0.4) & (p <= 0.6)).sum()) for p in stated) >= least:
            break
    return np.concatenate(stated), np.concatenate(right)


def every_case() -> list[Any]:
    """Every mask with its options and keys, as parameters of a test."""
    import pytest

    return [
        pytest.param(name, options, keys, id=f"{name}-{place}")
        for name, cases in CASES.items()
        for place, (options, keys) in enumerate(cases, 1)
    ]

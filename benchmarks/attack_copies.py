"""Attacks on more than one record at a time: copies of a model, a seed, the same file twice."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pandas as pd
from attack_evidence import Seen, balanced, columns_of, evidence, joined
from attacked_files import zipf
from record_attacks import Test
from scipy.special import logsumexp
from scipy.stats import binom

import discreet as dc

Floats = np.ndarray
COLUMNS = ("region", "sex", "band", "education", "illness")
ALL = "*".join(COLUMNS)
PAIRS = " + ".join(f"{a}*{b}" for i, a in enumerate(COLUMNS) for b in COLUMNS[i + 1 :])
MODELS = {
    "saturated, 20 copies": {"model": "formula", "formula": ALL, "copies": 20},
    "saturated, 1 copy": {"model": "formula", "formula": ALL},
    "all but one, 20 copies": {
        "model": "formula", "copies": 20, "formula": "region*sex*band*education + illness*band"},
    "all pairs, 20 copies": {"model": "formula", "formula": PAIRS, "copies": 20},
    "graphical, 20 copies": {"model": "graphical", "copies": 20},
    "averaged, 5 copies": {"model": "averaged", "copies": 5},
    "latent, 5 classes": {"model": "latent", "classes": 5, "copies": 20},
    "latent, 200 classes": {"model": "latent", "classes": 200, "copies": 20},
    "membership": {"model": "membership", "copies": 5},
}  # fmt: skip


def profiles(n: int, seed: int) -> pd.DataFrame:
    """People in 1,440 cells, most of them alone; an illness that nothing tells."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "region": [f"r{r}" for r in rng.choice(6, n, p=zipf(6))],
            "sex": rng.choice(["f", "m"], n),
            "band": [f"b{b}" for b in rng.choice(6, n, p=zipf(6, 0.5))],
            "education": [f"e{e}" for e in rng.choice(5, n, p=zipf(5, 0.5))],
            "illness": rng.choice(["none", "heart", "lung", "nerve"], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )


def members(name: str, options: dict[str, Any], seed: int, many: int = 500) -> Test | str:
    """Do copies of a model have more of the people it was fitted to than of others like them?

    Rare records that most copies have are said to be somebody's. Of people who were not in the
    file as many must be found as of those who were, but for the share that is stated identified.
    """
    inside, outside = profiles(many, seed), profiles(many, seed + 1000)
    mask = {"name": "m", "method": "private" if "epsilon" in options else "synthesise", **options}
    plan = {"masks": [mask], "keys": list(COLUMNS[:-1]), "seed": seed}
    try:
        found = dc.compare(inside, plan, dc.Policy().set(["masks.limit=0.05"]), records=True)
    except dc.DisclosureError as error:
        return str(error)
    if (failed := found.tried[0].failed) is not None:
        return failed
    claims = often(found.data("m").data)
    mine, theirs = (set(joined(f, COLUMNS)) for f in (inside, outside))
    more, less = len(claims & (mine - theirs)), len(claims & (theirs - mine))
    stated = found.tried[0].risks["disclosed"] * many
    p = float(binom.sf(more - 1, more + less + round(stated), 0.5)) if more else 1.0
    return Test("profiles", name, "membership", "records of people", many, more, stated + less, p,
                str(found.verdict), found.tried[0].doubt or "")  # fmt: skip


def often(release: pd.DataFrame) -> set[str]:
    """Records that at least half of the copies have, and each about once."""
    number = release["copy"] if "copy" in release else pd.Series(1, release.index)
    there = pd.crosstab(joined(release, COLUMNS), number)
    return set(there.index[((there > 0).mean(axis=1) >= 0.5) & (there.mean(axis=1) < 2)])


def seed_found(release: pd.DataFrame, mask: dict[str, Any], column: str, tries: int) -> int | None:
    """The seed by which noise leaves whole numbers, of the first `tries`."""
    spelled = json.dumps([mask], sort_keys=True, ensure_ascii=False, default=str)
    x, spread = release[column].to_numpy(float), mask["spread"][0]
    for seed in range(tries):
        rng = np.random.default_rng([seed, zlib.crc32(spelled.encode())])
        noise = rng.standard_normal((len(x), 1))[:, 0]
        back = x - spread * noise[rng.permutation(len(x))]
        if np.abs(back - np.rint(back)).max() < 1e-6:
            return seed
    return None


def twice(first: Seen, second: Seen) -> tuple[np.ndarray, Floats]:
    """Two releases of one file: what they leave as it is tells which records are one person's."""
    touched = {n for s in first.trial.steps for n in columns_of(s)}
    same = [n for n in first.data if n not in touched]
    logs = [evidence(one) for one in (first, second)]
    a, b = (joined(one.data, same).to_numpy() for one in (first, second))
    other = np.full_like(logs[0], -np.inf)
    groups = pd.Series(np.arange(len(b))).groupby(b).indices
    for name, columns in pd.Series(np.arange(len(a))).groupby(a).indices.items():
        if name in groups:
            mean = logsumexp(logs[1][:, groups[name]], axis=1) - np.log(len(groups[name]))
            other[:, columns] = mean[:, None]
    links, _ = balanced(logs[0] + other)
    best = links.argmax(1)
    return best, links[np.arange(len(best)), best]

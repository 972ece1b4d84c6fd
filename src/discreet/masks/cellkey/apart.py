"""Beliefs where noises of different cells are independent: every table, or a walk over tables."""

from __future__ import annotations

import math

import numpy as np

from discreet.effort import Effort
from discreet.errors import InconsistentRelease, SolverError
from discreet.masks.cellkey.case import Beliefs, Case, filled, shares

TURNS, CHAINS, BATCHES = 400_000, 4, 25
APART = (
    "noises of cells over different people are taken as independent; if keys are sums of record "
    "keys, an intruder may know more: see keys='records'"
)


def listed(case: Case) -> Beliefs:
    from discreet._kernels.noisy import enumerate_all

    chances = np.zeros_like(case.prior)
    weight, number = enumerate_all(
        case.lower,
        case.upper,
        case.prior,
        case.total,
        case.start,
        case.cells,
        case.marks,
        case.logs,
        case.seen,
        chances,
    )
    if not number:
        raise InconsistentRelease("no table shows these counts; correct them.")
    return Beliefs(
        case.system, chances / weight, np.zeros_like(chances), "enumerate", number, said=(APART,)
    )


def walked(case: Case, rng: np.random.Generator, work: Effort) -> Beliefs:
    """Means over batches of several chains; the first tenth of each is left out."""
    from discreet._kernels.noisy import walk

    turns, size = work.of(TURNS), case.system.columns
    keep = turns // 20
    batches = []
    for _ in range(CHAINS):
        x = np.clip(rng.integers(case.lower, case.upper + 1), case.lower, case.upper)
        if case.total >= 0:
            x = filled(case, rng)
        picks = np.stack(
            [
                rng.integers(0, size, turns),
                rng.integers(0, size, turns),
                rng.integers(0, 4, turns),
            ],
            1,
        )
        out = np.zeros((keep, size), np.int64)
        took = walk(
            x,
            case.lower,
            case.upper,
            case.prior,
            case.total,
            case.start,
            case.cells,
            case.marks,
            case.logs,
            case.seen,
            case.low,
            case.high,
            picks,
            rng.random(turns),
            out,
        )
        if took < 0:
            raise SolverError(
                "the walk found no table that shows these counts; give it more effort."
            )
        for part in np.array_split(out[keep // 10 :], BATCHES):
            batches.append(shares(part, case.widest))
    every = np.array(batches)
    chances = every.mean(0)
    error = every.std(0, ddof=1) / math.sqrt(len(every))
    spread = chances * (1 - chances)
    sure = spread > 1e-3
    ess = float((spread[sure] / np.maximum(error[sure], 1e-12) ** 2).min()) if sure.any() else 0.0
    ess = ess if ess > 0 else float(len(every))
    return Beliefs(case.system, chances, error, "walk", CHAINS * turns, ess, (APART,))

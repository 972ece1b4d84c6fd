"""Bounds from the released counts above a cell alone; all there is for very large tables."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Ints
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.keys import Codes
from discreet.table.lattice import bits

COLLECTIONS = 8
BATCH = 4_096


def upper_bounds(release: Release, formula: Formula, codes: Codes) -> Ints:
    """The smallest released count that each cell is part of."""
    upper = np.full(len(codes), release.total or 0, np.int64)
    for margin in formula.sets:
        np.minimum(upper, _counts(release, formula, codes, margin), out=upper)
    return upper


def margin_bounds(release: Release, formula: Formula, codes: Codes) -> tuple[Ints, Ints]:
    """The smallest margin above each cell, and the closed form on chordal sub-collections.

    Margins that are added one by one, each meeting those before it within one of them, form a
    decomposable release, and its lower bound

        sum_M n_M - sum_S n_S

    holds for the whole. Which collection is best differs from cell to cell: several are grown,
    from different margins, always by the margin that loses least over the cells.
    """
    lower = np.zeros(len(codes), np.int64)
    for start in range(0, len(codes), BATCH):
        batch = codes[start : start + BATCH]
        values = np.stack([_counts(release, formula, batch, margin) for margin in formula.sets])
        seeds = np.argsort(-values.sum(1), kind="stable")[:COLLECTIONS]
        grown = [_grown(release, formula, batch, values, int(seed)) for seed in seeds]
        lower[start : start + BATCH] = np.maximum(np.max(grown, axis=0), 0)
    return lower, upper_bounds(release, formula, codes)


def _grown(release: Release, formula: Formula, codes: Codes, values: Ints, seed: int) -> Ints:
    """The lower bound of the collection that is grown from one margin."""
    total: Ints = values[seed].copy()
    chosen, covered = [formula.sets[seed]], formula.sets[seed]
    shared_counts: dict[int, Ints] = {}
    while covered != (1 << len(formula.names)) - 1:
        best, gain, least = 0, total, np.inf
        for margin, count in zip(formula.sets, values, strict=True):
            shared = margin & covered
            if margin == shared or not any(shared & ~other == 0 for other in chosen):
                continue
            if shared not in shared_counts:
                shared_counts[shared] = _counts(release, formula, codes, shared)
            loss = float((shared_counts[shared] - count).sum())
            if loss < least:
                best, gain, least = margin, count - shared_counts[shared], loss
        if not best:
            return np.zeros_like(total)
        total = total + gain
        chosen.append(best)
        covered |= best
    return total


def _counts(release: Release, formula: Formula, codes: Codes, margin: int) -> Ints:
    """The released count of each cell in a margin."""
    places = list(bits(margin))
    names = tuple(formula.names[place] for place in places)
    return release.table(names).lookup(codes[:, places])

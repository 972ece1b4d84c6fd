"""Equation (1) of Lambert 1993: is the released record i that of source record j?

    p_ji = f_j(x_i) per(F without j and i) / per(F)

F has f_j(x_i) for the N source records j and the n released records i, and per sums over all ways
to give the n records to different sources.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError

MOST_STEPS = 1 << 28  # of the exact sum
ROUNDS = 30


def steps(sources: int, released: int) -> int:
    """How long the exact sum takes: sources x released x subsets of released."""
    return sources * released << released


def exact_links(densities: ArrayLike, *, population: int | None = None) -> Floats:
    """Link probabilities of N sources (rows) and n released records (columns), exactly.

    What a row lacks to one is its null link. Of a `population` larger than N, everybody else is a
    row too, with the mean density of the sources.

    >>> exact_links([[7.0, 1.0], [1.0, 2.0]]).round(4)
    array([[0.9333, 0.0667],
           [0.0667, 0.9333]])
    >>> exact_links([[7.0, 1.0], [1.0, 2.0]], population=4).round(4)
    array([[0.4667, 0.12  ],
           [0.0533, 0.4   ]])
    """
    weights = checked_densities(densities, population)
    sources, released = weights.shape
    if steps(sources, released) > MOST_STEPS or released > 20:
        raise DataError(
            f"{sources:,} sources and {released:,} released records are too many for the exact "
            "sum; use link(), which sums exactly only where it can."
        )
    strangers = (population or sources) - sources
    links, possible = group_links(
        weights, np.zeros(released), strangers * weights.mean(0), strangers
    )
    if not possible:
        refuse_impossible()
    return links


def group_links(
    weights: Floats, outside: Floats, strange: Floats, strangers: float, *, null: float = 1.0
) -> tuple[Floats, bool]:
    """Equation (1) for one group of records, and whether it can be at all.

    So many `strangers`, of weight `strange` together, hold one record each at most; what is
    `outside` besides is counted with replacement. `null`: the weight of a row that holds none.
    """
    from discreet._kernels.linkage import balance, permanent_links

    weights, empty, other = weights.copy(), np.full(len(weights), null), outside + strange
    whole = np.where(other > 0, other, 1.0)
    balance(weights, empty, other, ROUNDS)  # scales cancel; nothing underflows
    scale = other / whole
    links, total = permanent_links(
        weights, empty, outside * scale, strange * scale, float(strangers)
    )
    return np.asarray(links), bool(total > 0)


def refuse_impossible() -> NoReturn:
    raise DataError(
        "the released records cannot all belong to different source records; allow wider "
        "spreads or more misclassification."
    )


def exchangeable_links(ratios: ArrayLike, population: int) -> Floats:
    """The target's link probabilities if all others look alike (section 4.2.4).

        p_i = r_i / (sum_j r_j + N - n)

    with r_i = f_1(x_i) / f_2(x_i) in the last axis. The others share what is left of each record:
    (1 - p_i) / (N - 1).

    >>> exchangeable_links([30.0, 1.0], 12).round(3)
    array([0.732, 0.024])
    """
    r = np.asarray(ratios, np.float64)
    if not (np.isfinite(r) & (r >= 0)).all():
        raise DataError("the ratios of densities must be numbers from 0 on.")
    n = r.shape[-1]
    if n > population:
        raise DataError(f"{n:,} records are released of a population of {population:,}.")
    if population == n and not (r.sum(-1) > 0).all():
        raise DataError("the target is in the file, but no released record can be the target's.")
    return np.asarray(r / (r.sum(-1, keepdims=True) + population - n))


def with_replacement_links(densities: ArrayLike) -> Floats:
    """Link probabilities as if records were drawn with replacement (Lambert 1993, section 5).

    p_ji ~ f_j(x_i) / S_i  *  prod over k != i of (S_k - f_j(x_k)) / S_k,   S_i = sum_j f_j(x_i)

    >>> import discreet as dc
    >>> dc.linkage.with_replacement_links([[7.0, 1.0], [1.0, 2.0]]).round(4)
    array([[0.5833, 0.0417],
           [0.0417, 0.5833]])
    """
    weights = checked_densities(densities)
    shares = weights / weights.sum(0)
    left = 1 - shares
    links = np.empty_like(shares)
    for i in range(shares.shape[1]):
        links[:, i] = shares[:, i] * np.delete(left, i, 1).prod(1)
    return np.asarray(links)


def checked_densities(densities: ArrayLike, population: int | None = None) -> Floats:
    """A copy, with N rows and n columns of which none is zero everywhere."""
    weights = np.array(densities, np.float64)
    if weights.ndim != 2 or not weights.size:
        raise DataError("densities need a row for each source and a column for each released.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise DataError("densities must be numbers from 0 on.")
    everyone = len(weights) if population is None else population
    if everyone < len(weights):
        raise DataError(
            f"the population is said to be {everyone:,}, but there are {len(weights):,} sources."
        )
    if weights.shape[1] > everyone:
        raise DataError(
            f"{weights.shape[1]:,} records are released of a population of {everyone:,}; "
            "a sample is no larger than its population."
        )
    empty = np.flatnonzero(weights.max(0) == 0)
    if len(empty):
        raise DataError(
            f"released record {empty[0] + 1} has density 0 under every source record; allow a "
            "wider spread or more misclassification."
        )
    return np.asarray(weights)

"""What an intruder infers about a sensitive value from released records (Lambert 1993, 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.belief import Belief
from discreet.intruder.linkage.links import Links

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDS = 1_000


def misclassified(categories: int, q: float) -> Floats:
    """P[released x | true y]: right with probability q, else any other."""
    if categories == 1:
        return np.ones((1, 1))
    table = np.full((categories, categories), (1 - q) / (categories - 1))
    np.fill_diagonal(table, q)
    return table


def prior_shares(counts: Floats, table: Floats) -> Floats:
    """Maximum likelihood shares of the true categories, given counts of the released ones."""
    shares = np.full(len(counts), 1 / len(counts))
    for _ in range(ROUNDS):
        chance = shares @ table
        ratio = np.divide(counts, chance, out=np.zeros_like(counts), where=chance > 0)
        new = shares * (table @ ratio) / counts.sum()
        if np.abs(new - shares).max() < 1e-12:
            break
        shares = new
    return np.asarray(shares / shares.sum())


def record_beliefs(values: Ints, table: Floats, prior: Floats) -> Floats:
    """P[true category | released value], a row for each record (equation 3).

    `prior` has one row for all records, or one for each.
    """
    weights = prior * table.T[values]
    total = weights.sum(1, keepdims=True)
    return np.asarray(np.where(total > 0, weights / np.where(total > 0, total, 1), prior))


def logistic_prior(values: Ints, covariates: Floats, q: float) -> Floats:
    """P[y = 0 or 1 | covariates], fitted to released values that are right with probability q.

    Maximises sum x log pi + (1 - x) log(1 - pi), pi = q P + (1 - q)(1 - P), over all records; a
    slight ridge keeps separated data finite.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    if q == 0.5:
        raise DataError("with q = 0.5 the released values tell nothing; nothing can be predicted.")
    spread = covariates.std(0)
    scaled = (covariates - covariates.mean(0)) / np.where(spread > 0, spread, 1)
    design = np.column_stack([np.ones(len(values)), scaled])

    def loss(beta: Floats) -> tuple[float, Floats]:
        p = expit(design @ beta)
        pi = np.clip(q * p + (1 - q) * (1 - p), 1e-12, 1 - 1e-12)
        slope = (values / pi - (1 - values) / (1 - pi)) * (2 * q - 1) * p * (1 - p)
        fit = values @ np.log(pi) + (1 - values) @ np.log1p(-pi)
        ridge = 1e-6 * beta
        return float(-fit + ridge @ beta / 2), np.asarray(-design.T @ slope + ridge)

    found = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B")
    p = expit(design @ found.x)
    return np.column_stack([1 - p, p])


def mixed(links: Links, records: Floats, prior: Floats) -> Floats:
    """Beliefs about each source class, a mixture over candidate links and, for the null, a prior.

    sum_i p_ji P[y | x_i] + p_j0 P[y]
    """
    from scipy.sparse import csr_array

    shape = (len(links.source.first), len(links.released.first))
    table = csr_array((links.chances, links.places, links.starts), shape=shape)
    many = shape[1]
    sums = np.column_stack([np.bincount(links.released.of, column, many) for column in records.T])
    null = np.clip(1 - np.asarray(table @ links.released.times.astype(np.float64)), 0, 1)
    found = table @ sums + null[:, None] * prior
    return np.asarray(found / found.sum(1, keepdims=True))


def belief_about(
    links: Links, source: int, records: Floats, prior: Floats, categories: Sequence[str]
) -> Belief:
    """The belief about one source record's value."""
    rows, chances = links.of(source)
    null = max(0.0, 1 - float(chances.sum()))
    mass = chances @ records[rows] + null * prior
    return Belief.discrete(list(categories), mass / mass.sum())

"""What suppression itself says: the counts that a rule would suppress in a domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.survey.curve import Edge, ranks
from discreet.decision.survey.publish import Publication
from discreet.intruder.population.sample_cell import PopulationCounts

MOST = 1 << 20  # counts that are tried


def suppressed_counts(
    publication: Publication, rows: NDArray[np.int64]
) -> tuple[Floats, Floats] | None:
    """The least and the largest count of each suppressed cell that the rule would suppress.

    For somebody who knows losses, prior and cut. A cell that one at random left out may be at the
    cut. None where the rule has no constant cut (the best set), or there are too many counts to
    try.

    >>> from discreet.decision.survey.publish import publish
    >>> found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    >>> suppressed_counts(found, np.array([0]))
    (array([1.]), array([1.]))
    """
    rule, c = publication.rule, publication.counts.take(rows)
    if rule.ratio is None and rule.edge is Edge.BEST:
        return None
    kinds, place = np.unique(
        np.column_stack([c.n, c.N, c.alpha, c.beta]), axis=0, return_inverse=True
    )
    sizes = kinds[:, 0].astype(np.int64) + 1
    if sizes.sum() > MOST:
        return None
    kind = np.repeat(np.arange(len(kinds)), sizes)
    y = np.concatenate([np.arange(size) for size in sizes]) if len(sizes) else np.zeros(0, int)
    n, N, alpha, beta = kinds[kind].T
    every = PopulationCounts(n.astype(np.int64), N.astype(np.int64), y, alpha, beta)
    hidden = _hidden(publication, every)
    low, high = np.full(len(kinds), np.inf), np.full(len(kinds), -np.inf)
    np.minimum.at(low, kind[hidden], y[hidden])
    np.maximum.at(high, kind[hidden], y[hidden])
    place = np.asarray(place).ravel()
    return np.minimum(low[place], c.y), np.maximum(high[place], c.y)


def _hidden(publication: Publication, every: PopulationCounts) -> NDArray[np.bool_]:
    """Which of these counts the rule suppresses; a synthetic estimate does not look at them."""
    rule = publication.rule
    if rule.estimator == "synthetic":
        return np.ones(len(every), bool)
    if rule.floor is not None:
        return _estimate(publication, every) <= rule.floor
    rank, own = _rank(publication, every), _rank(publication, publication.counts)
    if rule.ratio is not None:
        return rank >= rule.ratio
    inside = own[publication.probability > 0]
    cut = max(0.0, float(inside.max())) if len(inside) else 0.0
    return rank > cut if rule.edge is Edge.WHOLE else rank >= cut


def _rank(publication: Publication, c: PopulationCounts) -> Floats:
    losses = publication.losses
    if publication.rule.estimator is None:
        return ranks(losses[0].risk(c), losses[1].risk(c))
    Y = _estimate(publication, c)
    return ranks(losses[0](c.y, Y, c.n, c.N), losses[1](c.y, Y, c.n, c.N))


def _estimate(publication: Publication, c: PopulationCounts) -> Floats:
    if publication.rule.estimator == "combined":
        return c.mean
    return np.where(c.n > 0, c.N * c.y / np.maximum(c.n, 1), 0.0)

"""What suppression itself says: the counts that a rule would suppress in a domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.decision.survey.curve import Edge, ranks
from discreet.decision.survey.publish import Publication
from discreet.intruder.population.sample_cell import PopulationCounts

Floats = NDArray[np.float64]
MOST = 1 << 20  # counts that are tried


def suppressed_counts(
    publication: Publication, rows: NDArray[np.int64]
) -> tuple[Floats, Floats] | None:
    """The least and the largest count of each suppressed cell that the rule would suppress.

    For somebody who knows losses, prior and cut. None where the rule has no constant ratio (an
    estimate in place of Y, the best set, a cell at random), or there are too many counts to try.

    >>> from discreet.decision.survey.publish import publish
    >>> found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    >>> suppressed_counts(found, np.array([0]))
    (array([1.]), array([1.]))
    """
    rule, c = publication.rule, publication.counts.take(rows)
    constant = rule.ratio is not None or rule.edge is Edge.WHOLE
    if rule.estimator is not None or not constant:
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
    R1, R0 = (loss.risk(every) for loss in publication.losses)
    rank, cut = ranks(R1, R0), publication.cutoff
    hidden = rank >= cut if rule.ratio is not None else rank > cut
    low, high = np.full(len(kinds), np.inf), np.full(len(kinds), -np.inf)
    np.minimum.at(low, kind[hidden], y[hidden])
    np.maximum.at(high, kind[hidden], y[hidden])
    place = np.asarray(place).ravel()
    return np.minimum(low[place], c.y), np.maximum(high[place], c.y)

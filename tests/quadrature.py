"""No three-way interaction in 2 x J x K tables by quadrature: the rival of every sampler.

Within the cells (j, k), the first variable has log odds b_k + c_j: one integral over b for each k,
inside one over c. Trapezoids are exact to many digits where a density falls off like exp(-|x|).
"""

import numpy as np
from scipy.special import gammaln, logsumexp


def log_constant(hyper, *, reach=60.0, step=0.2):
    """log of the integral of prod theta^hyper over the model's parameters; 2 x 2 x K only."""
    c = np.arange(-reach, reach, step)[:, None]
    return _ends(hyper) + _outer(hyper, c, c[:, 0], step)


def _ends(hyper):
    a = hyper.sum(0)
    return gammaln(a).sum() - gammaln(a.sum())


def _outer(hyper, c, b, step, extra=0.0):
    return logsumexp(sum(_inner(hyper, c, b, k) for k in range(hyper.shape[2])) + extra) + (
        c.shape[1] * np.log(step)
    )


def _inner(hyper, c, b, k):
    """Over b, for each row of c; the first category of j has c = 0."""
    first, both = hyper[1, :, k], hyper.sum(0)[:, k]
    shifted = np.concatenate([np.zeros((len(c), 1)), c], 1)
    terms = b * first.sum() + (shifted @ first)[:, None]
    for j in range(len(both)):
        terms = terms - both[j] * np.logaddexp(0, b + shifted[:, j : j + 1])
    return logsumexp(terms, axis=1) + np.log(b[1] - b[0])


def given_two_margins(table, prior, *, reach=18.0, step=0.5):
    """From the margins (j, k) and (i, k) of a 2 x J x K table under no three-way interaction.

    The log of their probability, and for each k the tables that fit with their probabilities.
    """
    first = np.full(table.shape, float(prior))
    grid = np.arange(-reach, reach, step)
    c = np.stack(np.meshgrid(*[grid] * (table.shape[1] - 1), indexing="ij"), -1)
    c = c.reshape(-1, table.shape[1] - 1)
    shifted = np.concatenate([np.zeros((len(c), 1)), c], 1)
    fine = np.arange(-8, 8, 0.08)
    log, fibres, ways = 0.0, [], []
    for k in range(table.shape[2]):
        both, ones = table[:, :, k].sum(0), table[1, :, k].sum()
        found = np.stack(np.meshgrid(*[np.arange(n + 1) for n in both], indexing="ij"), -1)
        found = found.reshape(-1, len(both))
        found = found[found.sum(1) == ones]
        counts = np.stack([both - found, found], 1)
        fibres.append(counts)
        weights = shifted @ found.T - gammaln(counts + 1.0).sum((1, 2))
        hyper = first.copy()
        hyper[:, :, k] += counts[0]
        ways.append(weights)
        tilt = (shifted @ found[0])[:, None]  # this table's own is in `hyper` already
        log = log + _inner(hyper, c, fine, k) + logsumexp(weights - tilt, axis=1)
    shares = np.exp(log - logsumexp(log))
    chances = [shares @ np.exp(w - logsumexp(w, axis=1, keepdims=True)) for w in ways]
    n, a, total = table.sum(0), first.sum(0), table.sum()
    ends = gammaln(total + 1) + gammaln(a.sum()) - gammaln(a.sum() + total)
    ends += (gammaln(a + n) - gammaln(a)).sum()
    wide = np.arange(-60, 60, 0.4)
    after = logsumexp(log) + c.shape[1] * np.log(step)
    before = _outer(first, c, wide, step)
    return ends + after - before, fibres, chances

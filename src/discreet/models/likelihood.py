"""The likelihood of beta-binomial counts in the logit of the mean and ln(alpha + beta)."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats

Domains = tuple[Floats, Floats, Floats, Floats]  # covariates, y, n, and how many are alike
MOST_SIZE = math.log(1e8)  # of alpha + beta: above it domains do not differ
LEAST_SIZE = math.log(1e-8)
LEAST = 1e-150  # of alpha and beta, which would else underflow
FEW = 2_000  # domains for which threads do not pay


def likelihood(at: Floats, domains: Domains) -> tuple[float, Floats, Floats]:
    """Log likelihood, gradient and Hessian in the coefficients and ln size."""
    from discreet._kernels import betabinomial

    rows, y, n, times = domains
    line, size = rows @ at[:-1], math.exp(at[-1])
    mu, nu = logistic(line), logistic(-line)
    rule = betabinomial.likelihood_few if len(y) < FEW else betabinomial.likelihood
    a, b = np.maximum(mu * size, LEAST), np.maximum(nu * size, LEAST)
    value, da, db, daa, dab, dbb = times * rule(y, n, a, b).T
    # alpha' = mu nu size, beta' = -alpha' by the line; alpha' = alpha, beta' = beta by ln size
    w = mu * nu * size
    first, last = w * (da - db), a * da + b * db
    curve = w * w * (daa - 2 * dab + dbb) + w * (nu - mu) * (da - db)
    cross = w * (da - db + a * daa + (b - a) * dab - b * dbb)
    corner = last + a * a * daa + 2 * a * b * dab + b * b * dbb
    slope = np.append(rows.T @ first, last.sum())
    bends = np.empty((len(at), len(at)))
    bends[:-1, :-1] = rows.T @ (rows * curve[:, None])
    bends[:-1, -1] = bends[-1, :-1] = rows.T @ cross
    bends[-1, -1] = corner.sum()
    return float(value.sum()), slope, bends


def logistic(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))

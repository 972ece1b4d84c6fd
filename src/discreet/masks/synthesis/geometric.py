"""Two-sided geometric noise: the discrete Laplace law of differentially private counts.

    P(z) = (1 - r) / (1 + r) r^|z|,   r = exp(-1 / scale),   variance 2 r / (1 - r)^2

(Ghosh, Roughgarden & Sundararajan 2009). A count that one person changes by 1 is epsilon-private
with the scale 1 / epsilon.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, OptionError

TAIL = 1e-12
MOST_COUNTS = 1 << 20


def checked(epsilon: float) -> float:
    if not (isinstance(epsilon, int | float) and math.isfinite(epsilon) and epsilon > 0):
        raise OptionError(f"epsilon is {epsilon!r}; give a number above 0.")
    return float(epsilon)


def variance(scale: float) -> float:
    """Of the noise.

    >>> round(variance(1.0), 4)
    1.8413
    """
    r = math.exp(-1 / scale)
    return 2 * r / (1 - r) ** 2


def log_law(noise: ArrayLike, scale: float) -> Floats:
    """The log probability of a noise; of an intruder, the likelihood of a true count."""
    r = math.exp(-1 / scale)
    return np.asarray(math.log((1 - r) / (1 + r)) - np.abs(np.asarray(noise)) / scale, np.float64)


def private_noise(counts: Ints, scale: float) -> Ints:
    """The counts with noise from OpenDP, whose randomness is that of the system: no seed."""
    dp = _opendp()
    domain = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    mechanism = dp.m.make_laplace(*domain, scale=scale)
    return np.array(mechanism(counts.ravel().tolist()), np.int64).reshape(counts.shape)


def seeded_noise(counts: Ints, scale: float, rng: np.random.Generator) -> Ints:
    """The same law from a seed: for comparisons that can be repeated, not for release.

    Who knows the seed knows the noise, and numpy's generator is not made to keep it secret.
    """
    stop = -math.expm1(-1 / scale)
    noise = rng.geometric(stop, counts.shape) - rng.geometric(stop, counts.shape)
    return np.asarray(counts + noise, np.int64)


def count_mass(
    noisy: int, epsilon: float, prior: ArrayLike | None = None, *, margins: int = 1
) -> Floats:
    """What an intruder believes about a true count 0, 1, ... who sees it with noise.

    `prior` are the probabilities of 0, 1, ...; by default all counts are alike. `margins` is how
    many tables share epsilon.

    >>> count_mass(1, epsilon=1)[:4].round(3)
    array([0.189, 0.513, 0.189, 0.069])
    """
    scale = margins / checked(epsilon)
    if prior is None:
        end = max(noisy, 0) + math.ceil(-scale * math.log(TAIL)) + 1
        if end > MOST_COUNTS:
            raise DataError(f"epsilon is {epsilon}; so small that it leaves too many counts open.")
        log = log_law(noisy - np.arange(end), scale)
    else:
        before = np.asarray(prior, np.float64)
        if before.ndim != 1 or not ((before >= 0).all() and before.sum() > 0):
            raise DataError(
                "the prior is no list of probabilities; give one for each count from 0."
            )
        with np.errstate(divide="ignore"):
            log = log_law(noisy - np.arange(len(before)), scale) + np.log(before)
    with np.errstate(under="ignore"):
        mass = np.exp(log - log.max())
    return np.asarray(mass / mass.sum())


def _opendp() -> Any:
    try:
        dp = import_module("opendp.prelude")
    except ImportError:
        raise DataError(
            "opendp is not installed, and private tables need its noise; pip install "
            "'discreet[privacy]', or hand in a generator for a comparison."
        ) from None
    dp.enable_features("contrib")
    return dp

"""What an intruder believes about categories before a table is published.

People are exchangeable: independent with known probabilities, independent given probabilities
that follow a Dirichlet distribution, or a mixture of such priors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.look.result import Shown

Counts = Mapping[str, int]


@dataclass(frozen=True)
class Independent(Shown):
    """Each person is in a category with a known probability, whatever the others are.

    >>> import discreet as dc
    >>> prior = dc.uncertainty.Independent.of({"ill": 0.25, "well": 0.75})
    >>> prior.given({"ill": 2, "well": 4}).probability("ill")
    0.25
    """

    categories: tuple[str, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, probabilities: Mapping[str, float]) -> Independent:
        """
        >>> Independent.of({"a": 0.25, "b": 0.75}).predictive().probability("b")
        0.75
        """
        belief = Belief.discrete(list(probabilities), list(probabilities.values()))
        return cls(tuple(map(str, probabilities)), tuple(belief.mass.tolist()))

    def predictive(self) -> Belief:
        """Of somebody, before anything is published."""
        return Belief.discrete(self.categories, self.shares)

    def given(self, counts: Counts) -> Belief:
        """Of somebody else than these."""
        self.log_evidence(counts)
        return self.predictive()

    def log_evidence(self, counts: Counts) -> float:
        """log of the probability that these people are in these categories, in this order."""
        n, p = ordered(counts, self.categories), np.array(self.shares)
        _check_mass(self.categories, n, p)
        held = n > 0
        return float(n[held] @ np.log(p[held]))


@dataclass(frozen=True)
class Dirichlet(Shown):
    """The shares of the categories follow a Dirichlet distribution with these weights.

    >>> import discreet as dc
    >>> prior = dc.uncertainty.Dirichlet.of({"ill": 1, "well": 3})
    >>> prior.shares, prior.given({"ill": 2, "well": 4}).probability("ill")
    ((0.25, 0.75), 0.3)
    """

    categories: tuple[str, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Dirichlet:
        """
        >>> Dirichlet.of({"a": 1, "b": 1}).given({"a": 3, "b": 0}).probability("a")
        0.8
        """
        found = np.array(list(weights.values()), np.float64)
        if not len(found) or not (np.isfinite(found) & (found >= 0)).all() or not found.sum() > 0:
            raise DataError(
                f"the Dirichlet weights are {list(weights.values())}; give numbers from 0 on, not "
                "all 0."
            )
        return cls(tuple(map(str, weights)), tuple(found.tolist()))

    @property
    def shares(self) -> tuple[float, ...]:
        total = sum(self.weights)
        return tuple(weight / total for weight in self.weights)

    def predictive(self) -> Belief:
        return Belief.discrete(self.categories, self.shares)

    def given(self, counts: Counts) -> Belief:
        """Of somebody else than these: (weight + count) / (their sums)."""
        n, a = ordered(counts, self.categories), np.array(self.weights)
        _check_mass(self.categories, n, a)
        return Belief.discrete(self.categories, (a + n) / (a + n).sum())

    def log_evidence(self, counts: Counts) -> float:
        from scipy.special import gammaln

        n, a = ordered(counts, self.categories), np.array(self.weights)
        _check_mass(self.categories, n, a)
        held = a > 0
        terms = gammaln(a[held] + n[held]) - gammaln(a[held])
        return float(terms.sum() + gammaln(a.sum()) - gammaln(a.sum() + n.sum()))


@dataclass(frozen=True)
class Mixture(Shown):
    """One of several priors holds, each with a probability: exchangeable, but no split is fixed.

    >>> import discreet as dc
    >>> rare, common = ({"ill": share, "well": 1 - share} for share in (0.1, 0.5))
    >>> priors = [dc.uncertainty.Independent.of(shares) for shares in (rare, common)]
    >>> prior = dc.uncertainty.Mixture.of(priors, [0.5, 0.5])
    >>> told = prior.given({"ill": 3, "well": 1})
    >>> prior.predictive().probability("ill"), round(told.probability("ill"), 3)
    (0.3, 0.494)
    """

    priors: tuple[Independent | Dirichlet, ...]
    weights: tuple[float, ...]

    @classmethod
    def of(cls, priors: Sequence[Independent | Dirichlet], weights: ArrayLike) -> Mixture:
        mixed = Belief.mixture([prior.predictive() for prior in priors], weights)
        if len({prior.categories for prior in priors}) > 1:
            raise DataError("the priors of a mixture need the same categories in one order.")
        return cls(tuple(priors), tuple(weight for weight, _ in mixed.parts))

    @property
    def categories(self) -> tuple[str, ...]:
        return self.priors[0].categories

    def predictive(self) -> Belief:
        return Belief.mixture([prior.predictive() for prior in self.priors], self.weights)

    def given(self, counts: Counts) -> Belief:
        """Each prior updated, and weighted by how well it foresaw the counts."""
        able = [(p, w) for p, w in zip(self.priors, self.weights, strict=True) if _able(p, counts)]
        if not able:
            self.priors[0].given(counts)  # raises, and names the category
        logs = np.array([prior.log_evidence(counts) + math.log(w) for prior, w in able])
        weights = np.exp(logs - logs.max())
        return Belief.mixture([prior.given(counts) for prior, _ in able], weights / weights.sum())


Prior = Independent | Dirichlet | Mixture


def ordered(counts: Counts, categories: Iterable[str]) -> NDArray[np.int64]:
    """The counts of the categories; of a category that is not counted 0."""
    listed = tuple(categories)
    if strange := [name for name in counts if name not in listed]:
        raise DataError(
            f"the prior has no category {strange[0]!r}; it has {', '.join(listed[:10])}. Give it "
            "every category of the table."
        )
    found = [counts.get(name, 0) for name in listed]
    for name, count in zip(listed, found, strict=True):
        if count < 0 or count != int(count):
            raise DataError(f"the count of {name!r} is {count}; counts are whole numbers from 0.")
    return np.array(found, np.int64)


def _able(prior: Independent | Dirichlet, counts: Counts) -> bool:
    n = ordered(counts, prior.categories)
    return not ((n > 0) & (np.array(prior.shares) == 0)).any()


def _check_mass(categories: tuple[str, ...], n: NDArray[np.int64], mass: Floats) -> None:
    for name, count, p in zip(categories, n.tolist(), mass.tolist(), strict=True):
        if count and p <= 0:
            raise DataError(
                f"the prior gives {name!r} no probability, but the table has {count:,} there; give "
                "every category that occurs a probability above 0."
            )

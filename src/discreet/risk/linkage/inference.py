"""What an intruder infers about a sensitive value from released records (Lambert 1993, 6.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.linkage.links import Links

ROUNDS = 1_000
NODES = 15  # of quadrature
MOST_MIXED = 256
RIDGE = 1e-6


def misclassified(categories: int, q: float) -> Floats:
    """P[released x | true y]: right with probability q, else any other."""
    if categories == 1:
        return np.ones((1, 1))
    table = np.full((categories, categories), (1 - q) / (categories - 1))
    np.fill_diagonal(table, q)
    return table


def prior_shares(counts: Floats, table: Floats) -> Floats:
    """Maximum likelihood shares of the true categories (rows), given counts of the released ones
    (columns); even ones if nothing is released.
    """
    shares = np.full(len(table), 1 / len(table))
    for _ in range(ROUNDS if counts.sum() else 0):
        chance = shares @ table
        ratio = np.divide(counts, chance, out=np.zeros_like(counts), where=chance > 0)
        new = shares * (table @ ratio) / counts.sum()
        if not new.sum():
            break
        if np.abs(new - shares).max() < 1e-12:
            break
        shares = new
    return np.asarray(shares / shares.sum())


def record_beliefs(values: Ints, table: Floats, prior: Floats) -> Floats:
    """P[true category | released value], a row for each record (Lambert 1993, equation 3).

    `prior` has one row for all records, or one for each.

    >>> import discreet as dc
    >>> import numpy as np
    >>> released, kept = np.array([0, 1]), np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> dc.linkage.record_beliefs(released, kept, np.array([[0.8, 0.2]])).round(3)
    array([[0.973, 0.027],
           [0.308, 0.692]])
    """
    weights = prior * table.T[values]
    total = weights.sum(1, keepdims=True)
    return np.asarray(np.where(total > 0, weights / np.where(total > 0, total, 1), prior))


@dataclass(frozen=True, eq=False)
class Covariate:
    """A column to predict from, as released.

    `columns`: its numbers, or 0 and 1 for each category but the first. `spread`: of the normal
    error in a number; `keep`: a category is right with this probability, else any other; `labels`:
    its categories but the first.
    """

    name: str
    columns: Floats
    spread: float = 0.0
    keep: float = 1.0
    labels: tuple[str, ...] = ()

    @classmethod
    def number(cls, name: str, values: Floats, spread: float = 0.0) -> Covariate:
        return cls(name, values[:, None], spread=spread)

    @classmethod
    def category(cls, name: str, labels: NDArray[Any], keep: float = 1.0) -> Covariate:
        values = labels.astype(str)
        found = np.unique(values)
        others = tuple(found[1:].tolist())
        return cls(name, (values[:, None] == found[None, 1:]) * 1.0, keep=keep, labels=others)

    @property
    def names(self) -> tuple[str, ...]:
        """Of its columns."""
        if self.labels or not self.columns.shape[1]:
            return tuple(f"{self.name} {label}" for label in self.labels)
        return (self.name,)

    @property
    def beliefs(self) -> Floats:
        """P[true category | released one], a row for each record."""
        many = self.columns.shape[1] + 1
        if many > 1 and math.isclose(self.keep * many, 1):
            raise DataError(
                f"with keep = {self.keep:g} the {many} values of {self.name!r} tell nothing; "
                "predict from others."
            )
        codes = (self.columns @ np.arange(1, many)).astype(np.int64)
        table = misclassified(many, self.keep)
        counts = np.bincount(codes, minlength=many).astype(np.float64)
        return record_beliefs(codes, table, prior_shares(counts, table)[None])


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted regression: the intercept, then a coefficient of each column of true covariates,
    categories with errors last; `chance` is P[y = 1 | covariates as released] of each record.

    `standard_errors` take what is known of errors, and the covariates' spread, as given.
    """

    coefficients: Floats
    standard_errors: Floats
    chance: Floats
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        said = ", ".join(f"{b:.4g}" for b in self.coefficients)
        return f"Logistic({len(self.chance):,} records: {said})"

    @property
    def prior(self) -> Floats:
        """P[y = 0] and P[y = 1] of each record."""
        return np.column_stack([1 - self.chance, self.chance])


def logistic(values: Ints, covariates: Sequence[Covariate], q: float) -> Logistic:
    """Fit released values of 0 and 1 that are right with probability q, by maximum likelihood.

        sum over all records of x log pi + (1 - x) log(1 - pi),   pi = q P + (1 - q)(1 - P)

    P is the mean of expit(b0 + b t) over true covariates t given released ones (Carroll et al.
    1984). Numbers are normal: t = z - u with z released and u ~ N(0, D), so that t has mean
    m + (S - D) S^-1 (z - m) and variance D - D S^-1 D, S the variance of z; b t is normal too and
    its mean is by quadrature. Categories with errors are a mixture, independent of all else. A
    slight ridge keeps separated data finite.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    if q == 0.5:
        raise DataError("with q = 0.5 the released values tell nothing; nothing can be predicted.")
    plain = [c for c in covariates if c.keep == 1]
    mixed_up = [c for c in covariates if c.keep < 1]
    means, variance, centre, scale = _true_numbers(plain, len(values))
    mixture = _mixture(mixed_up, len(values))
    numbers = means.shape[1]
    nodes, weights = np.zeros(1), np.ones(1)
    if variance.any():
        nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
        weights = weights / weights.sum()

    def chances(beta: Floats) -> tuple[Floats, Floats]:
        """P and its derivatives, a row for each record."""
        slopes = beta[1 : numbers + 1]
        spread = float(np.sqrt(slopes @ variance @ slopes))
        wider = variance @ slopes / spread if spread else np.zeros(numbers)
        line = beta[0] + means @ slopes
        chance, change = np.zeros(len(values)), np.zeros((len(values), len(beta)))
        for share, ones in mixture:
            flat, steep = np.zeros(len(values)), np.zeros(len(values))
            for node, weight in zip(nodes, weights, strict=True):
                at = expit(line + ones @ beta[numbers + 1 :] + spread * node)
                chance += share * weight * at
                slope = share * weight * at * (1 - at)
                flat += slope
                steep += slope * node
            change[:, 0] += flat
            change[:, 1 : numbers + 1] += flat[:, None] * means + steep[:, None] * wider
            change[:, numbers + 1 :] += flat[:, None] * ones
        return chance, change

    def scores(beta: Floats) -> tuple[float, Floats]:
        """The log-likelihood, and each record's part of its derivatives."""
        chance, change = chances(beta)
        pi = np.clip(q * chance + (1 - q) * (1 - chance), 1e-12, 1 - 1e-12)
        fit = values @ np.log(pi) + (1 - values) @ np.log1p(-pi)
        slope = (values / pi - (1 - values) / (1 - pi)) * (2 * q - 1)
        return float(fit), slope[:, None] * change

    def loss(beta: Floats) -> tuple[float, Floats]:
        fit, each = scores(beta)
        return -fit + RIDGE * float(beta @ beta) / 2, RIDGE * beta - each.sum(0)

    many = 1 + numbers + len(mixture[0][1])
    beta = minimize(loss, np.zeros(many), jac=True, method="L-BFGS-B").x
    each = scores(beta)[1]
    back = np.eye(many)
    back[range(1, numbers + 1), range(1, numbers + 1)] = 1 / scale
    back[0, 1 : numbers + 1] = -centre / scale
    inverse = back @ np.linalg.pinv(each.T @ each + RIDGE * np.eye(many)) @ back.T
    named = ("constant", *(name for c in (*plain, *mixed_up) for name in c.names))
    return Logistic(back @ beta, np.sqrt(np.diag(inverse)), chances(beta)[0], named)


def _true_numbers(covariates: Sequence[Covariate], many: int) -> tuple[Floats, ...]:
    """Means of true covariates given released ones, a row for each record, and their variance, both
    in units of the released ones; then the centre and scale of these."""
    columns = np.hstack([np.zeros((many, 0)), *(c.columns for c in covariates)])
    centre, spread = columns.mean(0), columns.std(0)
    for covariate in covariates:
        if covariate.spread and covariate.spread >= (seen := float(covariate.columns.std())):
            raise DataError(
                f"{covariate.name!r} has a spread of {seen:.4g} as released, of which "
                f"{covariate.spread:g} is said to be error; give a smaller error."
            )
    scale = np.where(spread > 0, spread, 1)
    scaled = (columns - centre) / scale
    errors = [np.full(c.columns.shape[1], c.spread) for c in covariates]
    noise = np.diag((np.concatenate([np.zeros(0), *errors]) / scale) ** 2)
    if not noise.any():
        return scaled, noise, centre, scale
    seen_variance = scaled.T @ scaled / many
    if np.linalg.eigvalsh(seen_variance - noise).min() < -1e-9:
        named = ", ".join(c.name for c in covariates if c.spread)
        raise DataError(
            f"the errors of {named} are larger than what these columns vary, given the others; "
            "give smaller errors, or predict from fewer columns."
        )
    share = noise @ np.linalg.pinv(seen_variance)
    return scaled - scaled @ share.T, noise - share @ noise, centre, scale


def _mixture(covariates: Sequence[Covariate], many: int) -> list[tuple[Floats, Floats]]:
    """Each combination of true categories: its probability by record, and its 0s and 1s."""
    sizes = [c.columns.shape[1] + 1 for c in covariates]
    if math.prod(sizes) > MOST_MIXED:
        raise DataError(
            f"{', '.join(c.name for c in covariates)} have {math.prod(sizes):,} combinations of "
            f"values, more than {MOST_MIXED}; give fewer of them errors."
        )
    believed = [c.beliefs for c in covariates]
    found = []
    for places in itertools.product(*map(range, sizes)):
        share = np.ones(many)
        for beliefs, place in zip(believed, places, strict=True):
            share = share * beliefs[:, place]
        ones = [np.eye(size)[place, 1:] for size, place in zip(sizes, places, strict=True)]
        found.append((share, np.concatenate([np.zeros(0), *ones])))
    return found


def mixed(links: Links, records: Floats, prior: Floats) -> Floats:
    """Of each source class a mixture over candidate links and, for the null, a prior.

    sum_i p_ji P[y | x_i] + p_j0 P[y]
    """
    from scipy.sparse import csr_array

    shape = (len(links.source.first), len(links.released.first))
    table = csr_array((links.chances, links.places, links.starts), shape=shape)
    many = shape[1]
    sums = np.column_stack([np.bincount(links.released.of, column, many) for column in records.T])
    linked = np.asarray(table @ links.released.times.astype(np.float64))
    null = np.clip(1 - linked, 0, 1)
    return np.asarray((table @ sums + null[:, None] * prior) / (linked + null)[:, None])


def belief_about(
    links: Links, source: int, records: Floats, prior: Floats, categories: Sequence[str]
) -> Belief:
    """The belief about one source record's value, mixed over the records that it may be.

    `records` has the belief about each released record in a row, `prior` is for somebody who is not
    among them.

    >>> import discreet as dc
    >>> import numpy as np
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> links = dc.linkage.link(records, intruder)
    >>> each, prior = np.array([[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]]), np.array([0.5, 0.5])
    >>> dc.linkage.belief_about(links, 1, each, prior, ["no", "yes"])
    Belief(2 values: most probable yes with 0.8912, exact)
    """
    rows, chances = links.of(source)
    null = max(0.0, 1 - float(chances.sum()))
    mass = chances @ records[rows] + null * prior
    return Belief.discrete(list(categories), mass / mass.sum())

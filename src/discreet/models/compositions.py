"""Exact cell probabilities of mixed membership, by how many responses each profile gave.

With membership g ~ Dirichlet(alpha) over J profiles, and each response from profile k with
probability g_k,

    p(x) = E_g prod_j sum_k g_k lambda_kj(x_j) = sum_n D(n) S_n(x)
    D(n) = Gamma(a) / Gamma(a + K) prod_k Gamma(alpha_k + n_k) / Gamma(alpha_k),  a = sum alpha

over all compositions n of the K responses, S_n(x) the sum over the assignments of responses to
profiles in which n_k have profile k. The responses are cut in two: for n = l + r

    p(x) = sum_l sum_r S_l(left of x) D(l + r) S_r(right of x)

two products of matrices, where cells with the same left or right half share their sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import comb, prod
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError

MOST_TERMS = 1 << 24  # pairs of compositions, or sums of one half


@cache
def compositions(number: int, parts: int) -> Ints:
    """All ways to write a number as a sum of `parts` numbers from 0 on, a row each.

    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if parts == 1:
        return np.array([[number]])
    rows = [
        np.insert(compositions(number - first, parts - 1), 0, first, axis=1)
        for first in range(number + 1)
    ]
    return np.concatenate(rows)


def _rank(rows: Ints) -> Ints:
    """The place of each composition among all of its number, in the order of `compositions`."""
    left, rank = rows.sum(1), np.zeros(len(rows), np.int64)
    parts = rows.shape[1]
    most = int(left.max(initial=0))
    ways = np.array(
        [[comb(n + p - 1, p - 1) for p in range(1, parts + 1)] for n in range(most + 1)]
    )
    before = np.vstack([np.zeros((1, parts), np.int64), np.cumsum(ways, 0)])
    for place in range(parts - 1):
        below = parts - place - 2  # the parts after this one, less one
        # those with a smaller first part leave more for the others
        rank += before[left + 1, below] - before[left + 1 - rows[:, place], below]
        left = left - rows[:, place]
    return rank


@dataclass(frozen=True)
class _Half:
    """S_n of every combination of some responses: item by item, beginnings shared."""

    sizes: tuple[int, ...]
    profiles: int

    @property
    def combinations(self) -> int:
        return prod(self.sizes)

    @cached_property
    def ways(self) -> Ints:
        return compositions(len(self.sizes), self.profiles)

    @cached_property
    def origins(self) -> list[Ints]:
        """For each item, where a composition came from if the item has a profile; -1 if not."""
        one = np.eye(self.profiles, dtype=np.int64)
        found = []
        for item in range(len(self.sizes)):
            after = compositions(item + 1, self.profiles)
            origin = np.full(after.shape, -1)
            for k in range(self.profiles):
                some = after[:, k] > 0
                origin[some, k] = _rank(after[some] - one[k])
            found.append(origin)
        return found

    def sums(self, responses: list[Floats]) -> list[Floats]:
        """Compositions x combinations, after each item; `responses` are categories x profiles."""
        from discreet._kernels.membership import grow

        found = [np.ones((1, 1))]
        for given, origin in zip(responses, self.origins, strict=True):
            found.append(grow(found[-1], origin, given))
        return found

    def slopes(self, sums: list[Floats], responses: list[Floats], top: Floats) -> list[Floats]:
        """Derivatives in the responses, where `top` has those in the last sums."""
        from discreet._kernels.membership import shrink

        found: list[Floats] = []
        for item in reversed(range(len(self.sizes))):
            slope, top = shrink(sums[item], self.origins[item], responses[item], top)
            found.append(slope)
        return found[::-1]


@dataclass(frozen=True)
class MixedCells:
    """The cells of a table of these sizes, under mixed membership in some profiles.

    Parameters are `responses`, categories of all variables below each other x profiles, and
    `alpha`, one a profile.

    >>> cells = MixedCells.of((2, 2), 2)
    >>> responses = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> cells.probabilities(responses, np.array([1.0, 1.0])).round(3)
    array([0.333, 0.167, 0.167, 0.333])
    """

    left: _Half
    right: _Half

    @classmethod
    def of(cls, sizes: tuple[int, ...], profiles: int, cells: int | None = None) -> MixedCells:
        """Cut where the work for some cells (all unless said) is least."""
        asked = prod(sizes) if cells is None else cells
        cuts = [_Cut.at(sizes, profiles, cut, asked) for cut in range(len(sizes) // 2 + 1)]
        best = min(cuts, key=lambda cut: (cut.terms > MOST_TERMS, cut.work))
        if best.terms > MOST_TERMS:
            raise DataError(
                f"{profiles} profiles of {len(sizes)} variables have {best.terms:,} terms, and the "
                f"exact probabilities need them all; the most is {MOST_TERMS:,}. Take fewer "
                "profiles or fewer variables."
            )
        return cls(_Half(sizes[: best.place], profiles), _Half(sizes[best.place :], profiles))

    @property
    def profiles(self) -> int:
        return self.left.profiles

    @property
    def items(self) -> int:
        return len(self.left.sizes) + len(self.right.sizes)

    @cached_property
    def totals(self) -> Ints:
        """The compositions of all responses."""
        return compositions(self.items, self.profiles)

    @cached_property
    def joined(self) -> Ints:
        """Where the sum of a left and a right composition is among all."""
        return np.stack([_rank(way + self.right.ways) for way in self.left.ways])

    def _cut(self, responses: Floats) -> tuple[list[Floats], list[Floats]]:
        sizes = (*self.left.sizes, *self.right.sizes)
        parts = np.split(responses, np.cumsum(sizes)[:-1])
        return parts[: len(self.left.sizes)], parts[len(self.left.sizes) :]

    def _chances(self, alpha: Floats) -> Floats:
        """D of every composition of all responses."""
        from scipy.special import gammaln

        whole = alpha.sum()
        logs = (gammaln(alpha + self.totals) - gammaln(alpha)).sum(1)
        return np.asarray(np.exp(logs + gammaln(whole) - gammaln(whole + self.items)))

    def probabilities(self, responses: Floats, alpha: Floats) -> Floats:
        """Of all cells, in row-major order; they sum to 1 up to rounding."""
        left, right = self._cut(responses)
        weighed = self.left.sums(left)[-1].T @ self._chances(alpha)[self.joined]
        return np.asarray((weighed @ self.right.sums(right)[-1]).reshape(-1))

    def log_likelihood(
        self, responses: Floats, alpha: Floats, cells: Ints, counts: Floats
    ) -> float:
        """sum n log p over cells, given by their places in row-major order."""
        from discreet._kernels.membership import products

        left, right = self._cut(responses)
        weighed = self.left.sums(left)[-1].T @ self._chances(alpha)[self.joined]
        ends = np.ascontiguousarray(self.right.sums(right)[-1].T)
        found = products(weighed, ends, *np.divmod(cells, self.right.combinations))
        return float(counts @ np.log(found))

    def slopes(
        self, responses: Floats, alpha: Floats, cells: Ints, counts: Floats
    ) -> tuple[float, Floats, Floats]:
        """The log-likelihood, and its derivatives in the responses and in alpha."""
        from scipy.special import digamma

        from discreet._kernels.membership import products, spread

        left, right = self._cut(responses)
        a, b = self.left.sums(left), self.right.sums(right)
        chances = self._chances(alpha)
        table = chances[self.joined]
        weighed, ends = a[-1].T @ table, np.ascontiguousarray(b[-1].T)
        row, column = np.divmod(cells, self.right.combinations)
        found = products(weighed, ends, row, column)
        down, up = spread(weighed, ends, row, column, counts / found)
        slopes = [
            *self.left.slopes(a, left, table @ down.T),
            *self.right.slopes(b, right, np.ascontiguousarray(up.T)),
        ]
        both = (a[-1] @ down).reshape(-1)
        expected = np.bincount(self.joined.reshape(-1), both, len(chances)) * chances
        steep = digamma(alpha + self.totals) - digamma(alpha)
        whole = alpha.sum()
        rest = expected.sum() * (digamma(whole) - digamma(whole + self.items))
        value = float(counts @ np.log(found))
        return value, np.concatenate(slopes), np.asarray(expected @ steep + rest)


class _Cut(NamedTuple):
    """Where responses are cut in two, the largest array that it takes, and the work."""

    place: int
    terms: int
    work: int

    @classmethod
    def at(cls, sizes: tuple[int, ...], profiles: int, place: int, cells: int) -> _Cut:
        """Work is in multiplications, roughly: those of a matrix product are the quickest."""
        a, b = (comb(n + profiles - 1, n) for n in (place, len(sizes) - place))
        left, right = prod(sizes[:place]) * a, prod(sizes[place:]) * b
        work = left * b + 6 * cells * b + 16 * profiles * (left + right)
        return cls(place, max(a * b, left, right), work)

"""Amounts perturbed by cell keys: noise in proportion to the largest contributions.

Giessing & Tent 2019 and deliverable D4.2 of the SGA "Open source tools for perturbative
confidentiality methods", as R's cellKey 1.0 computes it. For the j-th largest contribution x_j,

    x <- x + sign(x) |d_j| sign(v) (mu + |v|),   d_j = m_j(x_j) x_j,

v the noise of |x / d_j| at the j-th key; x never changes its sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.masks.cellkey.keys import as_fractions
from discreet.masks.cellkey.perturb import SAID
from discreet.masks.cellkey.ptable import PTable
from discreet.masks.masked import Masked
from discreet.sheets.system import System

DIGITS = 8  # of a key, which are turned for the next contribution
TYPES = ("top_contr", "mean", "range", "sum")


@dataclass(frozen=True)
class Simple:
    """m_j = p epsilon_j (`ck_simpleparams`)."""

    p: float
    epsilon: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise DataError(f"p is {self.p}; it lies in (0, 1].")
        _descending(self.epsilon)

    @property
    def small(self) -> float:
        return self.p

    def magnitude(self, x: float, j: int) -> float:
        return self.p * self.epsilon[j]


@dataclass(frozen=True)
class Flex:
    """p_small below the flex point fp, from there on falling to p_large (`ck_flexparams`).

        m(x) = p_large (1 + (p_small x - p_large fp) / (p_large fp) (2 fp / (fp + x))^q)

    times epsilon_j; below fp without epsilon, as cellKey has it.

    >>> flex = Flex(1000, (0.2, 0.03), q=2)
    >>> [round(flex.magnitude(x, 0), 4) for x in (10, 1000, 1e4, 1e9)]
    [0.2, 0.2, 0.0951, 0.03]
    """

    fp: float
    p: tuple[float, float] = (0.25, 0.05)
    epsilon: tuple[float, ...] = (1.0,)
    q: float = 3.0

    def __post_init__(self) -> None:
        if not self.fp > 0 or not self.q >= 1:
            raise DataError(f"fp is {self.fp} and q {self.q}; fp is above 0 and q at least 1.")
        if not 1 >= self.p[0] >= self.p[1] > 0:
            raise DataError(f"p is {self.p}; two shares, the larger for small cells first.")
        _descending(self.epsilon)

    @property
    def small(self) -> float:
        return self.p[0]

    def magnitude(self, x: float, j: int) -> float:
        small, large = self.p
        if x < self.fp:
            return small
        rise = (small * x - large * self.fp) / (large * self.fp)
        return float(large * (1 + rise * (2 * self.fp / (self.fp + x)) ** self.q) * self.epsilon[j])


def _descending(epsilon: tuple[float, ...]) -> None:
    if not epsilon or epsilon[0] != 1 or list(epsilon) != sorted(epsilon, reverse=True):
        raise DataError(f"epsilon is {epsilon}; it begins at 1 and falls.")
    if epsilon[-1] < 0:
        raise DataError(f"epsilon is {epsilon}; it has no negative value.")


@dataclass(frozen=True, eq=False)
class Amounts:
    """How amounts are perturbed (`ck_params_nums`).

    `ptable` has the kind all, or even and odd by the number of contributors, and perhaps
    small_cells for contributions below the separation point, sqrt(m1^2) / (sqrt(E) p), E the sum of
    epsilon^2, m1^2 the variance of the last row of small_cells; only the first contribution takes
    noise from there. `mu_c` is added to the first noise of a cell that is sensitive, as cellKey's
    manual says; its code adds it to every one.
    """

    ptable: PTable
    multiplier: Simple | Flex
    type: str = "top_contr"
    top_k: int = 1
    mu_c: float = 0.0
    same_key: bool = True

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise DataError(f"there is no type {self.type!r}; there are {', '.join(TYPES)}.")
        if not 1 <= self.top_k <= 6 or (self.type != "top_contr" and self.top_k != 1):
            raise DataError(f"top_k is {self.top_k}; it is 1 to 6, and 1 unless for top_contr.")
        if len(self.multiplier.epsilon) != self.top_k:
            raise DataError(
                f"epsilon has {len(self.multiplier.epsilon)} values; give one for each of "
                f"{self.top_k} contributions."
            )
        if self.mu_c < 0:
            raise DataError(f"mu_c is {self.mu_c}; it is 0 or more.")
        if self.parity and self.top_k > 1:
            raise DataError("tables for even and odd cells need top_k=1; set it.")

    @cached_property
    def tables(self) -> Mapping[str, PTable]:
        return {kind: self.ptable.only(kind) for kind in set(self.ptable.kind.tolist())}

    @property
    def parity(self) -> bool:
        return "even" in self.tables

    @cached_property
    def separation(self) -> float:
        if "small_cells" not in self.tables:
            return 0.0
        small = self.tables["small_cells"]
        last = small.i == small.largest
        square = float((small.p[last] * small.v[last] ** 2).sum())
        spread = float(np.square(self.multiplier.epsilon).sum())
        return float(np.sqrt(square) / (np.sqrt(spread) * self.multiplier.small))


def turned(key: float, times: int, *, same: bool = True) -> list[float]:
    """The key, and the key with its first digit put last, again and again.

    >>> turned(0.12345678, 3), turned(0.12345678, 1, same=False)
    ([0.12345678, 0.23456781, 0.34567812], [0.23456781])
    """
    whole = 10**DIGITS
    number = round(key * whole) % whole
    found = []
    for step in range(times):
        if step or not same:
            first, rest = divmod(number, whole // 10)
            number = rest * 10 + first
        found.append(number / whole)
    return found


def perturbed(
    value: float,
    largest: Sequence[float],
    key: float,
    amounts: Amounts,
    *,
    contributors: int = 0,
    sensitive: bool = False,
) -> float:
    """One cell of this value from its largest contributions and its key."""
    if value == 0 or not len(largest):
        return 0.0
    kind = "all" if not amounts.parity else ("odd" if contributors % 2 else "even")
    x, split = float(value), amounts.separation
    keys = turned(key, len(largest), same=amounts.same_key)
    for j, (own, at) in enumerate(zip(largest, keys, strict=True)):
        table, delta = kind, abs(own) * amounts.multiplier.magnitude(abs(own), j)
        if abs(own) < split:
            table, delta = "small_cells", 1.0
        if abs(x) < delta:
            delta = abs(x)
            if delta / (amounts.multiplier.small * amounts.multiplier.epsilon[j]) < split:
                table, delta = "small_cells", 1.0
        if x == 0 or delta == 0 or (table == "small_cells" and j):
            continue
        v = _between(amounts.tables[table], abs(x) / delta, at)
        mu = amounts.mu_c if sensitive and j == 0 else 0.0
        move = np.sign(x) * delta * (mu + abs(v)) * (1 if v >= 0 else -1)
        x = x + move if abs(move) < abs(x) or v >= 0 else 0.0
    return x


def _between(table: PTable, a: float, key: float) -> float:
    """The noise of a; between two classes, that of both in proportion."""
    classes = np.unique(table.i)
    a = min(a, float(classes[-1]))
    above = int(np.searchsorted(classes, a))
    if classes[above] == a:
        return float(table.noise([a], [key])[0])
    low, high = float(classes[above - 1]), float(classes[above])
    noise = table.noise([low, high], [key, key])
    share = (a - low) / (high - low)
    return float((1 - share) * noise[0] + share * noise[1])


def top(
    system: System, codes: Mapping[str, NDArray[Any]], values: ArrayLike, k: int
) -> tuple[Floats, NDArray[np.int64]]:
    """The k largest contributions to each printed cell by size, nan where there are fewer, and how
    many contribute."""
    given = np.asarray(values, np.float64)
    order = np.argsort(-np.abs(given), kind="stable")
    largest = np.full((system.columns, k), np.nan)
    number = system.fine(codes, (given != 0).astype(np.int64))
    numbered = np.arange(len(given))
    for part in system.parts:
        place = np.zeros(len(given), np.int64)
        for name, atom, size in zip(part.names, part.atoms, part.shape, strict=True):
            place = place * size + atom[codes[name]]
        place = place[order]
        by_cell = np.argsort(place, kind="stable")
        cell = place[by_cell]
        rank = numbered - np.searchsorted(cell, cell)
        few = rank < k
        largest[part.start + cell[few], rank[few]] = given[order][by_cell][few]
    found = np.full((system.cells, k), np.nan)
    for row in range(system.cells):
        within = system.sums.indices[system.sums.indptr[row] : system.sums.indptr[row + 1]]
        own = largest[within].ravel()
        own = own[~np.isnan(own)]
        best = own[np.argsort(-np.abs(own), kind="stable")[:k]]
        found[row, : len(best)] = best
    return found, np.asarray(system.sums.astype(np.int64) @ number)


def cell_key_amounts(
    system: System,
    codes: Mapping[str, NDArray[Any]],
    values: ArrayLike,
    keys: NDArray[np.uint64],
    amounts: Amounts,
    *,
    sensitive: NDArray[np.bool_] | None = None,
    secret: str = "",
) -> Masked:
    """Every printed sum of a column perturbed.

    `keys` are those of the printed rows, made of the records that contribute (`use_zero_rkeys`
    false in cellKey) or of all.
    """
    given = np.asarray(values, np.float64)
    sums = np.asarray(system.sums @ system.fine(codes, given))
    largest, number = top(system, codes, given, amounts.top_k)
    if amounts.type == "mean":
        largest = (sums / np.maximum(number, 1))[:, None]
    elif amounts.type == "sum":
        largest = sums[:, None]
    elif amounts.type == "range":
        largest = _ranges(system, codes, given)[:, None]
    shown = np.zeros(system.cells)
    for row, key in enumerate(as_fractions(keys)):
        own = largest[row][~np.isnan(largest[row])]
        shown[row] = perturbed(
            float(sums[row]),
            own.tolist() if number[row] else [],
            float(key),
            amounts,
            contributors=int(number[row]),
            sensitive=sensitive is not None and bool(sensitive[row]),
        )
    multiplier = amounts.multiplier
    parameters: dict[str, object] = {
        **amounts.ptable.parameters,
        "type": amounts.type,
        "top_k": amounts.top_k,
        "multiplier": repr(multiplier),
    }
    parameters |= {"secret": secret} if secret else {}
    return Masked(system, shown, "cell key", parameters, None, False, SAID)


def _ranges(system: System, codes: Mapping[str, NDArray[Any]], values: Floats) -> Floats:
    """The largest less the smallest contribution of each printed cell."""
    shift = values.min(initial=0.0) - 1, values.max(initial=0.0) + 1
    high, _ = top(system, codes, values - shift[0], 1)
    low, _ = top(system, codes, shift[1] - values, 1)
    return np.asarray(np.nan_to_num(high[:, 0] + shift[0] - (shift[1] - low[:, 0])))

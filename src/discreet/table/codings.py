"""Variables that are codings of one thing, or lie within each other: pairs that cannot occur."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import MISSING, Codebook, Variable
from discreet.data.impossible import Impossible
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.look.words import plural
from discreet.table.impossible import Combination, Groups, by_names
from discreet.table.keys import Codes, Counts

if TYPE_CHECKING:
    from discreet.table.table import Table

LEAST_EXPECTED = 20.0
LEAST_SURPRISE = 20.0
MOST_FOUND = 200_000  # combinations of all pairs of variables
LOOKS = (1 << 12, 1 << 16)  # cells that rule out most pairs of variables


@dataclass(frozen=True)
class Coding(Unpublished):
    """Two variables and how many of their combinations nobody has; `taken` as impossible or not."""

    names: tuple[str, str]
    impossible: int
    taken: bool = True

    def __str__(self) -> str:
        a, b = self.names
        number = plural(self.impossible, "combination")
        if not self.taken:
            return (
                f"{a} and {b} look like codings of one thing, but {number} that nobody has are too "
                "many to be taken as impossible; group their categories, or leave one out."
            )
        verb, it = ("is", "it") if self.impossible == 1 else ("are", "they")
        return (
            f"{a} and {b} look like codings of one thing: {number} that nobody has {verb} taken as "
            f"impossible; say --impossible none if {it} can occur."
        )


def with_impossible(table: Table, book: Codebook, given: object, columns: Iterable[str]) -> Table:
    """The table with what cannot occur: stated, by variables that lie within others, and found.

    Of the data's `columns` the table may have some only, and what is said of others is left out.
    """
    said = book.impossible + Impossible.of(given)
    columns = [*columns]
    if lost := [name for name in said.names if name not in columns]:
        raise DataError(
            f"an impossible combination names {lost[0]!r}, but the data have no such column; they "
            f"have {', '.join(map(repr, columns[:10]))}."
        )
    stated: list[Mapping[str, object]] = [
        {name: [book.category(name, c) for c in chosen] for name, chosen in combination.items()}
        for combination in said.stated
        if all(name in table.names for name in combination)
    ]
    for name, outer in ((name, book.entry(name).within) for name in table.names):
        if outer in table.names:
            pair = table.margin([name, outer])
            stated += nested(pair.variables[0], pair.variables[1], pair.codes, pair.counts)
    table = table.excluding(stated)
    if not said.find:
        return table
    codings, impossible = find_codings(table.variables, table.codes, table.counts)
    fresh = by_names(impossible.difference(table.impossible))
    stated_of = {frozenset(names) for names in table.ruled_out}
    codings = tuple(c for c in codings if c.taken or frozenset(c.names) not in stated_of)
    both = tuple(sorted(impossible.union(table.impossible)))
    return dataclasses.replace(table, impossible=both, codings=recounted(codings, fresh))


def find_codings(
    variables: Sequence[Variable], codes: Codes, counts: Counts
) -> tuple[tuple[Coding, ...], set[Combination]]:
    """Pairs of variables whose empty combinations look impossible, and these combinations.

    Two codings of one quantity, or a variable within another, with a and b categories that have
    people, leave at most a + b - 1 of their D pairs with people. That is no chance if at least 20
    of N people were expected in the empty ones, and

        -N log(sum of p_a p_b over the pairs with people)  >=  20 + log C(a b, D):

    if the two were independent, no D pairs at all would hold everybody more often than once in
    e^20 times.
    """
    found: list[Coding] = []
    impossible: set[Combination] = set()
    people = [np.bincount(codes[:, i], counts, v.size) for i, v in enumerate(variables)]
    filled = [int((n > 0).sum()) for n in people]
    samples = [codes[:: -(-len(codes) // look)] for look in LOOKS if look < len(codes)]
    for i, j in combinations(range(len(variables)), 2):
        most = filled[i] + filled[j] - 1
        if filled[i] * filled[j] <= most:
            continue
        if any(len(_pairs(part, i, j, variables)) > most for part in samples):
            continue
        seen = _pairs(codes, i, j, variables)
        if len(seen) > most or not _no_chance(people[i], people[j], seen, variables[j].size):
            continue
        empty = filled[i] * filled[j] - len(seen)
        taken = empty + len(impossible) <= MOST_FOUND
        found.append(Coding((variables[i].name, variables[j].name), empty, taken))
        if taken:
            mask = (people[i] > 0)[:, None] & (people[j] > 0)[None]
            mask.ravel()[seen] = False
            impossible.update(_labelled(variables[i], variables[j], mask))
    return tuple(found), impossible


def recounted(codings: Sequence[Coding], groups: Groups) -> tuple[Coding, ...]:
    """The codings of which impossible combinations are left."""
    left = {frozenset(names): len(group) for names, group in groups.items()}
    return tuple(
        dataclasses.replace(c, impossible=left[frozenset(c.names)]) if c.taken else c
        for c in codings
        if not c.taken or frozenset(c.names) in left
    )


def nested(
    inner: Variable, outer: Variable, codes: Codes, counts: Counts
) -> Iterator[Mapping[str, object]]:
    """What cannot occur if each category of `inner` lies in one of `outer`, as the data have it.

    `codes` are those of the two variables. A category without people, and missing values, say
    nothing.
    """
    together = np.bincount(_keys(codes, 0, 1, outer.size), counts, inner.size * outer.size)
    together = together.reshape(inner.size, outer.size)
    stated = np.array([category != MISSING for category in outer.categories])
    for code, row in enumerate(together):
        if inner.categories[code] == MISSING or not row[stated].any():
            continue
        homes = [outer.categories[c] for c in np.flatnonzero((row > 0) & stated)]
        if len(homes) > 1:
            raise DataError(
                f"{inner.name}={inner.categories[code]} is in {outer.name}={homes[0]} and in "
                f"{outer.name}={homes[1]}, but {inner.name!r} is said to lie within "
                f"{outer.name!r}; correct the data, or take within out of the codebook."
            )
        others = [c for c in outer.categories if c not in (homes[0], MISSING)]
        if others:
            yield {inner.name: inner.categories[code], outer.name: others}


def _keys(codes: Codes, i: int, j: int, size: int) -> NDArray[np.int64]:
    return codes[:, i].astype(np.int64) * size + codes[:, j]


def _pairs(codes: Codes, i: int, j: int, variables: Sequence[Variable]) -> NDArray[np.int64]:
    """The pairs of categories with people."""
    keys, size = _keys(codes, i, j, variables[j].size), variables[i].size * variables[j].size
    if size <= max(4 * len(codes), 1 << 16):
        return np.flatnonzero(np.bincount(keys, minlength=size))
    return np.unique(keys)


def _no_chance(
    first: NDArray[Any], second: NDArray[Any], seen: NDArray[np.int64], size: int
) -> bool:
    """Would independent variables not leave all other pairs empty?"""
    total = float(first.sum())
    held = float((first[seen // size] * second[seen % size]).sum()) / total  # people expected there
    if total - held < LEAST_EXPECTED:
        return False
    cells, pairs = int((first > 0).sum()) * int((second > 0).sum()), len(seen)
    ways = math.lgamma(cells + 1) - math.lgamma(pairs + 1) - math.lgamma(cells - pairs + 1)
    return -total * math.log(held / total) >= LEAST_SURPRISE + ways


def _labelled(first: Variable, second: Variable, mask: NDArray[np.bool_]) -> Iterator[Combination]:
    left = [(first.name, category) for category in first.categories]
    right = [(second.name, category) for category in second.categories]
    for i, j in zip(*np.nonzero(mask), strict=True):
        yield left[i], right[j]

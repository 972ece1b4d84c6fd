"""Variables that are codings of one thing, or lie within each other: pairs that cannot occur.

What is stated is impossible. What only looks so in the data may be public knowledge or not: it is
kept apart, and every verdict is computed without it and with it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import MISSING, Codebook, Missing, Variable
from discreet.data.impossible import Impossible
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.table.impossible import Combination, Ties, by_names, over
from discreet.table.keys import Codes, Counts

if TYPE_CHECKING:
    from discreet.table.stored_table import StoredTable
    from discreet.table.table import Table

LEAST_EXPECTED = 20.0
LEAST_SURPRISE = 20.0
MOST_FOUND = 200_000  # combinations of all pairs of variables
LOOKS = (1 << 12, 1 << 16)  # cells that rule out most pairs of variables


@dataclass(frozen=True)
class Coding(Unpublished):
    """Two variables of which nobody has some combinations, and chance is no explanation.

    This was seen in the data and nobody stated it. `impossible` is how many combinations nobody
    has, `combinations` are these, unless they are too many to be judged with. `denied`: a person or
    the codebook says that they can occur.
    """

    names: tuple[str, str]
    impossible: int
    combinations: tuple[Combination, ...] = field(default=(), repr=False)
    denied: bool = False

    @property
    def taken(self) -> bool:
        """Is a verdict also computed as if the combinations were impossible?"""
        return bool(self.combinations) and not self.denied

    @property
    def seen(self) -> str:
        """`Age50 and Age51 look like codings of one thing: nobody has 1 of their combinations`."""
        a, b = self.names
        return (
            f"{a} and {b} look like codings of one thing: nobody has {self.impossible:,} of their "
            "combinations"
        )

    def __str__(self) -> str:
        it = "it" if self.impossible == 1 else "they"
        if self.denied:
            return f"{self.seen}; as was stated, {it} can occur."
        if not self.taken:
            return (
                f"{self.seen}, too many to be judged with; group their categories, leave one out, "
                f"or say --impossible none if {it} can occur."
            )
        return (
            f"{self.seen}. Intervals and beliefs are those of an intruder who knows that {it} "
            "cannot occur; a verdict is the stricter one of knowing it and not knowing it. Say "
            f"--impossible none if {it} can occur."
        )


def with_impossible(
    table: Table,
    book: Codebook,
    given: object,
    columns: Iterable[str],
    counted: Callable[[Sequence[str], Codebook], Table] | None = None,
) -> Table:
    """The table with what cannot occur, as it is stated, and with the codings that were found.

    Of the data's `columns` the table may have some only. What is said of others is left out, but
    for what follows of two that it has: `counted` gives the table by further columns.
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
    within = [(name, outer) for name in table.names for outer in _around(name, table.names, book)]
    for name, outer in within:
        pair = table.margin([name, outer])
        stated += nested(pair.variables[0], pair.variables[1], pair.codes, pair.counts)
    if counted and (tied := _tied(table.names, book, said, columns)):
        # a missing value of a column that is left out drops nobody here
        wider = counted(tied, dataclasses.replace(book, missing=Missing.CATEGORY))
        beside = with_impossible(wider, book, given, columns)
        known = {v.name: {*v.categories} for v in table.variables}
        stated += [
            dict(combination)
            for combination in beside.margin([name for name in tied if name in known]).impossible
            if all(category in known[name] for name, category in combination)
        ]
    found = find_codings(table.variables, table.codes, table.counts)
    if not said.find:
        found = tuple(dataclasses.replace(coding, denied=True) for coding in found)
    spoken_of = {frozenset(names) for names in (*within, *stated)}
    found = tuple(c for c in found if c.combinations or frozenset(c.names) not in spoken_of)
    return dataclasses.replace(table, codings=found, nestings=tuple(within)).excluding(stated)


def _around(name: str, names: Sequence[str], book: Codebook) -> Iterator[str]:
    """The next of some variables that one lies within, also by others that the table has not."""
    passed = {name}
    while (outer := book.entry(name).within) is not None and outer not in passed:
        if outer in names:
            yield outer
            return
        passed.add(outer)
        name = outer


def _tied(
    names: Sequence[str], book: Codebook, said: Impossible, columns: Sequence[str]
) -> list[str]:
    """Columns that are left out and through which something is said of two that stay, and these.

    One that others lie within in a line is none of them: `_around` finds the next.
    """
    tree = [(name, entry.within) for name, entry in book.entries.items() if entry.within]
    pairs = [tuple(combination) for combination in said.stated if len(combination) == 2]
    ties: dict[str, set[str]] = {name: set() for name in columns}
    for one, other in (*pairs, *tree):
        if one in ties and other in ties:
            ties[one].add(other)
            ties[other].add(one)
    gone = ties.keys() - {*names}
    while ends := {name for name in gone if len(ties[name]) < 2}:
        gone -= ends
        ties = {name: others - ends for name, others in ties.items()}
    outer, stated = [whole for _, whole in tree], {name for pair in pairs for name in pair}
    if not any(outer.count(name) > 1 or name in stated for name in gone):
        return []
    return [name for name in columns if name in gone or (name in names and ties[name] & gone)]


def find_codings(variables: Sequence[Variable], codes: Codes, counts: Counts) -> tuple[Coding, ...]:
    """Pairs of variables whose empty combinations look impossible.

    Two codings of one quantity, or a variable within another, with a and b categories that have
    people, leave at most a + b - 1 of their D pairs with people. That is no chance if at least 20
    of N people were expected in the empty ones, and

        -N log(sum of p_a p_b over the pairs with people)  >=  20 + log C(a b, D):

    if the two were independent, no D pairs at all would hold everybody more often than once in
    e^20 times.
    """
    found: list[Coding] = []
    listed = 0
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
        impossible: tuple[Combination, ...] = ()
        if listed + empty <= MOST_FOUND:
            mask = (people[i] > 0)[:, None] & (people[j] > 0)[None]
            mask.ravel()[seen] = False
            impossible = tuple(sorted(_labelled(variables[i], variables[j], mask)))
            listed += empty
        found.append(Coding((variables[i].name, variables[j].name), empty, impossible))
    return tuple(found)


def changed(
    codings: Iterable[Coding], change: Callable[[Sequence[Combination]], Iterable[Combination]]
) -> tuple[Coding, ...]:
    """The codings with their combinations changed; without those of which none are left."""
    kept = []
    for coding in codings:
        left = sorted(change(coding.combinations))
        if left:
            kept.append(dataclasses.replace(coding, impossible=len(left), combinations=tuple(left)))
        elif not coding.combinations:  # too many to list
            kept.append(coding)
    return tuple(kept)


def of_variables(table: Table | StoredTable, names: Sequence[str]) -> dict[str, Any]:
    """What is impossible, found and within another, among some variables, in their order."""
    codings = [coding for coding in table.codings if set(coding.names) <= set(names)]
    impossible = over(table.ruled_out, names)
    if table.ruled_out and len(names) > 1 and (more := table._ties.through(names)):
        impossible = tuple(sorted((*impossible, *more))) if impossible else more
    return {
        "impossible": impossible,
        "codings": changed(codings, lambda group: over(by_names(group), names)),
        "nestings": tuple(pair for pair in table.nestings if set(pair) <= set(names)),
    }


def supposing(table: Table, codings: Iterable[Coding] | None = None) -> Table:
    """The table where what was found is impossible too: of the given codings, else of all."""
    stated = {*table.impossible} - _supposed(table.codings)
    chosen = table.codings if codings is None else codings
    return dataclasses.replace(table, impossible=tuple(sorted(stated | _supposed(chosen))))


def stated_ties(table: Table | StoredTable) -> Ties:
    """What follows from what is stated, not from what was only seen in the data."""
    return Ties.of(table.variables, {*table.impossible} - _supposed(table.codings))


def _supposed(codings: Iterable[Coding]) -> set[Combination]:
    return {c for coding in codings if coding.taken for c in coding.combinations}


def check_nestings(
    variables: Sequence[Variable], codes: Codes, counts: Counts, book: Codebook
) -> None:
    """Refuse counted records of which a category lies in two of the column that it is said to lie
    within.
    """
    names = [variable.name for variable in variables]
    for i, name in enumerate(names):
        for outer in _around(name, names, book):
            j = names.index(outer)
            for _ in nested(variables[i], variables[j], codes[:, [i, j]], counts):
                pass


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

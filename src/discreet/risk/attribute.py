"""Attribute disclosure: what a release tells of every member of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import or_

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.result import Rung
from discreet.intruder.bounds.shares import known_absent, known_shares
from discreet.table.cells import Cells
from discreet.table.impossible import holds
from discreet.table.lattice import bits, closure
from discreet.table.table import Table
from discreet.table.words import spoken

Bools = NDArray[np.bool_]
MOST_PROVEN = 2_500  # kinds of groups; of more, outer bounds alone are looked at


@dataclass(frozen=True)
class Disclosure:
    """A group whose members are known to have, or not to have, a sensitive category.

    `lower` and `upper` are the counts that fit; `counted`: the size of the group is public.
    """

    group: dict[str, str]
    who: str
    size: int
    variable: str
    category: str
    lower: int
    upper: int
    counted: bool = True

    @property
    def excluded(self) -> bool:
        return self.upper == 0

    def __str__(self) -> str:
        category = f"{self.variable} {self.category}"
        if self.excluded:
            return f"none of the {self.size:,} in {self.who} has {category}"
        if self.size == 1:
            return f"the only one in {self.who} has {category}"
        if not self.counted:
            return f"nearly all of the {self.size:,} in {self.who} are known to have {category}"
        some = "all" if self.lower == self.size else f"at least {self.lower:,}"
        return f"{some} of the {self.size:,} in {self.who} have {category}"


@dataclass(frozen=True)
class AttributeRisk:
    """The disclosures found, how many groups were left out, and what shows that all else is not."""

    disclosures: tuple[Disclosure, ...]
    unchecked: int
    rung: Rung


def attribute_risk(
    table: Table, bounder: Bounder, *, share: float = 0.95, exclusion: bool = True, order: int = 4
) -> AttributeRisk:
    """Groups whose members' sensitive category follows from the bounds.

    A group g is everybody with some categories of up to `order` identifying variables, or everybody
    at all; c a category of a sensitive variable outside it. Disclosed if n(g, c) >= share * n(g) in
    every table that fits, or ruled out if upper(g, c) = 0; not where that cannot be otherwise. Only
    cells where the true counts allow it are bounded, and by outer bounds if the kinds of groups are
    many. Groups by more variables are checked inside the released margins, where all is known
    exactly.
    """
    formula, found, unchecked = bounder.release.formula, list[Disclosure](), 0
    whole = fitted = True
    index = {name: place for place, name in enumerate(table.names)}
    ruled_out: set[tuple[frozenset[tuple[str, str]], str, str]] = set()
    asked: list[tuple[tuple[str, ...], Variable, Table, Cells]] = []
    known_of = [name for known in bounder.release.known for name, _ in known.cell]
    for names, variable in pairs(table, formula.sets, order, known_of):
        joint = (*names, variable.name)
        if len(names) > order and not formula.contains(joint):
            unchecked += 1
            continue
        sizes, true = table.margin(names), table.margin(joint)
        cells = candidates(table, true, sizes, variable.sensitive_codes, share, exclusion)
        if len(cells):
            asked.append((names, variable, sizes, cells))
    among = sum(len(cells) for *_, cells in asked)
    for names, variable, sizes, cells in asked:
        direct = formula.contains(cells.names)
        size = sizes.lookup(cells.codes[:, :-1])
        if direct or variable.size == 1:
            lower = upper = cells.counts
            known = cells.counts >= share * size - 1e-9
            settled = fits = np.ones(len(cells), bool)
        elif len(asked) > MOST_PROVEN:
            group = Cells(cells.variables[:-1], cells.codes[:, :-1], size)
            lower, upper = bounder.outer(cells)
            known = lower >= share * bounder.outer(group)[1] - 1e-9
            settled = fits = np.zeros(len(cells), bool)
        else:
            bounds = bounder.bounds(cells, among=among)
            lower, upper = bounds.lower, bounds.upper.copy()
            known, settled, fits = np.zeros((3, len(cells)), bool)
            shared = np.flatnonzero(cells.counts >= share * size - 1e-9)
            known[shared], settled[shared], fits[shared] = known_shares(
                bounder, cells.take(shared), share, among
            )
            empty = np.flatnonzero(cells.counts == 0)
            absent, settled[empty], fits[empty] = known_absent(bounder, cells.take(empty), among)
            upper[empty[absent]] = 0
        gone = (upper == 0) & exclusion
        whole = whole and bool((known | gone | settled).all())
        fitted = fitted and bool((known | gone | settled | fits).all())
        counted = not names or formula.contains(names)
        for row in np.flatnonzero(known | gone).tolist():
            label = cells.label(row)
            category = label.pop(variable.name)
            members = frozenset(label.items())
            if upper[row] == 0:
                ruled_out.add((members, variable.name, category))
                # a larger group that is ruled out already says it
                if any((members - {m}, variable.name, category) in ruled_out for m in members):
                    continue
            who = spoken(label, table.variables) or "the whole table"
            ends = int(lower[row]), int(upper[row])
            found.append(
                Disclosure(label, who, int(size[row]), variable.name, category, *ends, counted)
            )
    found.sort(key=lambda d: (d.excluded, len(d.group), -d.size, [index[n] for n in d.group]))
    rung = Rung.INTEGER if whole else Rung.LINEAR if fitted else Rung.OUTER
    return AttributeRisk(tuple(found), unchecked, rung)


def pairs(
    table: Table, sets: Sequence[int], order: int, known: Iterable[str] = ()
) -> Iterator[tuple[tuple[str, ...], Variable]]:
    """Groups of people and a sensitive variable of theirs, small groups first.

    Of what stands in no margin, and is not `known` otherwise, nothing is told, unless it has a
    single category; a group by it is only a part of the one without.
    """
    told = reduce(or_, sets, 0)
    for name in known:
        told |= 1 << table.names.index(name)
    single = sum(1 << place for place, v in enumerate(table.variables) if v.size == 1)
    for group in groups(table, sets, order, told):
        for place in bits((told | single) & ~group):
            if table.variables[place].sensitive_codes:
                yield tuple(table.names[p] for p in bits(group)), table.variables[place]


def groups(table: Table, sets: Sequence[int], order: int, told: int) -> list[int]:
    """Everybody, all groups by up to `order` identifying variables, and larger released ones."""
    identifying = [p for p in bits(told) if table.variables[p].role.identifies]
    mask = sum(1 << p for p in identifying)
    small = {
        sum(1 << p for p in chosen)
        for d in range(min(order, len(identifying)) + 1)
        for chosen in combinations(identifying, d)
    }
    large = {s for s in closure({margin & mask for margin in sets} - {0}) if s.bit_count() > order}
    return sorted(small | large, key=lambda s: (s.bit_count(), s))


def candidates(
    table: Table,
    true: Table,
    sizes: Table,
    sensitive: tuple[int, ...],
    share: float,
    exclusion: bool,
) -> Cells:
    """Cells (g, c) that the true counts allow to be disclosed: bounds can only be weaker."""
    repeated = np.repeat(sizes.codes, len(sensitive), axis=0)
    codes = np.column_stack([repeated, np.tile(np.array(sensitive), len(sizes))])
    codes = codes.astype(true.codes.dtype)
    counts = true.lookup(codes)
    group = np.repeat(sizes.counts, len(sensitive))
    chosen = counts >= share * group - 1e-9
    if exclusion:
        chosen |= counts == 0
    cells = Cells(true.variables, codes[chosen], counts[chosen])
    return cells.take(~_by_nature(table, cells)) if table.impossible else cells


def _by_nature(table: Table, cells: Cells) -> Bools:
    """Where it is no news: the category is impossible in the group, or all others are."""
    size = cells.variables[-1].size
    every = np.repeat(cells.codes, size, axis=0)
    every[:, -1] = np.tile(np.arange(size), len(cells))
    out = holds(table.ruled_out, cells.variables, every)
    grid = out.reshape(len(cells), size)
    own = grid[np.arange(len(cells)), cells.codes[:, -1]]
    return np.asarray(own | (grid.sum(1) == size - 1) & (size > 1))

"""Groups of people and the sensitive categories that a release might tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import combinations, pairwise
from operator import or_
from typing import NamedTuple

import numpy as np

from discreet.arrays import Ints
from discreet.data.codebook import Variable
from discreet.intruder.bounds.shares import FINEST
from discreet.intruder.witness.seen import MOST_SUMS, Seen
from discreet.release.release import STRUCTURAL, Release
from discreet.risk.release.nature import Nature
from discreet.table.cells import Cells
from discreet.table.lattice import bits, closure
from discreet.table.sums import Lattice
from discreet.table.table import Table

Named = tuple[tuple[str, ...], Variable]
CLOSE = 1e-9


def pairs(
    table: Table, sets: Sequence[int], order: int, known: Iterable[str] = ()
) -> Iterator[tuple[tuple[str, ...], Variable]]:
    """Groups of people and a sensitive variable of theirs, small groups first.

    Of what stands in no margin, and is not `known` otherwise, nothing is told; a group by it is
    only a part of the one without. A group by a level of a variable is asked about others.
    """
    told = reduce(or_, sets, table.axes.set_of(known))
    sensitive = sum(1 << place for place, v in enumerate(table.variables) if v.sensitive_codes)
    for group in groups(table, sets, order, told):
        names = table.axes.names_of(group)
        for place in bits(told & sensitive & ~group):
            if not table.axes.repeats([*names, table.names[place]]):
                yield names, table.variables[place]


def groups(table: Table, sets: Sequence[int], order: int, told: int) -> list[int]:
    """Everybody, all groups by up to `order` identifying variables, and larger released ones.

    Nobody is grouped by a variable and a level of it: that is the variable alone.
    """
    mask = told & table.axes.identifying
    identifying = list(bits(mask))
    small = {
        sum(1 << p for p in chosen)
        for d in range(min(order, len(identifying)) + 1)
        for chosen in combinations(identifying, d)
    }
    large = {s for s in closure({margin & mask for margin in sets} - {0}) if s.bit_count() > order}
    every = (s for s in small | large if not table.axes.repeats(table.axes.names_of(s)))
    return sorted(every, key=lambda s: (s.bit_count(), s))


def candidates(
    nature: Nature,
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
    chosen = counts >= share * group - CLOSE
    if exclusion:
        chosen |= counts == 0
    cells = Cells(true.variables, codes[chosen], counts[chosen])
    return cells.take(~nature.no_news(cells))


class Kind(NamedTuple):
    """Groups by some variables, and the cells (g, c) of a sensitive variable that may be told."""

    names: tuple[str, ...]
    variable: Variable
    cells: Cells
    size: Ints

    def direct(self, release: Release) -> bool:
        """Is all of it known exactly?"""
        return self.variable.size == 1 or release.formula.contains(self.cells.names)


class Asked(NamedTuple):
    """What is to be bounded; of how many cells and kinds; groups that are too large to check."""

    kinds: list[Kind]
    among: int
    number: int
    unchecked: int


def asked(
    table: Table,
    release: Release,
    *,
    share: float,
    exclusion: bool,
    order: int,
    seen: Seen | None = None,
) -> Asked:
    """The cells that the true counts allow to be disclosed, kind by kind, small groups first.

    Those are left out of which a table that was `seen` shows that they are not.
    """
    told = [name for known in release.known for name, _ in known.cell]
    single = {
        table.axes.set_of(name for name, _ in known.cell)
        for known in release.known
        if known.why != STRUCTURAL
    }
    small, large, unchecked = list[Named](), list[Kind](), 0
    nature = Nature.of(table)
    many = Lattice(table.shape).size > MOST_SUMS
    for names, variable in pairs(table, [*release.formula.sets, *single], order, told):
        joint = (*names, variable.name)
        if len(names) > order and not release.formula.contains(joint):
            unchecked += 1
        elif len(names) <= order and not many:
            small.append((names, variable))
        else:
            sizes, true = table.margin(names), table.margin(joint)
            cells = candidates(nature, true, sizes, variable.sensitive_codes, share, exclusion)
            if len(cells):
                large.append(Kind(names, variable, cells, sizes.lookup(cells.codes[:, :-1])))
    sums = _Sums(table, small)
    rows = sums.candidates(nature, share, exclusion)
    among = len(rows) + sum(len(kind.cells) for kind in large)
    number = len(np.unique(sums.kind[rows])) + len(large)
    if seen is not None:
        rows = sums.doubtful(rows, release, share, seen)
    return Asked([*sums.kinds(rows), *large], among, number, unchecked)


class _Sums:
    """All groups by few variables at once, and their categories, as sums of the table."""

    def __init__(self, table: Table, small: Sequence[Named]) -> None:
        self.table, self.small = table, small
        self.places = table.axes.place
        self.marked = tuple((self._set(names), self.places[v.name]) for names, v in small)
        codes = tuple(v.sensitive_codes for _, v in small)
        self.kind, self.group, self.joint = _nodes(table.shape, self.marked, codes)
        if small:
            counts = Lattice(table.shape).sums(table.dense().reshape(1, -1).astype(np.int64))[0]
            self.size, self.count = counts[self.group], counts[self.joint]
        else:
            self.size = self.count = self.group

    def _set(self, names: Iterable[str]) -> int:
        return sum(1 << self.places[name] for name in names)

    def candidates(self, nature: Nature, share: float, exclusion: bool) -> Ints:
        """The same as the function `candidates`, of all kinds."""
        chosen = self.count >= share * self.size - CLOSE
        if exclusion:
            chosen |= self.count == 0
        rows = np.flatnonzero(chosen & (self.size > 0))
        if self.table.impossible and len(rows):
            news = [~nature.no_news(kind.cells) for kind in self.kinds(rows)]
            rows = rows[np.concatenate(news)]
        return rows

    def doubtful(self, rows: Ints, release: Release, share: float, seen: Seen) -> Ints:
        """Those that are known exactly, and those of which no table shows that they are not."""
        sets = release.formula.sets
        exact = np.zeros(len(self.small), bool)
        for number in np.unique(self.kind[rows]).tolist():
            group, place = self.marked[number]
            joint = group | 1 << place
            inside = any(joint & ~s == 0 for s in sets)
            exact[number] = inside or self.table.variables[place].size == 1
        exact = exact[self.kind[rows]]
        left, ratio = rows[~exact], Fraction(share).limit_denominator(FINEST)
        told = self.count[left] >= share * self.size[left] - CLOSE
        void = self.count[left] == 0
        for sums in seen.sums():
            size, count = sums[:, self.group[left]], sums[:, self.joint[left]]
            told &= ~(ratio.denominator * count < ratio.numerator * size).any(0)
            void &= ~(count > 0).any(0)
            still = told | void
            left, told, void = left[still], told[still], void[still]
            if not len(left):
                break
        return np.union1d(rows[exact], left)

    def kinds(self, rows: Ints) -> Iterator[Kind]:
        """Rows, in order, kind by kind."""
        if not len(rows):
            return
        table = self.table
        codes = np.stack(np.unravel_index(self.joint[rows], [n + 1 for n in table.shape]), 1)
        starts = np.flatnonzero(np.diff(self.kind[rows], prepend=-1, append=-1))
        for first, last in pairwise(starts.tolist()):
            names, variable = self.small[self.kind[rows[first]]]
            axes = [self.places[name] for name in (*names, variable.name)]
            own = rows[first:last]
            kept = codes[first:last][:, axes].astype(table.codes.dtype)
            cells = Cells(tuple(table.variables[axis] for axis in axes), kept, self.count[own])
            yield Kind(names, variable, cells, self.size[own])


@lru_cache(maxsize=16)
def _nodes(
    shape: tuple[int, ...],
    marked: tuple[tuple[int, int], ...],
    codes: tuple[tuple[int, ...], ...],
) -> tuple[Ints, Ints, Ints]:
    """Of every group and category: its kind, the sum that is the group, the sum that is both."""
    none, lattice = np.zeros(0, np.int64), Lattice(shape)
    kind, groups, joints = [none], [none], [none]
    for number, ((group, place), sensitive) in enumerate(zip(marked, codes, strict=True)):
        joint = group | 1 << place
        axis = (joint & ((1 << place) - 1)).bit_count()
        cells = np.moveaxis(lattice.cells(joint), axis, -1)[..., list(sensitive)]
        joints.append(cells.ravel())
        groups.append(np.repeat(np.ravel(lattice.cells(group)), len(sensitive)))
        kind.append(np.full(cells.size, number))
    return np.concatenate(kind), np.concatenate(groups), np.concatenate(joints)

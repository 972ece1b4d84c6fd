"""The bounds of any cells, by the method that fits the release."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from functools import cached_property, reduce
from operator import or_

import numpy as np

from discreet.arrays import Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.bounds.conflict import named_conflict
from discreet.intruder.bounds.glued import Glued
from discreet.intruder.bounds.integer import limits
from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.methods import auto, find_method
from discreet.intruder.bounds.part import CLOSED, Found, Part, Proof, Question
from discreet.intruder.bounds.reduce import reduce_tied
from discreet.intruder.bounds.result import CellBounds, Rung
from discreet.intruder.bounds.shuttle.lattice_layout import Layout
from discreet.intruder.bounds.shuttle.shuttle import MOST_BYTES, bytes_needed
from discreet.intruder.bounds.unspoken import bounds_without_unspoken, spoken_alone
from discreet.intruder.bounds.work import PROGRAMS, Work
from discreet.release.doors import of_release
from discreet.release.release import Known, Release
from discreet.solver import UNLIMITED as SHARP
from discreet.solver import Limit
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.graph import components
from discreet.table.keys import Codes, keys, unravel

MOST_LISTED = 1 << 22
OUTER = "cells that it did not come to keep outer bounds"
MORE = "Allow more seconds, or less effort."
MANY, MANY_MORE = 100, 1 << 40
_Sets = tuple[tuple[str, ...], tuple[int, ...]]  # variables, and margins of them


class Bounder:
    """Bounds under one release; what it built for one question serves the next.

    A question about some variables is first reduced to the margins that matter for it, then split
    along released separators (Theorem 2 of the 2002 paper); each part is bounded by itself.
    """

    def __init__(
        self,
        release: Release,
        *,
        method: str = "auto",
        effort: float = 1.0,
        seconds: Seconds = math.inf,
        most_bytes: int = MOST_BYTES,
        rung: Rung = Rung.INTEGER,
        projecting: Work | None = None,
    ) -> None:
        self.release, self.method, self._way = release, method, find_method(method)
        self.effort, self.clock = effort, Clock.of(seconds)
        self.most_bytes, self.rung = most_bytes, rung
        self.work = Work(math.inf if method == "integer" else Effort(effort).of(PROGRAMS))
        self.projecting = projecting
        self._parts: dict[_Sets, Part] = {}
        self._asked_parts: dict[_Sets, Part] = {}
        self._fewer: dict[int, tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]] = {}
        self.axes = release.axes
        self._known: dict[int, list[Known]] = {}
        for known in release.known:
            self._known.setdefault(release.axes.set_of(n for n, _ in known.cell), []).append(known)

    def bounds(
        self,
        cells: Cells,
        proof: Proof | None = None,
        *,
        among: int | None = None,
        width: int | None = None,
    ) -> CellBounds:
        """Intervals of the given cells, of the table or of any margin of it.

        If they are `among` so many that are asked about, programs are solved only where that is
        quick for all of them, and without branch and bound. With `width`, parts that are too large
        for programs are looked at by linear bounds, too: do the cells keep that width?
        """
        if proof is not None:
            proof = proof._replace(seconds=Clock.of(proof.seconds))
        try:
            found = self._bounds(cells, Question(proof, among, width))
        except InconsistentRelease as error:
            raise named_conflict(self.release, error) from error
        clocks = self.clock, *((Clock.of(proof.seconds),) if proof else ())
        said = [clock.sentence(OUTER, MORE) for clock in clocks if clock.stopped]
        return dataclasses.replace(found, stopped=said[0]) if said else found

    def _bounds(self, cells: Cells, question: Question) -> CellBounds:
        if strange := [name for name in cells.names if name not in self.axes.place]:
            raise DataError(f"the release has no variable {strange[0]!r}.")
        if self._spoken is not None:
            bound = self._spoken._bounds
            if (alone := bounds_without_unspoken(self.release, cells, question, bound)) is not None:
                return alone
        if self.method == "auto" and self._everything and len(cells.names) < len(self.axes.names):
            # one shuttle of the whole release serves every margin
            part = self._everything
            found = part.exact(cells.names, cells.codes) or auto.by_shuttle(
                part, self._asked(cells.names, cells.codes, question)
            )
            return CellBounds(cells.variables, cells.codes, *found)
        sets, ties, names = self._reduced(cells.names)
        shared = tuple(name for name in names if name in cells.names)
        if not len(cells) or not shared:
            total = np.full(len(cells), self.release.total or 0, np.int64)
            found = Found.outer(total, total, CLOSED)
        elif self._way.SPLITS and len(shared) == len(names):
            found = self._by_components(sets, ties, names, cells.project(names), question)
        else:
            part = self._part(names, [margin for margin in sets if margin])
            codes = cells.project(shared)
            found = self._bound(part, shared, codes, question)
            if question.proof:
                narrow = question.proof.narrow(found.lower, found.upper)
                found = self._witnessed(part, shared, codes, found, question.proof, narrow)
        sizes = dict(zip(cells.names, cells.shape, strict=True))
        # nothing is known of a variable in no margin: all may be in another category of it
        if any(sizes[name] > 1 for name in cells.names if name not in shared):
            nobody = np.zeros_like(found.lower)
            found = found._replace(lower=nobody, seen_low=nobody, fit_low=nobody)
        return CellBounds(cells.variables, cells.codes, *found)

    def outer(self, cells: Cells) -> tuple[Ints, Ints]:
        """Outer bounds, quickly: by one shuttle of the whole release, or by the released counts."""
        if self._whole is None:
            weak = self.bounds(cells, among=MANY_MORE)
            return weak.lower, weak.upper
        found = self._whole.by_shuttle(cells.names, cells.codes, self.most_bytes)
        return found.lower, found.upper

    def part(self, names: Iterable[str]) -> Part:
        """The release as far as it matters for these variables, as one whole."""
        sets, _, inside = self._reduced(names)
        return self._part(inside, [margin for margin in sets if margin])

    def over(self, names: Iterable[str]) -> Bounder:
        """The same over some variables, with all that the release speaks of among them."""
        kept = frozenset(names)
        variables = tuple(v for v in self.release.variables if v.name in kept)
        if len(variables) == len(self.axes.names):
            return self
        fewer = self.of(dataclasses.replace(self.release, variables=variables))
        fewer._parts = self._parts
        return fewer

    @cached_property
    def _spoken(self) -> Bounder | None:
        """The same over the variables of margins, where others are tied to them."""
        return self.of(release) if (release := spoken_alone(self.release)) else None

    def of(self, release: Release) -> Bounder:
        """Of another release, with the same work to spend."""
        fewer = Bounder(
            release,
            method=self.method,
            effort=self.effort,
            seconds=self.clock,
            most_bytes=self.most_bytes,
            rung=self.rung,
            projecting=self.projecting,
        )
        fewer.work = self.work
        return fewer

    def _reduced(
        self, names: Iterable[str]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
        """The margins, the ties by what else is known, and the variables that matter."""
        target = self.axes.set_of(names)
        if target not in self._fewer:
            k = len(self.axes.names)
            sets, ties = reduce_tied(self.release.formula.sets, self._known, target, k)
            inside = self.axes.names_of(reduce(or_, (*sets, *ties), 0))
            self._fewer[target] = sets, ties, inside
        return self._fewer[target]

    def branch(self, part: Part) -> Limit | None:
        """What an integer program of the part may cost; None: it is not tried."""
        if self.method == "integer":
            return SHARP.within(self.clock.left)
        limit = limits(len(part.program.cells.codes), self.effort)
        return limit and limit.within(self.clock.left)

    def programs(self, part: Part, targets: int, among: int) -> bool:
        """Would so many questions about the part, among more, be answered by programs?"""
        if self.method == "auto":
            best = part.best(targets, self.most_bytes, among)
            return self._everything is None and best == "integer"
        return self.method in ("linear", "integer")

    def one_shuttle(self, targets: int) -> bool:
        """Are questions about margins, and about so many whole cells or more, all answered by one
        shuttle of the whole release, or by the weaker ones of its parts?
        """
        if self.method == "shuttle":
            return True
        if self.method != "auto" or self._everything is None or not self._connected:
            return False
        return self._everything.best(targets, self.most_bytes) == "shuttle"

    def only_margins(self, targets: int) -> bool:
        """Are questions about so many whole cells answered by the released counts alone?"""
        if self.method != "auto" or not self._connected:
            return False
        part = self._part(self.release.names, self.release.formula.sets)
        return part.best(targets, self.most_bytes) == "margins"

    @property
    def _connected(self) -> bool:
        """Can the release not be split?"""
        tree = components(self.release.formula.sets, len(self.axes.names), self._known)
        return len(tree.nodes) == 1

    def _by_components(
        self,
        sets: tuple[int, ...],
        ties: tuple[int, ...],
        names: tuple[str, ...],
        codes: Codes,
        question: Question,
    ) -> Found:
        """Theorems 1 and 2 of the 2002 paper (Dobra & Fienberg 2000, PNAS 97:11885).

            max(0, sum_C L_C - sum_S n_S)  <=  n  <=  min_C U_C

        C components with bounds L and U, S separators with multiplicity. Of a decomposable release
        every component is a margin, and L_C = U_C = n_C. Sharp if the components' bounds are: any
        tables of the components that agree on the separators glue together.
        """
        tree = components(sets, len(self.axes.names), ties)
        lower = np.zeros(len(codes), np.int64)
        upper = np.full(len(codes), self.release.total or 0, np.int64)
        outside = np.zeros(len(codes), np.int64)
        covered, parts = self.axes.set_of(names), list[tuple[Part, Codes, Found]]()
        for component in tree.nodes:
            if not component & covered:
                continue
            inside, places = self._named(component, names)
            within = [margin & component for margin in sets]
            part = self._part(inside, [margin for margin in within if margin])
            found = self._bound(part, inside, codes[:, places], question)
            lower += found.lower
            np.minimum(upper, found.upper, out=upper)
            parts.append((part, codes[:, places], found))
        for i, j, separator in tree.edges:
            if tree.nodes[i] & covered and tree.nodes[j] & covered:
                inside, places = self._named(separator, names)
                outside += self.release.table(inside).lookup(codes[:, places])
        # components that hang together only through what is not asked about share the total
        asked = [bool(node & covered) for node in tree.nodes]
        joined = sum(asked[i] and asked[j] for i, j, _ in tree.edges)
        outside += max(0, sum(asked) - 1 - joined) * (self.release.total or 0)
        lower = np.maximum(lower - outside, 0)
        proof = question.proof
        narrow = proof is not None and proof.narrow(lower, upper)
        # the extremes in whole tables, and in tables of fractions: those of the parts glue together
        tables = [Glued.none(len(codes), self.release.total or 0) for _ in range(2)]
        for part, own, found in parts:
            if proof:
                found = self._witnessed(part, part.release.names, own, found, proof, narrow)
            tables[0].add(found.seen_low, found.seen_high)
            tables[1].add(found.fit_low, found.fit_high)
        for each in tables:
            each.low[:] -= outside
        methods = {found.method for _, _, found in parts}
        harder = sorted(methods - {CLOSED})
        split = sum(asked) > 1
        method = ", ".join(harder) or CLOSED
        if harder and split:
            method = f"reducible, {method}"
        return Found(lower, upper, *tables[0].ends(), *tables[1].ends(), method)

    @property
    def _everything(self) -> Part | None:
        """The release as a whole, if it is of many margins and its shuttle fits."""
        return None if len(self.release.tables) < MANY else self._whole

    @cached_property
    def _whole(self) -> Part | None:
        shape = self.axes.sizes
        if bytes_needed(Layout.of(shape), self.release.total or 0) > self.most_bytes:
            return None
        return self._part(self.release.names, self.release.formula.sets)

    def _named(self, margin: int, names: tuple[str, ...]) -> tuple[tuple[str, ...], list[int]]:
        """Those of the names that are in it, and their places; of others nothing is known."""
        inside = tuple(name for name in self.axes.names_of(margin) if name in names)
        return inside, [names.index(name) for name in inside]

    def _part(self, names: tuple[str, ...], sets: Iterable[int]) -> Part:
        asked = names, tuple(sets)
        if asked not in self._asked_parts:
            self._asked_parts[asked] = self._found_part(*asked)
        return self._asked_parts[asked]

    def _found_part(self, names: tuple[str, ...], sets: tuple[int, ...]) -> Part:
        margins = [[n for n in names if margin >> self.axes.place[n] & 1] for margin in sets]
        formula = Formula.of(margins, names).frontier
        key = (formula.names, tuple(sorted(formula.sets)))
        if key not in self._parts:
            variables = tuple(v for v in self.release.variables if v.name in names)
            tables = tuple(self.release.table(margin) for margin in formula.margins or ((),))
            inside = self.axes.set_of(names)
            known = [k for tie, group in self._known.items() if not tie & ~inside for k in group]
            self._parts[key] = Part(Release(variables, tables, tuple(known)))
        return self._parts[key]

    def _bound(
        self,
        part: Part,
        names: tuple[str, ...],
        codes: Codes,
        question: Question,
    ) -> Found:
        """Bounds of cells over `names` in one part, by the method that is asked for."""
        first, inverse = self._distinct(names, codes)
        asked = self._asked(names, codes[first], question)._replace(number=len(codes))
        return self._way.bound(part, asked).take(inverse)

    def _witnessed(
        self,
        part: Part,
        names: tuple[str, ...],
        codes: Codes,
        found: Found,
        proof: Proof,
        narrow: bool,
    ) -> Found:
        """With tables that prove the widths, where the cells are those of the whole part."""
        if len(names) < len(part.release.names):
            return found
        first, inverse = self._distinct(names, codes)
        some = found.take(first), codes[first]
        return part.witnessed(*some, proof, narrow=narrow or part.looked).take(inverse)

    def _distinct(self, names: tuple[str, ...], codes: Codes) -> tuple[Ints, Ints]:
        """The first row of each distinct cell, and the place of every row among these."""
        shape = [self.axes.sizes[place] for place in self.axes.places(names)]
        _, first, inverse = np.unique(keys(codes, shape), return_index=True, return_inverse=True)
        return first, inverse

    def _asked(self, names: tuple[str, ...], codes: Codes, question: Question) -> Asked:
        return Asked(
            names,
            codes,
            *question,
            effort=self.effort,
            clock=self.clock,
            most_bytes=self.most_bytes,
            rung=self.rung,
            whole=lambda: self._whole,
            work=self.projecting,
        )


@of_release
def bounds(
    release: Release,
    cells: Cells | None = None,
    *,
    method: str = "auto",
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    most_bytes: int = MOST_BYTES,
    proof: Proof | None = None,
    width: int | None = None,
) -> CellBounds:
    """The feasible interval of every cell, or of `cells`, given what is released.

    The release is split along its separators; a part that is a released margin is known, small
    parts go to linear and integer programs, larger ones to the shuttle, and to linear bounds by
    projections if a `width` is asked for or the method is linear. `attained` says which intervals
    are proven tight for integer tables.

    >>> from discreet.table.load import load
    >>> bounds(Release.margins(load("example:tract"), "Race*Income + Income*Gender"))
    CellBounds(2x3x3 cells over Gender, Race, Income: closed form, sharp, narrowest width 1)
    """
    if cells is None:
        shape = release.axes.sizes
        if math.prod(shape) > MOST_LISTED:
            raise DataError(
                f"the table has {math.prod(shape):,} cells; say which to bound, for instance "
                "cells=table.small()."
            )
        codes = unravel(np.arange(math.prod(shape)), shape)
        cells = Cells(release.variables, codes, np.zeros(len(codes), np.int64))
    bounder = Bounder(release, method=method, effort=effort, seconds=seconds, most_bytes=most_bytes)
    return bounder.bounds(cells, proof, width=width)

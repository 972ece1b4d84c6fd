"""Would the policy fail a release of many tables? Asked of all of them at once.

Each rule that can look at many tables does, by the bounds that `decide` finds: what the shuttle
narrows too far fails; what greedy moves show to be wide enough does not; about the few tables in
between `decide` is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Ints
from discreet.data.codebook import Variable
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import asked
from discreet.decision.law.verdict import Verdict
from discreet.intruder.posterior.chains.table_moves import MOST_COLUMNS, Kernel, cubes
from discreet.intruder.tables.split import open_cells, separate
from discreet.release.release import Release
from discreet.risk.release.groups import pairs
from discreet.table.formula import Formula
from discreet.table.keys import keys, unravel
from discreet.table.lattice import bits, maximal
from discreet.table.levels import levels
from discreet.table.sums import Lattice as Lattice
from discreet.table.table import Table

Least = Callable[[NDArray[Any]], NDArray[Any]]
CIRCUITS = 100
ROOM = 9  # a count from which every move can start
MOST_EFFECTS = 1 << 24
MOST_SWAPS = 4_096


def quick(policy: Policy, variables: Sequence[Variable]) -> bool:
    """Can every rule that is asked look at many tables at once, by the tightest bounds?

    Groups by levels of hierarchies are not looked at there.
    """
    plain = policy.bounds.method in ("auto", "integer") and not policy.sample.check
    merged = policy.attribute.check and any(any(levels(variable)) for variable in variables)
    return plain and not merged and all(rule.many_tables for rule in asked(policy))


@dataclass(eq=False)
class ManyJudged:
    """What is known of the nodes of each table when `top` is out, and which tables are unsafe.

    `least` gives, where all tables are there, the least over those that share what would be out.
    """

    top: Sets
    low: Ints
    high: Ints
    unsafe: Bools
    least: Least | None = None
    doubts: list[tuple[Ints, ...]] = field(default_factory=list)

    def doubt(self, rows: Ints, nodes: Ints, kind: int, far: Ints) -> None:
        """Whether a node can go `far` is to be shown by tables; else `decide` is asked."""
        self.doubts.append((rows, nodes, np.full(len(rows), kind), far))


@dataclass(frozen=True, eq=False)
class ManyTables:
    """Tables that share the margins that are out; `exact`: they are all that do."""

    variables: tuple[Variable, ...]
    policy: Policy
    out: Sets
    tables: Ints
    exact: bool

    def unsafe(self, margin: int) -> Bools:
        """For which tables the policy fails what is out with a further margin."""
        top = maximal([*self.out, margin])
        if not quick(self.policy, self.variables):
            return np.array([self._fails(top, row) for row in range(len(self.tables))], bool)
        if self.exact:
            least, low, high = self._extremes(margin)
            return self._checked(ManyJudged(top, low, high, self._nobody, least))
        found = ManyJudged(top, *self._settled(margin), self._nobody)
        unsafe = self._checked(found)
        self._prove(top, unsafe, found.doubts)
        return unsafe

    @property
    def _nobody(self) -> Bools:
        return np.zeros(len(self.tables), bool)

    def _fails(self, top: Sets, row: int) -> bool:
        table = table_of(self.variables, self.tables[row])
        return fails(table, top, self.policy)

    @cached_property
    def lattice(self) -> Lattice:
        return Lattice(tuple(v.size for v in self.variables))

    @cached_property
    def sums(self) -> Ints:
        return self.lattice.sums(self.tables)

    # Bounds of every node

    @cached_property
    def _before(self) -> tuple[Ints, Ints]:
        """With what is out: the same for all tables."""
        from discreet._kernels.lattices import settle

        sums = self.sums[:1]
        low, high = np.zeros_like(sums), np.full_like(sums, sums[0, -1])
        for margin in (0, *self.out):
            nodes = self.lattice.inside(margin)
            low[:, nodes] = high[:, nodes] = sums[:, nodes]
        settle(low, high, *self.lattice.lines)
        return low[0], high[0]

    def _settled(self, margin: int) -> tuple[Ints, Ints]:
        """With a further margin, by the shuttle."""
        from discreet._kernels.lattices import settle

        low, high = (np.tile(ends, (len(self.sums), 1)) for ends in self._before)
        nodes = self.lattice.inside(margin)
        low[:, nodes] = high[:, nodes] = self.sums[:, nodes]
        settle(low, high, *self.lattice.lines)
        return low, high

    def _extremes(self, margin: int) -> tuple[Least, Ints, Ints]:
        """With a further margin: the least and the largest of all tables that share it."""
        _, kind = np.unique(
            self.sums[:, self.lattice.cells(margin).ravel()], axis=0, return_inverse=True
        )
        kind = kind.reshape(-1)
        order = np.argsort(kind, kind="stable")
        starts = np.searchsorted(kind[order], np.arange(kind.max() + 1))

        def least(values: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.minimum.reduceat(values[order], starts)[kind])

        high = np.maximum.reduceat(self.sums[order], starts)
        return least, least(self.sums), high[kind]

    # Rules

    def _checked(self, found: ManyJudged) -> Bools:
        for rule in asked(self.policy):
            assert rule.many_tables is not None
            rule.many_tables(self, found)
        return found.unsafe

    def _prove(self, top: Sets, unsafe: Bools, doubts: list[tuple[Ints, ...]]) -> None:
        """Look for tables that show what the bounds only allow; else ask `decide`."""
        from discreet._kernels.lattices import proven, wandered

        if not doubts:
            return
        rows, nodes, kinds, wanted = (np.concatenate(c) for c in zip(*doubts, strict=True))
        left = ~unsafe[rows]
        for stage, moves in enumerate(self._moves(top) if left.any() else ()):
            for prove in (proven, wandered) if stage else (proven,):
                rows, nodes, kinds, wanted = rows[left], nodes[left], kinds[left], wanted[left]
                left = ~prove(self.tables, rows, nodes, kinds, wanted, *moves)
            if not left.any():
                return
        for row in np.unique(rows[left]):
            unsafe[row] = self._fails(top, row)

    @cached_property
    def identifying(self) -> int:
        return sum(1 << place for place, v in enumerate(self.variables) if v.role.identifies)

    def groups(self, top: Sets) -> tuple[Ints, Ints]:
        """The nodes of groups of people, and of each with a sensitive category besides."""
        none, order = [np.zeros(0, np.int64)], self.policy.attribute.order
        found, joints = list[Ints](), list[Ints]()
        like = table_of(self.variables, self.tables[0])
        places = {v.name: place for place, v in enumerate(self.variables)}
        for names, variable in pairs(like, top, order):
            group, place = sum(1 << places[name] for name in names), places[variable.name]
            joint = group | 1 << place
            if len(names) > order and not any(joint & ~s == 0 for s in top):
                continue
            axis = (joint & ((1 << place) - 1)).bit_count()
            cells = np.moveaxis(self.lattice.cells(joint), axis, -1)
            cells = cells[..., list(variable.sensitive_codes)]
            joints.append(cells.ravel())
            found.append(np.repeat(np.ravel(self.lattice.cells(group)), cells.shape[-1]))
        return np.concatenate(found or none), np.concatenate(joints or none)

    def _moves(self, top: Sets) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
        """Moves that keep the margins: where each begins, its cells, its steps, its effects."""
        for moves in moves_of(self.variables, top):
            moves = moves[: MOST_EFFECTS // self.lattice.size]
            effects = np.ascontiguousarray(self.lattice.sums(moves.astype(np.int16)).T)
            row, cell = np.nonzero(moves)
            yield np.searchsorted(row, np.arange(len(moves) + 1)), cell, moves[row, cell], effects


def moves_of(variables: tuple[Variable, ...], top: Sets) -> Iterator[Ints]:
    """Moves that keep the margins of any table: the simplest, then with swaps, then circuits."""
    shape = tuple(v.size for v in variables)
    cells = math.prod(shape)
    codes = unravel(np.arange(cells), shape)
    full = Table(variables, codes, np.full(cells, ROOM))
    release = Release.margins(full, Formula(full.names, top))
    opened, _ = open_cells(release, every_variable=True)
    system, rng = separate(opened), np.random.default_rng(0)
    moves = cubes(release, system, rng)
    yield moves
    moves = np.concatenate([swaps(shape, top, rng), moves])
    yield moves
    if cells <= MOST_COLUMNS:
        yield np.concatenate([Kernel(system).circuits(CIRCUITS, rng), moves])


def swaps(shape: tuple[int, ...], top: Sets, rng: np.random.Generator) -> Ints:
    """Two people change places in some variables, which no margin ties to others they differ in."""
    cells, k = math.prod(shape), len(shape)
    codes = unravel(np.arange(cells), shape).astype(np.int64)
    one, other = np.triu_indices(cells, 1)
    differ = (codes[one] != codes[other]) @ (1 << np.arange(k))
    found = [np.zeros((0, 4), np.int64)]
    for d in np.unique(differ).tolist():
        parts = _tied(d, top)
        if d.bit_count() < 3 or len(parts) < 2:
            continue
        i, j = one[differ == d], other[differ == d]
        for chosen in range(1, 1 << len(parts) - 1):
            changed = sum(part for at, part in enumerate(parts) if chosen >> at & 1)
            axes = (changed >> np.arange(k) & 1).astype(bool)
            places = [i, j] + [
                np.asarray(keys(np.where(axes, codes[a], codes[b]), shape), np.int64)
                for a, b in ((i, j), (j, i))
            ]
            found.append(np.stack(places, 1))
    listed = np.concatenate(found)
    if len(listed) > MOST_SWAPS:
        listed = listed[np.sort(rng.choice(len(listed), MOST_SWAPS, replace=False))]
    moves = np.zeros((len(listed), cells), np.int64)
    np.put_along_axis(moves, listed, np.array([[-1, -1, 1, 1]]), 1)
    return moves


def _tied(places: int, top: Sets) -> list[int]:
    """The parts of a set of variables that no margin ties together."""
    parts: list[int] = []
    for place in bits(places):
        part = 1 << place
        near = [p for p in parts if any(s & part and s & p for s in top)]
        parts = [p for p in parts if p not in near] + [sum(near) | part]
    return parts


def table_of(variables: tuple[Variable, ...], counts: Ints) -> Table:
    """A row of counts in row-major order as a table."""
    places = np.flatnonzero(counts)
    codes = unravel(places, tuple(v.size for v in variables))
    return Table(variables, codes, counts[places])


def fails(table: Table, top: Sets, policy: Policy) -> bool:
    """Does the policy fail these margins of the table, by the tightest bounds there are?"""
    method = "integer" if policy.bounds.method == "auto" else policy.bounds.method
    policy = policy.effort(method=method, seconds=math.inf, witness_effort=0.0)
    return decide(table, Formula(table.names, top), policy).verdict is Verdict.FAIL

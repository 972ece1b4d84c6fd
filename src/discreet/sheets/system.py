"""Printed cells as sums of fine cells: one system for levels, codings and linked tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Ints
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.sheets.grouping import Grouping
from discreet.sheets.joined import (
    Impossible,
    Joined,
    joined,
    over_joined,
    over_joined_codes,
    variables_of,
)
from discreet.sheets.parts import Part, agreement, block, closed
from discreet.sheets.sheet import Sheet
from discreet.table.graph import Graph

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_FINE = 2_000_000  # cells of one part
MOST_JOINT = 250_000  # of a part that no sheet shows whole


@dataclass(frozen=True, eq=False)
class System(Unpublished):
    """values = sums @ fine, and agree @ fine = 0 where parts share variables.

    Every printed cell is one row, however many sheets show it: `places[i]` are the rows of sheet i,
    in its shape. A fine cell is a combination of atoms, the classes of categories that no line of
    any sheet divides; levels of a hierarchy and overlapping codings are lines over the same atoms.

    Variables that no sheet joins stay in parts of their own, which agree where they meet: tables of
    the parts that agree on the separators glue together (Vorob'ev 1962), so nothing is lost. Where
    a part is too large to list, its sheets only agree in pairs: then `outer` is true, and what the
    system allows may be more than whole tables allow.

    `impossible` are combinations of codes that nobody can have, by their variables. Codings of one
    thing become one `joined` variable; other variables of such a combination are put in one part,
    where its fine cells are `closed`.

    >>> from discreet.data.codebook import Variable
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> system
    System(12 printed cells of 1 sheet, 6 fine cells)
    >>> system.sums[system.places[0][1, 0]].indices.tolist()
    [0, 1, 2]
    """

    sheets: tuple[Sheet, ...]
    parts: tuple[Part, ...]
    sums: csr_matrix
    agree: csr_matrix
    places: tuple[Ints, ...]
    outer: bool = False
    impossible: Impossible = field(default_factory=dict, repr=False)
    joined: tuple[Joined, ...] = ()

    @classmethod
    def of(
        cls,
        sheets: Iterable[Sheet],
        *,
        impossible: Impossible | None = None,
        most_fine: int = MOST_FINE,
        most_joint: int = MOST_JOINT,
    ) -> System:
        """The system of all sheets together."""
        from scipy.sparse import csr_matrix, vstack

        sheets = tuple(sheets)
        if not sheets:
            raise DataError("there is no table; name at least one.")
        one_thing = joined(sheets, impossible or {})
        plain = [over_joined(sheet, one_thing) for sheet in sheets]
        levels = _Levels(plain)
        shut = over_joined_codes(impossible or {}, one_thing)
        ties = [names for names in shut if levels.chains.keys() >= {*names} and most_joint]
        parts, links, outer = _parts(plain, levels, ties, most_fine, most_joint)
        columns = sum(part.size for part in parts)
        rows, keys, blocks = [], [], []
        for sheet in plain:
            home = next(p for p in parts if levels.holds(p, sheet))
            blocks.append(block(sheet, home, columns))
            keys.append(levels.keys(sheet))
        _, first, place = np.unique(
            np.concatenate(keys), axis=0, return_index=True, return_inverse=True
        )
        sums = csr_matrix(vstack(blocks, format="csr")[first])
        sums.sort_indices()
        at = 0
        for sheet in sheets:
            rows.append(np.asarray(place).ravel()[at : at + sheet.cells].reshape(sheet.shape))
            at += sheet.cells
        agree = [agreement(parts[i], parts[j], shared, columns) for i, j, shared in links]
        both = vstack(agree, format="csr") if agree else csr_matrix((0, columns))
        return cls(
            sheets, tuple(parts), sums, csr_matrix(both), tuple(rows), outer, shut, one_thing
        )

    @property
    def cells(self) -> int:
        return int(self.sums.shape[0])

    @property
    def columns(self) -> int:
        return int(self.sums.shape[1])

    @property
    def variables(self) -> dict[str, Variable]:
        """Those of the parts and of the sheets, by name."""
        return variables_of(self.sheets) | {one.variable.name: one.variable for one in self.joined}

    @cached_property
    def _levels(self) -> _Levels:
        return _Levels([over_joined(sheet, self.joined) for sheet in self.sheets])

    def classes(self, sheet: Sheet) -> dict[str, Ints]:
        """The coarsest classes of its variables with all its lines, among those of all sheets."""
        plain, levels = over_joined(sheet, self.joined), self._levels
        every = (*plain.groupings, *plain.where)
        return {g.name: levels.chains[g.name][levels.level(g)] for g in every}

    def part_names(self, sheet: Sheet) -> set[str]:
        """The variables of a sheet, as its part has them."""
        return {g.name for s in [over_joined(sheet, self.joined)] for g in (*s.groupings, *s.where)}

    def codes_of(self, codes: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Codes of every variable of a part."""
        return {**codes} | {one.variable.name: one.of(codes) for one in self.joined}

    def fine(self, codes: Mapping[str, NDArray[Any]], amounts: NDArray[Any]) -> NDArray[Any]:
        """Add up rows of data, given by codes of every variable, in the fine cells."""
        codes, found = self.codes_of(codes), np.zeros(self.columns, amounts.dtype)
        for part in self.parts:
            place = np.zeros(len(amounts), np.int64)
            for name, atom, size in zip(part.names, part.atoms, part.shape, strict=True):
                place = place * size + atom[codes[name]]
            np.add.at(found[part.start : part.start + part.size], place, amounts)
        return found

    @cached_property
    def closed(self) -> Bools:
        """Fine cells that are impossible."""
        return closed(self.parts, self.columns, self.impossible)

    @cached_property
    def _homes(self) -> tuple[Ints, Ints]:
        """A sheet that shows each row, and the place there."""
        sheet = np.full(self.cells, -1, np.int64)
        cell = np.zeros(self.cells, np.int64)
        for number, rows in reversed(list(enumerate(self.places))):
            sheet[rows.ravel()] = number
            cell[rows.ravel()] = np.arange(rows.size)
        return sheet, cell

    def home(self, row: int) -> tuple[Sheet, int]:
        """The first sheet that shows a row, and the cell there."""
        sheet, cell = self._homes
        return self.sheets[int(sheet[row])], int(cell[row])

    def column_label(self, column: int) -> dict[str, str]:
        """The categories of a fine cell, by variable; `a, b` where an atom has several."""
        part = next(p for p in self.parts if p.start <= column < p.start + p.size)
        codes = np.unravel_index(column - part.start, part.shape)
        found: dict[str, str] = {}
        for name, atom, code in zip(part.names, part.atoms, codes, strict=True):
            members = np.flatnonzero(atom == code)
            own = {name: frozenset(members.tolist())} if len(members) < len(atom) else {}
            for one in self.joined:
                own = one.label(members) if name == one.variable.name else own
            found |= {of: self._called(of, codes) for of, codes in own.items()}
        return found

    def _called(self, name: str, codes: frozenset[int]) -> str:
        """The line of these categories, if a sheet has one."""
        shown = [g for s in self.sheets for g in (*s.groupings, *s.where) if g.name == name]
        for line in (line for grouping in shown for line in grouping.lines):
            if line.codes == codes:
                return line.label
        return ", ".join(shown[0].variable.categories[code] for code in sorted(codes))

    def __repr__(self) -> str:
        number = len(self.sheets)
        said = f"{self.cells:,} printed cells of {number:,} sheet{'s' * (number != 1)}"
        parts = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        return f"System({said}, {self.columns:,} fine cells{parts}{', outer' * self.outer})"


class _Levels:
    """The partitions that sheets make of each variable, from the coarsest to the finest.

    Those of one variable form a chain, each within the next: a partition that lies across another
    is replaced by the two together. Level j of variable v is one element of the graph, and whoever
    has a level has those above it.
    """

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.ids: dict[tuple[str, bytes], int] = {}
        self.chains: dict[str, list[Ints]] = {}
        every = [g for sheet in sheets for g in (*sheet.groupings, *sheet.where)]
        for name in variables_of(sheets):
            self.chains[name] = _chain([atoms_of(g.members) for g in every if g.name == name])
        self.elements = [(v, j) for v, chain in self.chains.items() for j in range(len(chain))]
        self.place = {element: i for i, element in enumerate(self.elements)}

    def level(self, grouping: Grouping) -> int:
        own = atoms_of(grouping.members)
        chain = self.chains[grouping.name]
        return next(j for j, atoms in enumerate(chain) if _finer(atoms, own))

    def set_of(self, sheet: Sheet) -> int:
        return reduce(
            lambda found, element: found | 1 << self.place[element],
            ((g.name, j) for g in (*sheet.groupings, *sheet.where) for j in self._upto(g)),
            0,
        )

    def all_of(self, names: Iterable[str]) -> int:
        """The finest levels of some variables, and those above them."""
        return sum(1 << i for i, (name, _) in enumerate(self.elements) if name in names)

    def _upto(self, grouping: Grouping) -> range:
        return range(self.level(grouping) + 1)

    def part(self, elements: int, start: int) -> Part:
        """The finest level of every variable in a set of elements."""
        deepest: dict[str, int] = {}
        for i, (name, j) in enumerate(self.elements):
            if elements >> i & 1:
                deepest[name] = max(j, deepest.get(name, 0))
        return Part(
            tuple(deepest), tuple(self.chains[name][j] for name, j in deepest.items()), start
        )

    def holds(self, part: Part, sheet: Sheet) -> bool:
        atoms = dict(zip(part.names, part.atoms, strict=True))
        return all(
            g.name in atoms and _finer(atoms[g.name], atoms_of(g.members))
            for g in (*sheet.groupings, *sheet.where)
        )

    def keys(self, sheet: Sheet) -> Ints:
        """What each cell of a sheet is, the same for the same people: lines by variable."""
        order = list(self.chains)
        found = np.zeros((sheet.cells, len(order)), np.int64)
        at = np.indices(sheet.shape).reshape(len(sheet.shape), -1)
        for axis, grouping in enumerate(sheet.groupings):
            ids = np.array([self._id(grouping.name, m) for m in grouping.members])
            found[:, order.index(grouping.name)] = ids[at[axis]]
        for grouping in sheet.where:
            found[:, order.index(grouping.name)] = self._id(grouping.name, grouping.members[0])
        return found

    def _id(self, name: str, members: Bools) -> int:
        """0 for everybody."""
        if members.all():
            return 0
        return self.ids.setdefault((name, members.tobytes()), len(self.ids) + 1)


def atoms_of(members: Bools) -> Ints:
    """The class of each category: those that are in the same lines."""
    _, found = np.unique(members.T, axis=0, return_inverse=True)
    found = np.asarray(found).ravel()
    _, first = np.unique(found, return_index=True)
    order = np.argsort(np.argsort(first))  # atoms in the order of their first category
    return np.asarray(order[found], np.int64)


def _both(one: Ints, other: Ints) -> Ints:
    return atoms_of(np.array([one, other]))


def _finer(fine: Ints, coarse: Ints) -> bool:
    """Does each class of `fine` lie in one of `coarse`?"""
    return int(_both(fine, coarse).max()) == int(fine.max())


def _chain(partitions: Sequence[Ints]) -> list[Ints]:
    chain: list[Ints] = []
    for atoms in sorted(partitions, key=lambda atoms: int(atoms.max())):
        while chain and not _finer(atoms, chain[-1]):
            atoms = _both(atoms, chain.pop())
        if not chain or int(atoms.max()) > int(chain[-1].max()):
            chain.append(atoms)
    return chain


def _parts(
    sheets: Sequence[Sheet],
    levels: _Levels,
    ties: Iterable[tuple[str, ...]],
    most_fine: int,
    most_joint: int,
) -> tuple[list[Part], list[tuple[int, int, dict[str, Ints]]], bool]:
    """The parts, which of them share what, and whether something is lost.

    `ties` are variables that belong together though no sheet may show all of them.
    """
    sets = sorted({levels.set_of(sheet) for sheet in sheets}, key=lambda s: -s.bit_count())
    whole_sets = [*sets, *(levels.all_of(names) for names in ties)]
    tree = Graph.of(whole_sets, len(levels.elements)).minimal_triangulation().junction_tree()
    parts: list[Part] = []
    elements: list[int] = []
    outer = False
    for node in tree.nodes:
        whole = levels.part(node, 0)
        within = [s for s in sets if not s & ~node]
        shown = node in within
        if whole.size <= (most_fine if shown else most_joint):
            elements.append(node)
            continue
        if shown:
            raise DataError(
                f"the table of {', '.join(whole.names)} has {whole.size:,} cells, and "
                f"{most_fine:,} can be held; show fewer categories."
            )
        outer = True
        elements += [s for i, s in enumerate(within) if not any(not s & ~t for t in within[:i])]
    start = 0
    for node in elements:
        parts.append(levels.part(node, start))
        start += parts[-1].size
    links = _links(elements, levels, tree.edges if not outer else None)
    return parts, links, outer


def _links(
    elements: Sequence[int], levels: _Levels, edges: Any
) -> list[tuple[int, int, dict[str, Ints]]]:
    """Pairs of parts that share variables: the edges of the tree, or all pairs."""
    if edges is None:
        edges = [(i, j, elements[i] & elements[j]) for j in range(len(elements)) for i in range(j)]
    found = []
    for i, j, shared in edges:
        part = levels.part(shared, 0)
        found.append((i, j, dict(zip(part.names, part.atoms, strict=True))))
    return found

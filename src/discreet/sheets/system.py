"""Printed cells as sums of fine cells: one system for levels, codings and linked tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.sheets.grouping import Bools, Grouping
from discreet.sheets.sheet import Sheet
from discreet.table.graph import Graph

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_FINE = 2_000_000  # cells of one part
MOST_JOINT = 250_000  # of a part that no sheet shows whole


@dataclass(frozen=True, eq=False)
class Part:
    """Variables that belong together, with their atoms: the fine cells of `System` in one block.

    `atoms[i]` gives each category of variable i its atom; `start` is the first column.
    """

    names: tuple[str, ...]
    atoms: tuple[Ints, ...]
    start: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(atom.max()) + 1 for atom in self.atoms)

    @property
    def size(self) -> int:
        return math.prod(self.shape)


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

    @classmethod
    def of(
        cls, sheets: Iterable[Sheet], *, most_fine: int = MOST_FINE, most_joint: int = MOST_JOINT
    ) -> System:
        """The system of all sheets together."""
        from scipy.sparse import csr_matrix, vstack

        sheets = tuple(sheets)
        if not sheets:
            raise DataError("there is no table; name at least one.")
        levels = _Levels(sheets)
        parts, links, outer = _parts(sheets, levels, most_fine, most_joint)
        columns = sum(part.size for part in parts)
        rows, keys, blocks = [], [], []
        for sheet in sheets:
            home = next(p for p in parts if levels.holds(p, sheet))
            blocks.append(_block(sheet, home, columns))
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
        agree = [_agreement(parts[i], parts[j], shared, columns) for i, j, shared in links]
        both = vstack(agree, format="csr") if agree else csr_matrix((0, columns))
        return cls(sheets, tuple(parts), sums, csr_matrix(both), tuple(rows), outer)

    @property
    def cells(self) -> int:
        return int(self.sums.shape[0])

    @property
    def columns(self) -> int:
        return int(self.sums.shape[1])

    def fine(self, codes: Mapping[str, NDArray[Any]], amounts: NDArray[Any]) -> NDArray[Any]:
        """Add up rows of data, given by codes of every variable, in the fine cells."""
        found = np.zeros(self.columns, amounts.dtype)
        for part in self.parts:
            place = np.zeros(len(amounts), np.int64)
            for name, atom, size in zip(part.names, part.atoms, part.shape, strict=True):
                place = place * size + atom[codes[name]]
            np.add.at(found[part.start : part.start + part.size], place, amounts)
        return found

    def closed(self, impossible: Mapping[tuple[str, ...], Iterable[tuple[int, ...]]]) -> Bools:
        """Fine cells that are impossible: combinations of codes by their variables."""
        found = np.zeros(self.columns, bool)
        for part in self.parts:
            place = {name: i for i, name in enumerate(part.names)}
            block = found[part.start : part.start + part.size].reshape(part.shape)
            for names, combinations in impossible.items():
                if not all(name in place for name in names):
                    continue
                atoms = [part.atoms[place[name]] for name in names]
                possible = np.ones([len(atom) for atom in atoms], bool)
                possible[tuple(np.array(list(combinations), int).reshape(-1, len(names)).T)] = False
                left = np.zeros([int(atom.max()) + 1 for atom in atoms], bool)
                np.logical_or.at(left, np.ix_(*atoms), possible)
                order = sorted(range(len(names)), key=lambda i: place[names[i]])
                shut = ~np.transpose(left, order)
                wide = [1] * len(part.shape)
                for i in order:
                    wide[place[names[i]]] = left.shape[i]
                block |= shut.reshape(wide)
        return found

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
        found = {}
        for name, atom, code in zip(part.names, part.atoms, codes, strict=True):
            members = np.flatnonzero(atom == code)
            if len(members) < len(atom):
                found[name] = self._called(name, frozenset(members.tolist()))
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
        shown: dict[str, list[Grouping]] = {}
        for sheet in sheets:
            for grouping in (*sheet.groupings, *sheet.where):
                kept = shown.setdefault(grouping.name, [])
                if kept and kept[0].variable.categories != grouping.variable.categories:
                    raise DataError(
                        f"two tables disagree on the categories of {grouping.name!r}; give them "
                        "the same codebook."
                    )
                kept.append(grouping)
        for name, groupings in shown.items():
            self.chains[name] = _chain([atoms_of(g.members) for g in groupings])
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
    sheets: Sequence[Sheet], levels: _Levels, most_fine: int, most_joint: int
) -> tuple[list[Part], list[tuple[int, int, dict[str, Ints]]], bool]:
    """The parts, which of them share what, and whether something is lost."""
    sets = sorted({levels.set_of(sheet) for sheet in sheets}, key=lambda s: -s.bit_count())
    tree = Graph.of(sets, len(levels.elements)).minimal_triangulation().junction_tree()
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


def _block(sheet: Sheet, part: Part, columns: int) -> csr_matrix:
    """The rows of one sheet: a Kronecker product of lines x atoms."""
    from scipy.sparse import csr_matrix, kron

    own = {g.name: g for g in (*sheet.groupings, *sheet.where)}
    product: Any = csr_matrix(np.ones((1, 1)))
    lines = []
    for name, atom, size in zip(part.names, part.atoms, part.shape, strict=True):
        if name in own:
            first = np.unique(atom, return_index=True)[1]
            factor = own[name].members[:, first]
        else:
            factor = np.ones((1, size), bool)
        lines.append(len(factor))
        product = kron(product, csr_matrix(factor.astype(float)), format="csr")
    # rows stand in the order of the part's variables
    order = np.arange(product.shape[0]).reshape(lines)
    places = [part.names.index(g.name) for g in sheet.groupings]
    rest = [i for i in range(len(lines)) if i not in places]
    order = np.transpose(order, [*places, *rest]).ravel()
    wide = product[order]
    return csr_matrix(
        (wide.data, wide.indices + part.start, wide.indptr), shape=(len(order), columns)
    )


def _agreement(one: Part, other: Part, shared: Mapping[str, Ints], columns: int) -> csr_matrix:
    """Rows that say that two parts have the same sums over what they share."""
    return (_sums_over(one, shared, columns) - _sums_over(other, shared, columns)).tocsr()


def _sums_over(part: Part, shared: Mapping[str, Ints], columns: int) -> csr_matrix:
    from scipy.sparse import csr_matrix

    codes = np.indices(part.shape).reshape(len(part.shape), -1)
    row = np.zeros(part.size, np.int64)
    for name, coarse in shared.items():
        axis = part.names.index(name)
        first = np.unique(part.atoms[axis], return_index=True)[1]
        row = row * (int(coarse.max()) + 1) + coarse[first][codes[axis]]
    height = math.prod(int(coarse.max()) + 1 for coarse in shared.values())
    column = np.arange(part.size) + part.start
    return csr_matrix((np.ones(part.size), (row, column)), shape=(height, columns))

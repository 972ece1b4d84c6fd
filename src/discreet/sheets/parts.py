"""Blocks of fine cells: sheets as sums of them, where two blocks agree, what is impossible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Bools, Ints
from discreet.sheets.joined import Impossible
from discreet.sheets.sheet import Sheet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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


def closed(parts: Sequence[Part], columns: int, impossible: Impossible) -> Bools:
    """Fine cells that are impossible."""
    found = np.zeros(columns, bool)
    for part in parts:
        place = {name: i for i, name in enumerate(part.names)}
        inside = found[part.start : part.start + part.size].reshape(part.shape)
        for names, combinations in impossible.items():
            if not all(name in place for name in names):
                continue
            atoms = [part.atoms[place[name]] for name in names]
            possible = np.ones([len(atom) for atom in atoms], bool)
            possible[tuple(np.asarray(combinations, int).reshape(-1, len(names)).T)] = False
            left = np.zeros([int(atom.max()) + 1 for atom in atoms], bool)
            np.logical_or.at(left, np.ix_(*atoms), possible)
            order = sorted(range(len(names)), key=lambda i: place[names[i]])
            shut = ~np.transpose(left, order)
            wide = [1] * len(part.shape)
            for i in order:
                wide[place[names[i]]] = left.shape[i]
            inside |= shut.reshape(wide)
    return found


def block(sheet: Sheet, part: Part, columns: int) -> csr_matrix:
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


def agreement(one: Part, other: Part, shared: Mapping[str, Ints], columns: int) -> csr_matrix:
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

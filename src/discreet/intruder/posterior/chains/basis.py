"""Markov bases of any release, and what is guaranteed of them.

A set of moves joins all tables with the same margins if it has every move of a minimal basis up to
the largest degree that one needs. That degree is known

    decomposable             2 (Dobra 2003)
    reducible                the largest of its parts', at least 2 (Hosten & Sullivant 2002)
    one move alone           its own
    2 x J x K, all pairs     2 min(J, K): the matrix is unimodular
    3 x 3 x K, all pairs     4, 6, 8, 10 for K = 2, 3, 4, 5 and more (Aoki & Takemura 2003)
    3 x 4 x 4, all pairs     10

and else 4ti2 works the basis out, where it is installed. Without it the moves are those up to a
degree, and the basis says that they may not join everything.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError, SolverError
from discreet.intruder.posterior.chains.markov_bases import DEGREES, MOST_CELLS, minimal_basis
from discreet.intruder.tables.count import count
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.graph import components, is_decomposable
from discreet.table.lattice import bits, maximal
from discreet.table.table import Table

PROGRAMS = ("4ti2-markov", "markov")
KNOWN = 10  # times the usual work, where the largest move that is needed is known
USUAL = 4  # people in a move, where the degree is not known
PATIENCE = 600  # seconds that 4ti2 may take; then there is an error, never another answer
MOST_TABLES = 20_000  # whose connection is checked one by one


@dataclass(frozen=True, eq=False)
class MarkovBasis(Result):
    """Moves, one a row, up to sign; every released sum stays.

    `complete`: do they join all tables with the same margins, whatever these are? `why` says on
    what that rests; `degree` is how many people the largest move has.

    >>> import discreet as dc
    >>> table = dc.load("example:blond")
    >>> basis = dc.beliefs.markov_basis(dc.Release.margins(table, "Hair + Income"))
    >>> basis
    MarkovBasis(3 moves of up to 2 people: complete)
    >>> basis.why
    'the release is decomposable: moves of 2 people join all tables (Dobra 2003)'
    >>> basis.joins(table)
    True
    """

    formula: Formula
    shape: tuple[int, ...]
    moves: Ints
    degree: int
    complete: bool
    why: str

    def __len__(self) -> int:
        return len(self.moves)

    def __repr__(self) -> str:
        sure = "complete" if self.complete else "NOT known to be complete"
        return f"MarkovBasis({plural(len(self), 'move')} of up to {self.degree} people: {sure})"

    def joins(self, table: Table) -> bool:
        """Do they join all tables with the margins of this one? As many are reached as fit."""
        fit = count(Release.margins(table, self.formula))
        if not fit.exact or fit.tables > MOST_TABLES:
            raise DataError(
                f"{fit} fit, and up to {MOST_TABLES:,} are looked at one by one; ask about a "
                "table with fewer."
            )
        begin = table.dense().ravel()
        both = np.concatenate([self.moves, -self.moves])
        seen, new = {begin.tobytes()}, [begin]
        while new:
            there = np.unique((np.array(new)[:, None] + both).reshape(-1, begin.size), axis=0)
            new = [row for row in there[(there >= 0).all(1)] if row.tobytes() not in seen]
            seen.update(row.tobytes() for row in new)
        return len(seen) == fit.tables

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row for each cell that a move changes."""
        from discreet.table.cells import frame

        move, cell = np.nonzero(self.moves)
        codes = np.unravel_index(cell, self.shape)
        columns = {f"axis {axis}": code.tolist() for axis, code in enumerate(codes)}
        changes = self.moves[move, cell].tolist()
        return frame({"move": move.tolist(), **columns, "change": changes}, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "release": str(self.formula),
            "shape": list(self.shape),
            "moves": self.moves.tolist(),
            "degree": self.degree,
            "complete": self.complete,
            "why": self.why,
        }


def markov_basis(
    release: Release,
    *,
    degree: int | None = None,
    program: str | None = None,
    effort: float = 1.0,
) -> MarkovBasis:
    """A minimal Markov basis of the margins of a release.

    `degree` asks for the moves up to so many people; without it up to the degree that is needed,
    if that is known. `program` is 4ti2's markov; found by itself, and "" never asks it. Moves that
    take more than `effort` times the usual work are refused.

    >>> import discreet as dc
    >>> table = dc.load("example:czech").margin("A*B*C*D")
    >>> release = dc.Release.margins(table, "A*B + B*C + C*D + D*A")
    >>> dc.beliefs.markov_basis(release, degree=2)
    MarkovBasis(8 moves of up to 2 people: NOT known to be complete)
    """
    shape = release.axes.sizes
    if release.known:
        raise DataError(
            "a Markov basis is of margins, and more is known of single cells; leave that out."
        )
    wide = sum(1 << axis for axis, size in enumerate(shape) if size > 1)
    sets = maximal([s & wide for s in release.formula.sets])  # one category changes no sum
    margins = tuple(tuple(bits(s)) for s in (sets if any(sets) else maximal(release.formula.sets)))
    needed, why = needed_degree(shape, margins)
    asked = program if program is not None else next(filter(shutil.which, PROGRAMS), "")
    small = int(np.prod(shape)) <= MOST_CELLS
    if needed is not None and small and (degree is None or degree >= needed):
        moves = minimal_basis(shape, margins, needed, effort=KNOWN * effort)
        return _found(release.formula, shape, moves, True, why)
    if degree is None and asked:
        moves = _by_4ti2(shape, margins, asked)
        return _found(release.formula, shape, moves, True, "4ti2 worked the basis out")
    if not small:
        raise DataError(
            f"a table of {int(np.prod(shape)):,} cells has too many moves to list; install 4ti2, "
            "or take chains with moves='dynamic', which need no basis."
        )
    most = USUAL if degree is None else degree
    moves = minimal_basis(shape, margins, most, effort=effort)
    sure = f"moves of up to {most} people; tables that only larger ones join are not reached"
    why = f"{sure}. Install 4ti2, or ask for more people"
    return MarkovBasis(release.formula, shape, moves, most, False, why)


def _found(
    formula: Formula, shape: tuple[int, ...], moves: Ints, complete: bool, why: str
) -> MarkovBasis:
    degree = int(np.maximum(moves, 0).sum(1).max(initial=0))
    return MarkovBasis(formula, shape, moves, degree, complete, why)


def needed_degree(shape: Iterable[int], margins: Iterable[Iterable[int]]) -> tuple[int | None, str]:
    """The people in the largest move that a minimal basis needs, None if not known, and why.

    >>> needed_degree((2, 3, 4), [(0, 1), (0, 2), (1, 2)])
    (6, '2 x 3 x 4 with all pairs: the matrix is unimodular')
    """
    sizes = tuple(shape)
    sets = [sum(1 << axis for axis in axes if sizes[axis] > 1) for axes in margins]
    sets = list(maximal(sets))
    if is_decomposable(sets, len(sizes)):
        said = "the release is decomposable: moves of 2 people join all tables (Dobra 2003)"
        return 2, said
    tree = components(sets, len(sizes))
    if len(tree.nodes) > 1:
        parts = [_part(sizes, sets, node) for node in tree.nodes]
        if any(needed is None for needed, _ in parts):
            return next(part for part in parts if part[0] is None)
        largest = max(parts, key=lambda part: part[0] or 0)
        return max(2, largest[0] or 0), f"its parts, of which {largest[1]}"
    return _part(sizes, sets, tree.nodes[0])


def _part(sizes: tuple[int, ...], sets: list[int], node: int) -> tuple[int | None, str]:
    """Of a part that no released margin separates; what all margins share changes nothing."""
    inside = [s & node for s in maximal([s & node for s in sets])]
    shared = inside[0]
    for s in inside:
        shared &= s
    left = [axis for axis in bits(node) if not shared >> axis & 1]
    own = maximal([s & ~shared for s in inside])
    if is_decomposable(own, len(sizes)):
        return 2, "one is decomposable"
    shape = tuple(sorted(sizes[axis] for axis in left))
    said = " x ".join(map(str, shape))
    freedom = _freedom(
        [sizes[axis] for axis in left], [[left.index(a) for a in bits(s)] for s in own]
    )
    if freedom == 1:
        return 1 << (len(left) - 1), f"{said} has one move alone"
    pairs = len(left) == 3 and len(own) == 3
    if pairs and shape[0] == 2:
        return 2 * shape[1], f"{said} with all pairs: the matrix is unimodular"
    if pairs and shape[:2] == (3, 3) and shape[2] >= 5:
        return 10, f"{said} with all pairs (Aoki & Takemura 2003)"
    if pairs and shape in DEGREES:
        return DEGREES[shape], f"{said} with all pairs (Aoki & Takemura 2003)"
    return None, f"no degree is known for {said}"


def _freedom(shape: list[int], margins: list[list[int]]) -> int:
    """Cells less independent sums: over unreleased sets of axes, the products of size - 1."""
    sets = [sum(1 << axis for axis in axes) for axes in margins]
    free = 0
    for some in range(1 << len(shape)):
        if not any(some & ~s == 0 for s in sets):
            free += int(np.prod([shape[axis] - 1 for axis in bits(some)]))
    return free


def _by_4ti2(shape: tuple[int, ...], margins: tuple[tuple[int, ...], ...], program: str) -> Ints:
    codes = np.indices(shape).reshape(len(shape), -1)
    rows = []
    for axes in margins:
        own = [shape[axis] for axis in axes]
        key = (
            np.ravel_multi_index(tuple(codes[list(axes)]), own)
            if axes
            else np.zeros(codes.shape[1], int)
        )
        rows.append(key == np.arange(int(np.prod(own)))[:, None])
    matrix = np.concatenate(rows).astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        np.savetxt(
            f"{path}.mat", matrix, "%d", header=f"{matrix.shape[0]} {matrix.shape[1]}", comments=""
        )
        try:
            done = subprocess.run(
                [program, "-q", "--minimal=yes", str(path)], capture_output=True, text=True,
                timeout=PATIENCE, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SolverError(f"4ti2 gave no basis: {error}; use moves='dynamic'.") from None
        if done.returncode or not Path(f"{path}.mar").is_file():
            raise SolverError(f"4ti2 gave no basis: {done.stderr.strip() or done.returncode}.")
        text = Path(f"{path}.mar").read_text(encoding="ascii").split()
    number, width = int(text[0]), int(text[1])
    moves = np.array(text[2:], np.int64).reshape(number, width)
    if width != matrix.shape[1] or (matrix @ moves.T).any():
        raise SolverError("4ti2 gave moves that do not keep the margins; use moves='dynamic'.")
    if not number:
        return moves
    first = np.take_along_axis(moves, (moves != 0).argmax(1)[:, None], 1)
    return np.asarray(moves * np.sign(first))

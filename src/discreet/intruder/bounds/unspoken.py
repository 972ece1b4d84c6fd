"""Variables that no released margin has, and that are tied to others by what is impossible.

Of such variables u nothing is published. Whoever is in a cell x of the others can be in any u that
is possible with x, so that

    n(x, u)  lies between  0  and the largest n(x)

as soon as some other u' is possible with x, too; both ends are reached. What is left to bound is a
table without these variables, where an x with no possible u is impossible itself.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.part import Question
from discreet.intruder.bounds.result import CellBounds
from discreet.release.release import STRUCTURAL, Known, Release
from discreet.table.cells import Cells

# combinations of a variable with all that it is tied to
MOST_COMBINED = 1 << 24
Factor = tuple[tuple[str, ...], NDArray[np.int64]]
Ways = list[Factor]


def without_unspoken(release: Release, keep: Iterable[str] = ()) -> Release | None:
    """The release without the variables that no margin has, those to `keep` apart.

    None where more than zeros is known of these, or there is too much to look at.
    """
    spoken = margins_speak_of(release) | {*keep}
    gone = {variable.name for variable in release.variables if variable.name not in spoken}
    if release.ceiling is not None:
        return None
    if any(name in gone for known in release.ranges for name, _ in known.cell):
        return None
    ways = _ways(release, gone)
    if ways is None:
        return None
    left = tuple(variable for variable in release.variables if variable.name not in gone)
    known = [one for one in release.known if not any(name in gone for name, _ in one.cell)]
    by_name = {variable.name: variable for variable in left}
    for names, factor in ways:
        axes = [by_name[one] for one in names]
        for row in np.argwhere(factor == 0).tolist() if names else ():
            cell = tuple((v.name, v.categories[c]) for v, c in zip(axes, row, strict=True))
            known.append(Known(cell, 0, 0, STRUCTURAL))
    return dataclasses.replace(release, variables=left, known=tuple(known))


def _ways(release: Release, gone: Collection[str]) -> Ways | None:
    """In how many ways, 0, 1 or more, can people be of the variables that are gone: factors by the
    others that these are tied to. None if there is too much to look at."""
    sizes = dict(zip(release.axes.names, release.axes.sizes, strict=True))
    tied, ways = tied_by_zeros(release), _ties(release, lambda names: bool({*gone} & {*names}))
    if ways is None:
        return None
    for name in sorted(gone, key=lambda one: sizes[one]):
        if name not in tied:
            ways.append(((), np.array(min(sizes[name], 2))))
            continue
        about = [factor for factor in ways if name in factor[0]]
        beside = {other for names, _ in about for other in names} - {name}
        names = (*sorted(beside, key=release.axes.place.__getitem__), name)
        if math.prod(sizes[one] for one in names) > MOST_COMBINED:
            return None
        ways = [factor for factor in ways if name not in factor[0]]
        ways.append((names[:-1], np.minimum(_product(about, names, sizes).sum(axis=-1), 2)))
    return ways


def _product(
    factors: Iterable[Factor], names: tuple[str, ...], sizes: Mapping[str, int]
) -> NDArray[np.int64]:
    """The product of factors, by all these variables."""
    found = np.ones([sizes[name] for name in names], np.int64)
    for about, ways in factors:
        order = sorted(range(len(about)), key=lambda place: names.index(about[place]))
        found *= ways.transpose(order).reshape([sizes[n] if n in about else 1 for n in names])
    return found


def _ties(release: Release, chosen: Callable[[tuple[str, ...]], bool]) -> Ways | None:
    """Factors that are 0 where a combination of the chosen variables is impossible, else 1."""
    sizes, found = dict(zip(release.axes.names, release.axes.sizes, strict=True)), list[Factor]()
    for names, codes in release.zeros:
        if chosen(names):
            if math.prod(sizes[name] for name in names) > MOST_COMBINED:
                return None
            factor = np.ones([sizes[name] for name in names], np.int64)
            factor[tuple(codes.T.astype(np.intp))] = 0
            found.append((names, factor))
    return found


def possible_with(release: Release, name: str) -> tuple[tuple[str, ...], NDArray[np.bool_]] | None:
    """The others that a variable is tied to, and which cells of them are possible with which of
    its categories, these last. None if there is too much to look at."""
    tied = {other for names, _ in release.zeros if name in names for other in names} - {name}
    others = tuple(other for other in release.names if other in tied)
    names = (*others, name)
    sizes = dict(zip(release.axes.names, release.axes.sizes, strict=True))
    if math.prod(sizes[one] for one in names) > MOST_COMBINED:
        return None
    factors = _ties(release, lambda about: {*about} <= {*names})
    return None if factors is None else (others, _product(factors, names, sizes) > 0)


def spoken_alone(release: Release) -> Release | None:
    """The same, where variables that no margin has are tied to others; None if there are none."""
    return without_unspoken(release) if ties_unspoken(release) else None


def ties_unspoken(release: Release) -> bool:
    """Are variables that no margin has tied to others?"""
    return bool(tied_by_zeros(release) - margins_speak_of(release))


def margins_speak_of(release: Release) -> set[str]:
    return {name for margin in release.formula.margins for name in margin}


def tied_by_zeros(release: Release) -> set[str]:
    """The variables of combinations that are impossible."""
    return {name for names, _ in release.zeros for name in names}


def bounds_without_unspoken(
    release: Release,
    cells: Cells,
    question: Question,
    bound: Callable[[Cells, Question], CellBounds],
) -> CellBounds | None:
    """Bounds of cells by `bound`, which knows only the variables that margins have.

    None where somebody could be in a cell and nowhere else.
    """
    spoken = margins_speak_of(release)
    inside = [name for name in cells.names if name in spoken]
    asked = without_unspoken(release, cells.names)
    if asked is None or not inside or not _movable(asked, cells, {*cells.names} - spoken):
        return None
    variables = tuple(v for v in cells.variables if v.name in inside)
    own = Cells(variables, cells.project(inside), cells.counts)
    # what is narrow there need not be narrow here
    proof = question.proof and question.proof._replace(together=False)
    found = bound(own, question._replace(proof=proof))
    nobody, closed = np.zeros(len(cells), np.int64), asked.closed(cells.codes, cells.names)
    return dataclasses.replace(
        found,
        variables=cells.variables,
        codes=cells.codes,
        lower=nobody,
        seen_low=nobody,
        fit_low=nobody,
        upper=np.where(closed, 0, found.upper),
        seen_high=np.where(closed, 0, found.seen_high),
        fit_high=np.where(closed, 0, found.fit_high),
    )


def _movable(release: Release, cells: Cells, unspoken: Collection[str]) -> bool:
    """Could everybody be elsewhere, in other categories of the variables that no margin has?"""
    ways, found = _ways(release, unspoken), np.ones(len(cells), np.int64)
    for names, factor in ways or ():
        if not {*names} <= {*cells.names}:
            return False
        found *= factor[tuple(cells.project(names).T.astype(np.intp))] if names else factor
    return ways is not None and bool(((found > 1) | release.closed(cells.codes, cells.names)).all())

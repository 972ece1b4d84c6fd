"""How far the estimates of a log-linear model move when it is fitted to a masked table.

Fitted shares, and the u-terms of log m = u + u_1(i) + u_12(ij) + ..., which add up to zero over
each index (Bishop, Fienberg & Holland 1975, chapter 2). Standard errors are those of the true
table: of u-terms from the inverse of X' D_m X, as for a Poisson sample, which gives those of a
multinomial one but for the constant u (Palmgren 1981).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.models.ipf import ipf
from discreet.models.loglinear import LogLinear
from discreet.table.cells import frame
from discreet.table.formula import Formula, as_formula
from discreet.table.lattice import bits, closure
from discreet.table.table import Table
from discreet.utility.counted import hellinger, total_variation
from discreet.utility.distances import written

MOST_CELLS = 1 << 20
MOST_DESIGN = 1 << 23  # numbers in a design matrix, up to which u-terms are computed


@dataclass(frozen=True, eq=False)
class ModelsClose(Result):
    """A log-linear model fitted to the true and to a masked table, side by side.

    `terms` are the u-terms with the categories that they are of, the last ones left out for they
    follow; empty where a fit has a zero, or
    the table is too large, and `said` tells so.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> dc.worth.models_close(table, np.ones(table.shape), "Race*Income")
    ModelsClose(Race*Income: u-terms move by up to 15.4 standard errors, fits apart by
        Hellinger 0.5082)
    """

    formula: Formula
    terms: tuple[tuple[str, str], ...]
    true: Floats
    error: Floats
    other: Floats
    hellinger: float
    total_variation: float
    said: tuple[str, ...]

    @property
    def apart(self) -> Floats:
        """By how many standard errors each u-term moved."""
        return (self.other - self.true) / self.error

    @property
    def greatest(self) -> float:
        """The greatest move of a u-term, in standard errors; nan if there are none."""
        return float(np.abs(self.apart).max()) if len(self.terms) else float("nan")

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a u-term, or one for the whole fit where there are none."""
        if not self.terms:
            one = {"hellinger": [self.hellinger], "total variation": [self.total_variation]}
            return frame({"model": [str(self.formula)]} | one, kind)
        columns = {
            "term": [term for term, _ in self.terms],
            "category": [category for _, category in self.terms],
            "true": self.true,
            "standard error": self.error,
            "masked": self.other,
            "in standard errors": self.apart,
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "model": str(self.formula),
            "terms": len(self.terms),
            "greatest": self.greatest if self.terms else None,
            "hellinger": self.hellinger,
            "total_variation": self.total_variation,
            "said": list(self.said),
        }

    def __repr__(self) -> str:
        shown = str(self.formula)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        move = f"u-terms move by up to {self.greatest:.3g} standard errors"
        said = move if self.terms else "no u-terms"
        return f"ModelsClose({shown}: {said}, fits apart by Hellinger {self.hellinger:.4f})"


def models_close(
    true: Table, other: Table | ArrayLike, formula: str | Formula | Iterable[Iterable[str]]
) -> ModelsClose:
    """Fit one model to the true table and to another, or to estimates of all its cells.

    >>> from discreet.table.load import load
    >>> tract = load("example:tract")
    >>> half = tract.dense().copy()
    >>> half[0, 0] = half[0, 0] + [3, -2, -1]
    >>> models_close(tract, half, "Race*Income + Gender")
    ModelsClose(Race*Income + Gender: u-terms move by up to 0.0308 standard errors,
                fits apart by Hellinger 0.0031)
    >>> models_close(tract, half, "Race + Gender").greatest < 1e-6
    True
    """
    model = as_formula(formula, true.names)
    if true.size > MOST_CELLS:
        raise DataError(
            f"the table has {true.size:,} cells, the most is {MOST_CELLS:,}; compare a model of "
            "fewer variables in a margin."
        )
    theirs = _dense(true, other)
    fit = LogLinear(model).fit(true)
    mine = fit.expected_array()
    sets = [tuple(bits(s)) for s in model.frontier.sets] or [()]
    margins = {axes: _summed(theirs, axes) for axes in sets}
    scaled = ipf(np.ones(true.shape), margins)
    p, q = mine / mine.sum(), scaled.array / scaled.array.sum()
    said = [] if fit.converged and scaled.converged else ["a fit has not converged"]
    terms: tuple[tuple[str, str], ...] = ()
    moved: tuple[Floats, Floats, Floats] = (np.zeros(0),) * 3
    if why := _no_terms(true, model, p, q):
        said.append(why)
    else:
        terms, design = _design(true, model)
        moved = _u_terms(design, mine.ravel(), (q * mine.sum()).ravel())
    return ModelsClose(model, terms, *moved, hellinger(p, q), total_variation(p, q), tuple(said))


def _dense(true: Table, other: Table | ArrayLike) -> Floats:
    """The other table over the cells of the true one."""
    if not isinstance(other, Table):
        found = np.asarray(other, np.float64)
        if found.shape != true.shape:
            raise DataError(f"the array has shape {found.shape}, the table {true.shape}; match.")
        if not (found >= 0).all() or not found.sum() > 0:
            raise DataError("a model needs counts of 0 or more, and not all 0; repair the array.")
        return found
    if sorted(other.names) != sorted(true.names):
        listed = ", ".join(other.names)
        raise DataError(f"the other table is over {listed}, not {', '.join(true.names)}.")
    if not other.total:
        raise DataError("the other table counts nobody, and there is nothing to fit; add counts.")
    array = other.reorder(true.names)
    at = []
    for mine, theirs in zip(true.variables, array.variables, strict=True):
        if strange := set(theirs.categories) - set(mine.categories):
            raise DataError(
                f"{mine.name!r} of the other table has the category {min(strange)!r}, which the "
                "true one has not; a model is fitted to tables of the same categories."
            )
        at.append([mine.code(category) for category in theirs.categories])
    dense = np.zeros(true.shape)
    dense[np.ix_(*at)] = array.dense()
    return dense


def _summed(array: Floats, axes: tuple[int, ...]) -> Floats:
    others = tuple(axis for axis in range(array.ndim) if axis not in axes)
    return np.asarray(array.sum(others))


def _no_terms(true: Table, model: Formula, p: Floats, q: Floats) -> str:
    if not (p.min() > 0 and q.min() > 0):
        return "a fit has zeros, where u-terms are not finite"
    wide = sum(np.prod([true.shape[i] - 1 for i in bits(s)]) for s in closure(model.sets))
    if wide * true.size > MOST_DESIGN:
        return f"{int(wide):,} u-terms of {true.size:,} cells are too many to compute"
    return "" if model.sets else "a model of the total has no u-terms"


def _design(true: Table, model: Formula) -> tuple[tuple[tuple[str, str], ...], Floats]:
    """Contrasts of u-terms, the last category minus all others; the first column is of ones."""
    effects = [np.vstack([np.eye(n - 1), -np.ones(n - 1)]) for n in true.shape]
    terms, blocks = list[tuple[str, str]](), [np.ones((true.size, 1))]
    for margin in sorted(closure(model.sets), key=lambda s: (s.bit_count(), s)):
        places = list(bits(margin))
        block: NDArray[Any] = np.ones((1, 1))
        for axis, effect in enumerate(effects):
            block = np.kron(block, effect if axis in places else np.ones((len(effect), 1)))
        blocks.append(block)
        kept = [true.variables[place].categories[:-1] for place in places]
        for code in np.ndindex(*map(len, kept)):
            category = ", ".join(names[c] for names, c in zip(kept, code, strict=True))
            terms.append((written(true.axes.names_of(margin)), category))
    return tuple(terms), np.hstack(blocks)


def _u_terms(design: Floats, mine: Floats, theirs: Floats) -> tuple[Floats, Floats, Floats]:
    """u-terms of both fits, with the standard errors of the first; without the constant."""
    gram = design.T @ design
    found: NDArray[Any] = np.linalg.solve(gram, design.T @ np.log(np.column_stack([mine, theirs])))
    covariance: NDArray[Any] = np.linalg.inv(design.T @ (design * mine[:, None]))
    return found[1:, 0], np.sqrt(np.diag(covariance))[1:], found[1:, 1]

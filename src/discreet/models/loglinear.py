"""Hierarchical log-linear models: the maximum likelihood fit of a table to some of its margins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet.errors import DataError, FormulaError
from discreet.look.result import Result, Unpublished
from discreet.models.ipf import ITERATIONS, TOLERANCE, Array
from discreet.models.parts import Part, check_dense, count_support
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.graph import JunctionTree, components
from discreet.table.lattice import bits
from discreet.table.table import Table

SPARSE = 5  # people a cell, below which the chi-square is no guide


@dataclass(frozen=True)
class LogLinear(Unpublished):
    """The hierarchical model whose minimal sufficient statistics are the margins of a formula.

    A variable in no margin has all its categories equally likely.

    >>> from discreet.table.load import load
    >>> table = load("example:czech")
    >>> LogLinear(Formula.parse("A*D*E + B*C + A*C + F", table.names)).fit(table)
    Fit(A*D*E + B*C + A*C + F: deviance 83.75 on 51 df, BIC 13,460.24)
    """

    formula: Formula

    def fit(
        self, table: Table, *, tolerance: float = TOLERANCE, iterations: int = ITERATIONS
    ) -> Fit:
        """The maximum likelihood fit: its margins are those of the table (Birch 1963).

        Exact where the model is decomposable, at any size. Otherwise the parts that no margin
        separates further are scaled, all their cells at once, until their margins are within
        `tolerance` of the total, or `iterations` are done.
        """
        formula = _over(self.formula, table)
        if not table.total:
            raise DataError("the table counts nobody, and there is nothing to fit; add counts.")
        tree = _tree(formula)
        parts = tuple(
            Part.fit(table, node, formula.sets, tolerance=tolerance, iterations=iterations)
            for node in tree.nodes
        )
        return Fit(table, formula, tree, parts)


@dataclass(frozen=True, eq=False)
class Fit(Result):
    """A fitted log-linear model.

    >>> table = Table.of([[4, 4], [4, 4], [4, 0]], Hair=["Black", "Red", "Blond"],
    ...                  Income=["High", "Low"])
    >>> fit = LogLinear(Formula.parse("Hair + Income", table.names)).fit(table)
    >>> fit
    Fit(Hair + Income: deviance 4.74 on 2 df, BIC 78.10)
    >>> fit.expected_array()
    array([[4.8, 3.2], [4.8, 3.2], [2.4, 1.6]])
    """

    table: Table
    formula: Formula
    tree: JunctionTree[int] = field(repr=False)
    parts: tuple[Part, ...] = field(repr=False)

    # Fitted counts

    def expected(self, cells: Cells) -> Array:
        """The fitted counts of cells of the table."""
        if sorted(cells.names) != sorted(self.table.names):
            raise DataError(
                f"the cells are of {'*'.join(cells.names)}, the fit is of "
                f"{'*'.join(self.table.names)}; ask for cells of the fitted table."
            )
        codes = cells.project(self.table.names)
        fitted, separators = self.parts[0].at(codes[:, list(self.parts[0].places)]), self.separators
        for part, below in zip(self.parts[1:], separators, strict=True):
            found = below.lookup(cells.project(below.names))
            share = part.at(codes[:, list(part.places)])
            fitted = fitted * np.divide(share, found, out=np.zeros_like(share), where=found > 0)
        return fitted

    def expected_array(self) -> Array:
        """The fitted counts of all cells, an axis a variable."""
        check_dense(self.table)
        fitted = self._axes(self.parts[0].places, self.parts[0].array())
        for part, edge, below in zip(self.parts[1:], self.tree.edges, self.separators, strict=True):
            share = self._axes(part.places, part.array())
            found = self._axes(tuple(bits(edge[2])), below.dense())
            fitted = fitted * np.divide(share, found, out=np.zeros_like(share), where=found > 0)
        return np.ascontiguousarray(fitted)

    def _axes(self, places: tuple[int, ...], array: Any) -> Any:
        """The array with an axis of length 1 for every other variable."""
        return array.reshape(
            [size if p in places else 1 for p, size in enumerate(self.table.shape)]
        )

    @cached_property
    def separators(self) -> tuple[Table, ...]:
        """The margins that the parts share: one for each part but the first."""
        return tuple(self.table.margin(self.table.axes.names_of(s)) for s in self.tree.separators)

    @property
    def converged(self) -> bool:
        """Whether every part has its margins; always so in closed form."""
        return all(part.scaled is None or part.scaled.converged for part in self.parts)

    @property
    def iterations(self) -> int:
        """The most iterations that a part took; 0 in closed form."""
        return max(part.scaled.iterations if part.scaled else 0 for part in self.parts)

    # How well it fits

    @cached_property
    def log_likelihood(self) -> float:
        """sum n log(m / total): multinomial, without the factor that is the same for all models."""
        between = sum(_n_log_n(separator) for separator in self.separators)
        total = self.table.total
        return sum(part.log_likelihood for part in self.parts) - between - total * math.log(total)

    @cached_property
    def deviance(self) -> float:
        """G^2 = 2 sum n log(n / m), against the saturated model."""
        total = self.table.total
        saturated = _n_log_n(self.table) - total * math.log(total)
        return max(0.0, 2 * (saturated - self.log_likelihood))

    @cached_property
    def parameters(self) -> int:
        """Free parameters, without the constant."""
        between = sum(separator.size - 1 for separator in self.separators)
        return sum(part.parameters for part in self.parts) - between

    @property
    def df(self) -> int:
        """Degrees of freedom by the number of cells: cells - 1 - parameters."""
        return self.table.size - 1 - self.parameters

    @cached_property
    def adjusted_df(self) -> int | None:
        """Degrees of freedom without what zero margins fix.

        Cells above a zero of a fitted margin are fitted as zero: they are left out, and so are
        the parameters that only they would show (Bishop, Fienberg & Holland 1975, chapter 3).
        With parts P and separators S, and of each the cells that are not fitted as zero,

            cells of the table - (sum_P rank of the model of P - sum_S cells of S)

        where the rank of a part that is a margin is its number of cells. Zeros that a model fits
        without a zero in a margin are not looked for. None if a part that is no margin has zeros
        and is too large for its rank.
        """
        ranks = [part.estimable for part in self.parts]
        if None in ranks:
            return None
        between = sum(len(separator) for separator in self.separators)
        cells = count_support(self.parts, self.tree.edges, self.table.size)
        return cells - sum(rank for rank in ranks if rank is not None) + between

    @property
    def p_value(self) -> float:
        """How likely a deviance as large is if the model holds, by the chi-square distribution.

        On the adjusted degrees of freedom, where known. No guide in a table that `is_sparse`.
        """
        return p_value(self.deviance, self.df if self.adjusted_df is None else self.adjusted_df)

    @property
    def is_sparse(self) -> bool:
        """Whether the table has fewer than five people a cell, too few for the chi-square."""
        return self.table.total < SPARSE * self.table.size

    @property
    def bic(self) -> float:
        """-2 log likelihood + parameters log(total) (Schwarz 1978); smaller is better."""
        return self.parameters * math.log(self.table.total) - 2 * self.log_likelihood

    @property
    def aic(self) -> float:
        """-2 log likelihood + 2 parameters (Akaike 1973); smaller is better."""
        return 2 * self.parameters - 2 * self.log_likelihood

    # What it looks like

    def __repr__(self) -> str:
        shown = str(self.formula) or "nothing"
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        df = self.df if self.adjusted_df is None else self.adjusted_df
        note = "" if self.converged else ", not converged"
        return (
            f"Fit({shown}: deviance {self.deviance:,.2f} on {df:,} df, BIC {self.bic:,.2f}{note})"
        )

    def to_frame(self, kind: str = "pandas", *, zeros: bool = False) -> Any:
        """One row a cell: its count and the fitted count; `zeros` adds the empty cells."""
        cells = self.table.all() if zeros else self.table.nonzero()
        return cells.to_frame(kind, expected=self.expected(cells))


def p_value(statistic: float, df: int) -> float:
    """The chance that a chi-square with `df` degrees of freedom is at least `statistic`."""
    from scipy.stats import chi2

    return float(chi2.sf(statistic, float(df))) if df > 0 else 1.0


def _over(formula: Formula, table: Table) -> Formula:
    """The maximal margins, in the order of the table's variables."""
    if sorted(formula.names) != sorted(table.names):
        raise FormulaError(
            f"the model is over {', '.join(formula.names)}, the table over "
            f"{', '.join(table.names)}; build the formula from the table's names"
        )
    return Formula.of(formula.frontier.margins, table.names)


def _tree(formula: Formula) -> JunctionTree[int]:
    k = len(formula.names)
    if formula.sets:
        return components(formula.sets, k)
    return JunctionTree(tuple(1 << p for p in range(k)), tuple((0, p, 0) for p in range(1, k)))


def _n_log_n(table: Table) -> float:
    return float(table.counts @ np.log(table.counts))

"""Differentially private tables, and synthetic ones drawn from private margins.

Two tables are neighbours if one person is added or left out. Each of k margins then changes by 1
in one cell, and two-sided geometric noise of scale k / epsilon in every cell, empty ones too, makes
all of them together epsilon-private. What is computed from noisy counts alone stays so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.intruder.posterior.result import Posterior
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.masks.synthesis.geometric import checked, count_mass, private_noise, seeded_noise
from discreet.table.axes import Axes, OverAxes
from discreet.table.cells import Cells, frame, labels
from discreet.table.formula import Formula, as_formula
from discreet.table.keys import keys, unravel
from discreet.table.table import Table

MOST_CELLS = 1 << 22
WORK = 2_000_000_000  # numbers that mirror descent looks at
FEWEST, MOST = 200, 20_000  # rounds
ENOUGH = 1e-5  # of the misfit, that a round must gain
OPENDP = "OpenDP's noise, which has no seed"
SEEDED = "noise of the same law from a seed: for comparison, not for release"


@dataclass(frozen=True, eq=False)
class PrivateTable(Result, OverAxes):
    """Margins of a table with noise; `noisy` are whole numbers, also below 0.

    `epsilon` is shared by the margins, `scale` that of the noise of each. `source` says where the
    noise is from.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> dc.synthetic.private_table(table, 1, rng=np.random.default_rng(1))
    PrivateTable(whole of 3 variables: epsilon 1, noise of scale 1, seeded and not for release)
    """

    variables: tuple[Variable, ...]
    margins: tuple[tuple[str, ...], ...]
    noisy: tuple[Ints, ...] = field(repr=False)
    epsilon: float
    source: str

    @property
    def scale(self) -> float:
        return len(self.margins) / self.epsilon

    @property
    def whole(self) -> bool:
        """Is it the whole table, and no margins of it?"""
        return len(self.margins) == 1 and len(self.margins[0]) == len(self.variables)

    @property
    def for_release(self) -> bool:
        return self.source == OPENDP

    @cached_property
    def total(self) -> int:
        """The number of people by the noisy margins, those with fewer cells weighing more."""
        weights = np.array([1 / counts.size for counts in self.noisy])
        sums = np.array([counts.sum() for counts in self.noisy])
        return max(1, round(float(weights @ sums / weights.sum())))

    def clipped(self) -> Table:
        """The whole table, counts below 0 as 0: small counts are too large on average."""
        if not self.whole:
            raise DataError("only margins are private; fit or draw a table from them.")
        return _table(self.variables, np.maximum(self.noisy[0], 0))

    @cached_property
    def fitted(self) -> Floats:
        """Expected counts of all cells: non-negative, of one total, nearest to the noisy margins.

        Least squares over the log-linear model with these margins, by mirror descent from equal
        counts on (McKenna, Sheldon & Miklau 2019); it ends when a round gains little, or the work
        is done, which in large tables is before the optimum.
        """
        axes = [self.axes.places(names) for names in self.margins]
        return _nearest(self.shape, axes, self.noisy, self.total)

    def draw(self, rng: np.random.Generator) -> Table:
        """A synthetic table of `total` people from the fitted margins: as private as they are."""
        chances = self.fitted.ravel() / self.fitted.sum()
        return _table(self.variables, rng.multinomial(self.total, chances).reshape(self.shape))

    def belief(self, cells: Cells, prior: ArrayLike | None = None) -> Posterior:
        """What an intruder believes about true counts of the whole table who knows epsilon.

        `prior` are the probabilities of the counts 0, 1, ...; by default all are alike. Each cell
        is believed by its own noisy count.
        """
        if not self.whole or sorted(cells.names) != sorted(self.names):
            raise DataError("beliefs by noise are about cells of a whole table with noise.")
        codes = cells.project(self.names)
        seen = self.noisy[0].ravel()[keys(codes, self.shape)]
        known = {n: count_mass(n, self.epsilon, prior) for n in set(seen.tolist())}
        mass = [known[n] for n in seen.tolist()]
        asked = Cells(self.variables, codes, cells.counts)
        method = f"exact, by its noisy count, epsilon {self.epsilon:g}"
        before = "all counts alike" if prior is None else "given"
        return Posterior.of(asked, mass, model="noise", prior=before, method=method)

    def __repr__(self) -> str:
        what = "whole" if self.whole else plural(len(self.margins), "margin")
        note = "" if self.for_release else ", seeded and not for release"
        return (
            f"PrivateTable({what} of {len(self.variables)} variables: epsilon {self.epsilon:g}, "
            f"noise of scale {self.scale:g}{note})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row for each cell of each margin, and its noisy count."""
        text: dict[str, list[Any]] = {"margin": [], "cell": [], "noisy": []}
        for names, counts in zip(self.margins, self.noisy, strict=True):
            axes = Axes(tuple(self.variables[p] for p in self.axes.places(names)))
            named = labels(axes.variables, unravel(np.arange(counts.size), axes.sizes))
            rows = zip(*(map(str, column) for column in named.values()), strict=True)
            text["margin"] += ["*".join(names)] * counts.size
            text["cell"] += [", ".join(row) for row in rows]
            text["noisy"] += counts.ravel().tolist()
        return frame(text, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "neighbours": "one person added or left out",
            "noise": "two-sided geometric",
            "scale": self.scale,
            "margins": [list(names) for names in self.margins],
            "source": self.source,
            "for_release": self.for_release,
            "total": self.total,
        }


def private_table(
    table: Table,
    epsilon: float,
    *,
    margins: str | Formula | Iterable[Iterable[str]] | None = None,
    rng: np.random.Generator | None = None,
) -> PrivateTable:
    """The table, or margins of it, with two-sided geometric noise in every cell.

    Noise is OpenDP's (`pip install 'discreet[privacy]'`) and cannot be repeated. With `rng` it is
    of the same law and can be: for comparisons only, not for release.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> made = private_table(table, 1, rng=np.random.default_rng(1))
    >>> made
    PrivateTable(whole of 3 variables: epsilon 1, noise of scale 1, seeded and not for release)
    >>> made.clipped()
    Table(Gender 2 x Race 3 x Income 3: 740 in 14 of 18 cells)
    """
    checked(epsilon)
    whole = Formula.of([table.names], table.names)
    formula = whole if margins is None else as_formula(margins, table.names).frontier
    if not formula.sets:
        raise DataError("no margin is named; name at least one, as in A*B.")
    named = formula.margins
    cells = sum(math.prod(table.variable(n).size for n in names) for names in named)
    if cells > MOST_CELLS:
        raise DataError(
            f"noise for {cells:,} cells is too much; the most is {MOST_CELLS:,}. Take margins."
        )
    scale = len(named) / float(epsilon)
    dense = [table.margin(names).dense() for names in named]
    if rng is None:
        noisy = tuple(private_noise(counts, scale) for counts in dense)
    else:
        noisy = tuple(seeded_noise(counts, scale, rng) for counts in dense)
    source = OPENDP if rng is None else SEEDED
    return PrivateTable(table.variables, named, noisy, float(epsilon), source)


def _table(variables: tuple[Variable, ...], counts: Ints) -> Table:
    places = np.flatnonzero(counts)
    shape = tuple(variable.size for variable in variables)
    return Table(variables, unravel(places, shape), counts.ravel()[places].astype(np.int64))


def _nearest(
    shape: tuple[int, ...], axes: list[list[int]], noisy: tuple[Ints, ...], total: int
) -> Floats:
    """Mirror descent: x <- x exp(-step gradient), scaled to the total; the step adapts."""
    size = math.prod(shape)
    if size > MOST_CELLS:
        raise DataError(f"the table has {size:,} cells, too many to fit; at most {MOST_CELLS:,}.")
    rest = [tuple(a for a in range(len(shape)) if a not in kept) for kept in axes]
    wanted = [
        counts.reshape([n if a in kept else 1 for a, n in enumerate(shape)]).astype(np.float64)
        for counts, kept in zip(noisy, axes, strict=True)
    ]

    def misfit(x: Floats) -> tuple[float, list[Floats]]:
        off = [x.sum(r, keepdims=True) - w for r, w in zip(rest, wanted, strict=True)]
        return sum(float((o**2).sum()) for o in off) / 2, off

    x = np.full(shape, total / size)
    loss, off = misfit(x)
    step = 1 / (len(axes) * total)
    for _ in range(min(MOST, max(FEWEST, WORK // (size * len(axes))))):
        slope = np.zeros(shape)
        for o in off:
            slope += o
        while True:
            power = -step * (slope - slope.min())
            with np.errstate(under="ignore"):
                new = x * np.exp(np.maximum(power, -700.0))
            new *= total / new.sum()
            found, there = misfit(new)
            if found <= loss or step < 1e-300:
                break
            step /= 2
        gained, x, loss, off = loss - found, new, found, there
        if gained <= ENOUGH * max(loss, ENOUGH):
            break
        step *= 1.5
    return x

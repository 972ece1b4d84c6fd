"""Synthetic tables: copies drawn from the posterior predictive distribution of a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError, OptionError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.models.cellmodel import CellModel
from discreet.table.cells import Cells, frame, labels
from discreet.table.impossible import holds
from discreet.table.keys import Codes, keys, unravel
from discreet.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

Refit = Callable[[Table], CellModel]
COPIES = 1


@dataclass(frozen=True, eq=False)
class Synthetic(Result):
    """Synthetic copies of a table, and how they were made.

    `replaced` are the variables that are synthetic; the margin of all others is the true one in
    every copy. `model` was fitted to the true table and is confidential; `refit` fits its kind to
    another table, as an intruder would to the copies.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> model = dc.synthetic.LogLinearCells.fit(table, "Race*Income + Gender")
    >>> made = dc.synthetic.synthesise(table, model, copies=3, rng=np.random.default_rng(1))
    >>> made.total, made.partly, len(made.to_records())
    (742, False, 742)
    """

    tables: tuple[Table, ...]
    replaced: tuple[str, ...]
    method: str
    model: CellModel = field(repr=False)
    refit: Refit | None = field(default=None, repr=False)
    said: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def names(self) -> tuple[str, ...]:
        return self.tables[0].names

    @property
    def kept(self) -> tuple[str, ...]:
        """The variables that are as they were."""
        return tuple(name for name in self.names if name not in self.replaced)

    @property
    def partly(self) -> bool:
        return bool(self.kept)

    @property
    def total(self) -> int:
        """People in each copy."""
        return self.tables[0].total

    @cached_property
    def pooled(self) -> Table:
        """All copies added up."""
        codes = np.concatenate([table.codes for table in self.tables])
        counts = np.concatenate([table.counts for table in self.tables])
        return Table.from_cells(self.tables[0].variables, codes, counts)

    def to_records(self, copy: int = 0, rng: np.random.Generator | None = None) -> pd.DataFrame:
        """A row a person of one copy, by cell; shuffled if a generator is given."""
        import pandas as pd

        table = self._copy(copy)
        rows = np.repeat(np.arange(len(table)), table.counts)
        if rng is not None:
            rng.shuffle(rows)
        return pd.DataFrame(labels(table.variables, table.codes[rows]))

    def _copy(self, copy: int) -> Table:
        if not 0 <= copy < len(self):
            raise DataError(f"there is no copy {copy}; give a number from 0 to {len(self) - 1}.")
        return self.tables[copy]

    def __repr__(self) -> str:
        what = f"{', '.join(self.replaced[:6])} synthetic" if self.partly else "fully synthetic"
        shown = self.method if len(self.method) <= 80 else f"{self.method[:77]}..."
        copies = plural(len(self), "copy", "copies")
        return f"Synthetic({copies} of {self.total:,} people, {what}: {shown})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row for each cell that a copy has, and its count in every copy."""
        cells = self.pooled
        columns: dict[str, Any] = labels(cells.variables, cells.codes)
        for place, table in enumerate(self.tables, 1):
            name = f"copy {place}"
            columns[name + "_" * (name in columns)] = table.lookup(cells.codes)
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "copies": len(self),
            "people": self.total,
            "replaced": list(self.replaced),
            "kept": list(self.kept),
            "said": list(self.said),
        }


def synthesise(
    table: Table,
    model: CellModel | Refit,
    *,
    variables: Iterable[str] | None = None,
    copies: int = COPIES,
    rng: np.random.Generator,
) -> Synthetic:
    """Copies of a table, each of the same total, the parameters drawn anew for each of them.

    `model` is fitted to the table, or a function that fits it. With `variables` only these are
    replaced, given all others, whose margin stays (Little 1993). Combinations that nobody can
    have get nobody.

    >>> from discreet.models.decomposed import LogLinearCells
    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> model = LogLinearCells.fit(table, "Race*Income + Income*Gender")
    >>> made = synthesise(table, model, copies=3, rng=np.random.default_rng(1))
    >>> made
    Synthetic(3 copies of 742 people, fully synthetic: log-linear model Race*Income + Gender*Income)
    >>> len(made.to_records(0))
    742
    >>> kept = synthesise(table, model, variables=["Income"], rng=np.random.default_rng(1))
    >>> kept.tables[0].margin("Race*Gender") == table.margin("Race*Gender")
    True
    """
    if copies < 1:
        raise OptionError(f"{copies} copies are asked for; give at least 1.")
    if not table.total:
        raise DataError("the table counts nobody, and there is nothing to copy; add counts.")
    fitted, refit = _fitted(table, model)
    replaced = table.names if variables is None else tuple(dict.fromkeys(variables))
    places = table.axes.places(replaced)
    if not places:
        raise DataError("no variable is to be synthetic; name at least one.")
    possible = (
        ~holds(table.ruled_out, table.variables, table.all().codes)
        if table.impossible
        else np.ones(table.size, bool)
    )
    kept = [place for place in range(len(table.shape)) if place not in places]
    drawn = tuple(
        _copy(table, _possible(chances, possible), kept, rng)
        for chances in fitted.posterior(copies, rng)
    )
    plain = f"{type(fitted).__name__} of {fitted.parameters:,} parameters"  # and no likelihood
    how: str = getattr(fitted, "said", plain)
    said = (
        f"{plural(copies, 'copy', 'copies')} drawn from the posterior predictive distribution: "
        f"{how}.",
        f"Synthetic: {', '.join(replaced)}."
        + (f" As they were: {', '.join(table.names[p] for p in kept)}." if kept else ""),
    )
    names = tuple(table.names[place] for place in sorted(places))
    return Synthetic(drawn, names, how.partition(",")[0], fitted, refit, said)


def refitted(synthetic: Synthetic) -> CellModel:
    """The model of the same kind, fitted to all copies together."""
    if synthetic.refit is None:
        raise DataError(
            f"{type(synthetic.model).__name__} has no refit; synthesise by a function from a table "
            "to the model, which an intruder fits to the copies, too."
        )
    return synthetic.refit(synthetic.pooled)


def predicted(model: CellModel, draws: int, rng: np.random.Generator) -> Floats:
    """The posterior predictive probabilities of all cells: in closed form, or of some draws."""
    if draws < 1:
        raise DataError(f"draws is {draws}; give at least 1.")
    own = getattr(model, "predictive", None)
    if own is not None:
        return np.asarray(own(draws, rng))
    return np.asarray(sum(model.posterior(draws, rng)) / draws)


def over(table: Table, cells: Cells) -> Codes:
    """The codes of cells of the table, in its order of variables."""
    if sorted(cells.names) != sorted(table.names):
        raise DataError(
            f"the cells are of {'*'.join(cells.names)}, the table of {'*'.join(table.names)}; ask "
            "about cells of the table."
        )
    return cells.project(table.names)


def _fitted(table: Table, model: CellModel | Refit) -> tuple[CellModel, Refit | None]:
    if callable(model) and not hasattr(model, "posterior"):
        fitted, refit = model(table), model
    else:
        fitted, refit = model, getattr(model, "refit", None)  # type: ignore[assignment]
    if tuple(fitted.sizes) != table.shape:
        raise DataError(
            f"the model is of {tuple(fitted.sizes)} categories, the table of {table.shape}; fit it "
            "to this table."
        )
    return fitted, refit


def _possible(chances: Floats, possible: NDArray[np.bool_]) -> Floats:
    kept = np.where(possible, chances, 0.0)
    return np.asarray(kept / kept.sum())


def _copy(table: Table, chances: Floats, kept: list[int], rng: np.random.Generator) -> Table:
    """Everybody anew, or with the kept variables as they were."""
    shape = table.shape
    if not kept:
        counts = rng.multinomial(table.total, chances)
        places = np.flatnonzero(counts)
        return Table(table.variables, unravel(places, shape), counts[places].astype(np.int64))
    moved = [p for p in range(len(shape)) if p not in kept]
    order = [*kept, *moved]
    groups = math.prod(shape[p] for p in kept)
    rows = chances.reshape(shape).transpose(order).reshape(groups, -1)
    margin = table.margin([table.names[p] for p in kept])
    found = keys(margin.codes, margin.shape)
    given = rows[found]
    counts = rng.multinomial(margin.counts, given / given.sum(1, keepdims=True))
    group, cell = np.nonzero(counts)
    codes = np.empty((len(group), len(shape)), table.codes.dtype)
    codes[:, kept] = margin.codes[group]
    codes[:, moved] = unravel(cell, [shape[p] for p in moved])
    return Table.from_cells(table.variables, codes, counts[group, cell].astype(np.int64))

"""What one release tells of sums of a table's cells, by the mechanism that made it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.decision.compare.cellbeliefs import Asked
from discreet.decision.compare.printedbeliefs import cell_rows
from discreet.decision.compare.rowbeliefs import MOST_HELD, Seen
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.look.words import plural
from discreet.masks.cellkey.ptable import PTable
from discreet.masks.mechanism import Mechanism, mechanism
from discreet.sheets.grouping import Grouping
from discreet.sheets.released import read_manifest, read_released
from discreet.sheets.sheet import COUNT, Sheet
from discreet.sheets.system import System
from discreet.table.axes import Axes
from discreet.table.formula import margin_names
from discreet.table.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

EXACT = Mechanism(0, 0)
SILENT = "drawn given margins that are out ({}): these are known, and it tells nothing besides"
GAPS = "how gaps were chosen among others may tell more"


@dataclass(frozen=True, eq=False)
class Sums:
    """A printed row: its cells, the counts it may be from `low` on, and their log-likelihoods."""

    cells: tuple[int, ...]
    low: int
    logs: Floats
    secret: str = ""


@dataclass(frozen=True, eq=False)
class Told(Unpublished):
    """One release: its printed rows as what they tell of the cells of a table.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> shown = dc.office.conventional(table.margin("Race").counts, 5)
    >>> Told.of_margin(table, "Race", shown, "conventional rounding", {"base": 5})
    Told(Race by conventional rounding: 3 sums)
    """

    name: str
    axes: Axes
    sums: tuple[Sums, ...]
    said: tuple[str, ...] = ()

    @classmethod
    def of_margin(
        cls,
        table: Table,
        margin: str,
        shown: ArrayLike,
        method: str = "",
        parameters: Mapping[str, Any] | None = None,
        *,
        ptable: PTable | None = None,
    ) -> Told:
        """A margin as it was shown, row-major; nan where there is a gap.

        `method` and `parameters` are as a manifest has them: random rounding with its base, cell
        key with D and V or its `ptable`; nothing for true counts.
        """
        names = margin_names(margin, table.names)
        values = np.asarray(shown, np.float64).ravel()
        groupings = [_categories(table, name) for name in names]
        system = System.of([Sheet("*".join(names), tuple(groupings))])
        if len(values) != system.cells:
            raise DataError(
                f"{margin} has {system.cells:,} cells, and {len(values):,} are given; give one for "
                "each."
            )
        made = mechanism(method, parameters or {}, ptable=ptable) if method else EXACT
        if made is None:
            raise DataError(f"nothing is known of {method!r} for a single cell; name another mask.")
        asked, name = Asked(table, 0), f"{margin} by {method}" if method else margin
        rows = cell_rows(system, asked)[system.places[0].ravel()]
        sums = tuple(_sums(rows, values, made, asked))
        return cls(name, table.axes, sums, _said(values, made))

    @classmethod
    def read(cls, folder: str | Path, table: Table, *, ptable: PTable | None = None) -> Told:
        """A release as `discreet mask` wrote it: what several of its tables show is drawn once."""
        folder = Path(folder)
        content, out = read_manifest(folder), read_released(folder, table.variables)
        asked, found, said = Asked(table, 0), [], []
        for one, sheet, values in zip(content["tables"], out.sheets, out.values, strict=True):
            if sheet.measure != COUNT:
                raise DataError(f"table {sheet.name!r} of {folder.name!r} does not count people.")
            made = _made(one, ptable)
            if made is None:
                if not one["parameters"].get("silent"):
                    raise DataError(
                        f"what table {sheet.name!r} of {folder.name!r} tells is not known: it was "
                        f"made by {one['method']}."
                    )
                kept, words = _kept(one["parameters"]["kept"], table)
                found += kept
                said.append(words)
                continue
            system = System.of([sheet])
            rows = cell_rows(system, asked)[system.places[0].ravel()]
            found += _sums(rows, values.ravel(), made, asked)
            said += _said(values, made)
        once = {(sums.cells, sums.low, sums.logs.tobytes()): sums for sums in found}
        return cls(folder.name, table.axes, tuple(once.values()), tuple(dict.fromkeys(said)))

    def __repr__(self) -> str:
        return f"Told({self.name}: {plural(len(self.sums), 'sum')})"


def _kept(formula: str, table: Table) -> tuple[list[Sums], str]:
    """The true margins that a drawn table keeps, as far as they are of the table's variables."""
    margins = [[n.strip() for n in term.split("*")] for term in formula.split(" + ")]
    inside = [tuple(n for n in table.names if n in margin) for margin in margins]
    found: list[Sums] = []
    for names in dict.fromkeys(names for names in inside if names):
        shown = table.margin(names).dense()
        found += Told.of_margin(table, "*".join(names), shown).sums
    return found, SILENT.format(formula)


def _made(said: Mapping[str, Any], ptable: PTable | None) -> Mechanism | None:
    if said["exact"]:
        return EXACT
    return mechanism(said["method"], said["parameters"], whole=said["whole"], ptable=ptable)


def _categories(table: Table, name: str) -> Grouping:
    variable = table.variable(name)
    if variable.size == 1:
        return Grouping.of(variable)
    own = {category: [category] for category in variable.categories}
    return Grouping.cut(variable, own, total=False)


def _said(values: Floats, made: Mechanism) -> tuple[str, ...]:
    gaps = (GAPS,) if np.isnan(values).any() else ()
    return (*gaps, made.said) if made.said else gaps


def _sums(rows: csr_matrix, shown: Floats, made: Mechanism, asked: Asked) -> list[Sums]:
    """Where zeros are printed, and none is behind a gap, a gap is known to be 1 or more."""
    total, truth, gaps = asked.table.total, rows @ asked.cells.counts, np.isnan(shown)
    floor = int(bool((shown == 0).any()) and bool((truth[gaps] > 0).all()))
    found = []
    if gaps.any() and total > MOST_HELD:
        raise DataError(
            f"a gap can be any of {total:,} counts, too many to hold a likelihood for each; look "
            "at a smaller table."
        )
    for row, value in enumerate(shown.tolist()):
        cells = tuple(rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tolist())
        if np.isnan(value):
            found.append(Sums(cells, floor, np.zeros(total - floor + 1)))
            continue
        low = max(0, math.ceil(value - made.below))
        logs = made.log(value, np.arange(low, min(total, math.floor(value + made.above)) + 1))
        able = np.flatnonzero(logs > -np.inf)
        if not len(able):
            raise DataError(f"no count from 0 to {total:,} is shown as {value:g}; correct it.")
        found.append(Sums(cells, low + int(able[0]), logs[able[0] : able[-1] + 1], made.secret))
    return found


def seen(told: Sequence[Told], table: Table) -> Seen:
    """All releases together; keys of one secret give the same people one noise, once."""
    from scipy.sparse import csr_matrix

    for one in told:
        if one.axes.names != table.names or one.axes.sizes != table.axes.sizes:
            raise DataError(
                f"{one.name} tells of {'*'.join(one.axes.names)}, and the table is "
                f"{'*'.join(table.names)}; read it for this table."
            )
    kept, keyed = [], set()
    for sums in (one for release in told for one in release.sums):
        key = (sums.cells, sums.secret, sums.low, len(sums.logs))
        if sums.secret and key in keyed:
            continue
        keyed.add(key)
        kept.append(sums)
    start = np.cumsum([0, *(len(one.cells) for one in kept)])
    members = np.array([cell for one in kept for cell in one.cells], np.int64)
    rows = csr_matrix((np.ones(len(members)), members, start), shape=(len(kept), table.axes.cells))
    low = np.array([one.low for one in kept], np.int64)
    size = np.array([len(one.logs) for one in kept], np.int64)
    logs = np.concatenate([np.zeros(0), *(one.logs for one in kept)])
    return Seen(rows, low, low + size - 1, logs)

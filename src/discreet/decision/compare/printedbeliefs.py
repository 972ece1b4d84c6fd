"""Beliefs from what is printed of sheets: each printed sum lies in a range, and the total is known.

Every table with such sums is alike. How a pattern of gaps or a rounding was chosen among others
may tell more; that is said where it may.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.decision.batch.coded import Coded
from discreet.decision.compare.cellbeliefs import Asked, Believed, fitting
from discreet.decision.compare.rowbeliefs import Seen
from discreet.errors import DataError
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.release.release import Release
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet, Status
from discreet.sheets.system import System
from discreet.table.table import Table

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_matrix


def cell_rows(system: System, asked: Asked) -> csr_matrix:
    """Every printed row as a sum of the table's cells: rows x cells."""
    from scipy.sparse import csr_matrix

    codes, cells = asked.cells.codes, np.arange(len(asked.cells))
    fine, cell = [], []
    for part in system.parts:
        place = np.zeros(len(cells), np.int64)
        for name, atom, size in zip(part.names, part.atoms, part.shape, strict=True):
            place = place * size + atom[codes[:, asked.table.axes.place[name]]]
        fine.append(part.start + place)
        cell.append(cells)
    where = np.concatenate(fine), np.concatenate(cell)
    each = csr_matrix((np.ones(len(where[0])), where), shape=(system.columns, len(cells)))
    found = csr_matrix(system.sums @ each)
    found.data[:] = 1.0
    found.sort_indices()
    return found


def known_total(printed: Printed, rows: csr_matrix, total: int) -> Printed:
    """What is seen by who knows how many people there are."""
    every = np.flatnonzero(np.diff(rows.indptr) == rows.shape[1])
    return printed.knowing(every, np.full(len(every), float(total)))


def coded(printed: Printed, asked: Asked) -> tuple[Table, Release]:
    """What is printed as a release over the table with its groups of categories."""
    shown = [i for i, s in enumerate(printed.system.sheets) if s.status is not Status.WATCHED]
    sheets = [printed.system.sheets[i] for i in shown]
    whole = Sheet("", tuple(Grouping.of(v, total=False) for v in asked.table.variables))
    made = Coded.of(Records.of_table(asked.table), [*sheets, whole])
    release, total = made.release(printed, shown)
    if not total:
        raise DataError("no table shows a total; show one.")
    return made.table, release


def printed_belief(printed: Printed, asked: Asked, rng: np.random.Generator) -> Believed:
    """A sum over the tables that fit; else chains over them."""
    rows = cell_rows(printed.system, asked)
    printed = known_total(printed, rows, asked.table.total)
    return fitting(coded(printed, asked)[1], asked, rng)


def ranges(printed: Printed, rows: csr_matrix, total: int) -> Seen:
    """The printed sums as ranges of whole numbers."""
    low = np.ceil(printed.lower).astype(np.int64)
    return Seen(rows, low, np.minimum(np.floor(printed.upper), total).astype(np.int64))


def as_printed(masked: Masked, asked: Asked, believed: Believed) -> Floats:
    """What is printed for each cell, and where nothing is, what is expected of it."""
    rows = cell_rows(masked.system, asked)
    single = np.flatnonzero(np.diff(rows.indptr) == 1)
    found = np.full(len(asked.cells), np.nan)
    found[rows.indices[rows.indptr[single]]] = masked.values[single]
    return np.where(np.isnan(found), believed.mean, found)


def sheets_frame(masked: Sequence[Masked], names: Sequence[str], total: str) -> pd.DataFrame:
    """A row for each printed cell of each sheet, without a count where there is a gap."""
    import pandas as pd

    parts = []
    for one in masked:
        for sheet in one.system.sheets:
            if sheet.status is not Status.WANTED:
                continue
            part = pd.DataFrame(list(sheet.labels()), columns=list(sheet.names))
            for name in names:
                if name not in sheet.names:
                    part[name] = total
            counts = pd.array(one.shown(sheet).ravel(), "Float64").astype("Int64")
            part = part[list(names)].assign(count=counts)
            part.insert(0, "table", sheet.name)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)

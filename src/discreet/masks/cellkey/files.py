"""Perturbation tables as text: what R's ptable exports for tau-ARGUS and SAS, and all columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.data.smallfiles import read_csv
from discreet.errors import DataError, OutputError
from discreet.masks.cellkey.ptable import PTable

COLUMNS = ("i", "j", "p", "v", "p_int_lb", "p_int_ub", "type")


def read_ptable(path: Path | str) -> PTable:
    """Columns i, j, p_int_ub, and p, v, p_int_lb, type where they are; `;` or `,` between.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.masks.cellkey.ptable import count_ptable
    >>> with TemporaryDirectory() as folder:
    ...     write_ptable(count_ptable(2, 0.9), Path(folder) / "ptable.csv")
    ...     read_ptable(Path(folder) / "ptable.csv")
    PTable(i to 2)
    """
    read = read_csv(path, "the perturbation table ")
    names, rows = read.heading, [row for _, row in read.lines]
    if missing := {"i", "j", "p_int_ub"} - set(names):
        raise DataError(f"{read.name} has no column {min(missing)!r}; it has i, j and p_int_ub.")
    try:
        given = {
            name: np.array([float(row[k]) for row in rows])
            for k, name in enumerate(names)
            if name in COLUMNS and name != "type"
        }
        kind = np.array([row[names.index("type")] if "type" in names else "all" for row in rows])
    except ValueError as error:
        raise DataError(f"{read.name} has a line that is no row of numbers: {error}.") from None
    i, upper = given["i"], given["p_int_ub"]
    new = np.concatenate([[True], (i[1:] != i[:-1]) | (kind[1:] != kind[:-1])])
    lower = np.where(new, 0.0, np.concatenate([[0.0], upper[:-1]]))
    return PTable(
        i,
        given["j"],
        given.get("p", upper - lower),
        given.get("v", given["j"] - i),
        given.get("p_int_lb", lower),
        upper,
        kind,
    )


def write_ptable(table: PTable, path: Path | str, *, tool: str = "all") -> None:
    """`tool` TauArgus writes no lower bounds, SAS both, and neither a type where all is one."""
    if tool not in ("all", "TauArgus", "SAS"):
        raise DataError(f"there is no tool {tool!r}; there are all, TauArgus, SAS.")
    one = bool((table.kind == "all").all()) and bool((table.j == np.round(table.j)).all())
    names = [
        name
        for name in COLUMNS
        if not (name == "p_int_lb" and tool == "TauArgus")
        and not (name == "type" and tool != "all" and one)
    ]
    columns = {
        "i": [f"{x:g}" for x in table.i],
        "j": [f"{x:g}" for x in table.j],
        "p": [f"{x:.8f}" for x in table.p],
        "v": [f"{x:g}" for x in table.v],
        "p_int_lb": [f"{x:.8f}" for x in table.lower],
        "p_int_ub": [f"{x:.8f}" for x in table.upper],
        "type": table.kind.tolist(),
    }
    lines = [";".join(names)]
    lines += [";".join(row) for row in zip(*(columns[name] for name in names), strict=True)]
    try:
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error}.") from None

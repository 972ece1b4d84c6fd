"""The page of bounds: what a release says for certain about each cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.intruder.bounds.result import Rung
from discreet.look.words import listed, number, plural, span
from discreet.report.page import HTML, MOST_LONG, Chart, Page, Part, Rows, Say, Section, data_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.intruder.bounds.result import CellBounds

MOST_BARS = 20
PROVEN = {
    "sharp": "exact: tables of whole numbers that fit the release reach both ends of each interval",
    "linear": "bounded: tables that fit reach both ends, some with fractions of people; counted as "
    "whole people, an interval may be narrower",
    "not proven tight": "outer bounds: no table was found that reaches some of the ends; those "
    "intervals may be narrower than they are shown",
}


def bounds_page(
    bounds: CellBounds,
    *,
    counts: NDArray[np.int64] | None = None,
    beta: int = 3,
    release: str = "",
    data: str | Path | None = None,
) -> Page:
    """Feasible intervals, narrowest first; `counts` are the true ones, if they may be shown."""
    import numpy as np

    names = [variable.name for variable in bounds.variables]
    fitted = bounds.proven(Rung.LINEAR).all()
    tight = "sharp" if bounds.sharp else "linear" if fitted else "not proven tight"
    narrowest = "" if bounds.narrowest is None else f", narrowest width {number(bounds.narrowest)}"
    rows = np.argsort(bounds.width, kind="stable")[:MOST_LONG]
    labels, figures, status = [], [], bounds.status(beta)
    for row in rows:
        codes = zip(bounds.variables, bounds.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        lower, upper = int(bounds.lower[row]), int(bounds.upper[row])
        line = [span(lower, upper), number(upper - lower), str(status[row])]
        figures.append(line if counts is None else [number(int(counts[row])), *line])
    table = Rows(
        "Cells and the counts that fit the release, narrowest interval first",
        names,
        labels,
        [*(["count"] if counts is not None else []), "interval", "width", "status"],
        figures,
        len(bounds),
        words=("status",),
        kind="more cell",
        of_data=True,
    )
    chart = Chart(
        "intervals",
        lambda **options: bounds.plot(counts=counts, **{"most": MOST_BARS} | options),
        "One bar a cell, from the lowest to the highest count that fits the release, narrowest "
        "first. The table below has the same figures.",
    )
    over = f"{plural(len(bounds), 'cell')} over {listed(names, 8)}"
    parts: list[Part] = [chart, table] if len(bounds) else []
    said = Say(f"Release: {release}", on=HTML)
    return Page(
        "Bounds of cells",
        f"{over}: {bounds.method}, {tight}{narrowest}",
        [Section("What an intruder can work out", parts, bare=True)] if parts else [],
        said=[
            *([Say(bounds.stopped, "grave")] if bounds.stopped else []),
            *([said] if release else []),
            *([Say(PROVEN[tight], "quiet")] if len(bounds) else []),
        ],
        files=data_file(data),
    )

"""Which cells to publish, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.look.palette import number, percent, plural
from discreet.report.text import _cells, _head, _more, _say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from discreet.decision.survey.combine import Combination
    from discreet.decision.survey.publish import Publication

MOST = 20


def print_publication(
    found: Publication,
    console: Console,
    *,
    name: str = "",
    combined: Combination | None = None,
    most: int = MOST,
) -> None:
    """The decision, the cells nearest to its edge, and what other ratios would publish."""
    import numpy as np

    many = f"{number(int(found.publish.sum()))} of {plural(len(found), 'cell')}"
    data, risk = percent(found.data_published), percent(found.risk_taken)
    _head(
        console, f"Publish {many}: {data} of the data at {risk} of the disclosure risk", gap=False
    )
    _say(console, f"{name + ': ' if name else ''}{found.rule}", "dim")
    disclosure, nonpublication = (loss.name for loss in found.losses)
    _say(console, f"loss of disclosure {disclosure}, of nonpublication {nonpublication}", "dim")
    _say(console, _prior(found), "dim")

    _head(console, "In the order of publication" if len(found) <= most else "Nearest to the edge")
    order = found.order
    edge = int(found.publish.sum())
    start = max(0, min(edge - most // 2, len(found) - most))
    rows = order[start : start + most]
    columns = [(name, [str(v) for v in _at(values, rows)]) for name, values in _labels(found)]
    counts, mean = found.counts, found.counts.mean
    figures = []
    for row in rows:
        ratio = "" if np.isnan(found.ratio[row]) else f"{found.ratio[row]:.4f}"
        line = [number(int(column[row])) for column in (counts.n, counts.N, counts.y)]
        line += [f"{mean[row]:,.1f}", f"{found.R0[row]:,.4g}", f"{found.R1[row]:,.4g}", ratio]
        figures.append([*line, "publish" if found.publish[row] else "suppress"])
    labels = [[values[place] for _, values in columns] for place in range(len(rows))]
    if not columns:
        columns, labels = [("row", [])], [[number(int(row) + 1)] for row in rows]
    heads = ["n", "N", "y", "E Y", "R0", "R1", "R1/R0", ""]
    _cells(console, labels, [name for name, _ in columns], figures, heads)
    _more(console, len(found) - len(rows))

    if combined is not None:
        _print_combined(combined, console, most)

    _head(console, "What each ratio would publish")
    table = found.ratios()
    _cells(
        console,
        [[f"R1 < {number(ratio)} R0"] for ratio in table["ratio"]],
        ["where"],
        [
            [number(int(cells)), percent(data, 1), percent(risk, 1)]
            for cells, data, risk in zip(table["cells"], table["data"], table["risk"], strict=True)
        ],
        ["cells", "data", "risk"],
    )


def _print_combined(combined: Combination, console: Console, most: int) -> None:
    """Groups of neighbouring cells that can be published together."""
    saved = plural(combined.saved, "suppressed cell")
    _head(console, f"Joined with rows next to them, {saved} can be published")
    groups = combined.combined
    for group in groups[:most]:
        rows = ", ".join(number(row + 1) for row in group.rows)
        _say(console, f"rows {rows}: R1 / R0 = {group.ratio:.4f}")
    _more(console, len(groups) - most)


def _prior(found: Publication) -> str:
    prior = found.prior
    said = f"prior beta({prior.alpha:.4g}, {prior.beta:.4g})"
    if prior.covariance is None:
        return f"{said}, given"
    ends = prior.intervals()
    spans = ", ".join(f"{k} {ends[k][0]:.4g} to {ends[k][1]:.4g}" for k in ("alpha", "beta"))
    limit = "; domains do not differ more than by chance" if prior.at_limit else ""
    return f"{said}, fitted to {plural(prior.domains, 'domain')} (95%: {spans}){limit}"


def _labels(found: Publication) -> list[tuple[str, object]]:
    """Columns of the data that are not n, N or y."""
    import numpy as np

    counts = found.counts
    shown = []
    for name, values in found.columns.items():
        column = np.asarray(values)
        same = column.dtype.kind in "iuf" and any(
            np.array_equal(column, other) for other in (counts.n, counts.N, counts.y)
        )
        if not same:
            shown.append((name, values))
    return shown[:4]


def _at(values: object, rows: NDArray[np.int64]) -> list[object]:
    import numpy as np

    return [*np.asarray(values, object)[rows]]

"""More margins or wider intervals: the frontier by beta."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.decision.frontier.frontier import Frontier, frontier
from discreet.decision.frontier.strategy import FrontierMethod
from discreet.errors import DataError, DisclosureError
from discreet.look.progress import track
from discreet.look.result import Result
from discreet.release.doors import of_table
from discreet.table.cells import frame
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Tradeoff(Result):
    """The frontier of each method at each beta.

    >>> import discreet as dc
    >>> found = dc.frontiers.tradeoff(dc.load("example:tract"), [3, 10], methods=["greedy"])
    >>> found.to_frame()[["method", "beta", "released", "min_width"]]
       method  beta  released  min_width
    0  greedy     3         4          5
    1  greedy    10         3         80
    """

    frontiers: tuple[Frontier, ...]

    def __repr__(self) -> str:
        points = ", ".join(f"{method} {beta}: {n:,}" for method, beta, n in self.points)
        return f"Tradeoff({points})"

    @property
    def points(self) -> tuple[tuple[str, int, int], ...]:
        """Method, beta, and how many margins are released."""
        return tuple((found.method, found.beta, found.released) for found in self.frontiers)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a method and beta."""
        rows = self.frontiers
        columns = {
            "method": [found.method for found in rows],
            "beta": [found.beta for found in rows],
            "released": [found.released for found in rows],
            "maximal_margins": [len(found.formula) for found in rows],
            "min_width": [found.min_width for found in rows],
            "certified": [found.certified for found in rows],
        }
        return frame(columns, kind)

    def to_json(self) -> list[dict[str, Any]]:
        return [found.to_json() for found in self.frontiers]

    def plot(self, **options: Any) -> Any:
        """Margins by beta, a line a method."""
        from discreet.look.frontiercharts import tradeoff_chart

        return tradeoff_chart(self.points, **options)


@of_table
def tradeoff(
    table: Table,
    betas: Iterable[int],
    *,
    methods: Iterable[FrontierMethod] = ("best", "greedy", "decomposable"),
    **options: Any,
) -> Tradeoff:
    """The frontiers at several betas; where none is possible the point is left out.

    `options` are those of `frontier`, for each.

    >>> from discreet.table.load import load
    >>> tradeoff(load("example:czech"), [3, 20], methods=["best", "greedy"])
    Tradeoff(best 3: 61, best 20: 52, greedy 3: 61, greedy 20: 45)
    """
    asked = [(method, beta) for method in methods for beta in sorted(set(betas))]
    if not asked:
        raise DataError("name at least one beta and one method.")
    found = []
    for method, beta in track(asked, "frontiers"):
        try:
            found.append(frontier(table, beta=beta, method=method, **options))
        except DisclosureError as error:
            if isinstance(error, DataError):
                raise
    return Tradeoff(tuple(found))

"""What a search for a decomposable release found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.look.result import Paged
from discreet.table.cells import frame
from discreet.table.formula import Formula


@dataclass(frozen=True)
class Restart:
    """One search: its seed, what it reached, after how many steps, and the best by step."""

    seed: tuple[int, ...]
    value: float
    steps: int
    finished: bool
    trace: tuple[tuple[int, float], ...] = field(repr=False)
    near: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class DecomposableFrontier(Paged):
    """The maximal margins of the best decomposable release found.

    `at_most` is proven: no decomposable release with these limits has more margins (None where no
    proof was tried). Restarts that are not `finished` were cut by the time limit; the answer to a
    seed is the same every time as long as none is.

    >>> import discreet as dc
    >>> found = dc.frontiers.decomposable_frontier(dc.load("example:czech"), beta=3)
    >>> str(found.formula), found.released, found.optimal
    ('A*B*C*D*E + A*B*C*D*F', 47, True)
    """

    formula: Formula
    released: int
    by_order: dict[int, int]
    min_width: int | None
    beta: int
    seed: int
    value: float
    restarts: tuple[Restart, ...] = field(repr=False)
    at_most: int | None = None

    @property
    def reached(self) -> int:
        """How many restarts reached the best value."""
        return sum(bool(np.isclose(run.value, self.value, rtol=1e-9)) for run in self.restarts)

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no decomposable release has more margins."""
        return self.released == self.at_most

    @property
    def finished(self) -> bool:
        """Whether every restart ended by itself, not by the time limit."""
        return all(run.finished for run in self.restarts)

    @property
    def trace(self) -> tuple[tuple[int, float], ...]:
        """The best value by step, of the restart whose release this is."""
        return max(self.restarts, key=lambda run: run.value).trace

    def __repr__(self) -> str:
        possible = 2 ** len(self.formula.names) - 1
        width = "" if self.min_width is None else f", narrowest width {self.min_width}"
        proof = "proven best, " if self.optimal else ""
        return (
            f"DecomposableFrontier({self.released:,} of {possible:,} margins, "
            f"{len(self.formula)} maximal{width}: {proof}"
            f"{self.reached} of {len(self.restarts)} restarts)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a maximal margin."""
        margins = self.formula.margins
        columns = {"margin": list(map("*".join, margins)), "order": list(map(len, margins))}
        return frame(columns, kind)

    def plot(self, **options: Any) -> Any:
        """The best found by step, a line a restart."""
        from discreet.look.frontiercharts import trace_chart

        measure = "margins" if self.value == self.released else "worth"
        traces = [run.trace for run in self.restarts]
        return trace_chart(traces, **{"measure": measure, "at_most": self.at_most} | options)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet frontier --json` prints."""
        return {
            "released": self.released,
            "listed": None,
            "by_order": {str(order): n for order, n in self.by_order.items()},
            "frontier": [list(margin) for margin in self.formula.margins],
            "min_width": self.min_width,
            "certified": True,
            "beta": self.beta,
            "at_most": self.at_most,
            "seed": self.seed,
            "restarts": len(self.restarts),
            "reached": self.reached,
            "finished": self.finished,
        }

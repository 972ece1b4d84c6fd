"""Who is reproduced: cells with few people that synthetic copies show too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.masks.synthesis.given import chance_of, eligible
from discreet.masks.synthesis.synthesise import Synthetic, over, predicted
from discreet.table.cells import Cells, frame
from discreet.table.table import Table

DRAWS = 20


@dataclass(frozen=True, eq=False)
class Reproduced(Result):
    """Shares of the true small cells that copies show.

    `in_a_copy` is the mean over the copies, `in_any` the share that at least one of them shows.
    `expected` is that of one copy by the model, 1 - (1 - p)^n on average; `by_margins` the same if
    all variables were independent: what chance alone would show. `true_among_shown` is the share
    of small cells of a copy in which a true person is.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> model = dc.synthetic.LogLinearCells.fit(table, "Race*Income + Gender")
    >>> made = dc.synthetic.synthesise(table, model, copies=3, rng=np.random.default_rng(1))
    >>> dc.synthetic.reproduced(table, made)
    Reproduced(3 cells of up to 1: 0.333 in a copy, 0.572 by the model, 0.552 by the margins,
        0.667 in any)
    """

    cells: int
    at_most: int
    copies: int
    in_a_copy: float
    in_any: float
    expected: float
    by_margins: float
    true_among_shown: float

    def __repr__(self) -> str:
        return (
            f"Reproduced({self.cells:,} cells of up to {self.at_most}: {self.in_a_copy:.3f} in a "
            f"copy, {self.expected:.3f} by the model, {self.by_margins:.3f} by the margins, "
            f"{self.in_any:.3f} in any)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row."""
        return frame({name: [value] for name, value in self.to_json().items()}, kind)

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


def reproduced(
    table: Table,
    synthetic: Synthetic,
    *,
    at_most: int = 1,
    draws: int = DRAWS,
    rng: np.random.Generator | None = None,
) -> Reproduced:
    """How many of the cells with 1 to `at_most` people the copies show.

    >>> from discreet.models.decomposed import LogLinearCells
    >>> from discreet.masks.synthesis.synthesise import synthesise
    >>> from discreet.table.load import load
    >>> table = load("example:czech")
    >>> model = LogLinearCells.fit(table, "A*C*E + A*D*E + B*C + F")
    >>> made = synthesise(table, model, copies=5, rng=np.random.default_rng(1))
    >>> reproduced(table, made, at_most=5)
    Reproduced(14 cells of up to 5: 0.871 in a copy, 0.904 by the model, 0.998 by the margins,
        1.000 in any)
    """
    cells: Cells = table.small(at_most)
    if not len(cells):
        raise DataError(f"no cell has 1 to {at_most} people; raise at_most.")
    rng = np.random.default_rng(0) if rng is None else rng
    codes = over(table, cells)
    shown = np.stack([copy.lookup(codes) > 0 for copy in synthetic.tables])
    small = [copy.small(at_most) for copy in synthetic.tables]
    there = [float((table.lookup(s.codes) > 0).mean()) if len(s) else 0.0 for s in small]
    people = eligible(synthetic, codes)
    model = chance_of(predicted(synthetic.model, draws, rng), synthetic, codes)
    return Reproduced(
        len(cells),
        at_most,
        len(synthetic),
        float(shown.mean()),
        float(shown.any(0).mean()),
        _appears(model, people),
        _appears(_independent(table, synthetic, cells), people),
        float(np.mean(there)),
    )


def _appears(chances: Floats, people: NDArray[np.int64]) -> float:
    """The mean chance that at least one of the people is there."""
    return float((1 - (1 - np.minimum(chances, 1.0)) ** people).mean())


def _independent(table: Table, synthetic: Synthetic, cells: Cells) -> Floats:
    chances = np.ones(len(cells))
    for name in synthetic.replaced:
        margin = table.margin([name])
        chances *= margin.lookup(cells.project([name])) / table.total
    return chances

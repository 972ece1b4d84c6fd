"""A table behind a mask, and what an intruder believes of it who knows the mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.decision.compare.cellbeliefs import Asked, Believed
from discreet.decision.law.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TableCandidate:
    """What would be released of a table, what a user takes each cell for, what is believed.

    `estimate` is of all cells, row-major; `beliefs` are the probabilities of the counts 0, 1, ...
    of each of the `guarded` cells. `error` is the largest standard error of these, 0 if they are
    `exact`. `verdict` is None where no rule of the policy knows the mask. `parameters` say how it
    was made, and nothing of the data.

    >>> from discreet.decision.compare.tables import make_table
    >>> from discreet.decision.law.policy import Policy
    >>> from discreet.table.load import load
    >>> options, rng = {"epsilon": 1.0}, np.random.default_rng(1)
    >>> made = make_table(load("example:tract"), "private", options, Policy(), rng)
    >>> made
    TableCandidate(private: 4 small counts, exact)
    >>> [round(float(chances.sum()), 9) for chances in made.beliefs]
    [1.0, 1.0, 1.0, 1.0]
    """

    method: str
    estimate: Floats
    beliefs: tuple[Floats, ...]
    guarded: Ints
    exact: bool
    error: float
    verdict: Verdict | None
    said: tuple[str, ...]
    parameters: Mapping[str, Any]
    frame: pd.DataFrame = field(repr=False)

    @classmethod
    def of(
        cls,
        method: str,
        asked: Asked,
        believed: Believed,
        frame: pd.DataFrame,
        parameters: Mapping[str, Any],
        *,
        verdict: Verdict | None = None,
        estimate: Floats | None = None,
        said: tuple[str, ...] = (),
    ) -> TableCandidate:
        """From what is believed; the user expects what the intruder does, unless told."""
        return cls(
            method,
            np.asarray(believed.mean if estimate is None else estimate, np.float64),
            believed.beliefs,
            asked.guarded,
            believed.exact,
            believed.error,
            verdict,
            tuple(dict.fromkeys((*said, *believed.said))),
            {name: value for name, value in parameters.items() if value is not None},
            frame,
        )

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"to {self.error:.2g}"
        judged = "" if self.verdict is None else f", {self.verdict}"
        return f"TableCandidate({self.method}{judged}: {len(self.guarded)} small counts, {how})"

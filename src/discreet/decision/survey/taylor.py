"""The second-order approximation of the risk beside the exact one, and where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.decision.survey.curve import chosen, ranks
from discreet.decision.survey.publish import Publication
from discreet.look.result import Result
from discreet.look.words import number, percent, plural
from discreet.table.cells import frame

NEAR = 1e-12  # of ratios that are the same
HALF = 0.5


@dataclass(frozen=True, eq=False)
class Taylor(Result):
    """R1 ~ L1(y, E Y) + L1''(y, E Y) Var Y / 2, cell by cell (Zaslavsky & Horton 1998, section 3).

    `error` is relative to the exact risk, missing where that is 0. `decided` are cells that the
    approximation decides otherwise; `misordered` those that it puts before or behind another cell
    where the exact risks do the opposite; `beyond` those where it is larger than the loss can be.

    >>> import discreet as dc
    >>> found = dc.publish([3, 10, 5], [8, 400, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.05)
    >>> close = dc.survey.taylor(found)
    >>> close.approximate.round(3), close.error.round(3)
    (array([0.846, 0.034, 0.761]), array([ 0.   , -0.498,  0.001]))
    """

    publication: Publication
    plugged: Floats
    approximate: Floats
    decided: Bools
    misordered: Bools
    beyond: Bools

    @property
    def error(self) -> Floats:
        exact = self.publication.R1
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(exact > 0, self.approximate / exact - 1, np.nan)

    @property
    def fails(self) -> Bools:
        """Where it changes the decision or the order, or is no possible loss."""
        return self.decided | self.misordered | self.beyond

    @property
    def worst(self) -> float:
        """The largest relative error, without its sign."""
        some = self.error[np.isfinite(self.error)]
        return float(np.abs(some).max()) if len(some) else 0.0

    def __repr__(self) -> str:
        parts = (("decision", self.decided), ("order", self.misordered))
        said = ", ".join(f"{name} of {number(int(rows.sum()))}" for name, rows in parts)
        return (
            f"Taylor({plural(len(self.publication), 'cell')}: error up to {percent(self.worst, 2)},"
            f" changes the {said})"
        )

    def words(self, row: int) -> str:
        """How it fails at a cell, "" where it does not."""
        flags = (("decision", self.decided), ("order", self.misordered), ("beyond", self.beyond))
        return ", ".join(name for name, rows in flags if rows[row])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell: n, N, y, E Y, its deviation, exact and approximate risk, the failures."""
        c = self.publication.counts
        columns = {
            "n": c.n,
            "N": c.N,
            "y": c.y,
            "mean": c.mean,
            "deviation": np.sqrt(c.variance),
            "R1": self.publication.R1,
            "plugged": self.plugged,
            "taylor": self.approximate,
            "error": self.error,
            "decision": self.decided,
            "order": self.misordered,
            "beyond": self.beyond,
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """`worst`, and of each cell `plugged`, `taylor`, `error` and how it `fails`."""
        error = [None if np.isnan(e) else e for e in self.error.tolist()]
        columns = zip(self.plugged.tolist(), self.approximate.tolist(), error, strict=True)
        return {
            "worst": self.worst,
            "decision": int(self.decided.sum()),
            "order": int(self.misordered.sum()),
            "cells": [
                {"plugged": p, "taylor": t, "error": e, "fails": self.words(row)}
                for row, (p, t, e) in enumerate(columns)
            ],
        }


def taylor(publication: Publication) -> Taylor:
    """The approximation of every cell's risk, cut by the publication's own rule.

    A loss with a step, as `threshold:T`, has no second derivative there: it is taken as flat, and
    the error shows.

    >>> from discreet.decision.survey.publish import publish
    >>> taylor(publish([3, 10, 5], [8, 400, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.2))
    Taylor(3 cells: error up to 49.75%, changes the decision of 0, order of 0)
    """
    c, (loss, _) = publication.counts, publication.losses
    given = (c.y, c.mean, c.n, c.N)
    plugged = loss(*given)
    approximate = plugged + loss.curvature(*given) * c.variance / 2
    rank = ranks(np.maximum(approximate, 0.0), publication.R0)
    weight = publication.weight
    other = chosen(
        publication.rule, rank, np.maximum(approximate, 0.0) * weight, publication.R0 * weight
    )
    exact = chosen(
        publication.rule, publication.rank, publication.R1 * weight, publication.R0 * weight
    )
    most = np.maximum(loss(c.y, c.y, c.n, c.N), loss(c.y, c.y + c.rest, c.n, c.N))
    return Taylor(
        publication,
        plugged,
        approximate,
        (other >= HALF) != (exact >= HALF),
        inverted(publication.rank, rank),
        approximate > most * (1 + NEAR),
    )


def inverted(first: Floats, second: Floats) -> Bools:
    """Which items stand before or behind another in one order, and the other way in the second."""
    found = np.zeros(len(first), bool)
    for sign in (1.0, -1.0):
        a, b = sign * first, sign * second
        order = np.argsort(a, kind="stable")
        a, b = a[order], b[order]
        low = a - NEAR * np.abs(np.where(np.isfinite(a), a, 0.0))
        before = np.searchsorted(a, low, side="left")  # strictly smaller ones
        top = np.append(-np.inf, np.maximum.accumulate(b))[before]
        with np.errstate(invalid="ignore"):
            found[order] |= top > b + NEAR * np.abs(np.where(np.isfinite(b), b, 0.0))
    return found

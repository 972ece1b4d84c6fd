"""Tables with the released margins and otherwise drawn by chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError
from discreet.intruder.posterior.chains.convergence import Convergence
from discreet.intruder.posterior.exact.decomposable import Matching
from discreet.intruder.posterior.exact.fibre import Fibre
from discreet.intruder.posterior.exact.jointree import Join
from discreet.intruder.posterior.result import Whole
from discreet.look.result import Unpublished
from discreet.look.words import plural
from discreet.masks.perturb.models import SAID, Odds, Source
from discreet.release.release import Release
from discreet.table.cells import frame, labels
from discreet.table.formula import Formula
from discreet.table.impossible import Combination
from discreet.table.keys import Codes
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Perturbed(Unpublished):
    """Draws of a table: `counts` of the cells `codes`, a row a draw; no other cell has anybody.

    Every draw has every margin of `release` and every zero and range that it knows. `exact`:
    the draws are independent and have the model's own probabilities; else they are of chains, and
    `convergence` says how far to trust these. Only `exact` and `convergence` speak of how well the
    model is met; the margins are kept either way.

    >>> from discreet.masks.perturb import perturb
    >>> from discreet.table.load import load
    >>> found = perturb(load("example:tract"), "Race*Income + Income*Gender", seed=1)
    >>> found
    Perturbed(1 draw of 742 people: keeps Race*Income + Gender*Income; exact, random matching)
    >>> found.margin("Race*Income") == load("example:tract").margin("Race*Income")
    True
    >>> found.silent
    True
    """

    release: Release
    odds: Odds
    codes: Codes
    counts: Ints
    method: str
    convergence: Convergence | None = None
    stopped: str | None = None
    impossible: tuple[Combination, ...] = ()

    @property
    def kept(self) -> Formula:
        """The margins that every draw has."""
        return self.release.formula

    @property
    def model(self) -> str:
        return self.odds.weights.name

    @property
    def source(self) -> Source:
        return self.odds.source

    @property
    def exact(self) -> bool:
        return self.convergence is None

    @property
    def silent(self) -> bool:
        """Does it tell nothing beyond the release?

        A draw N* is made from the margins m(N) alone, so that P(N | m, N*) = P(N | m), whether or
        not chains have converged. False where the odds come from elsewhere: for a review.
        """
        return self.source is Source.MARGINS

    # The tables

    def __len__(self) -> int:
        return len(self.counts)

    def table(self, draw: int = 0) -> Table:
        """One of the draws."""
        if not 0 <= draw < len(self):
            raise DataError(f"there is no draw {draw}; the draws are 0 to {len(self) - 1}.")
        return Table.from_cells(
            self.release.variables, self.codes, self.counts[draw], impossible=self.impossible
        )

    def tables(self) -> Iterator[Table]:
        return map(self.table, range(len(self)))

    def margin(self, names: str | Iterable[str], draw: int = 0) -> Table:
        """A margin of a draw; that of the data if it is within what is kept."""
        return self.table(draw).margin(names)

    # How probable they are

    def log_probability(self, table: Table) -> float:
        """That a draw is this table, under the model; -inf if it does not fit."""
        return self._whole.log_probability(table)

    @cached_property
    def _whole(self) -> Whole:
        if matched(self.release, self.odds):
            return Matching(self.release, Join.of(self.release))
        return Fibre.of(self.release, self.odds.weights)

    # What it looks like

    @property
    def said(self) -> tuple[str, ...]:
        """Sentences for the report."""
        known = len(self.release.known)
        zeros = f" and {plural(known, 'known cell')}" if known else ""
        found = [
            f"Perturbed: keeps {self.kept}{zeros}; other counts are draws from the {self._named}, "
            "and no counts of the data.",
            f"How drawn: {self.method}.",
            SAID[self.source],
        ]
        return (*found, self.stopped) if self.stopped else tuple(found)

    @property
    def _named(self) -> str:
        if self.odds.own:
            return "log-linear model of these margins"
        return self.model if "model" in self.model else f"{self.model} model"

    def __str__(self) -> str:
        said = " ".join(self.said)
        return said[0].lower() + said[1:]

    def __repr__(self) -> str:
        shown = str(self.kept)
        shown = shown if len(shown) <= 60 else f"{len(self.release.tables)} maximal margins"
        total = self.release.total or 0
        return (
            f"Perturbed({plural(len(self), 'draw')} of {total:,} people: keeps {shown}; "
            f"{self.method})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row a draw and cell that may have somebody: the draw, the labels and the count."""
        draws, cells = self.counts.shape
        columns = labels(self.release.variables, np.tile(self.codes, (draws, 1)))
        return frame(
            {"draw": np.repeat(np.arange(draws), cells)}
            | columns
            | {"perturbed": self.counts.ravel()},
            kind,
        )

    def to_json(self) -> dict[str, Any]:
        """How it was made, without the counts."""
        return {
            "kept": [list(margin) for margin in self.kept.margins],
            "model": self.model,
            "source": str(self.source),
            "silent": self.silent,
            "draws": len(self),
            "exact": self.exact,
            "method": self.method,
            "convergence": None if self.convergence is None else self.convergence.to_json(),
            "stopped": self.stopped,
            "said": list(self.said),
        }


def matched(release: Release, odds: Odds) -> bool:
    """Are tables random matchings of the released margins?"""
    return (
        odds.own
        and not release.known
        and release.formula.is_decomposable
        and all(release.formula.contains([name]) for name in release.names)
    )

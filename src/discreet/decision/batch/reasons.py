"""What rules say of printed sheets: what is shown, what follows, and what is proven not to."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.demands import Demand
from discreet.decision.law.verdict import Reason, Verdict
from discreet.effort import Clock, Effort
from discreet.intruder.bounds.result import Rung
from discreet.intruder.sums.audit import Audit, audit
from discreet.intruder.sums.below import below_hidden
from discreet.intruder.sums.propagate import propagate
from discreet.intruder.sums.protection import Protection
from discreet.look.words import plural
from discreet.release.printed import Printed

MOST_ALONE = 300  # contributors who know their own cell, each an intruder


class Looked:
    """Printed sheets, looked at once for all rules."""

    def __init__(
        self, case: SheetCase, printed: Printed, about: Bools | None, effort: float, clock: Clock
    ) -> None:
        self.case, self.printed, self.effort, self.clock = case, printed, effort, clock
        cells = len(case.cells.values)
        self.about = np.ones(cells, bool) if about is None else about
        self.shown = np.zeros(cells, bool)
        self.shown[: case.cells.printed] = printed.lower == printed.upper

    def reason(self, demand: Demand) -> Reason | None:
        """Shown, or known too closely: FAIL; not proven as the policy asks: REVIEW."""
        kept = self.about[demand.cells]
        cells = demand.cells[kept]
        if not len(cells):
            return None
        if len(bare := cells[self.shown[cells]]):
            text = f"{self.case.named(int(bare[0]))} is shown{_more(len(bare))}: {demand.why}."
            return Reason(demand.rule, Verdict.FAIL, text, self.case.listed(bare))
        number = plural(len(cells), "cell")
        if len(broken := cells[self.broken[cells]]):
            low, high = self.ends(int(broken[0]))
            text = (
                f"{self.case.named(int(broken[0]))} follows from what is printed to within "
                f"{low:,.6g} to {high:,.6g}{_more(len(broken))}: {demand.why}."
            )
            return Reason(demand.rule, Verdict.FAIL, text, self.case.listed(broken))
        if len(open_ := cells[self.spared[cells]]):
            text = (
                f"{self.case.named(int(open_[0]))} cannot be kept from who is the only contributor "
                f"to another hidden cell{_more(len(open_))}: {demand.why}. Merge categories, or "
                "say contributors.alone = false if that is accepted."
            )
            return Reason(demand.rule, Verdict.REVIEW, text, self.case.listed(open_))
        proven = self.proven[cells]
        if demand.group is not None:  # a share of what is hidden itself is not bounded
            proven &= self.shown[demand.group[kept]]
        rung = Rung(self.case.policy.bounds.proof)
        if rung is Rung.OUTER:
            text = f"{number} keep what is asked by outer bounds, which the policy accepts."
            return Reason(demand.rule, Verdict.PASS, text, rung=Rung.OUTER)
        if proven.all():
            kind = "whole numbers" if rung is Rung.INTEGER and self.case.whole else "fractions"
            text = f"{number} keep what is asked, shown by tables of {kind}."
            return Reason(demand.rule, Verdict.PASS, text)
        doubt = cells[~proven]
        if self.case.system.outer:
            why = "all tables together are too large to list"
        elif self.case.rough[doubt].all():
            why = "they lie below several tables, and none prints them"
        else:
            why = "no tables were found that show it"
        text = (
            f"of {number}, {len(doubt):,} keep what is asked by outer bounds, and that is not "
            f"proven: {why}."
        )
        return Reason(demand.rule, Verdict.REVIEW, text, self.case.listed(doubt), rung=Rung.OUTER)

    @cached_property
    def targets(self) -> Ints:
        """The cells that some rule asks about and nobody prints."""
        asked = np.zeros(len(self.about), bool)
        for demand in self.case.demands:
            asked[demand.cells] = True
        return np.flatnonzero(asked & self.about & ~self.shown)

    @property
    def searched(self) -> bool:
        """Was it looked for what follows? Not where printed cells were enough for the verdict."""
        return "closely" in self.__dict__

    @cached_property
    def closely(self) -> tuple[Ints, Audit | None, bool]:
        """Cells whose parts can be listed, what tables show of them, and whether to all."""
        cells = self.targets[~self.case.rough[self.targets]]
        if not len(cells):
            return cells, None, True
        alone = [[r for r in own if self.printed.hidden[r]] for own in self.case.intruders]
        alone = [own for own in alone if own]
        most = Effort(self.effort).of(MOST_ALONE)
        asked, everybody = self.case.asked(cells), len(alone) <= most
        spared = self.spared[cells]
        rough = self.case.rough[self.case.cells.printed :]
        free = np.zeros(self.case.system.columns, bool)
        free[self.case.cells.open_columns[~rough]] = True
        hidden = self.printed.hidden & self.case.rows_of()
        fewer = below_hidden(self.printed, self.case.cells.fine, hidden=hidden, free=free)
        if fewer is None:
            return cells, self._audit(self.printed, asked, alone[:most], spared), everybody
        # tables that differ from the true one only below hidden cells are tables, too
        first = self._audit(fewer, asked, alone[:most], spared)
        found = dataclasses.replace(first, broken=np.zeros(len(cells), bool))
        if len(rest := np.flatnonzero(~first.safe)):
            again = self._audit(self.printed, asked.take(rest), alone[:most], spared[rest])
            for name in ("safe", "broken", "linear", "whole", "low", "high", "least", "most"):
                getattr(found, name)[rest] = getattr(again, name)
            found = dataclasses.replace(found, stopped=first.stopped or again.stopped)
        return cells, found, everybody

    @cached_property
    def spared(self) -> Bools:
        """Cells that cannot be kept from who is alone in others; they are kept from the rest."""
        rows = self.case.rows(np.arange(len(self.about)))
        return np.isin(rows, [*self.case.spared])

    def _audit(
        self, printed: Printed, asked: Protection, alone: Sequence[Sequence[int]], spared: Bools
    ) -> Audit:
        """Against everybody who is alone in cells, but for the cells that are spared."""
        given: dict[str, Any] = {
            "values": self.case.values,
            "fine": self.case.cells.fine,
            "effort": self.effort,
            "seconds": self.clock,
        }
        if not spared.any():
            return audit(printed, asked, intruders=alone, **given)
        both = [
            audit(printed, asked.take(np.flatnonzero(own)), intruders=whom, **given)
            for own, whom in ((~spared, alone), (spared, ()))
        ]
        found: dict[str, Any] = {"stopped": both[0].stopped or both[1].stopped}
        for name in ("safe", "broken", "linear", "whole", "low", "high", "least", "most"):
            values = np.empty(len(spared), getattr(both[0], name).dtype)
            values[~spared], values[spared] = getattr(both[0], name), getattr(both[1], name)
            found[name] = values
        return Audit(**found)

    @cached_property
    def roughly(self) -> tuple[Ints, Floats, Floats]:
        """Outer bounds of the others, from one row after the other."""
        cells = self.targets[self.case.rough[self.targets]]
        if not len(cells):
            return cells, np.zeros(0), np.zeros(0)
        from scipy.sparse import vstack

        system = self.case.system
        some = np.isfinite(self.printed.upper) | (self.printed.lower > 0)
        rows = np.flatnonzero(some)
        matrix = vstack([system.sums[rows], system.agree], format="csr")
        none = np.zeros(system.agree.shape[0])
        lower, upper = propagate(
            matrix,
            np.r_[self.printed.lower[rows], none],
            np.r_[self.printed.upper[rows], none],
            np.broadcast_to(self.printed.least, system.columns).astype(float),
            np.broadcast_to(self.printed.most, system.columns).astype(float),
            self.printed.whole,
            1e-9 * max(1.0, float(self.case.values.max(initial=1.0))),
        )
        within = self.case.cells.targets[cells]
        return cells, np.asarray(within @ lower), np.asarray(within @ upper)

    @cached_property
    def broken(self) -> Bools:
        found = np.zeros(len(self.about), bool)
        cells, looked, _ = self.closely
        if looked is not None:
            found[cells] = looked.broken
        cells, low, high = self.roughly
        found[cells] = ~self.case.asked(cells).given(low, high, 1e-6)
        return found

    @cached_property
    def proven(self) -> Bools:
        found = np.zeros(len(self.about), bool)
        cells, looked, everybody = self.closely
        if looked is not None and everybody and not self.case.system.outer:
            whole = self.case.policy.bounds.proof == Rung.INTEGER
            found[cells] = looked.safe if whole else looked.safe | looked.linear
        return found

    @property
    def lacking(self) -> Ints:
        """Rows and fine cells, by their numbers in the system, that are not proven."""
        cells, looked, _ = self.closely
        return self.case.rows(cells[:0] if looked is None else cells[~looked.safe])

    def ends(self, cell: int) -> tuple[float, float]:
        """What the one who knows most of a cell cannot leave open."""
        cells, looked, _ = self.closely
        if looked is not None and cell in cells:
            at = int(np.searchsorted(cells, cell))
            return max(0.0, float(looked.least[at])), float(looked.most[at])
        cells, low, high = self.roughly
        at = int(np.searchsorted(cells, cell))
        return float(low[at]), float(high[at])


def _more(number: int) -> str:
    return f", and {plural(number - 1, 'more cell')} like it" if number > 1 else ""

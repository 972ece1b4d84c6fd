"""Frontiers of tables that no shuttle holds: by the list, or decomposable, by widths alone."""

from __future__ import annotations

import numpy as np

from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.decision.frontier.decomposable_result import DecomposableFrontier
from discreet.decision.frontier.list_start import ListStart, list_start
from discreet.decision.frontier.strategy import FrontierMethod, Strategy
from discreet.decision.law.case import Case
from discreet.decision.law.decide import Decision, assumptions, decide
from discreet.decision.law.names import names_in_doubt
from discreet.decision.law.rules import asked
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW, CellBounds
from discreet.intruder.bounds.shuttle.lattice_layout import Layout
from discreet.intruder.bounds.shuttle.shuttle import bytes_needed
from discreet.release.release import Release
from discreet.risk.release.small import SmallCells
from discreet.table.keys import unravel
from discreet.table.lattice import bits, maximal
from discreet.table.table import Table
from discreet.utility.margins import margin_utility
from discreet.utility.requests import Requests

METHOD = "the released counts above each cell"


def is_very_large(brief: Brief) -> bool:
    """Does no shuttle of the table fit in the policy's memory?"""
    layout = Layout.of(brief.table.shape)
    most = float(brief.policy.bounds.gigabytes) * 2**30
    return bytes_needed(layout, brief.table.total) > most


class VeryLargeStrategy(Strategy):
    """The start of the list, or a decomposable set, whichever is worth more."""

    def begin(self) -> None:
        policy, brief = self.brief.policy, self.brief
        blind = [rule.name for rule in asked(policy) if rule.very_large is None]
        if blind:
            raise DataError(
                f"a table of this size cannot be searched under the rules {', '.join(blind)}; "
                "switch them off, or search by widths alone (beta and no policy)."
            )
        found = any(not coding.denied for coding in brief.table.codings)
        if any((policy.sample.check, brief.certified, brief.must, brief.table.impossible, found)):
            raise DataError(
                "for a table of this size samples, proofs, impossible combinations and margins "
                "that must be in are out of reach; leave them out."
            )
        if other := [v.name for v in brief.table.variables if not v.role.identifies]:
            raise DataError(
                f"{other[0]!r} does not identify, and a table of this size is searched over "
                "identifying variables alone; leave the others out."
            )
        if not brief.candidates:
            raise DisclosureError(
                f"no margin keeps a width of {policy.small.width} at every small count; lower "
                "beta, or merge categories."
            )
        self.start: ListStart | None = None
        self.found: DecomposableFrontier | None = None

    def run(self, method: FrontierMethod) -> None:
        brief, rule = self.brief, self.brief.policy.small
        if method != "decomposable":
            self.start = self._kept()
            self.listed = self.start.listed
        if method != "greedy":
            self.found = decomposable_frontier(
                brief.table,
                beta=rule.width,
                small=rule.most,
                restarts=2,
                seed=self.seed,
                effort=self.effort.times,
                seconds=self.clock,
                weights=brief.value or None,
                max_order=brief.max_order,
            )

    def _kept(self) -> ListStart:
        """The longest start of the list that keeps every rule."""
        brief, beta = self.brief, self.brief.policy.small.width
        low, high = 0, len(brief.candidates)
        found = list_start(brief.table, brief.candidates, brief.cells, beta, clock=self.clock)
        while found.listed and worst(r.verdict for r in reasons(brief, found)) is Verdict.FAIL:
            high = found.listed - 1
            middle = (low + high + 1) // 2
            found = list_start(brief.table, brief.candidates[:middle], brief.cells, beta)
        return found

    def fit(self) -> None:
        raise DataError("for a table of this size no model is fitted; leave `first` out.")

    def settle(self) -> Decision:
        brief = self.brief
        listed = brief.candidates[: self.listed or 0]
        chosen = self.found.formula.sets if self.found else ()
        if not listed and not chosen:
            raise self._nothing()
        sharp = self.found is not None and brief.worth(chosen) >= brief.worth(listed)
        self.trace.append((self.clock.spent, brief.worth(chosen if sharp else listed)))
        if sharp or self.start is None:
            return decide(brief.table, brief.formula(chosen), brief.policy)
        return decide_list(brief, self.start)

    def first_come(self, requests: Requests | None) -> Sets:
        wanted = requests.first_come() if requests else ()
        allowed = set(self.brief.candidates)
        may = [s for s in wanted if s in allowed]
        rule = self.brief.policy.small
        kept = list_start(self.brief.table, may, self.brief.cells, rule.width).listed
        return maximal(may[:kept])


def decide_list(brief: Brief, found: ListStart) -> Decision:
    """The verdict on the start of a list: REVIEW, unless the policy accepts outer bounds.

    Only where `decide` has nothing better than the released counts either; else it is asked.
    """
    table, margins = brief.table, dict(found.margins)
    tables = [_margin(table, s, margins[s]) for s in maximal(margins)]
    release = Release(table.variables, tuple(tables))
    case = Case(table, release, brief.policy)
    if not case.bounder.only_margins(len(brief.cells)):
        return decide(table, release, brief.policy)
    cells = brief.cells
    none = (np.full(len(cells), NONE_LOW), np.full(len(cells), NONE_HIGH))
    intervals = CellBounds(
        cells.variables, cells.codes, found.lower, found.upper, *none, *none, METHOD
    )
    vars(case)["small"] = SmallCells(cells, intervals)
    found_by = (*names_in_doubt(brief.policy, table), *reasons(brief, found))
    verdict = worst(reason.verdict for reason in found_by)
    return Decision(verdict, found_by, release, margin_utility(release), assumptions(case), case)


def reasons(brief: Brief, found: ListStart) -> tuple[Reason, ...]:
    """Of every rule that is asked."""
    rules = asked(brief.policy)
    return tuple(rule.very_large(brief, found) for rule in rules if rule.very_large is not None)


def _margin(table: Table, margin: int, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Table:
    """A margin from its counts in row-major order."""
    variables = tuple(table.variables[place] for place in bits(margin))
    there = np.flatnonzero(counts)
    codes = unravel(there, [variable.size for variable in variables])
    return Table.from_cells(variables, codes, counts[there])

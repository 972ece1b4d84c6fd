"""Frontiers of tables that no shuttle holds: by the list, or decomposable, by widths alone."""

from __future__ import annotations

import time

import numpy as np

from discreet.decision.brief import Brief, Sets
from discreet.decision.case import Case
from discreet.decision.decide import Decision, assumptions, decide
from discreet.decision.decomposable import DecomposableFrontier, decomposable_frontier
from discreet.decision.longlist import LongList, long_list
from discreet.decision.strategy import FrontierMethod, Strategy
from discreet.decision.verdict import Reason, Verdict
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.lattice_layout import Layout
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW, CellBounds
from discreet.intruder.bounds.shuttle import bytes_needed
from discreet.release.release import Release
from discreet.risk.small import SmallCells
from discreet.table.keys import unravel
from discreet.table.lattice import bits, maximal
from discreet.table.table import Table
from discreet.utility.margins import margin_utility
from discreet.utility.requests import Requests

METHOD = "the released counts above each cell"


def is_huge(brief: Brief) -> bool:
    """Does no shuttle of the table fit in the policy's memory?"""
    layout = Layout.of(brief.table.shape)
    return bytes_needed(layout, brief.table.total) > brief.policy.bounds.gigabytes * 2**30


class HugeStrategy(Strategy):
    """The start of the list, or a decomposable set, whichever is worth more."""

    def begin(self) -> None:
        policy, brief = self.brief.policy, self.brief
        if policy.attribute.check or policy.closeness.share or policy.tables.least:
            raise DataError(
                "for a table of this size only the width of small counts can be kept; switch off "
                "attribute.check, closeness.share and tables.least."
            )
        if policy.belief.asked or policy.sample.check or brief.certified or brief.must:
            raise DataError(
                "for a table of this size beliefs, samples, proofs and margins that must be in are "
                "out of reach; leave them out."
            )
        if not brief.candidates:
            raise DisclosureError(
                f"not even the one-way margins keep a width of {policy.small.width} at every small "
                "count; lower beta, or merge categories."
            )
        self.start: LongList | None = None
        self.found: DecomposableFrontier | None = None

    def run(self, method: FrontierMethod) -> None:
        brief, rule = self.brief, self.brief.policy.small
        left = self.end - time.monotonic()
        if method != "decomposable":
            self.start = long_list(
                brief.table, brief.candidates, brief.cells, rule.width, seconds=0.5 * left
            )
            self.listed = self.start.listed
        if method != "greedy":
            self.found = decomposable_frontier(
                brief.table,
                beta=rule.width,
                small=rule.most,
                restarts=2,
                seed=self.seed,
                seconds=0.25 * left,
                weights=brief.value or None,
                max_order=brief.max_order,
            )

    def fit(self) -> None:
        raise DataError("for a table of this size no model is fitted; leave `first` out.")

    def settle(self) -> Decision:
        brief = self.brief
        listed = brief.candidates[: self.listed or 0]
        chosen = self.found.formula.sets if self.found else ()
        sharp = self.found is not None and brief.worth(chosen) >= brief.worth(listed)
        self.trace.append((time.monotonic() - self.begun, brief.worth(chosen if sharp else listed)))
        if sharp or self.start is None:
            return decide(brief.table, brief.formula(chosen), brief.policy)
        return decide_list(brief, self.start)

    def first_come(self, requests: Requests | None) -> Sets:
        wanted = requests.first_come() if requests else ()
        allowed = set(self.brief.candidates)
        may = [s for s in wanted if s in allowed]
        rule = self.brief.policy.small
        kept = long_list(self.brief.table, may, self.brief.cells, rule.width).listed
        return maximal(may[:kept])


def decide_list(brief: Brief, found: LongList) -> Decision:
    """The verdict on the start of a list: REVIEW, unless the policy accepts outer bounds."""
    table, margins = brief.table, dict(found.margins)
    tables = [_margin(table, s, margins[s]) for s in maximal(margins)]
    release = Release(table.variables, tuple(tables))
    cells = brief.cells
    none = np.full(len(cells), NONE_LOW)
    intervals = CellBounds(
        cells.variables, cells.codes, found.lower, found.upper, none, none * 0 + NONE_HIGH, METHOD
    )
    case = Case(table, release, brief.policy)
    vars(case)["small"] = SmallCells(cells, intervals)
    accepted = brief.policy.bounds.accept_outer
    text = (
        f"all {len(brief.cells):,} small counts keep a width of at least {found.width:,} by outer "
        f"bounds, and the policy asks for {brief.policy.small.width}; no table proves it"
    )
    verdict = Verdict.PASS if accepted else Verdict.REVIEW
    reason = Reason("small counts", verdict, f"{text}.")
    utility = margin_utility(release)
    return Decision(verdict, (reason,), release, utility, assumptions(case), case)


def _margin(table: Table, margin: int, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Table:
    """A margin from its counts in row-major order."""
    variables = tuple(table.variables[place] for place in bits(margin))
    there = np.flatnonzero(counts)
    codes = unravel(there, [variable.size for variable in variables])
    return Table.from_cells(variables, codes, counts[there])

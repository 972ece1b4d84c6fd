"""Small counts: each keeps the width beta."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._kernels.sides import SPREAD
from discreet.decision.law.case import Case
from discreet.decision.law.findings import proven, too_narrow
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule, always
from discreet.decision.law.verdict import Reason, Verdict
from discreet.intruder.bounds.result import Rung
from discreet.look.words import up_to
from discreet.risk.release.narrow import kept_width

if TYPE_CHECKING:
    from discreet.decision.answering.many_tables import ManyJudged, ManyTables
    from discreet.decision.frontier.brief import Brief
    from discreet.decision.frontier.list_start import ListStart
    from discreet.intruder.bounds.shuttle.shuttle import Shuttle

NAME = "small counts"


@dataclass(frozen=True)
class Small:
    """Identification: counts so small that they point at a person."""

    most: int = key(
        2,
        "counts from 1 to this are small; where only published.least is set, one less than that",
        least=1,
    )
    width: int = key(3, "beta: upper minus lower bound that every small count must keep")


def judge(case: Case) -> Reason:
    """Every small count keeps the width beta: equation (3) of the 2003 paper within a limit."""
    small, policy = case.small, case.policy
    counts, seen = up_to(policy.small.most), _seen(case)
    if not case.identifying:
        return Reason(NAME, Verdict.PASS, "no variable can identify anybody.")
    sample = case.watched
    guarded = ""
    if sample is not None and sample.every:
        guarded = (
            f" (of {sample.every:,} in the sample, {len(sample.cells):,} may be small in the "
            "population)"
            if sample.agrees
            else f" (all of the sample: the model of the population {sample.doubt})"
        )
    if not len(small.cells):
        return Reason(NAME, Verdict.PASS, f"{seen} has no count of {counts}{guarded}.")
    beta = policy.small.width
    rows = small.below(beta)
    if len(rows):
        said = f": width {small.narrowest} where the policy asks for {beta}"
        also = f"keeps less than {beta}|keep less than {beta}"
        return too_narrow(NAME, small.cells, small.bounds, rows, said, also=also)
    n = len(small.cells)
    every = f"all {n:,} counts" if n > 1 else "the only count"
    said = (
        f"{every} of {counts}{guarded} in {seen} {'keep' if n > 1 else 'keeps'} a width of at "
        f"least {small.narrowest:,}, and the policy asks for {beta}"
    )
    return proven(case, NAME, said, small.cells, small.bounds, beta)


def ruling(case: Case) -> Verdict:
    if case.seen is None or not case.identifying:
        return judge(case).verdict
    rung = kept_width(case.guarded, case.bounder, case.seen, case.policy.small.width)
    if rung is None:
        return Verdict.FAIL
    return Verdict.PASS if rung.reaches(Rung(case.policy.bounds.proof)) else Verdict.REVIEW


def _seen(case: Case) -> str:
    """The table that was looked at: nobody is found by what cannot be known of a person."""
    if len(case.identifying) == len(case.table.names):
        return "the table"
    return f"the table of {', '.join(case.identifying)}, which alone can identify,"


def measures(case: Case) -> dict[str, Any]:
    small = case.small
    return {
        "small_cells": len(small.cells),
        "narrowest": small.narrowest,
        "below": len(small.below(case.policy.small.width)),
        "disclosure_risk": None if small.narrowest is None else -small.narrowest,
        "method": small.bounds.method,
        "sharp": small.bounds.sharp,
    }


def promises(policy: Policy) -> Iterable[str]:
    small = policy.small
    counts = "1" if small.most == 1 else f"1 to {small.most}"
    yield (
        f"Counts of {counts} in the table of all variables that can identify are small: they may "
        f"point at a person. From all published tables together, the possible values of each must "
        f"span at least {small.width}, such as 0 to {small.width}."
    )
    if policy.sample.check:
        yield "Only small counts that may be small in the population, too, are guarded."


class Widths:
    """The widths of the guarded counts on a shuttle."""

    outer = True

    def __init__(self, brief: Brief) -> None:
        self.brief, self.beta = brief, brief.policy.small.width

    def inside(self, margin: int) -> bool:
        return bool((self.brief.counts_at_small(margin) < self.beta).any())

    def across(self, shuttle: Shuttle, sets: Sequence[int]) -> bool:
        lower, upper = shuttle.bounds(self.brief.cells.names, self.brief.cells.codes)
        return bool((upper - lower < self.beta).any())

    def unsure(self, sets: Sequence[int]) -> bool:
        return False


def many_tables(tables: ManyTables, found: ManyJudged) -> None:
    """Of each table, the small counts whose nodes are too narrow, or not proven to be wide."""
    beta, most = tables.policy.small.width, tables.policy.small.most
    if not tables.identifying or not beta:
        return
    nodes = tables.lattice.cells(tables.identifying).ravel()
    small = (tables.sums[:, nodes] >= 1) & (tables.sums[:, nodes] <= most)
    found.unsafe |= (small & (found.high[:, nodes] - found.low[:, nodes] < beta)).any(1)
    rows, at = np.nonzero(small)
    found.doubt(rows, nodes[at], SPREAD, np.full(len(rows), beta))


def very_large(brief: Brief, found: ListStart) -> Reason:
    """By outer bounds of the start of a list."""
    verdict = Verdict.PASS if brief.policy.bounds.proof == Rung.OUTER else Verdict.REVIEW
    text = (
        f"all {len(brief.cells):,} small counts keep a width of at least {found.width:,} by outer "
        f"bounds, and the policy asks for {brief.policy.small.width}; no table proves it"
    )
    return Reason(NAME, verdict, f"{text}.", rung=Rung.OUTER)


RULE = Rule(
    NAME,
    judge,
    section="small",
    keys=Small,
    monotone=always,
    measures=measures,
    promises=promises,
    follow=Widths,
    many_tables=many_tables,
    very_large=very_large,
    ruling=ruling,
    place=10,
    drawn=True,
)

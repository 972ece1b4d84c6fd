"""Published cells: no table shows a count from 1 to the least less 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.decision.law.case import Case
from discreet.decision.law.findings import MOST_NAMED
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import PolicyError
from discreet.look.words import plural
from discreet.risk.release.published import LowCells, low_cells
from discreet.sheets.listed import bare, split
from discreet.table.cells import Cells
from discreet.table.notation import quoted
from discreet.table.words import spoken

if TYPE_CHECKING:
    from discreet.decision.answering.many_tables import ManyJudged, ManyTables
    from discreet.decision.frontier.brief import Brief
    from discreet.decision.frontier.list_start import ListStart
    from discreet.intruder.bounds.shuttle.shuttle import Shuttle
    from discreet.table.table import Table

NAME = "published cells"


@dataclass(frozen=True)
class Published:
    """What a published table shows by itself, whatever else is in the file."""

    least: int = key(3, "no published count from 1 to this less 1; 0 or 1 switches it off")
    zeros: bool = key(False, "is a published zero too small as well?")
    tables: str = key("", "higher least counts of some tables: `Sex*Town: 10; Ill: 5`")
    thresholds: bool = key(
        False, "are the policy's thresholds public? Then the files of a release may say them"
    )

    @property
    def asked(self) -> bool:
        return self.least > 1 or self.zeros or bool(self.tables)


def judge(case: Case) -> Reason:
    """Every cell of every maximal margin is zero or large enough; sums of them are larger still."""
    found = case.once(_low)
    rule = case.policy.published
    if not found:
        tables = plural(len(case.release.tables), "published table")
        if single := sum(len(cells) for cells in case.release.single_cells):
            cells_said = plural(single, "cell that was", "cells that were") + " published"
            both = case.release.ceiling is not None  # margins, and large cells beside them
            tables = f"{tables} and {cells_said}" if both else cells_said
        return Reason(NAME, Verdict.PASS, f"in {tables} no count is {_too_small(rule)}.")
    first = found[0]
    where = spoken(first.cells.label(0), first.cells.variables) or "the total"
    cells, others = sum(len(low.cells) for low in found), len(found) - 1
    more = f"; {plural(cells - 1, 'more cell')} like it" if cells > 1 else ""
    also = f", {plural(others, 'more table')} with such cells" if others else ""
    table, count = "*".join(map(quoted, first.cells.names)), int(first.cells.counts[0])
    text = (
        f"{table} shows a count of {count:,} in {where}, and the policy asks for "
        f"{first.least:,} or more{more}{also}."
    )
    named = tuple(
        {"table": "*".join(low.cells.names), "cell": low.cells.label(row),
         "count": int(low.cells.counts[row])}
        for low in found
        for row in range(len(low.cells))
    )  # fmt: skip
    return Reason(NAME, Verdict.FAIL, text, named[:MOST_NAMED])


def _too_small(rule: Published) -> str:
    """`from 1 to 2`; what PASS rules out."""
    said = ["0"] * rule.zeros
    if rule.least > 1:
        said.append(f"from 1 to {rule.least - 1}" if rule.least > 2 else "1")
    higher = any(least > rule.least for least in least_by_margin(rule.tables).values())
    own = " (some tables have a least of their own)" if higher else ""
    return f"{' or '.join(said) or 'too small'}{own}"


def _low(case: Case) -> list[LowCells]:
    found = [low for shown in case.release.tables for low in _of(case.table, shown, case.policy)]
    return found + [low for cells in case.release.single_cells for low in _single(cells, case)]


def _single(cells: Cells, case: Case) -> Iterator[LowCells]:
    """What is too small among cells that were published one by one."""
    rule, names = case.policy.published, frozenset(cells.names)
    least = _higher_leasts(rule, case.table.names).get(names, rule.least)
    low = (cells.counts < least) & (cells.counts > 0)
    if rule.zeros:
        low |= cells.counts == 0
    if low.any():
        yield LowCells(cells.take(np.flatnonzero(low)), least)


def _of(whole: Table, shown: Table, policy: Policy) -> Iterator[LowCells]:
    """What is too small in a published table, and in tables within it that have their own least."""
    rule = policy.published
    higher = _higher_leasts(rule, whole.names)
    wanted = {frozenset(shown.names): rule.least} | {
        names: least for names, least in higher.items() if names <= set(shown.names)
    }
    for names, least in wanted.items():
        margin = shown.margin([name for name in shown.names if name in names])
        if (low := low_cells(margin, least, zeros=rule.zeros)) is not None:
            yield low


@cache
def least_by_margin(text: str) -> dict[tuple[str, ...], int]:
    """`Sex*Town: 10; Ill: 5` as least counts of margins; of two of one margin, the larger.

    A name may stand in backticks, as in a formula.
    """
    found: dict[tuple[str, ...], int] = {}
    for entry in filter(None, split(text, ";")):
        margin, colon, least = entry.rpartition(":")
        if not colon or not least.strip().isdigit():
            raise PolicyError(
                f"published.tables has {entry!r}; write TABLE: NUMBER, as Sex*Town: 10."
            )
        names = tuple(sorted({bare(name) for name in split(margin, "*")}))
        found[names] = max(found.get(names, 0), int(least))
    return found


def _higher_leasts(rule: Published, names: tuple[str, ...]) -> dict[frozenset[str], int]:
    """Those above `published.least`, which none lowers, of tables that there can be; `decide` says
    which other names stand there.
    """
    return {
        frozenset(margin): least
        for margin, least in least_by_margin(rule.tables).items()
        if least > rule.least and set(margin) <= set(names)
    }


def measures(case: Case) -> dict[str, Any]:
    return {"low_published": sum(len(low.cells) for low in case.once(_low))}


def promises(policy: Policy) -> Iterable[str]:
    rule = policy.published
    yield f"No published count is {_too_small(rule)}."


class LowMargins:
    """Which margins show a cell that is too small, found out once for each."""

    outer = False

    def __init__(self, brief: Brief) -> None:
        self.table, self.policy = brief.table, brief.policy
        self._known: dict[int, bool] = {}

    def inside(self, margin: int) -> bool:
        if margin not in self._known:
            shown = self.table.margin(self.table.axes.names_of(margin))
            self._known[margin] = any(True for _ in _of(self.table, shown, self.policy))
        return self._known[margin]

    def across(self, shuttle: Shuttle, sets: Sequence[int]) -> bool:
        return False

    def unsure(self, sets: Sequence[int]) -> bool:
        return False


def many_tables(tables: ManyTables, found: ManyJudged) -> None:
    rule, names = tables.policy.published, tuple(v.name for v in tables.variables)
    wanted = dict.fromkeys(found.top, rule.least)
    for some, least in _higher_leasts(rule, names).items():
        margin = sum(1 << names.index(name) for name in some)
        if any(margin & ~s == 0 for s in found.top):
            wanted[margin] = least
    for margin, least in wanted.items():
        shown = tables.sums[:, np.ravel(tables.lattice.cells(margin))]
        found.unsafe |= ((shown < least) & (shown > 0)).any(1)
        if rule.zeros:
            found.unsafe |= (shown == 0).any(1)


def very_large(brief: Brief, listed: ListStart) -> Reason:
    rule, watch = brief.policy.published, LowMargins(brief)
    if rule.tables or rule.zeros:
        low = sum(watch.inside(margin) for margin, _ in listed.margins)
    else:
        low = sum(bool(((n > 0) & (n < rule.least)).any()) for _, n in listed.margins)
    if low:
        text = f"{plural(low, 'table shows', 'tables show')} a count that is too small."
        return Reason(NAME, Verdict.FAIL, text)
    return Reason(NAME, Verdict.PASS, f"no published count is {_too_small(rule)}.")


RULE = Rule(
    NAME,
    judge,
    section="published",
    keys=Published,
    asked=lambda policy: policy.published.asked,
    monotone=lambda policy: not policy.published.tables,
    measures=measures,
    promises=promises,
    follow=LowMargins,
    many_tables=many_tables,
    very_large=very_large,
    light=True,
    place=20,
)

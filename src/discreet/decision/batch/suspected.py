"""What the data look like and nobody stated: variables that lie within others, or nearly so.

An intruder may know it. So sheets are judged without it and with it, and the stricter verdict
counts. What chance hardly explains is judged as if it were known; a weaker sign leaves a doubt.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.arrays import Bools, Ints
from discreet.data.codebook import Variable
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.sheets.joined import variables_of
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet

NAME = "found in the data"
NEARLY = 7.0  # what few records contradict counts where chance shows it once in e^7 times
APART = 0.05  # of all people may be outside of where their category lies
NAMED = 3


@dataclass(frozen=True, eq=False)
class Suspicion:
    """Two variables of which nobody has the `empty` pairs; `sure` if chance does not explain it.

    `inner` is the one that lies within the other, if one does, but for `exceptions` people.
    """

    variables: tuple[Variable, Variable]
    empty: Bools
    sure: bool
    inner: int | None = None
    exceptions: int = 0

    @property
    def names(self) -> tuple[str, str]:
        return self.variables[0].name, self.variables[1].name

    def __str__(self) -> str:
        a, b = self.names
        if self.inner is None:
            said = f"{a} and {b} look like codings of one thing"
        else:
            inside, outside = (a, b) if self.inner == 0 else (b, a)
            but = f" but for {self.exceptions:,} of all people" if self.exceptions else ""
            said = f"{inside} looks as if it lay within {outside}{but}"
        return f"{said}: nobody has {int(self.empty.sum()):,} of their combinations"

    @property
    def line(self) -> str:
        """How a person says so."""
        if self.inner is not None and not self.exceptions:
            inside, outside = self.names[self.inner], self.names[1 - self.inner]
            return (
                f'within = "{outside}" for {inside} in the codebook, or list both as one hierarchy'
            )
        a, b = self.variables
        i, j = np.argwhere(self.empty)[0]
        return f'--impossible "{a.name}={a.categories[i]}, {b.name}={b.categories[j]}" and so on'


def suspicions(
    records: Records, sheets: Iterable[Sheet] | None = None, also: Iterable[str] = ()
) -> tuple[Suspicion, ...]:
    """Of each pair of variables, or of those that sheets show, unless it is stated or denied.

    `also` are variables that no sheet shows, and of which nothing may be told.
    """
    known = {*records.codes}
    if sheets is not None:
        known &= variables_of(sheets).keys() | {*also}
    denied = {frozenset(c.names) for c in records.table.codings if c.denied}
    found_there = {frozenset(c.names) for c in records.table.codings}
    found = []
    for one, other in combinations(sorted(known), 2):
        pair = frozenset((one, other))
        if pair in denied or not records.find:
            continue
        table = records.table.margin([one, other])
        size = table.variables[1].size
        counts = np.bincount(
            table.codes[:, 0].astype(np.int64) * size + table.codes[:, 1],
            table.counts,
            table.variables[0].size * size,
        )
        suspicion = _suspicion(
            (table.variables[0], table.variables[1]),
            counts.astype(np.int64).reshape(-1, size),
            pair in found_there,
            _stated(records, table.names) if pair not in found_there else None,
        )
        found += [suspicion] if suspicion else []
    return tuple(found)


def _stated(records: Records, names: tuple[str, ...]) -> Ints:
    """The pairs of categories of two variables that nobody can have, as somebody said."""
    found = [np.asarray(records.impossible.get(names, ())).reshape(-1, 2)]
    found.append(np.asarray(records.impossible.get(names[::-1], ())).reshape(-1, 2)[:, ::-1])
    return np.vstack(found).astype(np.int64)


def _suspicion(
    variables: tuple[Variable, Variable], counts: Ints, found: bool, stated: Ints | None
) -> Suspicion | None:
    """What the counts of two variables look like, unless all of it is stated."""
    empty = (counts == 0) & (counts.sum(1) > 0)[:, None] & (counts.sum(0) > 0)[None]
    unstated = empty.copy()
    if stated is not None:
        unstated[stated[:, 0], stated[:, 1]] = False
    if not unstated.any():
        return None
    inner, exceptions = None, 0
    for axis in (0, 1):
        across = counts if axis == 0 else counts.T
        apart = int(across.sum() - across.max(1).sum())
        within = apart <= APART * counts.sum() and (across.sum(0) > 0).sum() > 1
        if within and (not apart or _nested_surprise(across, apart) >= NEARLY):
            inner, exceptions = axis, apart
            break
    pairs, a, b = ((some > 0).sum() for some in (counts, counts.sum(1), counts.sum(0)))
    if inner is None and not found and pairs > a + b - 1:
        return None
    return Suspicion(variables, empty, found, inner, exceptions)


def _nested_surprise(counts: Ints, apart: int) -> float:
    """-log of the chance that so many people are where most of their row are, or more."""
    total = int(counts.sum())
    shares = counts.sum(0)[counts.sum(0) > 0] / total
    if len(shares) < 2:
        return 0.0
    rows = counts.max(1)[counts.sum(1) > 0]
    alike = np.log(shares)[None] * rows[:, None]
    top = alike.max(1)
    logs = top + np.log(np.exp(alike - top[:, None]).sum(1))
    ways = math.lgamma(total + 1) - math.lgamma(apart + 1) - math.lgamma(total - apart + 1)
    return float(-logs.sum() - ways)


def supposing(records: Records, found: Sequence[Suspicion]) -> Records:
    """The records, where what was found is impossible as if somebody had stated it."""
    table, impossible = records.table, dict(records.impossible)
    for one in found:
        a, b = one.variables
        table = table.excluding(
            {a.name: a.categories[i], b.name: [b.categories[j] for j in np.flatnonzero(row)]}
            for i, row in enumerate(one.empty)
            if row.any()
        )
        names = tuple(name for name in records.table.names if name in one.names)
        shut = np.argwhere(one.empty if names == one.names else one.empty.T)
        before = np.asarray(impossible.get(names, np.zeros((0, 2))), np.int64).reshape(-1, 2)
        impossible[names] = np.unique(np.vstack([before, shut]), axis=0)
    return dataclasses.replace(records, table=table, impossible=impossible)


def worlds(
    found: Sequence[Suspicion], sheets: Iterable[Sheet], also: Iterable[str] = ()
) -> list[tuple[Suspicion, ...]]:
    """What an intruder may know who knows of these sheets: what is sure, then all of it."""
    shown = variables_of(sheets).keys() | {*also}
    own = tuple(one for one in found if shown >= {*one.names})
    sure = tuple(one for one in own if one.sure)
    return [known for known in dict.fromkeys((sure, own)) if known]


def stricter(
    stated: Sequence[Reason], supposed: Sequence[Reason], found: Sequence[Suspicion]
) -> list[Reason]:
    """The reasons with the graver verdict; where that is what was found, the first says so."""
    plain, graver = _verdict(stated), _verdict(supposed)
    if all(not one.sure for one in found) and graver is Verdict.FAIL:
        graver = Verdict.REVIEW
    if graver.rank <= plain.rank:
        return [*stated]
    seen = "; ".join(str(one) for one in found[:NAMED])
    if len(found) > NAMED:
        seen += f"; and {len(found) - NAMED:,} more such pairs"
    against = next(r for r in supposed if r.verdict is _verdict(supposed))
    lines = "; ".join(dict.fromkeys(one.line for one in found[:NAMED]))
    text = (
        f"{seen}. To somebody who knows that, the tables tell more: {against.text} Say {lines}, if "
        "it is so, and tables are made for it; if these combinations can occur, say --impossible "
        "none."
    )
    return [Reason(NAME, graver, text, against.cells), *stated]


def _verdict(reasons: Sequence[Reason]) -> Verdict:
    return worst(reason.verdict for reason in reasons)

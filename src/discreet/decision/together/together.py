"""Several masked releases judged together: the intruder updates on every mechanism.

    p(n | all)  ~  prod_k p(shown_k | n)   over the tables n of the known total

Before, every such table is alike to him; he knows the masks and their parameters, and none of
their random numbers (Dobra, Fienberg & Trottini 2003, section 5, with masks for releases).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.compare.cellbeliefs import Asked, Believed
from discreet.decision.compare.rowbeliefs import seen_rows
from discreet.decision.compare.tables import stated
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.decision.together.told import Told, seen
from discreet.errors import DataError
from discreet.look.result import Paged
from discreet.look.words import percent, plural
from discreet.risk.limits import Says, breaks
from discreet.table.cells import frame, labels
from discreet.table.table import Table

PRIOR = "Before, every table of the known total is alike to the intruder, who knows every mask."


@dataclass(frozen=True, eq=False)
class Together(Paged):
    """What an intruder believes of small counts from each release alone, and from all.

    `alone[k][c]` and `chances[c]` are the probabilities of the true count of cell c; `believed` the
    counts that are most probable from all. FAIL beyond the policy's limit, else REVIEW: beliefs
    prove nothing about intruders who know more.

    >>> import discreet as dc
    >>> table, told = dc.load("example:tract").margin("Race*Income"), []
    >>> for base in (3, 5):
    ...     shown = dc.office.conventional(table.dense(), base)
    ...     made = ("conventional rounding", {"base": base})
    ...     told.append(dc.office.Told.of_margin(table, "Race*Income", shown, *made))
    >>> found = dc.office.together(table, told)
    >>> print(found)
    ✗ FAIL: from 2 releases together 3 of 3 small counts known at 50%, disclosed 100% against the
        limit 1% (exact)
    """

    table: Table
    told: tuple[Told, ...]
    measure: str
    limit: float
    act: float
    cells: NDArray[np.int64]
    truth: NDArray[np.int64]
    alone: tuple[Floats, ...]
    chances: Floats
    believed: NDArray[np.int64]
    risks: tuple[dict[str, float], ...]
    risk: dict[str, float]
    exact: bool
    error: float
    said: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        over = breaks(self.risk[self.measure], self.limit, Says.AT_MOST)
        return Verdict.FAIL if over else Verdict.REVIEW

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.told)

    def __repr__(self) -> str:
        return f"Together({self.verdict}: {plural(len(self.told), 'release')}, {self._stated})"

    def __str__(self) -> str:
        how = "exact" if self.exact else f"drawn, standard error up to {self.error:.2g}"
        return (
            f"{self.verdict.symbol} {self.verdict}: from {plural(len(self.told), 'release')} "
            f"together {self._stated}, {self.measure} {percent(self.risk[self.measure])} against "
            f"the limit {percent(self.limit)} ({how})"
        )

    @property
    def _stated(self) -> str:
        right = int(breaks(self.chances, self.act, Says.OR_MORE).sum())
        return f"{right} of {plural(len(self.cells), 'small count')} known at {percent(self.act)}"

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row a small count: how probable the true count is from each release, and from all."""
        codes = self.table.all().codes[self.cells]
        columns: dict[str, Any] = dict(labels(self.table.variables, codes))
        columns |= {"count": self.truth.tolist(), "believed": self.believed.tolist()}
        columns |= {
            name: chances.tolist() for name, chances in zip(self.columns, self.alone, strict=True)
        }
        return frame(columns | {"together": self.chances.tolist()}, kind)

    @property
    def columns(self) -> list[str]:
        """The releases, named so that no two columns of the frame are alike."""
        taken = {*self.table.names, "count", "believed", "together"}
        found: list[str] = []
        for name in self.names:
            while name in taken:
                name = f"release {name}"
            taken.add(name)
            found.append(name)
        return found

    def why(self) -> list[str]:
        """What the verdict rests on."""
        if self.verdict is Verdict.FAIL:
            return []
        doubt = "" if self.exact else " by a sample"
        return [f"Within the limit{doubt}; beliefs prove nothing of intruders who know more."]

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "measure": self.measure,
            "limit": self.limit,
            "act": self.act,
            "exact": self.exact,
            "error": self.error,
            "risk": self.risk,
            "releases": [
                {"name": one.name, "risk": risk, "said": list(one.said)}
                for one, risk in zip(self.told, self.risks, strict=True)
            ],
            "cells": [
                {
                    "cell": dict(zip(self.table.names, row, strict=True)),
                    "count": int(self.truth[place]),
                    "believed": int(self.believed[place]),
                    "alone": [float(chances[place]) for chances in self.alone],
                    "together": float(self.chances[place]),
                }
                for place, row in enumerate(self._labels)
            ],
            "notes": list(self.said),
        }

    @property
    def _labels(self) -> list[tuple[str, ...]]:
        codes = self.table.all().codes[self.cells]
        found = labels(self.table.variables, codes).values()
        return [tuple(map(str, row)) for row in zip(*found, strict=True)]

    def plot(self, **options: Any) -> Any:
        """Small counts: how probable the true count is from each release, and from all."""
        from discreet.look.beliefcharts import together_chart

        names = [", ".join(row) for row in self._labels]
        one = np.max(self.alone, axis=0).tolist()
        rows = [*zip(names, self.chances.tolist(), one, strict=True)]
        title = f"From {plural(len(self.told), 'release')} together {self._stated}"
        return together_chart(rows, act=self.act, **{"title": title} | options)


def together(
    table: Table, told: Sequence[Told], policy: Policy | None = None, *, seed: int = 0
) -> Together:
    """What releases of one table tell together about its small counts.

    Counts from 1 to `small.most` are guarded, `masks.risk` and `masks.limit` of the policy judge;
    the intruder states counts that he believes with `masks.act`.

    >>> import discreet as dc
    >>> table = dc.load("example:tract").margin("Race*Income")
    >>> shown = [282, 201, 213, 21, 12, 9, 3, 3, 3]
    >>> made = ("random rounding", {"base": 3})
    >>> together(table, [dc.office.Told.of_margin(table, "Race*Income", shown, *made)])
    Together(REVIEW: 1 release, 0 of 3 small counts known at 50%)
    """
    policy = policy or Policy()
    if not told:
        raise DataError("name at least one release.")
    measure = policy.masks.risk
    if measure in ("identified", "attribute"):
        raise DataError(
            f"masks.risk is {measure!r}, which is of records; for tables say disclosed, perceived, "
            "expected or highest."
        )
    asked = Asked(table, policy.small.most)
    truth = asked.cells.counts[asked.guarded]
    each = [_believed([one], asked, seed) for one in told]
    every = each[0] if len(told) == 1 else _believed(told, asked, seed)
    chances = [_of_truth(one, truth) for one in (*each, every)]
    act = policy.masks.act
    said = [PRIOR, *(f"{one.name}: {text}" for one in told for text in one.said)]
    said += [*_copies(told), *every.said]
    return Together(
        table, tuple(told), measure, policy.masks.limit, act, asked.guarded, truth,
        tuple(chances[:-1]), chances[-1],
        np.array([int(belief.argmax()) for belief in every.beliefs], np.int64),
        tuple(stated(one.beliefs, truth, act=act) for one in each),
        stated(every.beliefs, truth, act=act), every.exact, every.error,
        tuple(dict.fromkeys(said)),
    )  # fmt: skip


def _copies(told: Sequence[Told]) -> list[str]:
    """Two draws may come out alike; a copy would be counted twice."""
    return [
        f"{a.name} and {b.name} show the same, and are taken as two draws; name a copy once"
        for place, a in enumerate(told)
        for b in told[place + 1 :]
        if _same(a, b)
    ]


def _same(one: Told, other: Told) -> bool:
    by_chance = any(len(sums.logs) > 1 for sums in one.sums)
    return (
        by_chance
        and len(one.sums) == len(other.sums)
        and all(
            a.cells == b.cells and a.low == b.low and np.array_equal(a.logs, b.logs)
            for a, b in zip(one.sums, other.sums, strict=True)
        )
    )


def _believed(told: Sequence[Told], asked: Asked, seed: int) -> Believed:
    return seen_rows(seen(told, asked.table), asked, np.random.default_rng(seed))


def _of_truth(believed: Believed, truth: NDArray[np.int64]) -> Floats:
    return np.array(
        [
            float(belief[count]) if count < len(belief) else 0.0
            for belief, count in zip(believed.beliefs, truth.tolist(), strict=True)
        ]
    )

"""Instead of suppressing a cell: combining it with its neighbours until it can be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.decision.survey.publish import Publication
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.look.result import Result, Unpublished
from discreet.look.words import number, plural
from discreet.table.cells import frame

MOST = 2_000  # cells to combine
CLOSE = 1e-12


@dataclass(frozen=True)
class Group(Unpublished):
    """Neighbouring rows taken as one cell."""

    rows: tuple[int, ...]
    R1: float
    R0: float

    @property
    def ratio(self) -> float:
        return self.R1 / self.R0 if self.R0 > 0 else float("inf") if self.R1 > 0 else -1.0


@dataclass(frozen=True, eq=False)
class Combination(Result):
    """Groups of neighbouring cells, and which can be published.

    >>> import discreet as dc
    >>> found = dc.publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    >>> joined = dc.survey.combine(found)
    >>> joined.saved, [group.rows for group in joined.combined]
    (1, [(0, 1)])
    """

    publication: Publication
    groups: tuple[Group, ...]
    publish: NDArray[np.bool_]

    @property
    def combined(self) -> list[Group]:
        """Groups of two cells or more that are published."""
        pairs = zip(self.groups, self.publish, strict=True)
        return [group for group, published in pairs if published and len(group.rows) > 1]

    @property
    def saved(self) -> int:
        """Cells that were suppressed by themselves and are published in a group."""
        alone = self.publication.publish
        return sum(not alone[row] for group in self.combined for row in group.rows)

    @property
    def risk_taken(self) -> float:
        """Expected risk of what is published, groups with it, as a share of that of all cells."""
        taken = sum(group.R1 for group in self._published)
        return _share(taken, self.publication.R1)

    @property
    def data_published(self) -> float:
        """What is published, in groups too, as a share of the loss of publishing nothing."""
        return _share(sum(group.R0 for group in self._published), self.publication.R0)

    @property
    def _published(self) -> list[Group]:
        pairs = zip(self.groups, self.publish, strict=True)
        return [group for group, published in pairs if published]

    def __repr__(self) -> str:
        suppressed = int((~self.publication.publish).sum())
        return (
            f"Combination({number(self.saved)} of {plural(suppressed, 'suppressed cell')} "
            f"published in {plural(len(self.combined), 'group')})"
        )

    def to_json(self) -> list[dict[str, Any]]:
        """Published groups: rows (from 1), R0 and R1."""
        return [
            {"rows": [row + 1 for row in group.rows], "R0": group.R0, "R1": group.R1}
            for group in self.combined
        ]

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a group: its rows (from 1), summed counts, R0, R1, publish."""
        c = self.publication.counts
        listed = [list(group.rows) for group in self.groups]
        columns: dict[str, Any] = {"rows": [" ".join(str(r + 1) for r in row) for row in listed]}
        for name in ("n", "N", "y"):
            columns[name] = [int(getattr(c, name)[row].sum()) for row in listed]
        columns |= {"R0": [g.R0 for g in self.groups], "R1": [g.R1 for g in self.groups]}
        return frame({**columns, "publish": self.publish}, kind)


def _share(part: float, every: NDArray[np.float64]) -> float:
    return part / float(every.sum()) if every.sum() > 0 else 0.0


def combine(publication: Publication, *, within: Sequence[Any] | None = None) -> Combination:
    """Each suppressed cell, joined with the neighbour that makes the smallest group that passes.

    If none does, with the one that brings R1 / R0 down the most.

    Neighbours are rows next to each other, with the same label in `within` if it is given. The
    counts of the joined cells are independent given the samples, so that the belief about their sum
    is a convolution; the loss of not publishing is the sum. Joined until the ratio is below the
    publication's cutoff, or no neighbour is left. Where the rule limits the risk, groups of the
    largest ratio are taken apart again until what is published is within.

    >>> from discreet.decision.survey.publish import publish
    >>> combine(publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8))
    Combination(1 of 1 suppressed cell published in 1 group)
    """
    labels = [0] * len(publication) if within is None else list(within)
    if len(labels) != len(publication):
        raise DataError(
            f"there are {plural(len(labels), 'label')} for {plural(len(publication), 'cell')}; "
            "give one each."
        )
    if publication.rule.estimator is not None:
        raise DataError("cells are joined by their expected losses; leave out the plug-in rule.")
    todo = np.flatnonzero(~publication.publish)
    if len(todo) > MOST:
        raise DataError(
            f"{plural(len(todo), 'cell')} are suppressed, more than {number(MOST)}; combine cells "
            "of one region at a time."
        )
    work = _Joining(publication, labels)
    for row in todo:
        work.settle(int(row))
    if publication.rule.risk is not None:
        work.keep_within(publication.rule.risk * float(publication.R1.sum()) * (1 + CLOSE))
    groups = tuple(work.groups[start] for start in sorted(work.groups))
    return Combination(publication, groups, np.array([work.passes(g) for g in groups], bool))


class _Joining:
    """Groups by their first row; each row knows its group."""

    def __init__(self, publication: Publication, labels: list[Any]) -> None:
        self.publication, self.labels = publication, labels
        R1, R0 = publication.R1.tolist(), publication.R0.tolist()
        self.groups = {row: Group((row,), R1[row], R0[row]) for row in range(len(publication))}
        self.start = list(range(len(publication)))
        self.beliefs: dict[tuple[int, ...], Belief] = {}

    def passes(self, group: Group) -> bool:
        if len(group.rows) == 1:
            return bool(self.publication.publish[group.rows[0]])
        return group.ratio < self.publication.cutoff

    def settle(self, row: int) -> None:
        while not self.passes(group := self.groups[self.start[row]]):
            offers = [self._joined(*pair) for pair in self._pairs(group)]
            if not offers:
                return
            enough = [offer for offer in offers if self.passes(offer)]
            best = min(enough or offers, key=lambda o: (len(o.rows) if enough else 0, o.ratio))
            for member in best.rows:
                self.groups.pop(member, None)
                self.start[member] = best.rows[0]
            self.groups[best.rows[0]] = best

    def keep_within(self, limit: float) -> None:
        """Take joined groups apart, the largest ratio first, until the risk is within."""
        joined = [group for group in self.groups.values() if len(group.rows) > 1]
        R1, R0 = self.publication.R1.tolist(), self.publication.R0.tolist()
        for group in sorted(joined, key=lambda one: -one.ratio):
            if sum(one.R1 for one in self.groups.values() if self.passes(one)) <= limit:
                return
            for row in group.rows:
                self.groups[row] = Group((row,), R1[row], R0[row])
                self.start[row] = row

    def _pairs(self, group: Group) -> list[tuple[Group, Group]]:
        first, last = group.rows[0], group.rows[-1]
        pairs = []
        if first > 0 and self.labels[first - 1] == self.labels[first]:
            pairs.append((self.groups[self.start[first - 1]], group))
        if last + 1 < len(self.labels) and self.labels[last + 1] == self.labels[last]:
            pairs.append((group, self.groups[last + 1]))
        return pairs

    def _joined(self, left: Group, right: Group) -> Group:
        rows = left.rows + right.rows
        belief = _sum(self._belief(left.rows), self._belief(right.rows))
        self.beliefs[rows] = belief
        c, picked = self.publication.counts, list(rows)
        y, n, N = (int(column[picked].sum()) for column in (c.y, c.n, c.N))
        risk = float(belief.mass @ self.publication.losses[0](y, belief.values, n, N))
        return Group(rows, risk, left.R0 + right.R0)

    def _belief(self, rows: tuple[int, ...]) -> Belief:
        if rows not in self.beliefs:
            self.beliefs[rows] = self.publication.counts.belief(rows[0])
        return self.beliefs[rows]


def _sum(one: Belief, other: Belief) -> Belief:
    """Of two independent counts."""
    from scipy.signal import fftconvolve

    short = min(len(one.mass), len(other.mass)) < 64
    mass = np.convolve(one.mass, other.mass) if short else fftconvolve(one.mass, other.mass)
    mass = np.maximum(mass, 0)
    start = int(one.values[0] + other.values[0])
    return Belief.discrete(np.arange(start, start + len(mass)), mass / mass.sum())

"""The lattice of levels of several columns, and the node of least loss that passes.

Classes are counted once, at the bottom, and merged on the way up. If merging never breaks what a
class must be, a node that fails has only failing nodes below it and one that passes only passing
ones above; paths are halved, as Flash does (Kohlmayer et al. 2012). Losses have a bound from below
that only rises on the way up, so the search is exact also where the criteria are not monotone.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.look.result import Result, Shown
from discreet.masks.records.criteria import Criteria
from discreet.masks.records.ladder import Ladder
from discreet.table.cells import frame
from discreet.table.keys import grouped

Node = tuple[int, ...]
LOSSES = ("height", "discernibility", "non-uniform entropy", "average class")
MOST_NODES = 10_000_000
KEPT = 1 << 23  # classes of nodes that are remembered
UNKNOWN, FAILS, PASSES, DEAR = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Classes:
    """Records that look alike at a node: a column of `codes` each, and how many they are.

    Cells count the sensitive values in each class, in the order of classes.
    """

    codes: Ints
    counts: Ints
    cell_class: Ints
    cell_value: Ints
    cell_count: Ints

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def count(cls, ladders: Sequence[Ladder], sensitive: Ints | None) -> tuple[Classes, Ints]:
        """Classes at the bottom, and the class of each record."""
        codes = np.array([ladder.codes for ladder in ladders])
        of, first = grouped(codes)
        counts = np.bincount(of)
        empty = np.zeros(0, np.int64)
        if sensitive is None:
            return cls(codes[:, first], counts, empty, empty, empty), of
        many = int(sensitive.max()) + 1
        cells, number = np.unique(of * many + sensitive, return_counts=True)
        return cls(codes[:, first], counts, cells // many, cells % many, number), of

    def merge(self, maps: Sequence[Ints]) -> Classes:
        """Classes one or more levels up."""
        codes = np.array([up[row] for up, row in zip(maps, self.codes, strict=True)])
        of, first = grouped(codes)
        counts = _sums(of, self.counts, len(first))
        if not len(self.cell_class):
            return Classes(codes[:, first], counts, *[self.cell_class] * 3)
        at, chosen = grouped(np.array([of[self.cell_class], self.cell_value]))
        return Classes(
            codes[:, first],
            counts,
            of[self.cell_class][chosen],
            self.cell_value[chosen],
            _sums(at, self.cell_count, len(chosen)),
        )


@dataclass(frozen=True)
class Judged:
    """A node that was looked at: `least` bounds its loss and that of every node above."""

    passes: bool
    hopeless: bool  # so are all nodes below
    loss: float
    least: float
    left_out: int


@dataclass(frozen=True, eq=False)
class Search(Result):
    """The level of each column at the node of least loss, and how many nodes were looked at.

    Of equal losses the lower height is taken, then the first in lexicographic order.
    """

    columns: tuple[str, ...]
    levels: Node
    loss: float
    left_out: int
    looked: int
    nodes: int
    judged: dict[Node, Judged] = field(repr=False)

    def __repr__(self) -> str:
        at = ", ".join(f"{c} {v}" for c, v in zip(self.columns, self.levels, strict=True))
        return f"Search({at}: loss {self.loss:.6g}, looked at {self.looked:,} of {self.nodes:,})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """Every node that was looked at."""
        nodes = sorted(self.judged)
        columns = {c: np.array([n[i] for n in nodes]) for i, c in enumerate(self.columns)}
        found = [self.judged[node] for node in nodes]
        columns["passes"] = np.array([one.passes for one in found])
        columns["loss"] = np.array([one.loss for one in found])
        columns["left_out"] = np.array([one.left_out for one in found])
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "levels": dict(zip(self.columns, self.levels, strict=True)), "loss": self.loss,
            "left_out": self.left_out, "looked": self.looked, "nodes": self.nodes,
        }  # fmt: skip


class Lattice(Shown):
    """Levels of some columns; `suppress` is the share of records that may be left out.

    Losses, of N records with classes of n at the node:

        height               sum of the levels
        discernibility       sum of n^2, and N for each record left out (Bayardo & Agrawal 2005)
        non-uniform entropy  sum over records and columns of log2 of how many more share the value,
                             all N if left out (De Waal & Willenborg 1999)
        average class        N / classes / k, all that are left out being one class
                             (LeFevre et al. 2006)

    >>> import pandas as pd
    >>> from discreet.masks.records.file import RecordFile
    >>> file = RecordFile(pd.DataFrame({"age": [31, 47, 40, 18], "sex": ["f", "m", "m", "f"]}))
    >>> ladders = [Ladder.of(file, "age", [[40]]), Ladder.of(file, "sex")]
    >>> Lattice(ladders, Criteria(k=2)).search()
    Search(age 1, sex 0: loss 1, looked at 3 of 6)
    """

    def __init__(
        self,
        ladders: Sequence[Ladder],
        criteria: Criteria,
        *,
        sensitive: Ints | None = None,
        suppress: float = 0.0,
        loss: str = "height",
    ) -> None:
        self.ladders, self.criteria, self.loss = tuple(ladders), criteria, loss
        self.shape = tuple(len(ladder) for ladder in ladders)
        self.nodes = math.prod(self.shape)
        if self.nodes > MOST_NODES:
            raise DataError(
                f"the levels of {len(ladders)} columns make {self.nodes:,} nodes, more than "
                f"{MOST_NODES:,}; name fewer columns, or give fewer levels."
            )
        self.bottom, self.of = Classes.count(ladders, sensitive)
        self.total = int(self.bottom.counts.sum())
        self.limit = math.floor(suppress * self.total + 1e-9)
        self.monotone = self.limit == 0 or criteria.merging_helps
        start = (0,) * len(self.shape)
        self._kept: dict[Node, Classes] = {start: self.bottom}
        self._shares = [self._column_shares(ladder) for ladder in ladders]

    def _column_shares(self, ladder: Ladder) -> list[tuple[float, Floats]]:
        """Entropy loss of each level, and what leaving out adds to it, by code."""
        counts = np.bincount(ladder.codes, minlength=len(ladder.labels[0])).astype(np.float64)
        own = float(counts @ np.log2(self.total / counts))
        found = []
        for up in ladder.maps:
            more = np.log2(self.total / np.bincount(up, counts))
            found.append((own - float(counts @ more[up]), np.asarray(more)))
        return found

    def classes(self, node: Node) -> Classes:
        """By merging those of the smallest node below that is remembered."""
        if node in self._kept:
            return self._kept[node]
        below = [n for n in self._kept if all(a <= b for a, b in zip(n, node, strict=True))]
        start = min(below, key=lambda n: len(self._kept[n]))
        steps = zip(self.ladders, start, node, strict=True)
        found = self._kept[start].merge([ladder.up(a, b) for ladder, a, b in steps])
        self._kept[node] = found
        spare = sum(map(len, self._kept.values())) - len(self.bottom) - KEPT
        for old in list(self._kept)[1:-1]:
            if spare <= 0:
                break
            spare -= len(self._kept.pop(old))
        return found

    def failing(self, node: Node) -> NDArray[np.bool_]:
        """Which records are in classes that fail."""
        ups = [ladder.maps[level] for ladder, level in zip(self.ladders, node, strict=True)]
        codes = np.array([up[row] for up, row in zip(ups, self.bottom.codes, strict=True)])
        of, first = grouped(codes)
        fails = self.criteria.failing(self.bottom.merge(ups))
        assert len(fails) == len(first)
        return np.asarray(fails[of][self.of])

    def judge(self, node: Node) -> Judged:
        """Whether it passes, and what it loses."""
        classes = self.classes(node)
        fails = self.criteria.failing(classes)
        left_out = int(classes.counts[fails].sum())
        short = int(classes.counts[self.criteria.short(classes)].sum())
        least = self._least(node, classes)
        loss = self._loss(node, classes, fails, least)
        hopeless = (left_out if self.monotone else short) > self.limit
        return Judged(left_out <= self.limit, hopeless, _rounded(loss), _rounded(least), left_out)

    def _least(self, node: Node, classes: Classes) -> float:
        """The loss if nobody is left out."""
        if self.loss == "height":
            return float(sum(node))
        if self.loss == "discernibility":
            return float(classes.counts.astype(np.float64) @ classes.counts)
        if self.loss == "average class":
            return self.total / len(classes) / self.criteria.k
        return sum(self._shares[i][level][0] for i, level in enumerate(node))

    def _loss(self, node: Node, classes: Classes, fails: NDArray[np.bool_], least: float) -> float:
        if self.loss == "height" or not fails.any():
            return least
        out = classes.counts[fails].astype(np.float64)
        if self.loss == "discernibility":
            return least - float(out @ out) + self.total * float(out.sum())
        if self.loss == "average class":
            return self.total / (len(classes) - len(out) + 1) / self.criteria.k
        more = [self._shares[i][level][1] for i, level in enumerate(node)]
        added = sum(m[row[fails]] for m, row in zip(more, classes.codes, strict=True))
        return least + float(out @ added)

    def search(self) -> Search:
        """The node of least loss that passes, the same as if all were looked at."""
        walk = _Walk(self)
        walk.halve_paths()
        walk.finish()
        if walk.best is None:
            raise DataError(
                "no levels of the columns are enough, not even the highest; ask for less, or "
                "allow more records to be left out with suppress."
            )
        loss, _, node = walk.best
        found = walk.judged
        names = tuple(ladder.name for ladder in self.ladders)
        return Search(names, node, loss, found[node].left_out, len(found), self.nodes, found)


class _Walk:
    """What is known of the nodes so far."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice, shape = lattice, lattice.shape
        self.tags = np.zeros(shape, np.int8)
        self.least = np.zeros(shape)
        self.judged: dict[Node, Judged] = {}
        self.best: tuple[float, int, Node] | None = None
        self.rising = lattice.limit == 0 or lattice.loss == "height"  # the loss, where it passes
        if lattice.loss in ("height", "non-uniform entropy"):  # without looking
            for axis, ladder in enumerate(lattice.ladders):
                by_level = np.arange(len(ladder), dtype=np.float64)
                if lattice.loss != "height":
                    by_level = np.array([share[0] for share in lattice._shares[axis]])
                form = [-1 if a == axis else 1 for a in range(len(shape))]
                self.least = self.least + by_level.reshape(form)
            self.least = self.least * (1 - 1e-9)  # sums in another order

    def look(self, node: Node) -> Judged:
        if node in self.judged:
            return self.judged[node]
        found = self.judged[node] = self.lattice.judge(node)
        above = tuple(slice(level, None) for level in node)
        below = tuple(slice(None, level + 1) for level in node)
        np.maximum(self.least[above], found.least, out=self.least[above])
        if found.passes:
            entry = (found.loss, sum(node), node)
            self.best = entry if self.best is None else min(self.best, entry)
        if found.hopeless:
            self.tags[below][self.tags[below] == UNKNOWN] = FAILS
        elif self.lattice.monotone and self.rising:
            part = self.tags[above]
            part[part == UNKNOWN] = DEAR  # they pass and lose no less
            self.tags[node] = PASSES
        else:
            part = self.tags[above]
            part[part == UNKNOWN] = PASSES
        return found

    def dear(self, node: Node) -> bool:
        """Whether it loses more than the best that is known."""
        return self.best is not None and bool(self.least[node] > self.best[0])

    def halve_paths(self) -> None:
        """Until every node is known to fail, or not to be hopeless, or to lose too much."""
        shape = self.lattice.shape
        heights = np.asarray(sum(np.indices(shape))).ravel()
        order = np.argsort(heights, kind="stable")
        ends = np.searchsorted(heights[order], np.arange(int(heights.max()) + 2))
        for low, high in itertools.pairwise(ends):
            level = order[low:high]
            for flat in level[self.tags.ravel()[level] == UNKNOWN]:
                self._halve(tuple(int(i) for i in np.unravel_index(flat, shape)))

    def _halve(self, start: Node) -> None:
        while self.tags[start] == UNKNOWN and not self.dear(start):
            path = self._path(start)
            low, high = 0, len(path) - 1
            while low <= high:
                middle = (low + high) // 2
                if self.look(path[middle]).hopeless:
                    low = middle + 1
                else:
                    high = middle - 1

    def _path(self, node: Node) -> list[Node]:
        """Upwards through nodes that are not known."""
        path = [node]
        while True:
            steps = (
                (*node[:a], node[a] + 1, *node[a + 1 :])
                for a in range(len(node))
                if node[a] + 1 < self.lattice.shape[a]
            )
            free = next((n for n in steps if self.tags[n] == UNKNOWN and not self.dear(n)), None)
            if free is None:
                return path
            node = free
            path.append(node)

    def finish(self) -> None:
        """Look at what may still be best, the most promising first."""
        left = self.tags == PASSES
        for node in self.judged:
            left[node] = False
        queue = [(float(self.least.flat[flat]), int(flat)) for flat in np.flatnonzero(left)]
        heapq.heapify(queue)
        while queue and (self.best is None or queue[0][0] <= self.best[0]):
            least, flat = heapq.heappop(queue)
            if (now := float(self.least.flat[flat])) > least:
                heapq.heappush(queue, (now, flat))
            else:
                self.look(tuple(int(i) for i in np.unravel_index(flat, left.shape)))


def _rounded(loss: float) -> float:
    """Equal losses stay equal when summed in another order."""
    return float(f"{loss:.10g}")


def _sums(of: Ints, amounts: Ints, many: int) -> Ints:
    return np.rint(np.bincount(of, amounts, many)).astype(np.int64)

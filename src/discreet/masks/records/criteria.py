"""What classes of records must be: k-anonymous, l-diverse, t-close."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from discreet.masks.records.lattice import Classes

CLOSE = 1e-9
AT_ONCE = 1 << 22  # numbers of a dense block
DIVERSITIES = ("distinct", "entropy", "recursive")
DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True, eq=False)
class Criteria:
    """A class of n records with counts r1 >= r2 >= ... of its sensitive values passes if

        k             n >= k
        distinct l    l values occur
        entropy l     exp(entropy of the shares) >= l
        recursive     r1 < c (r_l + r_(l+1) + ...)             (Machanavajjhala et al. 2007)
        t             the earth mover's distance of its shares from those of all records is at
                      most t                            (Li, Li & Venkatasubramanian 2007)

    `whole` are the shares of all records in the order of the sensitive values; `tree[h]` takes a
    value to its ancestor at height h + 1, the last one being common to all.
    """

    k: int = 1
    l: int = 0  # noqa: E741 the paper's letter
    diversity: str = "distinct"
    c: float = 3.0
    t: float | None = None
    distance: str = "equal"
    whole: Floats | None = None
    tree: tuple[Ints, ...] = ()

    @property
    def merging_helps(self) -> bool:
        """Whether a class that passes still does when merged with one that does not."""
        return self.t is None and (self.l < 2 or self.diversity == "distinct")

    def short(self, classes: Classes) -> Bools:
        """Which classes fail what merging with any other class never breaks."""
        found = classes.counts < self.k
        if self.l > 1:  # every kind of l-diversity needs l values, recursive ones up to rounding
            found |= np.bincount(classes.cell_class, minlength=len(classes)) < self.l
        return np.asarray(found)

    def failing(self, classes: Classes) -> Bools:
        """Which classes fail."""
        found = self.short(classes)
        if self.merging_helps:
            return found
        starts = np.searchsorted(classes.cell_class, np.arange(len(classes)))
        if self.l > 1 and self.diversity == "entropy":
            share = classes.cell_count / classes.counts[classes.cell_class]
            entropy = np.add.reduceat(-share * np.log(share), starts)
            found |= entropy < math.log(self.l) - CLOSE
        if self.l > 1 and self.diversity == "recursive":
            order = np.lexsort((-classes.cell_count, classes.cell_class))
            counts = classes.cell_count[order]
            rank = np.arange(len(counts)) - starts[classes.cell_class]
            rest = np.add.reduceat(np.where(rank >= self.l - 1, counts, 0), starts)
            found |= ~(counts[starts] < self.c * rest)
        if self.t is not None:
            found |= self._distances(classes, starts) > self.t + CLOSE
        return np.asarray(found)

    def _distances(self, classes: Classes, starts: Ints) -> Floats:
        assert self.whole is not None
        many = len(self.whole)
        ends = np.append(starts[1:], len(classes.cell_count))
        found, step = np.empty(len(classes)), max(1, AT_ONCE // many)
        for low in range(0, len(classes), step):
            high = min(low + step, len(classes))
            cells = slice(starts[low], ends[high - 1])
            apart = np.zeros((high - low, many))
            rows = classes.cell_class[cells] - low
            apart[rows, classes.cell_value[cells]] = classes.cell_count[cells]
            apart = apart / classes.counts[low:high, None] - self.whole
            found[low:high] = self.moved(apart)
        return found

    def moved(self, apart: Floats) -> Floats:
        """Earth mover's distance of differences that sum to 0 in each row."""
        if self.distance == "equal":
            return np.asarray(np.abs(apart).sum(1) / 2)
        if self.distance == "ordered":
            return np.asarray(np.abs(np.cumsum(apart, 1)).sum(1) / max(apart.shape[1] - 1, 1))
        moved, below = np.zeros(len(apart)), np.arange(apart.shape[1])
        for height, above in enumerate(self.tree, 1):
            parent = np.zeros(apart.shape[1], np.int64)
            parent[below] = above  # of each node one level down
            joined = np.zeros((apart.shape[1], above.max() + 1))
            joined[np.arange(apart.shape[1]), parent] = 1.0
            more, less = np.maximum(apart, 0) @ joined, np.maximum(-apart, 0) @ joined
            moved += height / len(self.tree) * np.minimum(more, less).sum(1)
            apart, below = apart @ joined, above
        return moved

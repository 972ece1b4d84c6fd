"""The junction tree of a decomposable release, laid out for matching people along it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.data.codebook import Variable
from discreet.effort import UNLIMITED, Clock, Effort
from discreet.errors import DataError
from discreet.intruder.posterior.result import held
from discreet.look.progress import working
from discreet.look.words import plural
from discreet.release.release import Release
from discreet.table.graph import JunctionTree
from discreet.table.keys import LARGEST_KEY, Codes, keys, unravel
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet._kernels.matching import Tree

Names = tuple[str, ...]
MOST_OPEN = 1 << 22
MOST_ITEMS = 1 << 31
MOST_TERMS = 40_000_000_000
ENTROPY_TERMS = 3_000_000_000
MOST_COUNT = 1 << 23  # of a cell
MOST_LOGS = 1 << 20  # larger log factorials are worked out when they are needed
AT_ONCE = 5e7  # terms between two looks at the clock
MOST_OF_A_CELL = 2e8
WIDE = 13.0  # roots of a count that hold all but 1e-36 of what is kept of it


@dataclass(frozen=True, eq=False)
class Join:
    """Clique and separator margins along the junction tree."""

    names: Names
    shape: tuple[int, ...]
    nodes: JunctionTree[Names]
    cliques: tuple[Table, ...]
    separators: tuple[Table, ...]

    @classmethod
    def of(cls, release: Release) -> Join:
        """Refuses a release that is not the cliques of a chordal graph over all variables."""
        formula = release.formula
        why = None
        if not formula.is_decomposable:
            why = f"{formula} is not decomposable"
        elif release.known:
            why = f"{release.known[0]} is known besides the margins"
        elif lost := [n for n in release.names if not formula.contains([n])]:
            why = f"no margin has {lost[0]}"
        if why:
            raise DataError(
                f"the release has no closed form: {why}. Sum over its tables (exact_posterior) or "
                "draw them by a chain."
            )
        shape = release.axes.sizes
        if math.prod(shape) >= LARGEST_KEY or (release.total or 0) >= MOST_ITEMS:
            raise DataError(
                f"a table of {math.prod(shape):.3g} cells and {release.total:,} people is too "
                "large to draw; leave out variables."
            )
        tree = formula.junction_tree
        return cls(
            release.names,
            shape,
            tree,
            tuple(release.table(names) for names in tree.nodes),
            tuple(release.table(names) for names in tree.separators),
        )

    @property
    def items(self) -> int:
        return self.cliques[0].total

    def log_factorials(self, counts: Ints) -> float:
        """The log of prod n!."""
        from scipy.special import gammaln

        return float(gammaln(counts + 1.0).sum())

    @property
    def log_ways(self) -> float:
        """The log of prod n_C! / prod n_S!."""
        cliques = sum(self.log_factorials(table.counts) for table in self.cliques)
        return cliques - sum(self.log_factorials(table.counts) for table in self.separators)

    def over(self, variables: tuple[Variable, ...]) -> Join:
        """The same people, of whom only these variables are told."""
        names, shape = tuple(v.name for v in variables), tuple(v.size for v in variables)
        return dataclasses.replace(self, names=names, shape=shape)

    def keys(self, codes: Codes) -> Ints:
        """The place of each cell in row-major order."""
        return np.asarray(keys(codes, self.shape), np.int64)

    # The kernel's layout

    @cached_property
    def tree(self) -> Tree:
        """Cells of each clique sorted by the separator to its parent, most frequent first."""
        from discreet._kernels.matching import Tree

        parents, cells, counts, adds = [-1], [0], [], []
        groups, members, starts = [0, 1], [0], [0]
        edges = [0]
        group_of: list[Ints] = []
        order: list[Ints] = []
        for j, (names, table) in enumerate(zip(self.nodes.nodes, self.cliques, strict=True)):
            by = np.arange(len(table))
            new = names
            if j:
                parent, _, shared = self.nodes.edges[j - 1]
                new = tuple(name for name in names if name not in shared)
                found, size = self._groups(table, shared), self.separators[j - 1].counts
                by = np.lexsort((-table.counts, found))
                members += (cells[-1] + np.searchsorted(found[by], np.arange(len(size)))).tolist()
                starts += (np.cumsum(size) - size).tolist()
                parents.append(parent)
                groups.append(groups[-1] + len(size))
                edges.append(sum(len(found) for found in group_of))
                group_of.append(self._groups(self.cliques[parent], shared)[order[parent]])
            order.append(by)
            counts.append(table.counts[by])
            adds.append(self._adds(table, new)[by])
            cells.append(cells[-1] + len(table))
        return Tree(
            np.array(parents),
            np.array(cells),
            np.concatenate(counts),
            np.concatenate(adds),
            np.array(groups),
            np.array([*members, cells[-1]]),
            np.array(starts),
            np.array(edges),
            np.concatenate([*group_of, np.zeros(0, np.int64)]),
        )

    def _groups(self, table: Table, shared: Names) -> Ints:
        """The cell of the separator that each cell of a clique belongs to."""
        places = table.axes.places(shared)
        shape = [table.shape[place] for place in places]
        return np.unique(keys(table.codes[:, places], shape), return_inverse=True)[1].astype(
            np.int64
        )

    def _adds(self, table: Table, names: Names) -> Ints:
        """What the given variables of each cell add to its key."""
        found = np.zeros(len(table), np.int64)
        for place, name in enumerate(table.names):
            if name in names and name in self.names:
                radix = math.prod(self.shape[self.names.index(name) + 1 :])
                found += table.codes[:, place].astype(np.int64) * radix
        return found

    # Cells one by one

    def counts(self, codes: Codes) -> tuple[Ints, Ints]:
        """Of each cell the counts in the cliques, and in the separators: cells x margins."""
        found = []
        for tables in (self.cliques, self.separators):
            columns = [
                table.lookup(codes[:, [self.names.index(name) for name in table.names]])
                for table in tables
            ]
            found.append(np.stack(columns, 1) if columns else np.zeros((len(codes), 0), np.int64))
        return found[0], found[1]

    def support(self, codes: Codes) -> tuple[Ints, Ints]:
        """The lower bound of each cell, and where its distribution starts in one array."""
        cliques, separators = self.counts(codes)
        low = np.maximum(0, cliques.sum(1) - separators.sum(1))
        low = np.where((cliques == 0).any(1), 0, low)
        return low, np.append(0, np.cumsum(cliques.min(1) - low + 1))

    def distributions(
        self, codes: Codes, *, most: int = MOST_TERMS, clock: Clock = UNLIMITED
    ) -> Floats:
        """The probabilities of all cells, in the layout of `support`, by at most so many terms."""
        from scipy.special import gammaln

        from discreet._kernels.matching import chain

        cliques, separators = self.counts(codes)
        low, starts = self.support(codes)
        least = cliques.min(1).astype(np.float64)
        edges = separators.shape[1]
        near, far = (np.minimum(least, 3 + WIDE * np.sqrt(least * n)) for n in (1, edges))
        terms = near * (1 + far * max(0, edges - 1))
        if terms.sum() > most or terms.max(initial=0) > MOST_OF_A_CELL:
            raise DataError(
                f"{plural(len(codes), 'cell')} are sums of {terms.sum():.1e} terms, too many; ask "
                "about fewer cells, or draw tables."
            )
        held(len(codes), float(starts[-1]))
        held(1, float(least.max(initial=0)), MOST_COUNT)
        mass = np.zeros(starts[-1])
        logs = np.asarray(gammaln(np.arange(min(self.items, MOST_LOGS) + 1) + 1.0))
        orders = self._orders()
        done = np.cumsum(terms)
        cuts = np.searchsorted(done, np.arange(AT_ONCE, terms.sum(), AT_ONCE), "right")
        with working("computing beliefs"):
            for a, b in pairwise([0, *np.unique(cuts).tolist(), len(codes)]):
                clock.check(f"working out cells, {a:,} of {len(codes):,} so far")
                chain(
                    cliques[a:b], separators[a:b], orders, low[a:b], starts[a : b + 1], logs, mass
                )
        return mass

    def expected_log_factorials(self, effort: Effort) -> float:
        """The expected sum of log n! over the cells, in which only open ones count."""
        from scipy.special import gammaln

        if math.prod(self.shape) > MOST_OPEN:
            raise DataError(
                f"the table has {math.prod(self.shape):,} cells, too many for its entropy."
            )
        codes = unravel(np.arange(math.prod(self.shape)), self.shape)
        codes = codes[(self.counts(codes)[0] > 0).all(1)]
        low, starts = self.support(codes)
        mass, found = self.distributions(codes, most=effort.of(ENTROPY_TERMS)), 0.0
        for least, (a, b) in zip(low, pairwise(starts), strict=True):
            found += float(mass[a:b] @ gammaln(np.arange(least, least + b - a) + 1.0))
        return found

    def _orders(self) -> Ints:
        """For each root, the edges and the nodes that they lead to, nearest first."""
        n = len(self.cliques)
        orders = np.zeros((n, n - 1, 2), np.int64)
        for root in range(n):
            reached = [root]
            for node in reached:
                for edge, (i, j, _) in enumerate(self.nodes.edges):
                    for a, b in ((i, j), (j, i)):
                        if a == node and b not in reached:
                            orders[root, len(reached) - 1] = edge, b
                            reached.append(b)
        return orders

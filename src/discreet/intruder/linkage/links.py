"""Link probabilities of whole files: exact where few records are entangled, else beliefs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.linkage.blocking import DENSE, Candidates, Classes, find_candidates
from discreet.intruder.linkage.encode import Encoded, encode
from discreet.intruder.linkage.groups import Groups
from discreet.intruder.linkage.matches import NEVER
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import Records
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
EXACT = 1 << 20  # steps for one group of entangled records
CLOSE, ROUNDS = 1e-6, 300
FEWEST, WORK = 30, 6 * 10**8  # rounds, and messages in all, before it stops as it is
SHOWN, AGREE = 10, 5  # rounds of balancing before and after clusters are summed
COLUMNS, ROWS = 10, 24  # of a cluster that is summed exactly within a larger group
TIE = 1e-9
FEW = 1_000_000  # edges that one thread handles as quickly
RARE = 1e-3
TINY = 1e-280


@dataclass(frozen=True, eq=False)
class Links(Result):
    """For each source record, how probably each candidate released record is its own.

    Records that no key tells apart share one class, and one row here: `places` are released
    classes, by source class from `starts` on, and `chances` the probability of one pair of them.
    `exact`: share of released records whose probabilities are exact, which none is that pruning or
    strangers tie to others; `change`: how far beliefs still moved in the last of `rounds`. `bound`:
    at most this share of true pairs was not weighed; `left_out`: believed share of pairs that were
    weighed and left out.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> links = dc.linkage.link(records, intruder)
    >>> links
    Links(3 released records of 3: exact)
    >>> links.dense().round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.989, 0.011],
           [0.   , 0.011, 0.989]])
    """

    source: Classes
    released: Classes
    starts: Ints
    places: Ints
    chances: Floats
    exact: float
    change: float
    rounds: int
    bound: float
    left_out: float

    def __repr__(self) -> str:
        how = "exact" if self.exact == 1 else f"{self.exact:.0%} exact, else approximate"
        sources, released = len(self.source.of), len(self.released.of)
        return f"Links({plural(released, 'released record')} of {sources:,}: {how})"

    @property
    def lost(self) -> float:
        """Expected share of true pairs that pruning left out; chance can make it more."""
        return self.bound + self.left_out

    @property
    def lost_at_most(self) -> int:
        """True pairs that pruning left out are more with probability 0.1% at most, if the model is
        true: those not weighed, and those weighed and left out, with half of that each.
        """
        many = len(self.released.of)
        parts = [most_events(share * many, RARE / 2) for share in (self.bound, self.left_out)]
        return min(many, sum(parts))

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Ints, Floats]:
        """Of each source class: total and largest probability, its edge, and how many tie."""
        many = len(self.source.first)
        rows = np.repeat(np.arange(many), np.diff(self.starts))
        copies = self.released.times[self.places]
        total = np.bincount(rows, self.chances * copies, many)
        best, edge = np.zeros(many), np.full(many, -1, np.int64)
        order = np.lexsort([-self.places, self.chances])
        edge[rows[order]] = order  # the last, largest, stays
        best[edge >= 0] = self.chances[edge[edge >= 0]]
        tied = self.chances >= best[rows] * (1 - TIE)
        many_tied = np.bincount(rows, tied * copies, many).astype(np.float64)
        return total.astype(np.float64), best, edge, many_tied

    @property
    def perceived(self) -> Floats:
        """Risk of perceived identification of each source record: its most probable link."""
        return np.asarray(self._sums[1][self.source.of])

    @property
    def null(self) -> Floats:
        """Probability that the source record was not released."""
        return np.asarray(np.clip(1 - self._sums[0], 0, 1)[self.source.of])

    @property
    def ties(self) -> Floats:
        """How many released records are equally most probable."""
        return np.asarray(self._sums[3][self.source.of])

    @property
    def best(self) -> Ints:
        """The released row that is most probable for each source record; -1 if none is."""
        edge = self._sums[2]
        row = np.where(edge >= 0, self.released.first[self.places[edge]], -1)
        return np.asarray(row[self.source.of])

    def pairs(self, sources: Ints, released: Ints) -> Floats:
        """Probabilities of pairs of rows."""
        many = len(self.released.first)
        rows = np.repeat(np.arange(len(self.source.first)), np.diff(self.starts))
        keys = rows * many + self.places
        order = np.argsort(keys)
        wanted = self.source.of[sources] * many + self.released.of[released]
        at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
        return np.where(keys[order[at]] == wanted, self.chances[order[at]], 0.0)

    def of(self, source: int) -> tuple[Ints, Floats]:
        """Candidate released rows of one source record and their probabilities."""
        j = self.source.of[source]
        span = slice(self.starts[j], self.starts[j + 1])
        rows = [np.flatnonzero(self.released.of == i) for i in self.places[span]]
        chances = np.repeat(self.chances[span], [len(r) for r in rows])
        return np.concatenate([np.zeros(0, np.int64), *rows]), chances

    def dense(self) -> Floats:
        """Sources x released; for small files."""
        table = np.zeros((len(self.source.first), len(self.released.first)))
        table[np.repeat(np.arange(len(table)), np.diff(self.starts)), self.places] = self.chances
        return np.asarray(table[self.source.of][:, self.released.of])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a source record."""
        columns = {
            "perceived": self.perceived,
            "released_row": self.best + 1,
            "not_released": self.null,
        }
        return frame(columns, kind)


def most_events(expected: float, rare: float) -> int:
    """So many of independent events happen, or fewer, except with probability `rare` at most.

        P(X >= k) <= exp(k - m) (m / k)^k,   k >= m expected    (Chernoff 1952)

    >>> most_events(0.5, 0.001)
    4
    """
    if not expected > 0:
        return 0
    k = math.floor(expected) + 1
    while k * math.log(k / expected) - k + expected < -math.log(rare):
        k += 1
    return k - 1


def link(records: Records, intruder: Intruder, *, dense: int = DENSE, exact: int = EXACT) -> Links:
    """Link probabilities of all source and released records (Lambert 1993, equation 1).

    Released records that share no candidate are independent. A group of entangled ones is summed
    exactly in up to `exact` steps. In a larger one beliefs are propagated (Huang & Jebara 2009),
    and then each record is summed exactly with those it is most entangled with, the others by what
    they tell. Files of more than `dense` pairs are pruned first.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> dc.linkage.link(records, intruder).perceived.round(3)
    array([1.   , 0.989, 0.989])
    """
    return link_encoded(encode(records, intruder), intruder, dense=dense, exact=exact)


def link_encoded(
    data: Encoded, intruder: Intruder, *, dense: int = DENSE, exact: int = EXACT
) -> Links:
    found = find_candidates(data, lose=intruder.lose, top=intruder.top, dense=dense)
    everyone = intruder.population or len(data.y)
    links = solve(found, strangers=everyone - len(data.y), exact=exact)
    never = int((data.matches.source == NEVER).any(1).sum())
    released = len(data.x) == everyone - never and not links.lost
    return given_present(links) if intruder.present or released else links


def given_present(links: Links) -> Links:
    """The same for a target who is known to be released: no null link."""
    total = np.repeat(links._sums[0], np.diff(links.starts))
    return replace(links, chances=links.chances / np.where(total > 0, total, 1))


def solve(
    found: Candidates, *, strangers: int = 0, exact: int = EXACT, columns: int = COLUMNS
) -> Links:
    """Probabilities of candidate links, if so many `strangers` are not in the source.

    A stranger looks like the mean of the sources and holds one record at most. Strangers tie all
    groups together; unless all are summed at once, each is summed with what the others tell them.
    """
    from discreet._kernels.beliefs import entangled, propagated
    from discreet._kernels.clusters import clustered

    sizes = np.diff(found.starts)
    column = np.repeat(np.arange(len(sizes)), sizes)
    times = found.released.times.astype(np.int64)
    copies = (times, np.append(found.source.times, strangers).astype(np.int64))
    inside = np.bincount(column, found.weights * copies[1][found.places], len(sizes))
    weighed = inside + found.dropped
    outside = found.bound / (1 - found.bound) + found.dropped / weighed  # sources left out
    many = len(found.source.first)
    stranger = 1 / (1 - found.bound) / int(copies[1][:many].sum())
    weights = found.weights / weighed[column]
    edges = np.lexsort([column, found.places])
    starts = np.concatenate([[0], np.cumsum(np.bincount(found.places, minlength=many))])
    released = (found.starts, np.arange(len(column)), found.places, copies[1][found.places])
    sources = (starts, edges, column, times[column])
    groups = Groups.find(found, column, strangers=strangers, most=exact)
    tied = not groups.apart or bool(outside.any())
    with _threads(len(column)):
        p, told, (to_strangers, to_record), total, null, rest, rounds, change = propagated(
            released, sources, groups.spare(found, strangers=strangers, tied=tied), copies, weights,
            outside, stranger, float(strangers), CLOSE, rounds_for(len(column)),
        )  # fmt: skip
        chances = p.copy()
        left = (1.0, outside, np.full(len(sizes), stranger), strangers)
        if tied:
            taken = null[many] + groups.elsewhere(stranger * to_strangers * times)
            left = (float(null[0]), rest, stranger / np.maximum(taken, TINY), strangers)
        settled = groups.sum(found, column, weights, left, chances)
        which = np.flatnonzero(~settled)
        if len(which):
            apart = rest + strangers * stranger * to_record
            q = entangled(released, sources, weights, total, null, apart, SHOWN)
            most = np.argsort(-to_record / total[0], kind="stable")[:columns]
            strange = (stranger, float(strangers), to_strangers, to_record, most)
            clustered(
                which, released, sources, copies, weights, p, q, told, total, null, strange,
                columns, ROWS, chances,
            )  # fmt: skip
    ends = ((found.places, sources[3]), (column, released[3]))
    _agree(chances, ~settled[column], ends, groups.of[column], copies[1][:many])
    for end, ways in ends:
        chances /= np.maximum(1, np.bincount(end, chances * ways))[end]
    left_out = found.dropped / weighed * times
    return Links(
        found.source,
        found.released,
        starts,
        column[edges],
        np.asarray(chances)[edges],
        float(settled @ times / times.sum()) if not tied else 0.0,
        0.0 if settled.all() else float(change),
        int(rounds),
        found.bound,
        float(left_out.sum() / times.sum()),
    )


def rounds_for(edges: int) -> int:
    """How long messages may go round, by the work that a round is.

    >>> rounds_for(1_000), rounds_for(6_000_000)
    (300, 100)
    """
    return int(np.clip(WORK // max(edges, 1), FEWEST, ROUNDS))


def _agree(
    chances: Floats,
    chosen: NDArray[np.bool_],
    ends: tuple[tuple[Ints, Ints], ...],
    group: Ints,
    copies: Ints,
) -> None:
    """Balance what was summed cluster by cluster: the links of a source sum to 1 at most, and as
    many sources of a group have none as its records leave.
    """
    if not chosen.any():
        return
    links = chances[chosen]
    (sources, records), (released, ways) = [(end[chosen], many[chosen]) for end, many in ends]
    of = np.zeros(len(copies), np.int64)
    of[sources] = group[chosen]
    there = np.bincount(sources, minlength=len(of)) > 0
    left = np.where(there, 1 - np.bincount(sources, links * records, len(of)), 0.0)
    null = np.maximum(left, 0)
    wanted, said = (np.bincount(of, copies * part)[of] for part in (left, null))
    null *= np.clip(wanted / np.maximum(said, TINY), 0, 1)
    outside = np.clip(1 - np.bincount(released, links * ways), 0, 1)
    for _ in range(AGREE):
        for end, many, rest in ((sources, records, null), (released, ways, outside)):
            whole = np.maximum(np.bincount(end, links * many, len(rest)) + rest, TINY)
            rest /= whole
            links /= whole[end]
    chances[chosen] = links


@contextmanager
def _threads(edges: int) -> Iterator[None]:
    """One thread for few edges: many short loops would wait for each other."""
    from numba import get_num_threads, set_num_threads

    before = get_num_threads()
    set_num_threads(before if edges > FEW else 1)
    try:
        yield
    finally:
        set_num_threads(before)

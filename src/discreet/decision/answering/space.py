"""The query space: every margin is released, possible or gone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools
from discreet.decision.answering.answer import Status
from discreet.effort import UNLIMITED, Clock
from discreet.table.lattice import children, closure, count_by_order, maximal


class QuerySpace:
    """R(t), M(t) and U(t) over the margins of `k` variables, found out as far as they are asked.

    `trial(margins)` says whether all of them together could be released now. If rules are monotone,
    whatever holds a margin that is gone is gone, and stays so; and whatever is within one that is
    possible is possible, until the next release. `first` are margins beyond which nothing is
    possible; `rejects` is a quick look at what is gone for sure.
    """

    def __init__(
        self,
        k: int,
        trial: Callable[[Sequence[int]], bool],
        *,
        first: Iterable[int],
        monotone: bool = True,
        rejects: Callable[[int], bool] = lambda margin: False,
    ) -> None:
        self.k, self.trial, self.monotone, self.rejects = k, trial, monotone, rejects
        self.released: tuple[int, ...] = ()
        self._limit = maximal(first)
        self._gone: list[int] = []
        self._possible: list[int] = []
        self._known: dict[int, bool] = {}
        self._border = self._limit  # to be looked at: all else that is possible is within these

    def status(self, margin: int) -> Status:
        """Exact, by a trial if it is not known."""
        found = self.known(margin)
        if found is not None:
            return found
        held = not self.rejects(margin) and self.trial([margin])
        if not self.monotone:
            self._known[margin] = held
        elif held:
            self._possible = [s for s in self._possible if s & ~margin] + [margin]
        else:
            self._gone = [s for s in self._gone if margin & ~s] + [margin]
        return Status.POSSIBLE if held else Status.GONE

    def known(self, margin: int) -> Status | None:
        """The status, if it takes no trial."""
        if within(margin, self.released):
            return Status.RELEASED
        if not within(margin, self._limit):
            return Status.GONE
        if not self.monotone:
            held = self._known.get(margin)
            return None if held is None else Status.POSSIBLE if held else Status.GONE
        if any(s & ~margin == 0 for s in self._gone):
            return Status.GONE
        return Status.POSSIBLE if within(margin, self._possible) else None

    def release(self, margins: Iterable[int]) -> None:
        """Some margins went out: what was possible must be looked at again."""
        self.released = maximal([*self.released, *margins])
        self._border = maximal([*self._border, *self._possible]) if self.monotone else self._limit
        self._possible, self._known = [], {}

    def survey(self, trials: float = math.inf, clock: Clock = UNLIMITED) -> bool:
        """Find out the status of every margin; False if more trials or time would be needed.

        From the largest margins that may be possible downwards: what fails is followed to the
        margins with one variable fewer.
        """
        self._left, self._clock = trials, clock
        if not self.monotone:
            return self._ask_all()
        while self._border:
            for margin in self._border:
                if self.known(margin) is None and self.rejects(margin):
                    self.status(margin)
            self._border = self._below(self._border)
            if not self._sift([s for s in self._border if self.known(s) is None]):
                return False
            self._border = self._below(self._border)
        return True

    def _goes_on(self) -> bool:
        """Is another trial allowed?"""
        self._left -= 1
        return self._left >= 0 and not self._clock.over()

    def _sift(self, margins: list[int]) -> bool:
        """Find out about some margins: what holds together holds one by one."""
        if not margins:
            return True
        if not self._goes_on():
            return False
        if len(margins) == 1:
            self.status(margins[0])
            return True
        if self.trial(margins):
            self._possible = list(maximal([*self._possible, *margins]))
            return True
        half = len(margins) // 2
        return self._sift(margins[:half]) and self._sift(margins[half:])

    def _ask_all(self) -> bool:
        for margin in sorted(closure(self._limit)):
            if not self._goes_on():
                return False
            self.status(margin)
        self._border = ()
        return True

    def _below(self, margins: Iterable[int]) -> tuple[int, ...]:
        """The largest margins within those that are gone of which nothing is known."""
        todo, seen, found = list(margins), set(margins), list[int]()
        while todo:
            status = self.known(margin := todo.pop())
            if status is None:
                found.append(margin)
            elif status is Status.GONE:
                new = [s for s in children(margin) if s and s not in seen]
                seen.update(new)
                todo += new
        return maximal(found)

    def copy(self) -> QuerySpace:
        """The same state, to go another way from."""
        other = QuerySpace(
            self.k, self.trial, first=(), monotone=self.monotone, rejects=self.rejects
        )
        other.released, other._limit = self.released, self._limit
        other._gone, other._possible = list(self._gone), list(self._possible)
        other._known, other._border = dict(self._known), self._border
        return other

    @property
    def surveyed(self) -> bool:
        return not self._border

    def counts(self) -> dict[str, dict[int, int]]:
        """How many margins of each order are released, possible (or not yet looked at) and gone."""
        out = count_by_order(self.released)
        open_ = count_by_order([*self.released, *self._open()])
        for margin, held in self._known.items():
            open_[margin.bit_count()] -= not held
        every = {order: math.comb(self.k, order) for order in range(1, self.k + 1)}
        return {
            "released": out,
            "possible": {d: n - out.get(d, 0) for d, n in open_.items() if n > out.get(d, 0)},
            "gone": {d: n - open_.get(d, 0) for d, n in every.items() if n > open_.get(d, 0)},
        }

    def _open(self) -> tuple[int, ...]:
        """Margins within which lie all that may be possible."""
        return maximal([*self._possible, *self._border]) if self.monotone else self._limit

    def possible(self) -> tuple[int, ...]:
        """The largest possible margins, as far as they are known."""
        if self.monotone:
            return tuple(self._possible)
        return maximal(s for s, held in self._known.items() if held)

    def array(self) -> NDArray[np.uint8]:
        """Of every margin: 0 released, 1 possible, 2 gone; in the order of the bit sets."""
        found = np.full(1 << self.k, 2, np.uint8)
        found[_down(self.k, self._open())] = 1
        found[[margin for margin, held in self._known.items() if not held]] = 2
        found[_down(self.k, self.released)] = 0
        found[0] = 0
        return found


def within(margin: int, sets: Iterable[int]) -> bool:
    """Is the margin within one of the sets?"""
    return any(margin & ~s == 0 for s in sets)


def nearest(margin: int, sets: Iterable[int]) -> Iterator[int]:
    """The largest parts of a margin that lie within one of the sets."""
    yield from (s for s in maximal(margin & s for s in sets) if s)


def _down(k: int, sets: Iterable[int]) -> Bools:
    found = np.zeros(1 << k, bool)
    found[list(sets)] = True
    for place in range(k):
        halves = found.reshape(-1, 2, 1 << place)
        halves[:, 0] |= halves[:, 1]
    return found

"""Independent work, one item after the other or many at once, with the same answer.

    by itself        threads on all cores where the work releases Python's lock, else here
    workers(4)       at most four at once: threads, or processes of joblib
    workers(client)  the workers of a dask cluster

Results come in the order of the items. What the work raises is raised in its turn, and whatever
comes after it is not begun any more. Who goes on with a random generator gives each item its own
seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic, Protocol, TypeVar

from discreet.errors import WorkersLost
from discreet.spreading.blas import one_thread
from discreet.spreading.cluster import Cluster
from discreet.spreading.crew import Crew, crew
from discreet.spreading.memory import fit
from discreet.spreading.processes import Processes
from discreet.spreading.task import Lost, Outcome, opened
from discreet.spreading.threads import Threads

R = TypeVar("R")
LOSSES = 3  # rounds in which workers were lost, before the rest is done here
LOOK = 30.0  # seconds between two looks whether any worker is left
HERE = "what is left is done here, one item after the other."


class Team(Protocol):
    """Who takes items and gives back outcomes, `ahead` of them at most."""

    ahead: int
    lost: Lost

    def send(self, item: Any) -> Future[Any]: ...

    def alive(self) -> bool: ...

    def close(self) -> None: ...


class Spread(Generic[R]):
    """The results, in order, as they are made; `len` says how many there will be."""

    def __init__(
        self, work: Callable[..., R], items: Iterable[Any], given: tuple[Any, ...],
        threads: bool, memory: int | None, stays: bool = False,
    ) -> None:  # fmt: skip
        self._work, self._items, self._given = work, list(items), given
        self._threads, self._memory, self._stays = threads, memory, stays

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Spread({len(self)} items)"

    def __iter__(self) -> Iterator[R]:
        team = self._team(crew())
        return self._here(range(len(self))) if team is None else self._by(team)

    def _team(self, who: Crew) -> Callable[[], Team] | None:
        """How a team is made, and made again where one was lost; None: the work is done here."""
        if who.client is not None and len(self) > 1 and not self._stays:
            return lambda: Cluster(self._work, self._given, who.client, self._memory)
        number = min(fit(who.number, self._memory, who.memory), len(self))
        if number < 2:
            return None
        own = max(1, who.number // number)
        if self._threads:
            return lambda: Threads(self._work, self._given, number, own)
        if who.pool is None:
            return None
        pool = who.pool
        return lambda: Processes(self._work, self._given, number, own, pool)

    def _here(self, places: Iterable[int]) -> Iterator[R]:
        for place in places:
            with one_thread():
                found = self._work(self._items[place], *self._given)
            yield found

    def _by(self, team_of: Callable[[], Team]) -> Iterator[R]:
        finished: dict[int, Outcome[R]] = {}
        at = 0
        for _ in range(LOSSES):
            try:
                team = team_of()
            except (ImportError, NotImplementedError, OSError) as error:
                warnings.warn(f"no workers can be had ({error}); {HERE}", WorkersLost, 2)
                break
            try:
                for outcome in self._round(team, finished, at):
                    yield outcome.get()
                    at += 1
            finally:
                team.close()
            if at == len(self):
                return
        else:
            warnings.warn(f"workers were lost {LOSSES} times over; {HERE}", WorkersLost, 2)
        for place in range(at, len(self)):
            yield finished[place].get() if place in finished else next(self._here([place]))

    def _round(self, team: Team, finished: dict[int, Outcome[R]], at: int) -> Iterator[Outcome[R]]:
        """Outcomes from `at` on, until the end or a loss."""
        under_way: dict[Future[Any], int] = {}
        waiting = iter([place for place in range(at, len(self)) if place not in finished])
        last = min((p for p, found in finished.items() if found.error), default=len(self))
        try:
            while at < len(self):
                while at in finished:
                    yield finished.pop(at)
                    at += 1
                while len(under_way) < team.ahead and (place := next(waiting, last)) < last:
                    under_way[team.send(self._items[place])] = place
                ready, _ = wait(under_way, LOOK, FIRST_COMPLETED)
                if not ready and not team.alive():
                    return
                for future in ready:
                    place = under_way.pop(future)
                    if place > last:
                        continue
                    finished[place] = outcome = opened(future.result())
                    if outcome.error:  # what comes after it is in vain, and ends with the team
                        last = place
        except team.lost:
            for future, place in under_way.items():
                if future.done() and not future.cancelled() and not future.exception():
                    finished[place] = opened(future.result())


def spread(
    work: Callable[..., R],
    items: Iterable[Any],
    *,
    given: tuple[Any, ...] = (),
    threads: bool = False,
    memory: int | None = None,
    stays: bool = False,
) -> Spread[R]:
    """work(item, *given) of every item, in order, by whoever `workers` named.

    `given` is what all need: sent once to each worker, where nobody changes it. Items are small.
    `threads`: the work releases Python's lock, so that on one machine it needs no processes.
    `memory`: bytes that one task takes; no more run at once than there is room for. `stays`: what
    it needs is on this machine only.

    >>> list(spread(pow, [2, 3], given=(2,)))
    [4, 9]
    """
    return Spread(work, items, given, threads, memory, stays)


def in_threads(work: Callable[[Any], R], items: Iterable[Any]) -> list[R]:
    """work(item) of every item in threads of this process, where it may change what it is given.

    >>> rows = [[3, 1], [2, 4]]
    >>> in_threads(list.sort, rows)
    [None, None]
    >>> rows
    [[1, 3], [2, 4]]
    """
    return list(Spread(work, items, (), threads=True, memory=None, stays=True))

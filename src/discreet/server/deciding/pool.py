"""Work in threads of its own, so that whoever only reads does not wait for it.

Decisions have a pool, and what visitors can have made has another: draws and large files. Visitors
take turns: who has asked for a hundred things waits for ninety-nine of them after everybody else's
first. One visitor never has all threads.
"""

from __future__ import annotations

import asyncio
import contextvars
from bisect import insort
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar, cast

from discreet.server.guards.errors import Refused

T = TypeVar("T")
THREADS = 4  # data sets that are decided on at once
MOST = 1_000  # who may wait
SHARE = 4  # one visitor's part of them: a fourth
RETRY = 30  # seconds, told to those who may not
Left = Callable[[], Awaitable[object]]


@dataclass(order=True)
class Job:
    """Some work, who waits for it, and the visitor whose turn it takes."""

    place: tuple[bool, int, int]
    work: Callable[[], Any] = field(compare=False)
    lane: str = field(compare=False)
    key: Hashable = field(compare=False)
    visitor: str = field(compare=False)
    told: asyncio.Future[Any] = field(compare=False)
    waiters: int = field(default=0, compare=False)
    started: bool = field(default=False, compare=False)


class Pool:
    """A lane for each data set, one job at a time in each, as its lock would have it anyway.

    In a lane visitors take turns. Jobs with the same key are one, at the best place of those who
    want it. What nobody waits for any more is not begun. All of its state is that of one event
    loop.
    """

    def __init__(
        self, threads: int = THREADS, most: int = MOST, name: str = "decision", share: int = SHARE
    ) -> None:
        self.threads, self.most, self.share = threads, most, share
        self.waiting = 0  # clients whose work has not begun
        self._executor = ThreadPoolExecutor(threads, name)
        self._numbers = count()
        self._lanes: dict[str, list[Job]] = {}  # sorted, the next lane first
        self._turns: dict[str, dict[str, int]] = {}  # of each lane: the visitors' last turns
        self._turn: dict[str, int] = {}  # of each lane: that of what was begun last
        self._busy: set[str] = set()
        self._begun: Counter[str] = Counter()  # jobs of each visitor
        self._queued: Counter[str] = Counter()
        self._threads: set[Future[None]] = set()
        self._jobs: dict[Hashable, Job] = {}

    async def run(
        self,
        work: Callable[[], T],
        *,
        lane: str,
        key: Hashable = None,
        urgent: bool = False,
        left: Left | None = None,
        visitor: str = "",
    ) -> T:
        """What `work` gives, or raises, in its turn; given up if it has not begun when `left`.

        `visitor`: who takes turns with others; without one, the server itself.
        """
        job = self._jobs.get(key) if key is not None else None
        if job is None:
            if not urgent:
                self._check_room(visitor)
            job = self._enter(work, lane, key, urgent, visitor)
        elif not job.started:
            self._join(job, urgent, visitor)
        return cast(T, await self._result(job, left))

    def is_busy(self, lane: str) -> bool:
        """Would more work there wait?"""
        return lane in self._busy

    def close(self, seconds: float | None = None) -> bool:
        """What has begun is finished, if it does not take longer; nothing else begins."""
        self.threads = 0
        self._executor.shutdown(wait=False, cancel_futures=True)
        return not wait_for(list(self._threads), seconds).not_done

    def _check_room(self, visitor: str) -> None:
        if self.waiting >= self.most:
            raise _busy(503, f"{self.waiting:,} requests wait to be decided")
        own = self._queued[visitor]
        if visitor and own >= max(1, self.most // self.share):
            raise _busy(429, f"{own:,} requests of yours wait to be decided")

    def _place(self, lane: str, urgent: bool, visitor: str) -> tuple[bool, int, int]:
        """Behind what the visitor has in the lane already, and not before what has begun."""
        turn, last = self._turn.get(lane, 0), self._turns.get(lane, {}).get(visitor, -1)
        return not urgent, 0 if urgent else max(turn, last + 1), next(self._numbers)

    def _enter(
        self, work: Callable[[], Any], lane: str, key: Hashable, urgent: bool, visitor: str
    ) -> Job:
        inside = contextvars.copy_context()
        told = asyncio.get_running_loop().create_future()
        place = self._place(lane, urgent, visitor)
        job = Job(place, lambda: inside.run(work), lane, key, "" if urgent else visitor, told)
        insort(self._lanes.setdefault(lane, []), job)
        self._takes_turn(job)
        if key is not None:
            self._jobs[key] = job
        self._begin()
        return job

    def _join(self, job: Job, urgent: bool, visitor: str) -> None:
        """Somebody else wants it too: by their turn, if that comes sooner."""
        place = self._place(job.lane, urgent, visitor)
        if place[:2] < job.place[:2]:
            jobs = self._lanes[job.lane]
            self._gives_up_turn(job, jobs)
            job.place, job.visitor = place, "" if urgent else visitor
            insort(jobs, job)
            self._takes_turn(job)
            self._begin()

    def _gives_up_turn(self, job: Job, jobs: list[Job]) -> None:
        """The visitor's next turn comes after those that are left."""
        jobs.remove(job)
        self._queued[job.visitor] -= 1
        if job.place[0]:
            left = (one.place[1] for one in jobs if one.visitor == job.visitor and one.place[0])
            now = self._turn.get(job.lane, 0)
            self._turns[job.lane][job.visitor] = max(left, default=now)

    def _takes_turn(self, job: Job) -> None:
        self._queued[job.visitor] += 1
        if job.place[0]:
            self._turns.setdefault(job.lane, {})[job.visitor] = job.place[1]

    async def _result(self, job: Job, left: Left | None) -> Any:
        job.waiters += 1
        self.waiting += not job.started
        watch = asyncio.ensure_future(left()) if left is not None else None
        try:
            if watch is not None:
                await asyncio.wait({job.told, watch}, return_when=asyncio.FIRST_COMPLETED)
                if not job.told.done() and not job.started:
                    raise Refused(499, "left", "the client left.")
            return await asyncio.shield(job.told)
        finally:
            if watch is not None:
                watch.cancel()
            job.waiters -= 1
            if not job.started:
                self.waiting -= 1
                if not job.waiters:
                    self._drop(job)

    def _begin(self) -> None:
        """Lanes take turns."""
        for lane in list(self._lanes):
            if len(self._busy) >= self.threads:
                return
            if lane in self._busy:
                continue
            job = next(filter(self._may_begin, self._lanes[lane]), None)
            if job is None:
                continue
            jobs = self._lanes.pop(lane)
            jobs.remove(job)
            if jobs:
                self._lanes[lane] = jobs
            if job.place[0]:
                self._turn[lane] = max(job.place[1], self._turn.get(lane, 0))
            self._busy.add(lane)
            self._begun[job.visitor] += 1
            self._queued[job.visitor] -= 1
            job.started = True
            self.waiting -= job.waiters
            self._threads.add(self._executor.submit(self._work, job))

    def _may_begin(self, job: Job) -> bool:
        """One visitor leaves a thread to others."""
        return not job.visitor or self._begun[job.visitor] < max(1, self.threads - 1)

    def _work(self, job: Job) -> None:
        found, error = None, None
        try:
            found = job.work()
        except BaseException as raised:  # noqa: BLE001 whatever it is, those who wait get it
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            job.told.get_loop().call_soon_threadsafe(self._end, job, found, error)

    def _end(self, job: Job, found: Any, error: BaseException | None) -> None:
        self._busy.discard(job.lane)
        self._begun[job.visitor] -= 1
        for counts in (self._begun, self._queued):
            if not counts[job.visitor]:
                del counts[job.visitor]
        self._threads = {one for one in self._threads if not one.done()}
        self._forget(job)
        if job.lane not in self._lanes:
            self._turns.pop(job.lane, None)
            self._turn.pop(job.lane, None)
        if not job.told.done():
            if error is None:
                job.told.set_result(found)
            else:
                job.told.set_exception(error)
                job.told.exception()  # nobody may wait any more: not for the log
        self._begin()

    def _drop(self, job: Job) -> None:
        self._forget(job)
        job.told.cancel()
        jobs = self._lanes.get(job.lane, [])
        if job in jobs:
            self._gives_up_turn(job, jobs)
            if not jobs:
                del self._lanes[job.lane]

    def _forget(self, job: Job) -> None:
        if job.key is not None and self._jobs.get(job.key) is job:
            del self._jobs[job.key]


def _busy(status: int, said: str) -> Refused:
    code = "busy" if status == 503 else "too_many_requests"
    return Refused(
        status,
        code,
        f"{said}; come again in {RETRY} s.",
        {"retry_after": RETRY},
        {"Retry-After": str(RETRY)},
    )

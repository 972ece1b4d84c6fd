"""Decisions in threads of their own, so that whoever only reads does not wait for them."""

from __future__ import annotations

import asyncio
import contextvars
import heapq
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar, cast

from discreet.server.guards.errors import Refused

T = TypeVar("T")
THREADS = 4  # data sets that are decided on at once
MOST = 1_000  # who may wait
RETRY = 30  # seconds, told to those who may not
Left = Callable[[], Awaitable[object]]


@dataclass(order=True)
class Job:
    """Some work, and who waits for it."""

    place: tuple[bool, int]
    work: Callable[[], Any] = field(compare=False)
    lane: str = field(compare=False)
    key: Hashable = field(compare=False)
    told: asyncio.Future[Any] = field(compare=False)
    waiters: int = field(default=0, compare=False)
    started: bool = field(default=False, compare=False)


class Pool:
    """A lane for each data set, one job at a time in each, as its lock would have it anyway.

    Jobs with the same key are one. What nobody waits for any more is not begun. All of its state
    is that of one event loop.
    """

    def __init__(self, threads: int = THREADS, most: int = MOST) -> None:
        self.threads, self.most = threads, most
        self.waiting = 0  # clients whose work has not begun
        self._executor = ThreadPoolExecutor(threads, "decision")
        self._numbers = count()
        self._lanes: dict[str, list[Job]] = {}  # heaps, the next lane first
        self._busy: set[str] = set()
        self._jobs: dict[Hashable, Job] = {}

    async def run(
        self,
        work: Callable[[], T],
        *,
        lane: str,
        key: Hashable = None,
        urgent: bool = False,
        left: Left | None = None,
    ) -> T:
        """What `work` gives, or raises, in its turn; given up if it has not begun when `left`."""
        job = self._jobs.get(key) if key is not None else None
        if job is None:
            if self.waiting >= self.most and not urgent:
                raise Refused(
                    503,
                    "busy",
                    f"{self.waiting:,} requests wait to be decided; come again in {RETRY} s.",
                    {"retry_after": RETRY},
                    {"Retry-After": str(RETRY)},
                )
            job = self._enter(work, lane, key, urgent)
        return cast(T, await self._result(job, left))

    def close(self) -> None:
        """What has begun is finished; nothing else begins."""
        self.threads = 0
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _enter(self, work: Callable[[], Any], lane: str, key: Hashable, urgent: bool) -> Job:
        inside = contextvars.copy_context()
        told = asyncio.get_running_loop().create_future()
        job = Job((not urgent, next(self._numbers)), lambda: inside.run(work), lane, key, told)
        heapq.heappush(self._lanes.setdefault(lane, []), job)
        if key is not None:
            self._jobs[key] = job
        self._begin()
        return job

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
            jobs = self._lanes.pop(lane)
            job = heapq.heappop(jobs)
            if jobs:
                self._lanes[lane] = jobs
            self._busy.add(lane)
            job.started = True
            self.waiting -= job.waiters
            self._executor.submit(self._work, job)

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
        self._forget(job)
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
            jobs.remove(job)
            heapq.heapify(jobs)
            if not jobs:
                del self._lanes[job.lane]

    def _forget(self, job: Job) -> None:
        if job.key is not None and self._jobs.get(job.key) is job:
            del self._jobs[job.key]

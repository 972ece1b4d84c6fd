"""Threads of this process, for work that releases Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import Any

from discreet.spreading.task import Lost, Outcome, done


class Threads:
    """So many, each with `own` cores for its kernels."""

    lost: Lost = ()

    def __init__(
        self, work: Callable[..., Any], given: tuple[Any, ...], number: int, own: int
    ) -> None:
        self._do = partial(done, work, given=given, number=own)
        self.ahead = 2 * number
        self._pool = ThreadPoolExecutor(number, "discreet")

    def send(self, item: Any) -> Future[Outcome[Any]]:
        return self._pool.submit(copy_context().run, self._do, item)

    def alive(self) -> bool:
        return True

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def side_by_side(
    kernel: Callable[..., object],
    spans: Iterable[tuple[int, int]],
    given: tuple[Any, ...],
    threads: int,
) -> None:
    """kernel(first, end, ...) of every span: microseconds each, so that threads are kept."""
    pool = _pool(os.getpid(), threads)
    for part in [pool.submit(kernel, *span, *given) for span in spans]:
        part.result()


@cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads of one process: those of another do not come along with a fork."""
    return ThreadPoolExecutor(threads)

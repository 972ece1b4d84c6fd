"""Kernels on every core: loops of numba's own, one at a time, and threads for those without."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

from discreet.spreading.crew import cores
from discreet.spreading.threads import side_by_side

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

ENOUGH = 200_000  # steps that are worth a second thread
PARTS = 4  # of the work for each thread, so that none waits long for another
_RUNNING = Lock()


def alone(kernel: Kernel) -> Kernel:
    """Not every threading layer of numba bears two parallel loops at once."""

    @wraps(kernel)
    def run(*given: Any) -> Any:
        from numba import get_num_threads, set_num_threads

        with _RUNNING:
            before = get_num_threads()
            set_num_threads(min(before, cores()))
            try:
                return kernel(*given)
            finally:
                set_num_threads(before)

    return run  # type: ignore[return-value]


def spread(
    kernel: Callable[..., Any], length: int, *given: Any, each: float = ENOUGH, share: int = 0
) -> None:
    """kernel(first, end, ...) over all of range(length), in threads: each part changes its own.

    A loop that numba makes parallel takes several times as long to compile. One thread does what
    is little: `each` is about how many steps one turn takes. `share`: turns at a time.
    """
    from numba import get_num_threads

    threads = min(get_num_threads(), cores(), length)
    if threads < 2 or length * each < ENOUGH:
        kernel(0, length, *given)
        return
    parts = -(-length // share) if share else min(length, PARTS * threads)
    ends = [length * part // parts for part in range(parts + 1)]
    side_by_side(kernel, pairwise(ends), given, threads)

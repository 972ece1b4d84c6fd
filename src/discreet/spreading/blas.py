"""Sums of BLAS by one thread: with another number of threads their last digits change.

OpenBLAS, which numpy and scipy bring along, is told so by its own call; there is none where they
were built with something else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

LIBRARIES = ("numpy", "scipy")
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "BLIS")}

_lock = Lock()
_inside = 0
_before: list[int] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """While anybody is within, wherever in this process."""
    global _inside
    with _lock:
        if not _inside:
            _before[:] = [number() for number, _ in _switches()]
            for _, switch in _switches():
                switch(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                for (_, switch), number in zip(_switches(), _before, strict=True):
                    switch(number)


@cache
def _switches() -> tuple[tuple[Callable[[], int], Callable[[int], Any]], ...]:
    """How many threads there are, and the call that changes it, of each library that is there."""
    found = []
    for package in LIBRARIES:
        spec = find_spec(package)
        folder = Path(spec.origin).parents[1] if spec and spec.origin else Path()
        for path in sorted((folder / f"{package}.libs").glob("*openblas*")):
            with suppress(OSError):
                library = ctypes.CDLL(str(path))
                for name in NAMES:
                    with suppress(AttributeError):
                        found.append(tuple(library[name.format(w)] for w in ("get", "set")))
                        break
    return tuple(found)  # type: ignore[arg-type]

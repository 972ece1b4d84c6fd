"""Small work is done in plain Python, to the same bit; what is more is compiled, once.

Compiling a large loop takes seconds, a file of fifty records a blink. Work is counted, not timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

STEPS = 200_000  # of each loop, before it is compiled: some tenths of a second
_WAITS = [True]
_TWINS: dict[Any, Callable[..., Any]] = {}
_SPACES: dict[str, dict[str, Any]] = {}


def twin_of(kernel: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Plain work takes this function in place of the kernel: whole arrays at once."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        _TWINS[kernel.py_func] = function
        return function

    return keep


def plain(kernel: Any) -> Callable[..., Any]:
    """A kernel, and every kernel that it calls, as plain Python."""
    function = kernel.py_func
    if function in _TWINS:
        return _TWINS[function]
    space = _SPACES.get(function.__module__)
    if space is None:
        space = _SPACES[function.__module__] = dict(vars(sys.modules[function.__module__]))
        for name, value in list(space.items()):
            if hasattr(value, "py_func"):
                space[name] = plain(value)
    return FunctionType(function.__code__, space, function.__name__, function.__defaults__)


def built(kernel: Any) -> bool:
    """Is there nothing left to compile, in memory or in the cache?"""
    if kernel.overloads:
        return True
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return bool(file is not None and file._load_index())


@contextmanager
def at_once() -> Iterator[None]:
    """Everything is compiled on its first call, however small."""
    before, _WAITS[0] = _WAITS[0], False
    try:
        yield
    finally:
        _WAITS[0] = before


def tiered(steps: Callable[..., int]) -> Callable[[Any], Any]:
    """Plain while all calls together take few `steps` and the kernel is not built."""

    def of(kernel: Any) -> Any:
        left = STEPS

        def waits(*given: Any) -> bool:
            nonlocal left
            if not _WAITS[0] or left <= 0 or built(kernel):
                return False
            left -= steps(*given)
            return left > 0

        def by_hand(*given: Any) -> Any:
            with np.errstate(all="ignore"):
                return plain(kernel)(*given)

        @wraps(kernel.py_func)
        def run(*given: Any) -> Any:
            return by_hand(*given) if waits(*given) else kernel(*given)

        run.__dict__.update(kernel=kernel, waits=waits, by_hand=by_hand)
        return run

    return of

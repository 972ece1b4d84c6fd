"""Kernels that use every core run one at a time: not every threading layer of numba bears two."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_RUNNING = Lock()


def alone(kernel: Kernel) -> Kernel:
    @wraps(kernel)
    def run(*given: Any) -> Any:
        with _RUNNING:
            return kernel(*given)

    return run  # type: ignore[return-value]

"""Copies of one array into another of its length."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def put(target: Any, source: Any) -> None:
    """target[:] = source, without the text that numba would compile for lengths that differ."""
    for i in range(len(source)):
        target[i] = source[i]

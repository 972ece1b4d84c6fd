"""Ctrl-C, also where compiled code swallows it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any


@contextmanager
def insistent_interrupts() -> Iterator[None]:
    """A Ctrl-C that a compiler's callback swallows comes again until it arrives."""
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return
    before = {s: signal.signal(s, _interrupt) for s in (signal.SIGINT, signal.SIGALRM)}
    shown = sys.unraisablehook

    def quiet(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            shown(lost)

    sys.unraisablehook = quiet
    try:
        yield
    finally:
        stop_insisting()
        sys.unraisablehook = shown
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, 2.0)
    raise KeyboardInterrupt


def stop_insisting() -> None:
    """The interrupt has arrived."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)

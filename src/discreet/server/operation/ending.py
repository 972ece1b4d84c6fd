"""The end comes in time: within 30 seconds of SIGTERM or Ctrl-C, whatever is being computed.

Requests have `GRACE` seconds, then decisions that have begun have a few more. What still runs then
is cut off: nothing of it was told, and the ledger holds whole entries only.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

GRACE = 20  # seconds for requests under way
DECISIONS = 3.0  # ... and for decisions after that
LAST = 28.0  # the process is gone
SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def ending_in_time(seconds: float = LAST) -> Iterator[None]:
    """From the first signal on, so many seconds; other handlers go on as before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> Any:
        _cut_off_in(seconds)
        handler = before[signal.Signals(number)]
        return handler(number, frame) if callable(handler) else None

    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is handle:
                signal.signal(number, handler)


def _cut_off_in(seconds: float) -> None:
    """By a thread that needs no turn of the interpreter: nothing that computes holds it up."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=_nowhere())


def stay() -> None:
    """The server has ended, the process goes on with other things."""
    faulthandler.cancel_dump_traceback_later()


def _nowhere() -> int:
    return os.open(os.devnull, os.O_WRONLY)

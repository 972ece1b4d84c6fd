"""Progress of long work, on a terminal's standard error only, after two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 2.0
EVERY = 0.2
CLEAR = "\r\x1b[K"
T = TypeVar("T")


def track(items: Sequence[T], what: str) -> Iterator[T]:
    """The items; a line says how many are done and how long the rest may take."""
    if not sys.stderr.isatty():
        yield from items
        return
    start, shown = time.monotonic(), 0.0
    try:
        for done, item in enumerate(items):
            now = time.monotonic() - start
            if now > PATIENCE and now - shown > EVERY:
                left = now / max(done, 1) * (len(items) - done)
                _say(f"{what}: {done:,} of {len(items):,}, about {left:,.0f} s left")
                shown = now
            yield item
    finally:
        if shown:
            _say("")


@contextmanager
def working(what: str) -> Iterator[None]:
    """A line with the seconds gone, for work that cannot say how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    done, start = threading.Event(), time.monotonic()

    def tell() -> None:
        if done.wait(PATIENCE):
            return
        while not done.wait(EVERY):
            _say(f"{what}: {time.monotonic() - start:,.0f} s")
        _say("")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _say(line: str) -> None:
    print(f"{CLEAR}{line}", end="", file=sys.stderr, flush=True)

"""Progress of long work, on a terminal's standard error only, after two seconds.

Work within work is shown in one line: what it is for, then how far the innermost is that knows.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from sys import modules
from typing import Any, Protocol, TypeVar

PATIENCE = 2.0
EVERY = 0.2
CLEAR = "\r\x1b[K"
WIDEST = 79
T = TypeVar("T")
Made = TypeVar("Made", covariant=True)


class Counted(Protocol[Made]):
    """Things one after the other, of which it is known how many there will be."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Made]: ...


class Progress:
    """A line that says how much of the work is done, and about how long the rest may take.

    >>> with Progress("files", 3) as files:
    ...     for _ in range(3):
    ...         files.step()
    >>> files.share
    1.0
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self.begun = time.monotonic()

    def step(self, number: int = 1) -> None:
        """So many more are done."""
        self.done += number

    @property
    def share(self) -> float | None:
        """From 0 to 1, if the amount is known."""
        return min(1.0, self.done / self.total) if self.total else None

    def line(self) -> str:
        gone = time.monotonic() - self.begun
        if self.total is None:
            return f"{self.what}: {gone:,.0f} s"
        line = f"{self.what}: {self.done:,} of {self.total:,}"
        if not self.done:
            return line
        left = gone / self.done * max(0, self.total - self.done)
        return f"{line} ({self.share:.0%}), about {_time(left)} left"

    def __enter__(self) -> Progress:
        _screen.begin(self)
        return self

    def __exit__(self, *error: object) -> None:
        _screen.end(self)


def track(items: Counted[T], what: str) -> Iterator[T]:
    """The items; a line says how many are done and how long the rest may take."""
    with Progress(what, len(items)) as progress:
        for item in items:
            yield item
            progress.step()


@contextmanager
def working(what: str) -> Iterator[None]:
    """A line with the seconds gone, for work that cannot say how far it is."""
    with Progress(what):
        yield


class _Screen:
    """What is under way, told by one thread while there is anything."""

    def __init__(self) -> None:
        self._tasks: list[Progress] = []
        self._lock, self._none = threading.Lock(), threading.Event()
        self._teller: threading.Thread | None = None

    def begin(self, task: Progress) -> None:
        if not sys.stderr.isatty():
            return
        with self._lock:
            self._tasks.append(task)
            if self._teller is None:
                self._none.clear()
                self._teller = threading.Thread(target=self._tell, args=(task,), daemon=True)
                self._teller.start()

    def end(self, task: Progress) -> None:
        with self._lock:
            if task not in self._tasks:
                return
            self._tasks.remove(task)
            if self._tasks:
                return
            teller, self._teller = self._teller, None
            self._none.set()
        if teller is not None:
            teller.join()

    def _tell(self, first: Progress) -> None:
        shown = False
        while not self._none.wait(EVERY):
            compiling.listen()
            if time.monotonic() - first.begun > PATIENCE and (line := self._line()):
                _say(line)
                shown = True
        if shown:
            _say("")

    def _line(self) -> str:
        tasks = self._tasks[:]
        if not tasks:
            return ""
        outer, inner = tasks[0], next((t for t in tasks[::-1] if t.total), tasks[-1])
        if (since := compiling.since) is not None:
            return f"{outer.what}: compiling, once: {time.monotonic() - since:,.0f} s"
        if inner is outer or inner.what == outer.what:
            return inner.line()
        both = f"{outer.what}: {inner.line()}"
        return both if len(both) <= WIDEST else inner.line()


class Compiling:
    """Since when numba compiles loops, if it does; numba is not imported for it."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.built = 0
        self._deep, self._listens = 0, False

    def listen(self) -> None:
        """From now on, once numba is there."""
        events: Any = modules.get("numba.core.event")
        if self._listens or not hasattr(events, "register"):
            return
        self._listens = True
        kinds = {
            "on_start": lambda _, event: self._start(),
            "on_end": lambda _, event: self._end(event),
        }
        events.register("numba:compile", type("Ear", (events.Listener,), kinds)())

    def _start(self) -> None:
        if self._deep == 0:
            self.since = time.monotonic()
        self._deep += 1

    def _end(self, event: Any) -> None:
        self._deep = max(0, self._deep - 1)
        dispatcher = event.data.get("dispatcher")
        own = getattr(getattr(dispatcher, "py_func", None), "__module__", "")
        self.built += own.startswith("discreet.")
        if self._deep == 0:
            self.since = None


compiling = Compiling()
_screen = _Screen()


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


def _say(line: str) -> None:
    print(f"{CLEAR}{line}", end="", file=sys.stderr, flush=True)

"""What a person should know of how their data were read, told once as the work goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def tell(note: str) -> None:
    """One sentence for whoever listens."""
    if (listener := _listener.get()) is not None:
        listener(note)


@contextmanager
def telling(listener: Callable[[str], None]) -> Iterator[None]:
    """Hand each sentence to `listener`, once.

    >>> with telling(print):
    ...     tell("read as Latin-1.")
    ...     tell("read as Latin-1.")
    read as Latin-1.
    """
    said: set[str] = set()

    def once(note: str) -> None:
        if note not in said:
            said.add(note)
            listener(note)

    token = _listener.set(once)
    try:
        yield
    finally:
        _listener.reset(token)

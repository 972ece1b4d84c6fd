"""Who does the work: this machine, some of its cores, or a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from discreet.errors import DisclosureError
from discreet.spreading.memory import in_bytes
from discreet.spreading.pool import Pool

WORKERS, MEMORY = "DISCREET_WORKERS", "DISCREET_MEMORY"


@dataclass(frozen=True)
class Crew:
    """At most `number` at once on this machine, or the workers of a dask `client`.

    Processes come from the `pool`; without one there are threads only: where nobody asked for a
    number, and within a worker. `memory`: bytes that all may take together.
    """

    number: int
    client: Any = None
    pool: Pool | None = None
    memory: int | None = None


_crew: ContextVar[Crew | None] = ContextVar("crew", default=None)


@contextmanager
def workers(who: Any, *, memory: int | str | None = None) -> Iterator[None]:
    """Who does the work within: so many workers here, or those of a dask scheduler or client.

    The answer is the same for any number, to the last digit. `memory` is what they may take
    together on this machine, as 8000000000 or "8 GB"; workers of a cluster have their own limits.

    >>> import discreet as dc
    >>> table = dc.load("example:czech")
    >>> with dc.workers(2):
    ...     found = dc.frontiers.decomposable_frontier(table, beta=3)
    >>> found.released
    47
    """
    limit = None if memory is None else in_bytes(memory, "memory")
    with _hired(who, "workers") as crew:
        token = _crew.set(replace(crew, memory=limit))
        try:
            yield
        finally:
            _crew.reset(token)


@contextmanager
def _hired(who: Any, name: str) -> Iterator[Crew]:
    number = _number(who, name)
    if number is not None:
        pool = Pool()
        try:
            yield Crew(number, pool=pool)
        finally:
            pool.close()
    elif isinstance(who, str):
        from discreet.spreading.cluster import connected

        with connected(who) as client:
            yield Crew(all_cores(), client=client)
    elif hasattr(who, "scatter") and hasattr(who, "get_executor"):
        from discreet.spreading.cluster import check_program

        check_program(who, "the client")
        yield Crew(all_cores(), client=who)
    else:
        raise _nobody(who, name)


def _number(who: Any, name: str) -> int | None:
    """None where it is not a number but somebody's address."""
    if isinstance(who, (bool, float)):
        raise _nobody(who, name)
    if isinstance(who, str) and not _is_whole(who):
        if "://" not in who and ":" not in who:
            raise _nobody(who, name)
        return None
    if not isinstance(who, (int, str)):
        return None
    if int(who) < 1:
        raise _nobody(who, name)
    return int(who)


def _is_whole(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


def _nobody(who: Any, name: str) -> DisclosureError:
    return DisclosureError(
        f"{name} is {who!r}; give a number from 1 on, or the address of a dask scheduler, like "
        "tcp://host:8786."
    )


def crew() -> Crew:
    """Who works now: by `workers`, else by the environment, else threads on every core."""
    found = _crew.get() or _of_environment(os.environ.get(WORKERS, ""))
    return replace(found, memory=allowed_memory())


def allowed_memory() -> int | None:
    """Bytes that `workers` or the environment allow, if one of them says."""
    found = _crew.get()
    if found is not None and found.memory is not None:
        return found.memory
    text = os.environ.get(MEMORY, "").strip()
    return in_bytes(text, MEMORY) if text else None


@cache
def _of_environment(who: str) -> Crew:
    """One connection for as long as the program runs."""
    if not who.strip():
        return Crew(all_cores())
    import atexit
    from contextlib import ExitStack

    held = ExitStack()
    found = held.enter_context(_hired(who.strip(), WORKERS))
    atexit.register(held.close)
    return found


def cores() -> int:
    """How many threads a kernel may take where it runs."""
    return crew().number


def far() -> bool:
    """Does work go to other machines, where much at a time is worth sending?"""
    return crew().client is not None


@contextmanager
def inside(number: int) -> Iterator[None]:
    """A worker with so many cores of its own: what it would spread stays with it."""
    token = _crew.set(Crew(number))
    try:
        yield
    finally:
        _crew.reset(token)


@cache
def all_cores() -> int:
    """Those that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system knows
        return os.cpu_count() or 1

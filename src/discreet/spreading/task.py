"""One piece of work, where it is done, and how its outcome comes back."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Generic, TypeVar

from discreet.errors import DataError, DisclosureError
from discreet.spreading.blas import one_thread
from discreet.spreading.crew import inside

R = TypeVar("R")
Lost = tuple[type[BaseException], ...]  # what is raised where workers are lost
PLAIN = (DataError, DisclosureError)
PROGRAM = ("discreet", "numpy", "scipy", "numba")  # what decides an answer to the last digit


@dataclass(frozen=True)
class Outcome(Generic[R]):
    """What the work gave, or what it raised: that is part of the answer, no fault of a worker."""

    value: R | None = None
    error: Exception | None = None

    def get(self) -> R:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


def done(work: Callable[..., R], item: Any, given: tuple[Any, ...], number: int) -> Outcome[R]:
    """By a worker with so many cores of its own."""
    with inside(number), one_thread():
        try:
            return Outcome(work(item, *given))
        except Exception as error:  # noqa: BLE001 it is raised where the answer is asked for
            return Outcome(error=error)


def packed(something: Any) -> bytes:
    """For another process, functions of a notebook too; no compiled code travels."""
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    return bytes(dumps(something))


def opened(found: Outcome[R] | bytes) -> Outcome[R]:
    """As it was before it travelled."""
    if isinstance(found, bytes):
        outcome: Outcome[R] = pickle.loads(found)
        return outcome
    return found


def done_away(sent: bytes, given: tuple[Any, ...], number: int) -> bytes:
    """The same by another process: what cannot travel is told here, where it is known."""
    work, item = pickle.loads(sent)
    found = done(work, item, given, number)
    if found.error is not None:
        return packed(Outcome(error=_travelling(found.error)))
    try:
        return packed(found)
    except Exception as error:  # noqa: BLE001 any object's own ways
        return packed(Outcome(error=_travelling(error)))


def _travelling(error: Exception) -> Exception:
    """The error, or its sentence where it cannot be sent."""
    try:
        if str(pickle.loads(pickle.dumps(error))) == str(error):
            return error
    except Exception:  # noqa: BLE001 any error's own ways
        pass
    if isinstance(error, DisclosureError):
        return next(kind for kind in PLAIN if isinstance(error, kind))(str(error))
    return RuntimeError(f"{type(error).__name__}: {error}")


def program() -> dict[str, str | None]:
    """The versions that an answer depends on."""
    return {name: _version(name) for name in PROGRAM}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None

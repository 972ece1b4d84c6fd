"""How much work an answer may cost: limits that decide it count work; the clock only stops it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from discreet.errors import DisclosureError, Stopped


@dataclass(frozen=True)
class Effort:
    """`times` the usual work (nodes, draws, programs), the same on every machine.

    >>> Effort(10).of(20_000)
    200000
    """

    times: float = 1.0

    def __post_init__(self) -> None:
        if not self.times > 0:
            raise DisclosureError(f"effort is {self.times}; 1 is the usual work, 10 ten times it.")

    def of(self, usual: int) -> int:
        """The limit where `usual` is the one of effort 1."""
        return usual if math.isinf(self.times) else max(1, math.ceil(self.times * usual))


class Clock:
    """A limit in seconds. It stops work, and remembers that it did; it never chooses how to work.

    >>> clock = Clock(3600)
    >>> clock.over(), clock.stopped
    (False, False)
    """

    def __init__(self, seconds: float = math.inf, *, within: Clock | None = None) -> None:
        if not seconds > 0:
            raise DisclosureError(f"seconds is {seconds}; give the work some time.")
        self.seconds, self.begun, self.within = seconds, time.monotonic(), within
        self.stopped = False

    @classmethod
    def of(cls, seconds: Seconds) -> Clock:
        """A clock that begins now, unless one is given that already runs."""
        return seconds if isinstance(seconds, Clock) else cls(seconds)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"begun": self.spent}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Elsewhere it has run for as long, whatever the time is there."""
        vars(self).update(state | {"begun": time.monotonic() - state["begun"]})

    @property
    def spent(self) -> float:
        return time.monotonic() - self.begun

    @property
    def left(self) -> float:
        left = max(0.0, self.seconds - self.spent)
        return left if self.within is None else min(left, self.within.left)

    def over(self) -> bool:
        """Is the time up? Then something is left out."""
        up = self.spent >= self.seconds or (self.within is not None and self.within.over())
        self.stopped = self.stopped or up
        return up

    def before(self, share: float) -> Clock:
        """One that stops after a share of what is left, so that the rest can come to an end."""
        return self if math.isinf(self.left) else _Part(self, max(share * self.left, 1e-9))

    def check(self, doing: str) -> None:
        """Raises once the time is up, where nothing that was done so far is an answer."""
        if self.over():
            raise Stopped(
                f"stopped by the limit of {self.seconds:g} seconds while {doing}, before there was "
                "an answer; allow more seconds, or less effort."
            )

    def sentence(self, had: str, more: str) -> str | None:
        """What a result says of having been stopped: what it had, and how to get the rest."""
        if not self.stopped:
            return None
        if self.within is not None and self.within.stopped:
            return self.within.sentence(had, more)
        return f"stopped by the limit of {self.seconds:g} seconds: {had}. {more}"


class _Part(Clock):
    """Stops the whole clock's work early."""

    def __init__(self, whole: Clock, seconds: float) -> None:
        super().__init__(seconds, within=whole)

    def over(self) -> bool:
        up = super().over()
        if up and self.within is not None:
            self.within.stopped = True
        return up


Seconds = float | Clock  # a limit, or a clock that already runs
UNLIMITED = Clock()

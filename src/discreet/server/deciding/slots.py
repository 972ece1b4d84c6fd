"""Answers leave at fixed times after a request came, so that how long it took tells little."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable
from typing import TypeVar

from discreet.decision.law.policy import Server

T = TypeVar("T")


async def paced(rule: Server, work: Awaitable[T], *, arrived: float | None = None) -> T:
    """What `work` gives, or raises; after a slot, by a rule that looks at the data."""
    start = time.monotonic() if arrived is None else arrived
    try:
        return await work
    finally:
        if rule.speaks:
            await asyncio.sleep(until_slot(time.monotonic() - start, rule.slot))


def until_slot(passed: float, slot: float) -> float:
    """Seconds to the end of the slot, or of twice, four times, ... as much.

    Few ends, so that a long decision tells little more than that it was long.

    >>> until_slot(0.5, 2.0), until_slot(3.0, 2.0), until_slot(9.0, 2.0), until_slot(1.0, 0.0)
    (1.5, 1.0, 7.0, 0.0)
    """
    if slot <= 0:
        return 0.0
    doublings = max(0, math.ceil(math.log2(max(passed, slot) / slot)))
    return max(slot * 2.0**doublings - passed, 0.0)

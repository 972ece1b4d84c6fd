"""How much memory there is for tasks that run at once."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from discreet.errors import DisclosureError

SHARE = 0.75  # of the machine's memory, for all tasks at once
UNITS = {"": 1} | {f"{unit}b": 1000**i for i, unit in enumerate(("", "k", "m", "g", "t"))}
UNITS |= {f"{unit}ib": 1024 ** (i + 1) for i, unit in enumerate(("k", "m", "g", "t"))}
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def in_bytes(given: Any, name: str) -> int:
    """A number of bytes, or one with its unit.

    >>> in_bytes("1.5 GiB", "memory"), in_bytes(2e9, "memory")
    (1610612736, 2000000000)
    """
    found = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*([a-z]*)\s*", str(given).lower())
    with suppress(ValueError, KeyError):
        if found and (size := int(float(found[1]) * UNITS[found[2]])) > 0:
            return size
    raise DisclosureError(f"{name} is {given!r}; give bytes, like 8000000000, or 8 GB.")


@cache
def of_machine() -> int:
    """Bytes of the machine, or of the container if it may take less."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in map(Path, LIMITS):
        with suppress(OSError, ValueError):  # "max" is none
            whole = min(whole, int(path.read_text()))
    return whole


def for_tasks() -> int:
    """A share of what there is."""
    return int(SHARE * of_machine())


def fit(number: int, each: int | None, limit: int | None) -> int:
    """How many tasks of `each` bytes run at once; one always does, as there is no smaller way.

    >>> fit(8, 3 << 30, 10 << 30), fit(8, None, 10), fit(8, 20, 10)
    (3, 8, 1)
    """
    return number if each is None else max(1, min(number, (limit or for_tasks()) // max(each, 1)))

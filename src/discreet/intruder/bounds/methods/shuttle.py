"""The shuttle: outer bounds of all sums at once, as far as memory allows."""

from __future__ import annotations

from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.part import Found, Part

SPLITS = False


def bound(part: Part, asked: Asked) -> Found:
    return holder(part, asked).by_shuttle(asked.names, asked.codes, asked.most_bytes)


def holder(part: Part, asked: Asked) -> Part:
    """Of many questions each has its own part: one shuttle of the whole serves them all."""
    return part if asked.among is None else asked.whole() or part

"""Linear programs: by projections if the part is large, else by the simplex."""

from __future__ import annotations

from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.part import Found, Part

SPLITS = False
LARGE = 1 << 9  # cells from which on projections are quicker than the simplex


def bound(part: Part, asked: Asked) -> Found:
    if large(part) and not asked.among:
        given = asked.names, asked.codes, asked.width, asked.most_bytes
        return part.by_projection(*given, asked.clock)
    start = asked.proof.start if asked.proof else None
    return part.by_programs(asked.names, asked.codes, None, asked.clock, start)


def large(part: Part) -> bool:
    """Can projections hold it, and are they quicker?"""
    return part.projectable and part.possible >= LARGE

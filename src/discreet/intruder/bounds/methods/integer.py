"""Integer programs, without a limit of nodes."""

from __future__ import annotations

from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.part import Found, Part
from discreet.solver import UNLIMITED

SPLITS = False


def bound(part: Part, asked: Asked) -> Found:
    start = asked.proof.start if asked.proof else None
    branch = UNLIMITED if asked.among is None else None
    return part.by_programs(asked.names, asked.codes, branch, asked.clock, start)

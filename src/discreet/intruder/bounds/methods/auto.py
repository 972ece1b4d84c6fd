"""What is best for each part: released counts, programs, the shuttle, or the margins alone."""

from __future__ import annotations

from discreet.intruder.bounds.integer import limits
from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.methods import linear, shuttle
from discreet.intruder.bounds.part import Found, Part
from discreet.intruder.bounds.result import Rung

SPLITS = True


def bound(part: Part, asked: Asked) -> Found:
    names, codes = asked.names, asked.codes
    if (exact := part.exact(names, codes)) is not None:
        return exact
    best = part.best(max(len(codes), asked.number), asked.most_bytes, asked.among or 0)
    if best == "integer":
        if asked.width is not None and asked.rung is Rung.LINEAR and linear.large(part):
            # programs of whole numbers would not be asked for
            return part.by_projection(names, codes, asked.width, asked.most_bytes, asked.clock)
        branch = None
        if asked.among is None:
            branch = limits(len(part.program.cells.codes), asked.effort)
        start = asked.proof.start if asked.proof else None
        return part.by_programs(names, codes, branch, asked.clock, start)
    if best == "shuttle":
        return by_shuttle(shuttle.holder(part, asked), asked)
    return linear.bound(part, asked) if best == "linear" else part.by_margins(names, codes)


def by_shuttle(part: Part, asked: Asked) -> Found:
    """Outer bounds; then, where a width is asked for, linear ones of what is wide enough."""
    found = part.by_shuttle(asked.names, asked.codes, asked.most_bytes)
    if asked.width is None or asked.rung is Rung.OUTER or not part.projectable:
        return found
    if (found.upper - found.lower < asked.width).any():
        return found
    given = asked.names, asked.codes, asked.width, asked.most_bytes
    return part.by_projection(*given, asked.clock)

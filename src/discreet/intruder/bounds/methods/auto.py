"""What is best for each part: released counts, programs, the shuttle, or the margins alone."""

from __future__ import annotations

import numpy as np

from discreet.intruder.bounds.integer import limits
from discreet.intruder.bounds.method import Asked
from discreet.intruder.bounds.methods import linear, shuttle
from discreet.intruder.bounds.part import Found, Part
from discreet.intruder.bounds.result import Rung
from discreet.intruder.bounds.work import Work

SPLITS = True
STEPS = 10  # of projections for a cell, usually
HASTE = 0.02  # of the usual work on tables, where there is much to do


def bound(part: Part, asked: Asked) -> Found:
    names, codes = asked.names, asked.codes
    if (exact := part.exact(names, codes)) is not None:
        return exact
    best = part.best(max(len(codes), asked.number), asked.most_bytes, asked.among or 0)
    if best == "integer":
        if asked.width is not None and asked.rung is Rung.LINEAR and linear.large(part):
            # programs of whole numbers would not be asked for
            return projected(part, asked)
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
    work, shown = asked.work, asked.names == part.release.names
    if work is None or asked.proof is None or not shown or _light(part, asked, work):
        return projected(part, asked)
    # where projections of all are heavy, only of those that no table shows to be wide enough
    hasty = asked.proof._replace(effort=asked.proof.effort * HASTE)
    found, part.looked = part.witnessed(found, asked.codes, hasty), True
    rows = np.flatnonzero(
        found.seen_high - np.minimum(found.seen_low, found.seen_high) < asked.width
    )
    if not len(rows):
        return found
    return found.closer(rows, projected(part, asked._replace(codes=asked.codes[rows])))


def _light(part: Part, asked: Asked, work: Work) -> bool:
    return STEPS * part.step * len(asked.codes) <= work.left


def projected(part: Part, asked: Asked) -> Found:
    given = asked.names, asked.codes, asked.width, asked.most_bytes
    return part.by_projection(*given, asked.clock, asked.work)

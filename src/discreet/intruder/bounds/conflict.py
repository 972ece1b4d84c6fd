"""Which published values contradict each other."""

from __future__ import annotations

import dataclasses

import numpy as np

from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.bounds.linear import Program
from discreet.intruder.bounds.opencells import OpenCells
from discreet.release.release import Known, Release
from discreet.table.table import Table

WORK, LEAST = 100_000, 10  # cells of all programs together; margins and known cells
MOST = 10  # known cells that are named


def named_conflict(release: Release, error: InconsistentRelease) -> InconsistentRelease:
    """The error, naming margins and known cells of which none can be left out.

    Each is left out in turn, and for good if the others still contradict each other (a deletion
    filter); of many, the last are not tried and stay.
    """
    tried = max(LEAST, WORK // max(release.axes.cells, 1))
    try:
        if _fits(release):
            return error
        tables, known = list(release.tables), list(release.known)
        for table in release.tables[:tried]:
            fewer = [other for other in tables if other is not table]
            if fewer and not _fits(_with(release, fewer, known)):
                tables = fewer
        if not _fits(_with(release, tables, list(release.ranges))):
            known = list(release.ranges)  # thousands of zeros are left out at once
        for fact in known[:tried]:
            others = [other for other in known if other is not fact]
            if not _fits(_with(release, tables, others)):
                known = others
    except DataError:
        return error
    parts = ["*".join(table.names) for table in tables] + [str(fact) for fact in known[:MOST]]
    if len(known) > MOST:
        parts.append(f"{len(known) - MOST:,} more known cells")
    return InconsistentRelease(
        f"no table fits the release: {', '.join(parts)} contradict each other. "
        "Release margins of the same table, or round them with a controlled method."
    )


def _with(release: Release, tables: list[Table], known: list[Known]) -> Release:
    return dataclasses.replace(release, tables=tuple(tables), known=tuple(known))


def _fits(release: Release) -> bool:
    """Is there a table, fractions allowed?"""
    try:
        Program(OpenCells.of(release)).optimum(np.zeros(1, np.int64), 1)
    except InconsistentRelease:
        return False
    return True

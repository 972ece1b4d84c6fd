"""The page of a comparison: what changed between two assessments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.report.page import Page, Points, Section

if TYPE_CHECKING:
    from discreet.report.compare import Comparison


def changes_page(found: Comparison, *, files: Mapping[str, str | Path] | None = None) -> Page:
    """The verdict, then what changed; `files` are the two documents."""
    first, *changes = found.lines()
    return Page(
        "Comparison of assessments",
        first,
        [Section("What changed", [Points(changes, len(changes))])],
        files=dict(files or {}),
        memory="documents in memory",
    )

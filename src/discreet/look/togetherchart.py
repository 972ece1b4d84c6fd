"""How probable true counts are from all releases, and from the one that tells most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import Bar, bar_chart
from discreet.look.theme import WIDE
from discreet.look.words import percent

MOST = 25


def together_chart(
    rows: Sequence[tuple[str, float, float]],
    *,
    act: float,
    title: str,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """A bar a cell: its name, the probability from all releases, and the highest from one."""
    ranked = sorted(rows, key=lambda row: -row[1])[:MOST]
    notes = [f"The {MOST} most probable of {len(rows):,} cells."] if len(rows) > MOST else []
    notes += [source] if source else []
    return bar_chart(
        [Bar(name, every, percent(every), mark=one) for name, every, one in ranked],
        title=title,
        axis="Probability of the true count",
        key=f"Bar: from all releases. Diamond: from the one that tells most. Stated from "
        f"{percent(act)} on.",
        notes=notes,
        ticks=[0, 0.25, 0.5, 0.75, 1],
        form=".0%",
        empty="There is no small count.",
        width=width,
    )

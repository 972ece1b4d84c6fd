"""The verdict on a release and the reasons for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from discreet.intruder.bounds.result import Rung
from discreet.look.notebook import Rows
from discreet.look.result import Unpublished


class Verdict(StrEnum):
    """PASS: publish. REVIEW: not proven safe, a person decides. FAIL: do not publish.

    >>> import discreet as dc
    >>> [f"{verdict.symbol} {verdict}" for verdict in dc.Verdict]
    ['✓ PASS', '? REVIEW', '✗ FAIL']
    >>> dc.assess(dc.load("example:tract"), "Gender*Income").verdict is dc.Verdict.PASS
    True
    """

    PASS = "PASS"
    REVIEW = "REVIEW"
    FAIL = "FAIL"

    @property
    def symbol(self) -> str:
        return {"PASS": "✓", "REVIEW": "?", "FAIL": "✗"}[self]

    @property
    def rank(self) -> int:
        return list(Verdict).index(self)


@dataclass(frozen=True)
class Reason(Unpublished):
    """One rule, what it found, in words that an officer can sign, and the cells it rests on.

    `rung`: what reaches the widths that it rests on.

    >>> import discreet as dc
    >>> reason = dc.decide(dc.load("example:blond"), "Hair*Income").reasons[2]
    >>> reason.rule, reason.verdict.value
    ('attribute disclosure', 'FAIL')
    >>> reason.cells[0]
    {'cell': {'Hair': 'Blond', 'Income': 'High'}, 'group': {'Hair': 'Blond'}, 'size': 4, 'lower': 4,
        'upper': 4}
    """

    rule: str
    verdict: Verdict
    text: str
    cells: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    rung: Rung = Rung.INTEGER

    def __str__(self) -> str:
        return f"{self.verdict.symbol} {self.verdict} {self.rule}: {self.text}"

    def _shown_line(self) -> str:
        return f"{self.rule}: {self.text}"

    def _shown_rows(self, most: int) -> Rows | None:
        """The cells that it rests on."""
        names = list(self.cells[0]) if self.cells else []
        shown = {name: [cell.get(name) for cell in self.cells[:most]] for name in names}
        return Rows(shown, len(self.cells)) if names else None


def worst(verdicts: Any) -> Verdict:
    """The gravest of the verdicts; PASS if there is none."""
    return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.PASS)


def weakest(rungs: Iterable[Rung]) -> Rung:
    """The rung that all of them reach."""
    return max(rungs, key=list(Rung).index, default=Rung.INTEGER)

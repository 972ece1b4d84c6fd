"""The verdict on a release and the reasons for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from discreet.intruder.bounds.result import Rung


class Verdict(StrEnum):
    """PASS: publish. REVIEW: not proven safe, a person decides. FAIL: do not publish."""

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
class Reason:
    """One rule, what it found, in words that an officer can sign, and the cells it rests on.

    `rung`: what reaches the widths that it rests on.
    """

    rule: str
    verdict: Verdict
    text: str
    cells: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    rung: Rung = Rung.INTEGER

    def __str__(self) -> str:
        return f"{self.verdict.symbol} {self.verdict} {self.rule}: {self.text}"


def worst(verdicts: Any) -> Verdict:
    """The gravest of the verdicts; PASS if there is none."""
    return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.PASS)


def weakest(rungs: Iterable[Rung]) -> Rung:
    """The rung that all of them reach."""
    return max(rungs, key=list(Rung).index, default=Rung.INTEGER)

"""A candidate of a choice: what it risks, what it is worth, and how surely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from discreet.decision.law.verdict import Verdict
from discreet.decision.users.outlook import Outlook, finite
from discreet.look.result import Unpublished


@dataclass(frozen=True)
class Mask(Unpublished):
    """A candidate: its risk, None if it is not known, and what it is worth.

    `formula` are the margins of a release. `why` says what could not be worked out of it, `notes`
    what is doubtful; errors are standard errors, at most, of what was sampled, nan if not known.
    """

    name: str
    risk: float | None
    utility: float
    within: bool
    exact: bool = True
    risk_error: float = 0.0
    utility_error: float = 0.0
    why: str = ""
    notes: tuple[str, ...] = ()
    intruders: tuple[Outlook, ...] = ()
    scientists: tuple[Outlook, ...] = ()
    nothing: bool = False
    formula: str | None = None

    @property
    def verdict(self) -> Verdict:
        """REVIEW if the risk is not known, or within the limit by a sample only."""
        if self.risk is None or (self.within and (self.why or not self.exact)):
            return Verdict.REVIEW
        return Verdict.PASS if self.within else Verdict.FAIL

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "risk": self.risk if self.risk is None or math.isfinite(self.risk) else None,
            "utility": finite(self.utility),
            "verdict": str(self.verdict),
        }

    def details(self) -> dict[str, Any]:
        """What a choice by users adds."""
        return self.to_json() | {
            "risk_error": finite(self.risk_error),
            "utility_error": finite(self.utility_error),
            "exact": self.exact,
            "formula": self.formula,
            "why": self.why or None,
            "notes": list(self.notes),
            "intruders": [outlook.to_json() for outlook in self.intruders],
            "scientists": [outlook.to_json() for outlook in self.scientists],
        }

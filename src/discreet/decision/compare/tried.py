"""What was found of one mask."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.decision.law.verdict import Verdict
from discreet.look.result import Unpublished

RISKS = ("disclosed", "identified", "attribute", "perceived", "expected", "highest")


@dataclass(frozen=True)
class Tried(Unpublished):
    """A mask's risks by name, what it is worth in all and to each user, and what the law says.

    `law` is None where no rule of the policy knows the mask. `exact`: risks are neither sampled nor
    approximate; `error`: how much higher they may be, by links that were pruned or by the standard
    error of what is sampled. A risk is None if it was not computed, and `not_computed` says why.
    `inferred`: of each sensitive column the share of people of whom its value is `told`, of whom a
    model gets it right that is fitted to what is `released`, and the `baseline` without their own
    record. `doubt`: why a person has to look; `failed`: why it could not be made.

    >>> tried = Tried("a tenth", "sample", {"disclosed": 0.1}, utility=0.8)
    >>> Tried.of(tried.to_json()) == tried
    True
    """

    name: str
    method: str
    risks: Mapping[str, float | None] = field(default_factory=dict)
    utility: float = 0.0
    by_user: Mapping[str, float] = field(default_factory=dict)
    law: Verdict | None = None
    exact: bool = True
    error: float = 0.0
    said: tuple[str, ...] = ()
    records: int = 0
    doubt: str | None = None
    failed: str | None = None
    not_computed: Mapping[str, str] = field(default_factory=dict)
    inferred: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def gain(self) -> float | None:
        """The largest difference between what a model gets right with and without a person."""
        each = [one["released"] - one["baseline"] for one in self.inferred.values()]
        return max(each, default=None)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {
            "law": None if self.law is None else str(self.law),
            "risks": dict(self.risks),
            "by_user": dict(self.by_user),
            "not_computed": dict(self.not_computed),
            "inferred": {name: dict(one) for name, one in self.inferred.items()},
            "said": list(self.said),
        }

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Tried:
        """From its JSON document."""
        law = content["law"]
        more = {"law": None if law is None else Verdict(law), "said": tuple(content["said"])}
        return cls(**{**content, **more})

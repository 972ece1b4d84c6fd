"""Masks side by side, the one to choose, and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.decision.compare.plan import Plan
from discreet.decision.compare.tried import Tried
from discreet.decision.law.assess import Provenance
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.decision.users.choose import Choice, best_of
from discreet.decision.users.mask import Mask
from discreet.errors import DataError
from discreet.look.result import Paged
from discreet.look.words import number, plural
from discreet.risk.limits import Says, breaks
from discreet.table.cells import frame


@dataclass(frozen=True, eq=False)
class Compared(Paged):
    """Every mask that was tried, and the choice: of those within the limit the most useful one.

    `made` makes the data of a mask again, the same as were tried.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 31, 47, 47, 50, 64], "sex": list("ffmmfm")})
    >>> masks = [{"method": "sample", "share": 0.5}, {"method": "pram", "columns": ["sex"]}]
    >>> found = dc.compare(people, {"keys": ["age", "sex"], "masks": masks}, records=True)
    >>> found
    Compared(2 masks, ...)
    """

    tried: tuple[Tried, ...]
    plan: Plan
    policy: Policy
    measure: str
    limit: float
    provenance: Provenance
    made: Callable[[str], Any] = field(repr=False)

    @property
    def choice(self) -> Choice:
        """At the policy's limit."""
        return self.at(self.limit)

    def at(self, limit: float) -> Choice:
        """The choice at another limit."""
        masks = tuple(self._mask(one, limit) for one in self.tried if one.failed is None)
        return Choice(masks, limit, best_of(masks))

    def _mask(self, one: Tried, limit: float) -> Mask:
        risk = one.risks[self.measure]
        within = not breaks(risk, limit, Says.AT_MOST) and one.law is not Verdict.FAIL
        over = breaks(risk + one.error, limit, Says.AT_MOST)
        doubt = one.doubt is not None or one.law is Verdict.REVIEW or over
        return Mask(one.name, risk, one.utility, within, not doubt)

    @property
    def verdict(self) -> Verdict:
        return self.choice.verdict

    @property
    def best(self) -> str | None:
        return self.choice.best

    @property
    def failed(self) -> tuple[Tried, ...]:
        """Those that could not be made."""
        return tuple(one for one in self.tried if one.failed is not None)

    @property
    def risks(self) -> tuple[str, ...]:
        """Names of what is measured of every mask."""
        return tuple(next((one.risks for one in self.tried if one.failed is None), ()))

    @property
    def steps(self) -> list[tuple[float, str | None]]:
        """The limits at which the choice changes, and the choice from there on."""
        found: list[tuple[float, str | None]] = [(0.0, self.at(0.0).best)]
        for risk in sorted({one.risks[self.measure] for one in self.tried if not one.failed}):
            if (best := self.at(risk).best) != found[-1][1]:
                found.append((risk, best))
        return found

    def why(self) -> list[str]:
        """Why this mask and no other."""
        choice, said = self.choice, []
        within = [mask for mask in choice.masks if mask.within]
        told = f"{plural(len(within), 'mask')} of {len(choice.masks)}"
        said.append(
            f"{told} {'keeps' if len(within) == 1 else 'keep'} the limit: at most "
            f"{number(self.limit)} {MEANING[self.measure, self.plan.of_table]}."
        )
        if choice.chosen is not None:
            alike = [m for m in within if math.isclose(m.utility, choice.chosen.utility)]
            rest = " and, of those alike in it, the least risk" if len(alike) > 1 else ""
            said.append(f"Of these {choice.best} has the highest utility{rest}.")
        doubts = {one.name: one.doubt for one in self.tried}
        if choice.chosen is not None and choice.chosen.verdict is Verdict.REVIEW:
            said.append(f"In doubt: {doubts[choice.chosen.name] or 'not proven to be within'}.")
            if sure := best_of([mask for mask in within if mask.exact]):
                said.append(f"Without a doubt it would be {sure.name}.")
        above = [m for m in choice.masks if not m.within and m.utility > self._worth]
        if above:
            nearest = min(above, key=lambda mask: mask.risk or 0.0)
            said.append(
                f"{nearest.name} is worth more ({number(nearest.utility)}), at a risk of "
                f"{number(nearest.risk or 0.0)}."
            )
        forbidden = [one.name for one in self.tried if one.law is Verdict.FAIL]
        if forbidden:
            said.append(f"The policy's own rules forbid {', '.join(forbidden)}.")
        return said + self.unserved()

    @property
    def _worth(self) -> float:
        chosen = self.choice.chosen
        return -math.inf if chosen is None else chosen.utility

    def unserved(self) -> list[str]:
        """Users whom the choice does not serve, and whether another mask would serve all."""
        if not self.plan.readers:
            return []
        within = {mask.name for mask in self.choice.masks if mask.within}
        serves = {
            one.name: {u.name for u in self.plan.readers if one.by_user[u.name] >= u.least}
            for one in self.tried
            if one.name in within
        }
        everybody = {user.name for user in self.plan.readers}
        all_served = [name for name, users in serves.items() if users == everybody]
        chosen = serves.get(self.best or "", set())
        if chosen == everybody:
            return [f"It serves {_listed(sorted(everybody))}."]
        said = [f"It does not serve {_listed(sorted(everybody - chosen))}."] if self.best else []
        if all_served:
            return [*said, f"Within the limit, {_listed(all_served)} would serve all users."]
        reached = set().union(*serves.values()) if serves else set()
        if lost := everybody - reached:
            return [*said, f"No mask within the limit serves {_listed(sorted(lost))}."]
        return [
            *said,
            "No one mask within the limit serves all users; two masks of the same people tell more "
            "together than each alone, so that a second one must be judged with the first.",
        ]

    def data(self, name: str | None = None) -> Any:
        """What a mask releases: the chosen one, if no other is named."""
        name = name or self.best
        if name is None:
            raise DataError("no mask keeps the limit, so that there is nothing to release.")
        if name not in {one.name for one in self.tried if one.failed is None}:
            raise DataError(f"there is no mask {name!r} that could be made.")
        return self.made(name)

    def with_limit(self, limit: float) -> Compared:
        """The same masks at another limit."""
        return replace(self, limit=limit)

    def __repr__(self) -> str:
        made = plural(len(self.tried) - len(self.failed), "mask")
        return f"Compared({made}, {self.verdict}: {self.best or 'nothing'} at most {self.limit:g})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a mask."""
        rows = [one for one in self.tried if one.failed is None]
        masks = {mask.name: mask for mask in self.choice.masks}
        columns: dict[str, Any] = {
            "mask": [one.name for one in rows],
            "method": [one.method for one in rows],
            **{risk: [one.risks[risk] for one in rows] for risk in self.risks},
            "utility": [one.utility for one in rows],
            **{u.name: [one.by_user[u.name] for one in rows] for u in self.plan.readers},
            "verdict": [str(masks[one.name].verdict) for one in rows],
            "chosen": [one.name == self.best for one in rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet compare --json` prints."""
        choice = self.choice
        verdicts = {mask.name: str(mask.verdict) for mask in choice.masks}
        return {
            "verdict": str(self.verdict),
            "best": self.best,
            "measure": self.measure,
            "limit": self.limit,
            "seed": self.plan.seed,
            "masks": [one.to_json() | {"verdict": verdicts.get(one.name)} for one in self.tried],
            "efficient": [mask.name for mask in choice.efficient],
            "steps": [{"limit": limit, "best": best} for limit, best in self.steps],
            "why": self.why(),
            "policy": {"name": self.policy.name} | self.policy.to_dict(),
            "provenance": vars(self.provenance),
        }

    def plot(self, **options: Any) -> Any:
        """The risk-utility map (Duncan, Keller-McNulty & Stokes 2001)."""
        return self.choice.plot(**options)


_FILE = {
    "disclosed": "of the respondents identified, or told a sensitive value",
    "identified": "of the respondents identified",
    "attribute": "of the respondents told a sensitive value",
    "perceived": "of the respondents named or told something, rightly or not",
    "expected": "as the mean probability of a true link",
    "highest": "as the probability of a true link",
}
_TABLE = {
    "disclosed": "of the small counts stated, rightly",
    "perceived": "of the small counts stated, rightly or not",
    "expected": "as the mean probability of a small count's true value",
    "highest": "as the probability of a small count's true value",
}
MEANING = {(name, False): text for name, text in _FILE.items()} | {
    (name, True): text for name, text in _TABLE.items()
}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

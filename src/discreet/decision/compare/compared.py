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
from discreet.decision.law.verdict import Verdict, worst
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

    `made` makes the data of a mask again, the same as were tried; `drawn` is the mask that is to
    be released, drawn anew and judged by itself.

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
    again: Callable[[str], Compared] = field(repr=False)
    drawn: Compared | None = field(default=None, repr=False)

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
        if risk is None:
            return Mask(one.name, None, one.utility, False, why=one.not_computed[self.measure])
        within = not breaks(risk, limit, Says.AT_MOST) and one.law is not Verdict.FAIL
        within = within and self._learnt(one) is not True
        over = breaks(risk + one.error, limit, Says.AT_MOST)
        doubt = one.doubt is not None or one.law is Verdict.REVIEW or over
        doubt = doubt or (within and self._learnt(one) is None)
        return Mask(one.name, risk, one.utility, within, not doubt)

    def _learnt(self, one: Tried) -> bool | None:
        """Is more learnt of people because they are in the file than `masks.inferred` allows?
        None if the policy asks and it was not computed.
        """
        most = self.policy.masks.inferred
        if most == 1 or self.plan.of_table:
            return False
        return None if one.gain is None else breaks(one.gain, most, Says.AT_MOST)

    @property
    def verdict(self) -> Verdict:
        """Of the choice, and of what was drawn anew for release."""
        own = self.choice.verdict
        return own if self.drawn is None else worst((own, self.drawn.verdict))

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
        known = (one.risks[self.measure] for one in self.tried if not one.failed)
        for risk in sorted({risk for risk in known if risk is not None}):
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
        doubts = {one.name: one.doubt or self._unlearnt(one) for one in self.tried}
        unknown = [mask for mask in choice.masks if mask.risk is None]
        if unknown:
            said.append(
                f"{self.measure} of {_listed([m.name for m in unknown])} is {unknown[0].why}."
            )
        if choice.chosen is not None and choice.chosen.verdict is Verdict.REVIEW:
            said.append(f"In doubt: {doubts[choice.chosen.name] or 'not proven to be within'}.")
            if sure := best_of([mask for mask in within if mask.exact]):
                said.append(f"Without a doubt it would be {sure.name}.")
        above = [
            m
            for m in choice.masks
            if m.risk is not None and not m.within and m.utility > self._worth
        ]
        if above:
            nearest = min(above, key=lambda mask: mask.risk or 0.0)
            said.append(
                f"{nearest.name} is worth more ({number(nearest.utility)}), at a risk of "
                f"{number(nearest.risk or 0.0)}."
            )
        forbidden = [one.name for one in self.tried if one.law is Verdict.FAIL]
        if forbidden:
            said.append(f"The policy's own rules forbid {', '.join(forbidden)}.")
        if self.drawn is not None:
            said.append(self.drawn.of_draw())
        return said + self.unserved()

    def of_draw(self) -> str:
        """What was found of the one mask that was drawn for release."""
        one = self.choice.masks[0]
        return (
            f"{one.name} is drawn anew for release: {self.verdict}, with a risk of "
            f"{told_risk(one.risk)} and a utility of {number(one.utility)}."
        )

    def _unlearnt(self, one: Tried) -> str | None:
        if self._learnt(one) is None:
            return "masks.inferred is asked, and no column is said to be sensitive"
        return None

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

    def draw(self, name: str) -> Compared:
        """With a mask drawn anew from secret bits that are kept nowhere, and judged: that draw is
        for release, and the ones that were compared are not.
        """
        return replace(self, drawn=self.again(name))

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
            **{risk: [_or_nan(one.risks[risk]) for one in rows] for risk in self.risks},
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
            "seed": self.plan.seed if self.plan.trial else None,
            "trial": self.plan.trial and self.drawn is None,
            "drawn": None if self.drawn is None else self.drawn.to_json()["masks"][0],
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


def told_risk(risk: float | None) -> str:
    """In words.

    >>> told_risk(0.25), told_risk(None)
    ('0.25', 'not computed')
    """
    return "not computed" if risk is None else number(risk)


def _or_nan(risk: float | None) -> float:
    return math.nan if risk is None else risk


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

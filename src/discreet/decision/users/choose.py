"""Which mask to release: of those within a risk limit, one of the most use and then least risk.

    D_a = {masks with DR <= a},  D_opt = those of D_a with the largest DU,  release the least DR

Nothing if no mask is within (Dobra, Fienberg & Trottini 2003, reply to the discussion).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from discreet.decision.law.verdict import Verdict
from discreet.decision.users.users import Measured, User, data_utility, disclosure_risk
from discreet.errors import DataError, SolverError
from discreet.look.result import Result
from discreet.look.words import number, plural
from discreet.release.release import Release
from discreet.table.cells import frame
from discreet.utility.margins import margin_utility

ALIKE = 1e-9  # utilities as near as this, relatively, are the same
Judge = User | Sequence[User] | Callable[[Any], float | Measured | None]


@dataclass(frozen=True)
class Mask:
    """A candidate: its risk, None if it is not known, and what it is worth."""

    name: str
    risk: float | None
    utility: float
    within: bool
    exact: bool = True

    @property
    def verdict(self) -> Verdict:
        """REVIEW if the risk is not known, or within the limit by a sample only."""
        if self.risk is None or (self.within and not self.exact):
            return Verdict.REVIEW
        return Verdict.PASS if self.within else Verdict.FAIL

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "risk": self.risk if self.risk is None or math.isfinite(self.risk) else None,
            "utility": self.utility if math.isfinite(self.utility) else None,
            "verdict": str(self.verdict),
        }


@dataclass(frozen=True, eq=False)
class Choice(Result):
    """All masks, and the best one, if any is within the limit.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> masks = [dc.Release.margins(table, formula) for formula in ("Race + Gender", "Race*Gender")]
    >>> found = dc.users.choose(masks, risk=dc.users.tightness(table), limit=-2)
    >>> print(found)
    ✓ PASS: release Race + Gender; 1 of 2 masks keeps the risk limit -2, and it has the highest
        utility, 2, with a risk of -5.
    """

    masks: tuple[Mask, ...]
    limit: float
    chosen: Mask | None

    @property
    def best(self) -> str | None:
        return None if self.chosen is None else self.chosen.name

    @property
    def verdict(self) -> Verdict:
        """That of the best mask; FAIL if nothing may be released."""
        return Verdict.FAIL if self.chosen is None else self.chosen.verdict

    @property
    def efficient(self) -> tuple[Mask, ...]:
        """What some limit would choose, least risk first: nothing else is better in both."""
        found: list[Mask] = []
        known = [(mask.risk, mask) for mask in self.masks if mask.risk is not None]
        for _, mask in sorted(known, key=lambda pair: (pair[0], -pair[1].utility)):
            if not found or _more(mask.utility, found[-1].utility):
                found.append(mask)
        return tuple(found)

    def __repr__(self) -> str:
        within = sum(mask.within for mask in self.masks)
        said = f"{within} of {plural(len(self.masks), 'mask')} within {_value(self.limit)}"
        return f"Choice({self.best or 'nothing'}: {said})"

    def __str__(self) -> str:
        within = sum(mask.within for mask in self.masks)
        many = f"{within} of {plural(len(self.masks), 'mask')}"
        limit = f"the risk limit {_value(self.limit)}"
        if self.chosen is None:
            return f"{self.verdict.symbol} {self.verdict}: release nothing; no mask keeps {limit}."
        return (
            f"{self.verdict.symbol} {self.verdict}: release {self.best}; {many} "
            f"{'keeps' if within == 1 else 'keep'} {limit}, and it has the highest utility, "
            f"{_value(self.chosen.utility)}, with a risk of {_value(self.chosen.risk or 0)}."
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a mask."""
        return frame(
            {
                "name": [mask.name for mask in self.masks],
                "risk": [math.nan if m.risk is None else m.risk for m in self.masks],
                "utility": [mask.utility for mask in self.masks],
                "within": [mask.within for mask in self.masks],
                "verdict": [str(mask.verdict) for mask in self.masks],
                "chosen": [mask is self.chosen for mask in self.masks],
            },
            kind,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "limit": self.limit if math.isfinite(self.limit) else None,
            "masks": [mask.to_json() for mask in self.masks],
            "best": self.best,
            "verdict": str(self.verdict),
            "efficient": [mask.name for mask in self.efficient],
        }

    def plot(self, **options: Any) -> Any:
        """The risk-utility map."""
        from discreet.look.riskutilitychart import map_chart

        rows = [(m.name, m.risk, m.utility, str(m.verdict)) for m in self.masks]
        line = [mask.name for mask in self.efficient]
        return map_chart(rows, limit=self.limit, best=self.best, efficient=line, **options)


def choose(
    masks: Mapping[str, Any] | Iterable[Release],
    *,
    risk: Judge,
    utility: Judge | None = None,
    limit: float,
) -> Choice:
    """The mask to release.

    `risk` and `utility` are users (of intruders the worst counts, scientists weigh alike), or a
    function of the release. A risk of None, or one that a solver did not find, is not known, and
    the mask is not chosen. Without a `utility`, the number of margins released. Of masks alike in
    both, the one listed first.

    >>> from discreet.decision.users.users import tightness
    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> formulas = ["Race + Income + Gender", "Race + Income*Gender", "Race*Income + Gender"]
    >>> masks = [Release.margins(table, formula) for formula in formulas]
    >>> choose(masks, risk=tightness(table), limit=-2)
    Choice(Race + Gender*Income: 2 of 3 masks within -2)
    """
    listed = _named(masks)
    if math.isnan(limit):
        raise DataError("the risk limit is not a number; give one.")
    found = tuple(_judged(name, mask, risk, utility, limit) for name, mask in listed.items())
    return Choice(found, limit, best_of(found))


def best_of(masks: Sequence[Mask]) -> Mask | None:
    """The most useful one within the limit; of those alike the least risk, then the first."""
    within = [(mask.risk, mask) for mask in masks if mask.within and mask.risk is not None]
    most = max((mask.utility for _, mask in within), default=0.0)
    useful = [pair for pair in within if not _more(most, pair[1].utility)]
    return min(useful, key=lambda pair: pair[0])[1] if useful else None


def _value(value: float) -> str:
    return number(value) if math.isfinite(value) else f"{value:g}"


def _more(a: float, b: float) -> bool:
    return a > b and not math.isclose(a, b, rel_tol=ALIKE)


def _judged(name: str, mask: Any, risk: Judge, utility: Judge | None, limit: float) -> Mask:
    taken: Any = None
    with suppress(SolverError):  # a risk that could not be worked out is not known
        if isinstance(risk, (User, Sequence)):
            taken = disclosure_risk(mask, *_users(risk))
        else:
            taken = risk(mask)
    if utility is None:
        worth: Any = margin_utility(mask).released
    elif isinstance(utility, (User, Sequence)):
        worth = data_utility(mask, *_users(utility))
    else:
        worth = utility(mask)
    exact = all(part.exact for part in (taken, worth) if isinstance(part, Measured))
    value = None if taken is None else float(taken)
    if worth is None or math.isnan(float(worth)) or (value is not None and math.isnan(value)):
        raise DataError(
            f"the risk of {name} is {value} and its utility {worth}; give numbers, or None for a "
            "risk that is not known."
        )
    return Mask(name, value, float(worth), value is not None and value <= limit, exact)


def _users(given: User | Sequence[User]) -> Sequence[User]:
    return [given] if isinstance(given, User) else given


def _named(masks: Mapping[str, Any] | Iterable[Release]) -> dict[str, Any]:
    if isinstance(masks, Mapping):
        return {str(name): mask for name, mask in masks.items()}
    found: dict[str, Any] = {}
    for mask in masks:
        if (name := str(mask.formula)) in found:
            raise DataError(f"two masks release {name}; give each a name: {{'name': release}}.")
        found[name] = mask
    return found

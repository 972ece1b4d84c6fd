"""Which mask to release: of those within a risk limit, one of the most use and then least risk.

    D_a = {masks with DR <= a},  D_opt = those of D_a with the largest DU,  release the least DR

Nothing if no mask is within (Dobra, Fienberg & Trottini 2003, reply to the discussion).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from discreet.decision.law.verdict import Verdict
from discreet.decision.users.mask import Mask
from discreet.decision.users.measured import Measured, data_utility, disclosure_risk
from discreet.decision.users.outlook import finite
from discreet.decision.users.users import User
from discreet.decision.users.usersfile import Users
from discreet.errors import ConvergenceWarning, DataError, DisclosureError, SolverError
from discreet.look.result import Paged
from discreet.look.words import number, plural
from discreet.release.release import Release
from discreet.table.cells import frame
from discreet.utility.margins import margin_utility

ALIKE = 1e-9  # utilities as near as this, relatively, are the same
Judge = User | Sequence[User] | Callable[[Any], float | Measured | None]


@dataclass(frozen=True, eq=False)
class Choice(Paged):
    """All masks, and the best one, if any is within the limit.

    `said` is what a users file says of each user.

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
    said: tuple[tuple[str, str], ...] = ()

    @property
    def best(self) -> str | None:
        return None if self.chosen is None else self.chosen.name

    @property
    def verdict(self) -> Verdict:
        """That of the best mask; FAIL if nothing may be released, or nothing is best.

        REVIEW if none is chosen, but some that keep the limit could not be weighed, or the risk of
        some is not known.
        """
        if self.chosen is None and (self._unweighed or self._unknown):
            return Verdict.REVIEW
        if self.chosen is None or self.chosen.nothing:
            return Verdict.FAIL
        return self.chosen.verdict

    def at(self, limit: float) -> Choice:
        """The choice from the same masks at another limit."""
        masks = tuple(
            replace(mask, within=mask.risk is not None and mask.risk <= limit)
            for mask in self.masks
        )
        return Choice(masks, limit, best_of(masks), self.said)

    @property
    def steps(self) -> tuple[tuple[float, str | None], ...]:
        """From which limit on each mask is the choice."""
        known = [mask for mask in self.masks if mask.risk is not None and not mask.why]
        found: list[tuple[float, str | None]] = []
        for limit in sorted({mask.risk for mask in known if mask.risk is not None}):
            best = self.at(limit).best
            if not found or found[-1][1] != best:
                found.append((limit, best))
        return tuple(found)

    @property
    def _unweighed(self) -> int:
        """How many keep the limit, with a utility that is not known."""
        return sum(mask.within and bool(mask.why) for mask in self.masks)

    @property
    def _unknown(self) -> int:
        """Of how many the risk is not known."""
        return sum(mask.risk is None for mask in self.masks)

    @property
    def sampled(self) -> bool:
        """Does the choice rest on a sample?"""
        return self.chosen is not None and not self.chosen.exact

    @property
    def efficient(self) -> tuple[Mask, ...]:
        """What some limit would choose, least risk first: nothing else is better in both."""
        found: list[Mask] = []
        known = [(m.risk, m) for m in self.masks if m.risk is not None and not m.why]
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
        if self.chosen is None and self._unweighed:
            return (
                f"{self.verdict.symbol} {self.verdict}: release nothing yet; {many} "
                f"{'keeps' if within == 1 else 'keep'} {limit}, of a utility that is not known."
            )
        if self.chosen is None and self._unknown:
            return (
                f"{self.verdict.symbol} {self.verdict}: release nothing yet; no mask is known to "
                f"keep {limit}, and the risk of {plural(self._unknown, 'mask')} is not known."
            )
        if self.chosen is None:
            return f"{self.verdict.symbol} {self.verdict}: release nothing; no mask keeps {limit}."
        if self.chosen.nothing:
            return (
                f"{self.verdict.symbol} {self.verdict}: release nothing; {many} "
                f"{'keeps' if within == 1 else 'keep'} {limit}, and none is worth "
                "more than nothing."
            )
        by = ", by a sample" if self.sampled else ""
        most = "the highest utility" + (" that is known" if self._unweighed else "")
        return (
            f"{self.verdict.symbol} {self.verdict}: release {self.best}; {many} "
            f"{'keeps' if within == 1 else 'keep'} {limit}, and it has {most}, "
            f"{_value(self.chosen.utility)}, with a risk of {_value(self.chosen.risk or 0)}{by}."
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a mask."""
        return frame(
            {
                "name": [mask.name for mask in self.masks],
                "risk": [math.nan if m.risk is None else m.risk for m in self.masks],
                "utility": [mask.utility for mask in self.masks],
                "risk_error": [mask.risk_error for mask in self.masks],
                "utility_error": [mask.utility_error for mask in self.masks],
                "within": [mask.within for mask in self.masks],
                "verdict": [str(mask.verdict) for mask in self.masks],
                "chosen": [mask is self.chosen for mask in self.masks],
            },
            kind,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "limit": self.limit if math.isfinite(self.limit) else None,
            "masks": [mask.details() for mask in self.masks],
            "best": self.best,
            "verdict": str(self.verdict),
            "efficient": [mask.name for mask in self.efficient],
            "steps": [{"limit": finite(limit), "best": best} for limit, best in self.steps],
            "users": [{"name": name, "said": text} for name, text in self.said],
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
    risk: Judge | Users,
    utility: Judge | None = None,
    limit: float,
    scales: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Choice:
    """The mask to release.

    `risk` and `utility` are users (of intruders the worst counts, times their `scales`, scientists
    weigh alike unless they have `weights`), or a function of the release; or `risk` is a users file
    with both. A risk of None, or one that could not be worked out, is not known, and the mask is
    not chosen. Without a `utility`, the number of margins released. Of masks alike in both, the one
    listed first.

    >>> from discreet.decision.users.measures import tightness
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
    said: tuple[tuple[str, str], ...] = ()
    if isinstance(risk, Users):
        if utility is not None or scales is not None or weights is not None:
            raise DataError("a users file has the scientists, scales and weights; give it alone.")
        users, said = risk, risk.said
        scales, weights = users.scales, users.weights or None
        risk, utility = users.intruders, users.scientists or None
    failed: list[DisclosureError] = []
    found = tuple(
        _judged(name, mask, risk, utility, limit, scales, weights, failed)
        for name, mask in listed.items()
    )
    if failed and all(mask.why for mask in found) and not isinstance(failed[0], SolverError):
        raise failed[0]  # of none it can be worked out: the users are wrong, not the masks
    return Choice(found, limit, best_of(found), said)


def best_of(masks: Sequence[Mask]) -> Mask | None:
    """The most useful one within the limit; of those alike the least risk, then the first."""
    within = [(m.risk, m) for m in masks if m.within and m.risk is not None and not m.why]
    most = max((mask.utility for _, mask in within), default=0.0)
    useful = [pair for pair in within if not _more(most, pair[1].utility)]
    return min(useful, key=lambda pair: pair[0])[1] if useful else None


def _value(value: float) -> str:
    return number(value) if math.isfinite(value) else f"{value:g}"


def _more(a: float, b: float) -> bool:
    return a > b and not math.isclose(a, b, rel_tol=ALIKE)


def _judged(
    name: str,
    mask: Any,
    risk: Judge,
    utility: Judge | None,
    limit: float,
    scales: ArrayLike | None,
    weights: ArrayLike | None,
    failed: list[DisclosureError],
) -> Mask:
    taken: Any = None
    worth: Any = None
    before = len(failed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(risk, (User, Sequence)):
            with _noted(failed):
                taken = disclosure_risk(mask, *_users(risk), scales=scales)
        else:
            with suppress(SolverError):  # a risk that could not be worked out is not known
                taken = risk(mask)
        if utility is None:
            worth = margin_utility(mask).released
        elif isinstance(utility, (User, Sequence)):
            worth = -math.inf
            with _noted(failed):
                worth = data_utility(mask, *_users(utility), weights=weights)
        else:
            worth = utility(mask)
    why = " ".join(dict.fromkeys(map(str, failed[before:])))
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn(warning.message, stacklevel=3)
    doubts = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    value = None if taken is None else float(taken)
    if worth is None or math.isnan(float(worth)) or (value is not None and math.isnan(value)):
        raise DataError(
            f"the risk of {name} is {value} and its utility {worth}; give numbers, or None for a "
            "risk that is not known."
        )
    risks, worths = (
        part if isinstance(part, Measured) else Measured(0.0, ()) for part in (taken, worth)
    )
    return Mask(
        name,
        value,
        float(worth),
        value is not None and value <= limit,
        risks.exact and worths.exact,
        risks.standard_error,
        worths.standard_error,
        why,
        tuple(dict.fromkeys(doubts)),
        risks.outlooks,
        worths.outlooks,
        isinstance(mask, Release) and not mask.formula.sets,
        str(mask.formula) if isinstance(mask, Release) else None,
    )


@contextmanager
def _noted(failed: list[DisclosureError]) -> Iterator[None]:
    """What cannot be worked out of one mask may be of another."""
    try:
        yield
    except DisclosureError as error:
        failed.append(error)


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

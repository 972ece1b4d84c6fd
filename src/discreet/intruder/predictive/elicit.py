"""A prior from what somebody can say: shares and their worth, or tables of comparable people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.predictive.dispersion import dispersion
from discreet.intruder.predictive.priors import Counts, Dirichlet, ordered
from discreet.look.result import Result
from discreet.look.words import number, percent, plural
from discreet.table.cells import frame
from discreet.table.table import Table

PEOPLE = 100  # that a prior is asked to foresee
MASS = 0.9  # of the intervals


@dataclass(frozen=True, eq=False)
class ElicitedPrior(Result):
    """A Dirichlet prior, what it says of each share, and what it foresees of people.

    `worth` is how many people it counts for: the sum of the weights.

    >>> import discreet as dc
    >>> found = dc.uncertainty.elicit_shares({"ill": 0.2, "well": 0.8}, worth=20)
    >>> found
    ElicitedPrior(worth 20 people: ill 20% (8% to 36%), well 80% (64% to 92%))
    >>> found.prior.given({"ill": 30, "well": 50}).probability("ill")
    0.34
    >>> found.foresees(100)["ill"]
    (6, 37)
    """

    prior: Dirichlet
    how: str
    errors: tuple[float, ...] = ()  # standard errors of the weights, where these were estimated
    worth_error: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def worth(self) -> float:
        return sum(self.prior.weights)

    def interval(self, category: str, mass: float = MASS) -> tuple[float, float]:
        """Where the share of a category lies with this probability: quantiles of a beta."""
        from scipy.stats import beta

        weight = dict(zip(self.prior.categories, self.prior.weights, strict=True))[category]
        rest = self.worth - weight
        if weight <= 0 or rest <= 0:
            return (0.0, 0.0) if weight <= 0 else (1.0, 1.0)
        low, high = beta.ppf([(1 - mass) / 2, (1 + mass) / 2], weight, rest)
        return float(low), float(high)

    def foresees(self, people: int = PEOPLE, mass: float = MASS) -> dict[str, tuple[int, int]]:
        """How many of so many people are in each category: beta-binomial quantiles."""
        from scipy.stats import betabinom

        if type(people) is not int or people < 1:
            raise DataError(f"people = {people!r}; give a whole number from 1 on.")
        found = {}
        for name, weight in zip(self.prior.categories, self.prior.weights, strict=True):
            rest = self.worth - weight
            if weight <= 0 or rest <= 0:
                found[name] = (0, 0) if weight <= 0 else (people, people)
                continue
            ends = betabinom.ppf([(1 - mass) / 2, (1 + mass) / 2], people, weight, rest)
            found[name] = (int(ends[0]), int(ends[1]))
        return found

    def to_frame(self, kind: str = "pandas") -> Any:
        names, ends = self.prior.categories, [self.interval(c) for c in self.prior.categories]
        foreseen = self.foresees()
        columns: dict[str, Any] = {
            "category": list(names),
            "weight": list(self.prior.weights),
            "share": list(self.prior.shares),
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
            f"least_of_{PEOPLE}": [foreseen[name][0] for name in names],
            f"most_of_{PEOPLE}": [foreseen[name][1] for name in names],
        }
        if self.errors:
            columns["standard_error"] = list(self.errors)
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        rows = self.to_frame().to_dict("records")
        return {
            "how": self.how,
            "worth": self.worth,
            "worth_error": self.worth_error,
            "categories": rows,
            "notes": list(self.notes),
        }

    def plot(self, *, people: int = PEOPLE, **options: Any) -> Any:
        """The interval of each share, and what it foresees of so many people."""
        from discreet.look.beliefcharts import prior_chart

        foreseen = self.foresees(people)
        rows = [
            (name, *self.interval(name), share, *foreseen[name])
            for name, share in zip(self.prior.categories, self.prior.shares, strict=True)
        ]
        return prior_chart(rows, people=people, worth=self.worth, **options)

    def __repr__(self) -> str:
        shares = zip(self.prior.categories, self.prior.shares, strict=True)
        said = [f"{name} {percent(share)} ({_span(self.interval(name))})" for name, share in shares]
        more = f", and {len(said) - 3:,} more" if len(said) > 3 else ""
        error = "" if self.worth_error is None else f" (standard error {self.worth_error:.3g})"
        people = number(float(f"{self.worth:.4g}"))
        return f"ElicitedPrior(worth {people} people{error}: {', '.join(said[:3])}{more})"


def elicit_shares(shares: Mapping[str, float], worth: float) -> ElicitedPrior:
    """Stated shares that are believed as firmly as if so many people had been seen.

        weight = share x worth

    >>> import discreet as dc
    >>> dc.uncertainty.elicit_shares({"ill": 0.2, "well": 0.8}, worth=5).prior.weights
    (1.0, 4.0)
    """
    _check_worth(worth)
    total = sum(shares.values())
    if not shares or any(not share >= 0 for share in shares.values()) or abs(total - 1) > 1e-6:
        raise DataError(f"the shares are {list(shares.values())}; give shares that sum to 1.")
    weights = {name: share / total * worth for name, share in shares.items()}
    people = plural(int(worth), "person", "people") if worth == int(worth) else f"{worth:g} people"
    how = f"Stated shares, worth {people}."
    return ElicitedPrior(Dirichlet.of(weights), how, notes=_empty(weights))


def elicit_table(
    comparable: Table | Counts | Sequence[Counts],
    target: str | None = None,
    *,
    by: str | None = None,
    worth: float | None = None,
    discount: float | None = None,
) -> ElicitedPrior:
    """A prior from comparable people: one table of them, or several.

    Of one table (a `Table` and its target, or counts) weights are counts, times a `discount`, or
    so that they are `worth` so many people together. Of several (the categories of `by`, or a
    list of counts) the weights are those of greatest likelihood, with standard errors: the less
    the tables are alike, the less they are worth.

    >>> import discreet as dc
    >>> estates = dc.load("example:estates")
    >>> dc.uncertainty.elicit_table(estates, "Estate", discount=0.1).prior.weights
    (16.3, 3.1, 3.0)
    >>> towns = [{"ill": 4, "well": 6}, {"ill": 1, "well": 19}, {"ill": 9, "well": 11}]
    >>> found = dc.uncertainty.elicit_table(towns)
    >>> round(found.worth, 2), round(found.worth_error, 2)
    (6.21, 6.98)
    """
    tables = _tables(comparable, target, by)
    names = list(dict.fromkeys(name for counts in tables for name in counts))
    lines = np.array([ordered(counts, names) for counts in tables], np.float64)
    if not lines.sum():
        raise DataError("the comparable tables are empty; give one with people in it.")
    if worth is not None and discount is not None:
        raise DataError("worth and discount are two ways to say one thing; give one of them.")
    if len(tables) > 1 and worth is None and discount is None:
        return _estimated(names, lines)
    counts = lines.sum(0)
    if discount is not None and not (math.isfinite(discount) and discount > 0):
        raise DataError(f"the discount is {discount}; give a number above 0, such as 0.1.")
    if worth is not None:
        _check_worth(worth)
    factor = worth / counts.sum() if worth is not None else (1.0 if discount is None else discount)
    weights = dict(zip(names, (counts * factor).tolist(), strict=True))
    people = plural(int(counts.sum()), "comparable person", "comparable people")
    how = f"The shares of {people}, worth {counts.sum() * factor:.4g} people."
    return ElicitedPrior(Dirichlet.of(weights), how, notes=_empty(weights))


def _estimated(names: list[str], lines: Floats) -> ElicitedPrior:
    if (empty := lines.sum(0) == 0).any():
        gone = names[int(np.argmax(empty))]
        raise DataError(
            f"nobody in any of the tables is in {gone!r}, so that its weight cannot be estimated; "
            "merge it, or state the worth."
        )
    found = dispersion(lines)
    how = (
        f"Estimated from {plural(len(lines), 'comparable table')} by greatest likelihood: worth "
        f"{found.weights.sum():.4g} people, standard error {found.worth_error:.3g}."
    )
    weights = dict(zip(names, found.weights.tolist(), strict=True))
    errors = tuple(found.errors.tolist())
    return ElicitedPrior(Dirichlet.of(weights), how, errors, found.worth_error)


def _tables(
    comparable: Table | Counts | Sequence[Counts], target: str | None, by: str | None
) -> list[Counts]:
    if isinstance(comparable, Table):
        if target is None:
            raise DataError("name the target: the variable whose categories the prior is about.")
        if by == target:
            raise DataError(f"{by!r} is the target; tables differ by another variable.")
        groups = [] if by is None else [by]
        sums = comparable.margin([*groups, target]).reorder([*groups, target])
        categories = sums.variable(target).categories
        lines = sums.dense().reshape(-1, len(categories)).tolist()
        return [dict(zip(categories, line, strict=True)) for line in lines if sum(line)]
    if target is not None or by is not None:
        raise DataError("target and by go with a table; counts have neither.")
    return [comparable] if isinstance(comparable, Mapping) else list(comparable)


def _empty(weights: Mapping[str, float]) -> tuple[str, ...]:
    gone = [name for name, weight in weights.items() if weight == 0]
    if not gone:
        return ()
    return (f"{', '.join(map(repr, gone))} has no weight: the prior believes it impossible.",)


def _check_worth(worth: float) -> None:
    if not (math.isfinite(worth) and worth > 0):
        raise DataError(f"the worth is {worth}; give a number of people above 0.")


def _span(ends: tuple[float, float]) -> str:
    return f"{percent(ends[0])} to {percent(ends[1])}"

"""Uncertainty about the number that a category stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.data.codebook import Variable
from discreet.data.values import Values
from discreet.errors import DataError
from discreet.intruder.belief.atoms import numeric
from discreet.intruder.belief.belief import Belief
from discreet.intruder.belief.valued import Within, in_numbers
from discreet.intruder.posterior.whole_table import Held
from discreet.risk.uncertainty.base import Best, Uncertainty, one_value
from discreet.risk.uncertainty.numbers import Absolute, Lengths, OverUnder, Variance
from discreet.risk.uncertainty.written import Loss

EVEN = (Absolute, Lengths, OverUnder, Variance)  # convex in the value: no less with a spread


@dataclass(frozen=True, eq=False)
class OnValues(Uncertainty):
    """An uncertainty about numbers, asked of a belief about categories.

    Each category is a number, or a range that is taken at its midpoint or has a density within:
    U is that of the number, with what is uncertain within the ranges where they have a density.

    >>> import discreet as dc
    >>> estate = dc.load("example:estates").variable("Estate")
    >>> belief = dc.Belief.discrete(estate.categories, [0.5, 0.25, 0.25])
    >>> values = dc.uncertainty.Values.of(estate, top=50)
    >>> inner = dc.uncertainty.Variance()
    >>> dc.uncertainty.OnValues(inner, values)(belief)
    104.6875
    >>> dc.uncertainty.OnValues(inner, values, dc.uncertainty.Within.named("uniform"))(belief)
    119.27083333333333
    """

    inner: Uncertainty
    values: Values
    within: Within = field(default_factory=Within)

    @property
    def concave(self) -> bool:  # type: ignore[override]
        return self.inner.concave

    @property
    def said(self) -> str:  # type: ignore[override]
        return self.inner.said

    def best(self, belief: Held) -> Best:
        return self.inner.best(self.belief(one_value(belief, self.said)))

    def belief(self, belief: Belief) -> Belief:
        """What is believed of the number."""
        if numeric(belief.values):
            return belief
        return in_numbers(belief, self.values.ranges, self.within, self.values.name)

    def loss(self, estimate: Any, truth: Any) -> float:
        return self.inner.loss(estimate, truth)

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        return self.inner.limit_words(limit)

    @property
    def taken(self) -> str:
        """How a category is taken, in a few words."""
        return "at its value" if self.values.points else str(self.within)

    @property
    def notes(self) -> tuple[str, ...]:
        """Which values were taken, and what that leaves out."""
        found = [f"Values, from {self.values.source}: {self.values}."]
        if not self.values.points and self.within.alpha is None:
            less = (
                "lower than with values spread evenly, and may be too high if they lie"
                if isinstance(self.inner, EVEN)
                else "too low, or too high where values lie"
            )
            found.append(
                "Each range is taken at its midpoint, and what is uncertain within it is left out: "
                f"{self.said} is {less} nearer to one end."
            )
        elif not self.values.points:
            found.append(
                f"Each range is {self.within}: {self.said} is that of the whole mixture, what is "
                "uncertain within the ranges with it."
            )
        return tuple(found)


def on_values(
    uncertainty: Uncertainty,
    variable: Variable,
    values: Mapping[str, Any] | Values | str | Path | None = None,
    *,
    within: str | Within = "midpoint",
    top: float | None = None,
) -> Uncertainty:
    """The uncertainty as it is, or on the numbers of the variable's categories if it needs them.

    `values` maps categories to a number or (low, high), or names a file of them; what it leaves
    out comes from the codebook, else from the labels. `top` is the end of an open range; `within`
    is midpoint, uniform, pareto:ALPHA or uniform+pareto:ALPHA.

    >>> import discreet as dc
    >>> estate = dc.load("example:estates").variable("Estate")
    >>> variance = dc.uncertainty.on_values(dc.uncertainty.Variance(), estate, top=50)
    >>> variance(dc.Belief.discrete(estate.categories, [0.5, 0.25, 0.25]))
    104.6875
    """
    way = Within.named(within)
    stated = values is not None or top is not None or way.alpha is not None
    if isinstance(uncertainty, OnValues):
        return uncertainty
    written = isinstance(uncertainty, Loss) and callable(uncertainty.given)
    if not uncertainty.of_numbers and not (stated and written):
        if stated:
            raise DataError(
                f"{uncertainty.said} is about categories, not about their values; leave the values "
                "out, or ask for variance, relative, absolute, over-under, lengths or a loss "
                "written on values."
            )
        return uncertainty
    taken = values if isinstance(values, Values) else Values.of(variable, values, top=top)
    return OnValues(uncertainty, taken, way)

"""What a release teaches: knowledge, knowledge gain, relative gain, and rules that limit them.

    knowledge  U(posterior) >= t
    gain       U(prior) - U(posterior) <= t
    relative   (U(prior) - U(posterior)) / U(prior) <= t

(Duncan & Lambert 1986, sections 4 and 5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief, Kind
from discreet.look.result import Shown, Unpublished
from discreet.risk.uncertainty import Uncertainty

CLOSE = 1e-12


class Measure(StrEnum):
    """What a rule limits (Duncan & Lambert 1986, section 4):

        knowledge       U(posterior), from below
        gain            U(prior) - U(posterior), from above
        relative-gain   (U(prior) - U(posterior)) / U(prior), from above

    >>> import discreet as dc
    >>> [measure.value for measure in dc.uncertainty.Measure]
    ['knowledge', 'gain', 'relative-gain']
    """

    KNOWLEDGE = "knowledge"
    GAIN = "gain"
    RELATIVE = "relative-gain"


def knowledge_gain(uncertainty: Uncertainty, prior: Belief, posterior: Belief) -> float:
    """The uncertainty that is gone; negative if a release confuses.

    >>> from discreet.risk.uncertainty import Largest
    >>> even, sure = Belief.discrete(["a", "b"], [0.5, 0.5]), Belief.discrete(["a"], [1.0])
    >>> knowledge_gain(Largest(), even, sure), relative_gain(Largest(), even, sure)
    (0.5, 1.0)
    """
    return uncertainty(prior) - uncertainty(posterior)


def relative_gain(uncertainty: Uncertainty, prior: Belief, posterior: Belief) -> float:
    """The share of the uncertainty that is gone; 0 if there was and is none.

    >>> import discreet as dc
    >>> even, told = (dc.Belief.discrete(["a", "b"], [p, 1 - p]) for p in (0.5, 0.9))
    >>> round(dc.uncertainty.relative_gain(dc.uncertainty.Largest(), even, told), 3)
    0.8
    """
    return _relative(uncertainty(prior), uncertainty(posterior))


def _relative(before: float, after: float) -> float:
    if math.isinf(before):
        return 1.0
    if before <= 0:
        return 0.0 if after <= 0 else -math.inf
    return (before - after) / before


@dataclass(frozen=True, eq=False)
class Learned(Unpublished):
    """The beliefs about one target before and after a release, and the uncertainty of each.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.Largest(), 0.1, "gain")
    >>> before = dc.Belief.discrete(["ill", "well"], [0.5, 0.5])
    >>> after = dc.Belief.discrete(["ill", "well"], [0.25, 0.75])
    >>> learned = rule.judge(after, before)
    >>> learned.before, learned.after, learned.gain, learned.within
    (0.5, 0.25, 0.25, False)
    """

    label: str
    posterior: Belief
    after: float
    within: bool
    prior: Belief | None = None
    before: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def gain(self) -> float | None:
        return None if self.before is None else self.before - self.after

    @property
    def relative(self) -> float | None:
        return None if self.before is None else _relative(self.before, self.after)

    def __repr__(self) -> str:
        said = "within the limit" if self.within else "beyond the limit"
        return f"Learned({self.label}: uncertainty {self.after:.4g}, {said})"

    def plot(self, **options: Any) -> Any:
        """What was believed before the release against what is believed after it."""
        from discreet.look.knowledgecharts import curves_chart, shares_chart

        prior, posterior = self.prior, self.posterior
        if posterior.kind is Kind.DENSITY:
            before = None if prior is None else (prior.values.tolist(), prior.mass.tolist())
            after = (posterior.values.tolist(), posterior.mass.tolist())
            low, high = (f"{posterior.quantile(p):.4g}" for p in (0.05, 0.95))
            options.setdefault("title", f"{self.label}: from {low} to {high}, with probability 90%")
            return curves_chart(before, after, label=self.label, **options)
        values = posterior.values.tolist()
        chances = None if prior is None else [prior.probability(value) for value in values]
        mass = posterior.mass.tolist()
        return shares_chart(values, chances, mass, label=self.label, **options)

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.label,
            "prior": None if self.prior is None else _told(self.prior),
            "posterior": _told(self.posterior),
            "before": _finite(self.before),
            "knowledge": self.after,
            "gain": _finite(self.gain),
            "relative_gain": _finite(self.relative),
            "verdict": "PASS" if self.within else "FAIL",
            **self.figures,
        }


@dataclass(frozen=True)
class KnowledgeRule(Shown):
    """Release only if what is measured stays within the limit.

    >>> from discreet.risk.uncertainty import Largest
    >>> rule = KnowledgeRule(Largest(), 0.25)
    >>> rule.judge(Belief.discrete(["a", "b"], [0.8, 0.2]))
    Learned(target: uncertainty 0.2, beyond the limit)
    >>> rule.words(["a", "b"])
    'Release if no category has more than 75%.'
    """

    uncertainty: Uncertainty
    limit: float
    measure: Measure = Measure.KNOWLEDGE

    def __post_init__(self) -> None:
        if not (math.isfinite(self.limit) and self.limit >= 0):
            raise DataError(f"the limit is {self.limit}; give a number from 0 on.")
        if self.measure not in tuple(Measure):
            raise DataError(f"the measure is {self.measure!r}; it is one of {', '.join(Measure)}.")
        object.__setattr__(self, "measure", Measure(self.measure))

    def judge(
        self,
        posterior: Belief,
        prior: Belief | None = None,
        *,
        label: str = "target",
        before: float | None = None,
        **figures: float,
    ) -> Learned:
        """Whether a release that leads from `prior` to `posterior` is within the limit.

        `before` is U(prior) where the prior's grid does not show it, as an infinite variance;
        `figures` are kept with the result.
        """
        if prior is not None and before is None:
            before = self.uncertainty(prior)
        after = self.uncertainty(posterior)
        within = after >= self.least(before) - CLOSE
        return Learned(label, posterior, after, within, prior, before, figures)

    def least(self, before: float | None) -> float:
        """The uncertainty that must be left: the knowledge rule that this rule is equal to."""
        if self.measure is Measure.KNOWLEDGE:
            return self.limit
        if before is None:
            raise DataError(f"a limit on {self.measure} needs the prior: say what is believed now.")
        if self.measure is Measure.GAIN:
            return before - self.limit
        return (1 - self.limit) * before if self.limit < 1 else 0.0

    def words(self, categories: Sequence[str] = (), before: float | None = None) -> str:
        """What the rule asks of the published shares, or of the belief."""
        least = self.least(before)
        if least <= 0:
            return "Release in any case: what is left to know is within the limit."
        if math.isinf(least):
            return "Release nothing: the uncertainty before was infinite."
        asked = self.uncertainty.limit_words(least, categories)
        if asked.startswith(("no table", "no release")):
            return f"Release nothing: {asked.partition(': ')[2] or asked}."
        return f"Release if {asked}."


def _told(belief: Belief) -> dict[str, Any]:
    """Probabilities, or the quantiles of a density."""
    if belief.kind is Kind.DENSITY:
        found = {f"{p:g}": belief.quantile(p) for p in (0.05, 0.25, 0.5, 0.75, 0.95)}
        return {"mean": belief.mean, "quantiles": found}
    pairs = zip(belief.values.tolist(), belief.mass.tolist(), strict=True)
    return {"probabilities": {str(value): p for value, p in pairs}}


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else number

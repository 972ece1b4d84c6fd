"""What totals and rates teach, beside the office's rules on their largest values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.risk.knowledge.alphas import AlphaClasses, alpha_classes
from discreet.risk.knowledge.dominance import CompaniesRule, LargestRule, check_largest
from discreet.risk.knowledge.knowledge import Learned
from discreet.risk.knowledge.taught import Rates, Taught, Totals


@dataclass(frozen=True, eq=False)
class RuleVerdict(Unpublished):
    """One rule for one cell: its verdict, in words, and what it says of the intruder.

    `learned` is the belief about the target, of the rules that are limits on knowledge.

    >>> import discreet as dc
    >>> estates = dc.uncertainty.Totals("estates", 507.862, 11, minimum=10)
    >>> taught, p = dc.knowledge(estates, limit=0.25, prior=1.2765), dc.uncertainty.p_rule(0.1)
    >>> verdict = dc.uncertainty.with_rules(taught, [estates], [[200, 150]], [p]).rules[0]
    >>> verdict.within, verdict.to_json()["rule"]
    (True, 'p% rule, 10%')
    """

    label: str
    rule: LargestRule | CompaniesRule
    within: bool
    words: str
    learned: Learned | None = None

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "target": self.label,
            "rule": self.rule.name,
            "verdict": "PASS" if self.within else "FAIL",
            "words": self.words,
        }
        if self.learned is not None and isinstance(self.rule, LargestRule):
            found |= {
                "prior": self.rule.prior,
                "limit": self.rule.limit,
                "knowledge": self.learned.after,
                "low": self.learned.figures["low"],
                "high": self.learned.figures["high"],
            }
        return found


@dataclass(frozen=True, eq=False)
class RuledTaught(Taught):
    """`Taught`, with the rules on the largest values; within the limit if these are obeyed too.

    `alphas` are the Pareto priors within the limit and beyond it, a class a row.

    >>> import discreet as dc
    >>> estates = dc.uncertainty.Totals("estates", 507.862, 11, minimum=10)
    >>> taught, p = dc.knowledge(estates, limit=0.25, prior=1.2765), dc.uncertainty.p_rule(0.1)
    >>> dc.uncertainty.with_rules(taught, [estates], [[200, 150]], [p])
    RuledTaught(...0 of 1 rules broken)
    """

    rules: tuple[RuleVerdict, ...] = ()
    alphas: tuple[AlphaClasses, ...] = ()

    @property
    def within(self) -> bool:
        return super().within and all(rule.within for rule in self.rules)

    def __repr__(self) -> str:
        broken = sum(not rule.within for rule in self.rules)
        beyond = sum(not row.within for row in self.rows)
        return (
            f"RuledTaught({self.about}: {beyond:,} of {len(self.rows):,} beyond the limit, "
            f"{broken:,} of {len(self.rules):,} rules broken)"
        )

    def plot(self, **options: Any) -> Any:
        """Prior against posterior of the first target, with the limit in the title."""
        row, rule = self.rows[0], self.rule
        said = f"{row.label}: {rule.uncertainty} is {row.after:.4g}, and the limit is "
        least = rule.least(row.before)
        return row.plot(**{"title": f"{said}{least:.4g}"} | options)

    def plot_rules(self, **options: Any) -> Any:
        """What each rule's intruder is left with, against the least that is asked."""
        from discreet.look.knowledgecharts import rules_chart

        rows = [each for each in self.rules if each.learned is not None]
        if not rows:
            raise DataError("no rule here is a limit on knowledge; there is nothing to draw.")
        bars = [
            (f"{each.label}: {each.rule}", each.learned.after, each.rule.limit, each.within)
            for each in rows
            if each.learned is not None and isinstance(each.rule, LargestRule)
        ]
        return rules_chart(bars, **options)

    def to_json(self) -> dict[str, Any]:
        more: dict[str, Any] = {"rules": [rule.to_json() for rule in self.rules]}
        if self.alphas:
            more["alphas"] = [each.to_json() for each in self.alphas]
        return super().to_json() | more


def with_rules(
    taught: Taught,
    classes: Sequence[Totals] | Sequence[Rates],
    largest: Sequence[Sequence[float]],
    rules: Sequence[LargestRule | CompaniesRule],
    *,
    alphas: tuple[float, float] | None = None,
) -> RuledTaught:
    """What was taught beside each rule's verdict; `largest` are the largest values of each class.

    `alphas`, from and to: also search the Pareto priors that are within the limit.

    >>> import discreet as dc
    >>> estates = dc.uncertainty.Totals("estates", 507.862, 11, minimum=10)
    >>> taught = dc.knowledge(estates, limit=0.25, prior=1.2765)
    >>> p = dc.uncertainty.p_rule(0.1)
    >>> found = dc.uncertainty.with_rules(taught, [estates], [[200, 150]], [p])
    >>> found, found.rules[0].learned
    (RuledTaught(...0 of 1 rules broken), Learned(estates: uncertainty 0.7893, within the limit))
    """
    if rules and len(largest) != len(classes):
        raise DataError(f"{len(classes)} cells but {len(largest)} lists of largest values.")
    found = []
    cells: list[Totals | Rates] = list(classes)
    lists = largest if rules else [()] * len(cells)
    for each, values in zip(cells, lists, strict=True):
        for rule in rules:
            if isinstance(each, Totals) != isinstance(rule, LargestRule):
                raise DataError(
                    f"the {rule} does not fit: companies:N:F goes with rates, dominance, p and pq "
                    "with totals."
                )
            found.append(_verdict(each, values, rule, taught.rule.limit))
    about = taught.about
    if broken := sum(not verdict.within for verdict in found):
        about += f"; {broken:,} of {len(found):,} rules broken"
    plain = {f.name: getattr(taught, f.name) for f in dataclasses.fields(Taught)}
    searched = tuple(_classes(taught, classes, alphas) if alphas else ())
    notes = [*taught.notes, *(f"{verdict.label}: {verdict.words}" for verdict in found)]
    pairs = zip(cells, searched, strict=bool(searched))
    notes += [f"{each.label}: {classes_of}" for each, classes_of in pairs]
    before = taught.alphas if isinstance(taught, RuledTaught) else ()
    kept = plain | {"about": about, "notes": tuple(notes)}
    return RuledTaught(**kept, rules=tuple(found), alphas=before + searched)


def _classes(
    taught: Taught, classes: Sequence[Totals] | Sequence[Rates], among: tuple[float, float]
) -> Iterator[AlphaClasses]:
    for each in classes:
        if not isinstance(each, Totals):
            raise DataError("alphas are those of values with a total, not of rates.")
        yield alpha_classes(taught.rule, each.total, each.number, each.minimum, among=among)


def _verdict(
    each: Totals | Rates, values: Sequence[float], rule: LargestRule | CompaniesRule, limit: float
) -> RuleVerdict:
    if isinstance(each, Totals) and isinstance(rule, LargestRule):
        listed = check_largest(values, each.total, each.number, each.minimum)
        learned = rule.judge(listed, each.total, label=each.label)
        return RuleVerdict(each.label, rule, learned.within, rule.words(learned), learned)
    assert isinstance(each, Rates)
    assert isinstance(rule, CompaniesRule)
    if len(values) != 1 or values[0] != int(values[0]):
        raise DataError("companies:N:F needs the largest number of incidents; give that one.")
    top = int(values[0])
    obeyed = rule.obeyed(each.incidents, each.companies, largest=top)
    words = rule.words(each.incidents, each.companies, top, limit)
    return RuleVerdict(each.label, rule, obeyed, words)

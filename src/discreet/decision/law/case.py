"""A release before the custodian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from discreet.decision.law.policy import Policy
from discreet.effort import UNLIMITED, Clock, Effort
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.result import Rung
from discreet.intruder.bounds.unspoken import ties_unspoken, without_unspoken
from discreet.intruder.bounds.work import ALONE, PROJECTED, Work
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.count import count
from discreet.intruder.tables.result import TableCount
from discreet.intruder.witness.seen import Seen
from discreet.release.release import Release
from discreet.risk.release.attribute import AttributeRisk, attribute_risk
from discreet.risk.release.attribute_belief import BelievedAttribute, believed_attributes
from discreet.risk.release.believed_counts import BeliefRisk, belief_risk
from discreet.risk.release.closeness import Closeness, closeness
from discreet.risk.release.nature import Nature
from discreet.risk.release.sample import Watched, watched
from discreet.risk.release.small import SmallCells, observable, small_cells
from discreet.risk.release.untold import untold
from discreet.table.cells import Cells
from discreet.table.levels import with_levels
from discreet.table.table import Table

T = TypeVar("T")
LEFT_OUT = "what was not looked at may be more than this says"
MORE = "Allow more seconds, or less effort."


class Told(NamedTuple):
    """What is asked about groups of people, over as few variables as matter."""

    table: Table
    bounder: Bounder
    seen: Seen | None


def spoken_of(release: Release, table: Table) -> list[str]:
    """The variables of margins, of what else is known, and those with a single category."""
    known = {name for fact in release.known for name, _ in fact.cell}
    known |= {name for combination in table.impossible for name, _ in combination}
    known |= {name for margin in release.formula.margins for name in margin}
    return [v.name for v in release.variables if v.name in known or v.size == 1]


@dataclass
class Case:
    """What the rules ask for, computed once."""

    table: Table
    release: Release
    policy: Policy
    clock: Clock = UNLIMITED
    effort: float = 1.0  # times what the policy allows
    _kept: dict[Callable[[Case], Any], Any] = field(default_factory=dict, repr=False)
    _clocks: list[Clock] = field(default_factory=list, repr=False)

    def _clock(self, seconds: float) -> Clock:
        """A clock for some of the work; 0 stops it at once."""
        self._clocks.append(Clock(max(seconds, 1e-9), within=self.clock))
        return self._clocks[-1]

    @property
    def stopped(self) -> str | None:
        """What a clock that stopped some of the work says."""
        said = (clock.sentence(LEFT_OUT, MORE) for clock in (*self._clocks, self.clock))
        return next((text for text in said if text), None)

    @property
    def doubtful(self) -> bool:
        """May a rule have passed by what was not looked at? Not where tables must prove it."""
        counted = any(c.stopped for c in (self.clock, self.count_clock, self.belief_clock))
        return counted or (self.policy.bounds.proof == "outer" and self.stopped is not None)

    @cached_property
    def count_clock(self) -> Clock:
        return self._clock(self.policy.tables.seconds)

    @cached_property
    def belief_clock(self) -> Clock:
        return self._clock(self.policy.belief.seconds)

    def once(self, work: Callable[[Case], T]) -> T:
        """What a rule works out for itself, kept for its measures."""
        if work not in self._kept:
            self._kept[work] = work(self)
        kept: T = self._kept[work]
        return kept

    @property
    def identifying(self) -> tuple[str, ...]:
        return self.table.axes.names_of(self.table.axes.identifying)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.table.variables if v.sensitive_codes)

    @cached_property
    def bounder(self) -> Bounder:
        return self._bounder_of(self.release)

    def _bounder_of(self, release: Release) -> Bounder:
        rule = self.policy.bounds
        return Bounder(
            release,
            method=rule.method,
            effort=self.effort * rule.effort,
            seconds=self._clock(rule.seconds),
            most_bytes=int(rule.gigabytes * 2**30),
            rung=Rung(rule.proof),
            projecting=self._projecting,
        )

    @property
    def short(self) -> bool:
        """Did the usual work not come to linear bounds of all small counts?"""
        return self.bounder.projecting is not None and self.bounder.projecting.short

    @property
    def _projecting(self) -> Work | None:
        """What projections may cost: little beside tables, more where they alone show a width.

        Without a limit where bounds are taken as they are: nothing passes by what was left open.
        """
        rule = self.policy.bounds
        if rule.method != "auto" or rule.proof == "outer":
            return None
        usual = PROJECTED if rule.looks and rule.proof == "integer" else ALONE * PROJECTED
        return Work(Effort(self.effort * rule.effort).of(usual))

    @cached_property
    def watched(self) -> Watched | None:
        """The small counts to guard, if the policy says that the data are a sample."""
        rule = self.policy.sample
        if not rule.check:
            return None
        most = self.policy.small.most
        return watched(self.table, most, chance=rule.chance, model=rule.model)

    @property
    def guarded(self) -> Cells:
        """The small counts that must keep a width."""
        if self.watched is not None:
            return self.watched.cells
        return observable(self.table).small(self.policy.small.most)

    @cached_property
    def small(self) -> SmallCells:
        rule, how, proof = self.policy.small, self.policy.bounds, None
        if how.looks:
            clock = self._clock(how.witness_seconds)
            effort = self.effort * how.witness_effort
            proof = Proof(self.table, rule.width, effort, clock, together=True)
        cells = None if self.watched is None else self.watched.cells
        return small_cells(self.table, self.bounder, rule.most, proof, cells, rule.width)

    @cached_property
    def seen(self) -> Seen | None:
        """Tables that fit, found from the true one; None where none are looked for."""
        return Seen.of(self.release, self.table) if self._sees else None

    @property
    def _sees(self) -> bool:
        return bool(self.policy.bounds.looks and self.policy.bounds.method == "auto")

    @cached_property
    def told(self) -> Told:
        """The table over the variables of which the release may tell something of its own."""
        release, bounder, table = self.release, self.bounder, self.table
        fewer, impossible = None, table.impossible
        if ties_unspoken(release):
            every, exclusion = Nature.of(table, release), self.policy.attribute.exclusion
            gone, nature = untold(release, every, exclusion=exclusion)
            fewer = without_unspoken(release, {*release.names} - gone)
            impossible = nature.impossible
        if fewer is None:
            bounder = bounder.over(spoken_of(release, table))
        elif len(fewer.variables) < len(release.variables):
            bounder = bounder.of(fewer)
        whole = bounder is self.bounder
        table = table if whole else table.margin(bounder.release.names)
        if fewer is not None:
            table = replace(table, impossible=impossible)
        leveled = with_levels(table, spoken_of(release, table))
        if leveled is not table:
            table, bounder = leveled, self._bounder_of(bounder.release.with_levels(leveled))
        elif whole:
            return Told(table, bounder, self.seen)
        return Told(table, bounder, Seen.of(bounder.release, table) if self._sees else None)

    @cached_property
    def attribute(self) -> AttributeRisk:
        rule = self.policy.attribute
        return attribute_risk(
            *self.told[:2],
            share=rule.share,
            exclusion=rule.exclusion,
            order=rule.order,
            seen=self.told.seen,
        )

    @cached_property
    def count(self) -> TableCount:
        rule = self.policy.tables
        return count(self.release, effort=self.effort * rule.effort, seconds=self.count_clock)

    @cached_property
    def belief(self) -> BeliefRisk:
        rule = self.policy.belief
        return belief_risk(
            self.table,
            self.release,
            at_most=self.policy.small.most,
            zeros=rule.zeros,
            model=rule.model,
            prior=rule.prior,
            standard_error=rule.standard_error,
            effort=self.effort * rule.effort,
            seconds=self.belief_clock,
        )

    @cached_property
    def believed(self) -> tuple[BelievedAttribute, ...] | None:
        """Beliefs about the attributes of groups; None under models that only know cells."""
        rule, attribute = self.policy.belief, self.policy.attribute
        kinds = {
            "saturated": CellWeights.dirichlet(rule.prior),
            "uniform": CellWeights.uniform(),
            str(self.release.formula): CellWeights.multinomial(),
        }
        if rule.model not in kinds:
            return None
        return believed_attributes(
            self.table,
            self.release,
            kinds[rule.model],
            share=attribute.share,
            order=attribute.order,
            effort=self.effort * rule.effort,
            seconds=self.belief_clock,
        )

    @cached_property
    def closeness(self) -> Closeness:
        return closeness(self.table, self.bounder)

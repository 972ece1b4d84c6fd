"""A release before the custodian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from discreet.decision.law.policy import Policy
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.result import Rung
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.count import count
from discreet.intruder.tables.result import TableCount
from discreet.intruder.witness.seen import Seen
from discreet.release.release import Release
from discreet.risk.release.attribute import AttributeRisk, attribute_risk
from discreet.risk.release.attribute_belief import BelievedAttribute, believed_attributes
from discreet.risk.release.believed_counts import BeliefRisk, belief_risk
from discreet.risk.release.closeness import Closeness, closeness
from discreet.risk.release.sample import Watched, watched
from discreet.risk.release.small import SmallCells, observable, small_cells
from discreet.table.cells import Cells
from discreet.table.table import Table

T = TypeVar("T")
LEFT_OUT = "what was not looked at may be more than this says"
MORE = "Allow more seconds, or less effort."


@dataclass
class Case:
    """What the rules ask for, computed once."""

    table: Table
    release: Release
    policy: Policy
    clock: Clock = UNLIMITED
    _kept: dict[Callable[[Case], Any], Any] = field(default_factory=dict, repr=False)
    _clocks: list[Clock] = field(default_factory=list, repr=False)

    def _clock(self, seconds: float) -> Clock:
        """A clock for some of the work; 0 stops it at once."""
        self._clocks.append(Clock(max(seconds, 1e-9), within=self.clock))
        return self._clocks[-1]

    @property
    def stopped(self) -> str | None:
        """What a clock that stopped some of the work says."""
        said = (clock.sentence(LEFT_OUT, MORE) for clock in self._clocks)
        return next((text for text in said if text), None)

    @property
    def doubtful(self) -> bool:
        """May a rule have passed by what was not looked at? Not where tables must prove it."""
        counted = any(clock.stopped for clock in (self.count_clock, self.belief_clock))
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
        rule = self.policy.bounds
        return Bounder(
            self.release,
            method=rule.method,
            effort=rule.effort,
            seconds=self._clock(rule.seconds),
            most_bytes=int(rule.gigabytes * 2**30),
            rung=Rung(rule.proof),
        )

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
            proof = Proof(self.table, rule.width, how.witness_effort, clock)
        cells = None if self.watched is None else self.watched.cells
        return small_cells(self.table, self.bounder, rule.most, proof, cells, rule.width)

    @cached_property
    def seen(self) -> Seen | None:
        """Tables that fit, found from the true one; None where none are looked for."""
        rule = self.policy.bounds
        if not rule.looks or rule.method != "auto":
            return None
        return Seen.of(self.release, self.table)

    @cached_property
    def attribute(self) -> AttributeRisk:
        rule = self.policy.attribute
        return attribute_risk(
            self.table,
            self.bounder,
            share=rule.share,
            exclusion=rule.exclusion,
            order=rule.order,
            seen=self.seen,
        )

    @cached_property
    def count(self) -> TableCount:
        rule = self.policy.tables
        return count(self.release, effort=rule.effort, seconds=self.count_clock)

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
            effort=rule.effort,
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
            effort=rule.effort,
            seconds=self.belief_clock,
        )

    @cached_property
    def closeness(self) -> Closeness:
        return closeness(self.table, self.bounder)

"""What a request gets, and how a margin stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.look.notebook import Item
from discreet.look.result import Shown


class Status(StrEnum):
    """Where a margin is at a time: R(t), M(t) or U(t) (Dobra, Erosheva & Fienberg 2002, 1.4)."""

    RELEASED = "released"
    POSSIBLE = "possible"
    GONE = "gone"


class Outcome(StrEnum):
    """What is done with a request."""

    GRANTED = "granted"
    REFUSED = "refused"
    PENDING = "pending"


class Why(StrEnum):
    """The reason, as far as the public is told."""

    OUT = "out"
    SAFE = "safe"
    UNSAFE = "unsafe"
    FRONTIER = "frontier"
    ORDER = "order"
    CELLS = "cells"
    STEP = "step"
    UNLISTED = "unlisted"
    QUOTA = "quota"
    DOUBT = "doubt"
    APPROVAL = "approval"
    SECOND = "second"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CLOSED = "closed"
    WITHDRAWN = "withdrawn"

    @property
    def said(self) -> str:
        return SAID[self]


SAID = {
    Why.OUT: "The table is published, or follows from one that is.",
    Why.SAFE: "The table can be published with all that is out.",
    Why.UNSAFE: "With all that is out, the table would disclose too much.",
    Why.FRONTIER: "The table is not among those that were chosen for publication.",
    Why.ORDER: "The table has more variables than are ever published together.",
    Why.CELLS: "The table has more cells than are published at once.",
    Why.STEP: "The table goes too far beyond what is out; ask for a smaller one first.",
    Why.UNLISTED: "The table is not among those that can be asked for.",
    Why.QUOTA: "You have received as many new tables as one user can have in a day.",
    Why.DOUBT: "Nothing speaks against the table, but that is not proven; a custodian decides.",
    Why.APPROVAL: "A custodian decides on every request.",
    Why.SECOND: "A custodian has approved the table; a second one decides.",
    Why.ACCEPTED: "Nothing speaks against the table, which is not proven; a custodian accepted it.",
    Why.REJECTED: "A custodian has decided against the table, or a part of it.",
    Why.CLOSED: "No more tables are published of these data; see the newer ones.",
    Why.WITHDRAWN: "The table was withdrawn.",
}


@dataclass(frozen=True)
class Answer(Shown):
    """The decision on a request for a margin, a set of variables.

    `near`: the largest margins within it that are out, then those that could be asked for.

    >>> import discreet as dc
    >>> desk = dc.server.Desk(dc.load("example:tract"), dc.Policy.of({"server.rule": "myopic"}))
    >>> answer = desk.ask("Gender*Race*Income")
    >>> answer.outcome.value, answer.why.said
    ('refused', 'With all that is out, the table would disclose too much.')
    """

    margin: int
    outcome: Outcome
    why: Why
    near: tuple[int, ...] = ()
    probability: float | None = None  # simulatable: of an unsafe answer, as the public sees it

    def _shown_items(self) -> list[Item]:
        return [Item(f"{self.outcome}: {self.why.said}")]


@dataclass(frozen=True)
class Standing(Shown):
    """How a margin stands, and whether it can be asked for now: is it in CM(t)?"""

    status: Status
    candidate: bool
    why: Why

"""A rule of the law, as a value: what it asks of a release, and what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from discreet.decision.law.verdict import Reason, Verdict

if TYPE_CHECKING:
    from discreet.decision.answering.many_tables import ManyJudged, ManyTables
    from discreet.decision.frontier.brief import Brief
    from discreet.decision.frontier.list_start import ListStart
    from discreet.decision.law.case import Case
    from discreet.decision.law.policy import Policy
    from discreet.intruder.bounds.shuttle.shuttle import Shuttle


class Follower(Protocol):
    """A rule along a release that grows, on a shuttle; `outer`: what passes it is not proven."""

    outer: bool

    def inside(self, margin: int) -> bool:
        """Does the margin by itself break the rule?"""

    def across(self, shuttle: Shuttle, sets: Sequence[int]) -> bool:
        """Do the bounds of all these margins together break it?"""

    def unsure(self, sets: Sequence[int]) -> bool:
        """May `judge` be in doubt where nothing is broken?"""


def always(policy: Policy) -> bool:
    return True


def never(policy: Policy) -> bool:
    return False


def nothing(case: Case) -> Mapping[str, Any]:
    return {}


def no_words(about: Any) -> Iterable[str]:
    return ()


@dataclass(frozen=True, eq=False)
class Rule:
    """`judge` is the law. All else is what the program needs to know of it.

    `keys` is the dataclass of its `section` of a policy, and `asked` says whether a policy asks it.
    `monotone`: a further margin never mends what is broken. `measures` are keys of `Decision.risk`,
    `assumes` and `promises` sentences for the report and for the public. `place` is where it stands
    among the others; `drawn`: the report has a part of its own for what it finds.

    Shortcuts are optional, and each may only refuse, or pass what `judge` passes: `follow` a
    release that grows, judge `many_tables` at once or a `very_large` one. `ruling` is the verdict
    alone; it may also prove what `judge` does not. Where one is missing, `judge` is asked. `light`:
    judged at a glance, so it is asked first where nothing but the verdict counts.
    """

    name: str
    judge: Callable[[Case], Reason]
    section: str = ""
    keys: type | None = None
    asked: Callable[[Policy], bool] = always
    monotone: Callable[[Policy], bool] = never
    measures: Callable[[Case], Mapping[str, Any]] = nothing
    assumes: Callable[[Case], Iterable[str]] = no_words
    promises: Callable[[Policy], Iterable[str]] = no_words
    follow: Callable[[Brief], Follower] | None = None
    many_tables: Callable[[ManyTables, ManyJudged], None] | None = None
    very_large: Callable[[Brief, ListStart], Reason] | None = None
    ruling: Callable[[Case], Verdict] | None = None
    light: bool = False
    place: int = 100
    drawn: bool = False

    def __repr__(self) -> str:
        shortcuts = [
            name
            for name in ("follow", "many_tables", "very_large", "ruling")
            if getattr(self, name)
        ]
        return f"Rule({self.name}: {', '.join(shortcuts) or 'judged from scratch'})"

"""Growing a set of margins along a list, for as long as it keeps the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from discreet.decision.frontier.brief import Sets
from discreet.decision.frontier.judge import Judge
from discreet.effort import UNLIMITED, Clock
from discreet.look.progress import track, working
from discreet.table.lattice import closure

ANEW = 400  # from so many margins on, to begin anew is quicker than to follow each


@dataclass
class Grown:
    """What a pass left out, each with the cells that stood against it, and whether it ended."""

    failed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    complete: bool = True


def longest_start(judge: Judge, ordered: Sets, clock: Clock = UNLIMITED) -> int:
    """How many margins of the list can be in, from its start on, by bisection (section 1.5.1).

    Bisection finds where the list breaks if rules are monotone; else a start of it that holds.
    """
    low, high = 0, len(ordered)
    with working(f"cutting a list of {high:,} margins"):
        while low < high and not clock.over():
            middle = (low + high + 1) // 2
            if middle - low > ANEW:
                held = judge.restart(ordered[:middle])
            else:
                held = judge.add(ordered[low:middle])
            low, high = (middle, high) if held else (low, middle - 1)
    return low


def grow(
    judge: Judge,
    ordered: Iterable[int],
    clock: Clock = UNLIMITED,
    tell: Callable[[], object] = lambda: None,
) -> Grown:
    """Take in every margin of the list that still keeps the policy.

    A margin that fails, fails with all that contain it, since bounds only narrow.
    """
    inside, grown = closure(judge.sets), Grown()
    todo = [margin for margin in ordered if margin not in inside]
    for margin in track(todo, "margins"):
        if margin in inside or any(small & ~margin == 0 for small in grown.failed):
            continue
        if clock.over():
            grown.complete = False
            break
        if judge.add([margin]):
            inside |= closure([margin])
            tell()
        else:
            grown.failed[margin] = tuple(getattr(judge, "blocked", ()))
    return grown

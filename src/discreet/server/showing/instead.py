"""What could be asked for instead of a table that is refused.

Only what the desk knows without a trial counts, so that a refusal costs no more decisions. Under
the static rule nothing can be asked for; under the others a margin that nobody has looked at is
offered as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from discreet.decision.answering.answer import Status
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.space import nearest, within
from discreet.table.lattice import bits

MOST = 6  # margins that are offered
LOOKS = 2_000  # margins that are looked at


def instead(desk: Desk, margin: int) -> list[tuple[int, bool]]:
    """The largest margins within one that can be asked for, and whether each is known to pass.

    Those that are known come first.
    """
    if desk.rule.rule == "static":
        return []
    found: dict[int, bool] = {}
    for part in nearest(margin, desk.space.possible()):
        if part != margin and _open(desk, part) and desk.space.known(part) is Status.POSSIBLE:
            found[part] = True
    for part in _within(margin, desk.rule.max_order):
        if len(found) >= MOST:
            break
        if within(part, found) or not _open(desk, part):
            continue
        if desk.space.known(part) is not Status.GONE:
            found[part] = desk.space.known(part) is Status.POSSIBLE
    best = sorted(found.items(), key=lambda one: (not one[1], -one[0].bit_count(), one[0]))
    return best[:MOST]


def _open(desk: Desk, margin: int) -> bool:
    """Not out, and the public rules say nothing against it."""
    return not within(margin, desk.out) and desk.barred(margin) is None


def _within(margin: int, most: int) -> Iterator[int]:
    """Smaller margins, the largest first."""
    places, looks = list(bits(margin)), 0
    start = min(len(places) - 1, most or len(places))
    for order in range(start, 0, -1):
        for chosen in combinations(places, order):
            if (looks := looks + 1) > LOOKS:
                return
            yield sum(1 << place for place in chosen)

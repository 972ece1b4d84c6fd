"""Refusals that the public could work out: from draws of the tables that fit what is out."""

from __future__ import annotations

import math
from collections import OrderedDict
from functools import lru_cache

from discreet.decision.answering.many_tables import Lattice, ManyTables, quick
from discreet.decision.answering.public_belief import PublicBelief, public_belief
from discreet.decision.answering.simulatable import SURE, Refusal
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.policy import Policy
from discreet.errors import PolicyError
from discreet.look.result import Unpublished
from discreet.release.release import Release
from discreet.table.lattice import maximal
from discreet.table.table import Table

MOST_SUMS = 1 << 24  # of all draws
SLOW_CELLS = 64  # where `decide` is asked about every draw
STATES = 8  # that are remembered
REMEMBERED = 10_000  # answers that are
MORE = 4  # times as many draws where the first leave it open


class Simulated(Unpublished):
    """Decides as whoever knows the release and the policy can, too.

    A request is refused if the answer would be unsafe with a probability above `server.delta`,
    for a table drawn from what the public believes: the log-linear model whose margins are those
    that are out (`public_belief`). A saturated model would believe in sparse tables, and refuse
    nearly everything. From draws, the probability and three standard errors of it count; where only
    the error stands against a request, more tables are drawn.

    The true table has no say beyond its released margins: draws are seeded by these, the same
    draws serve every request of a state, and no clock has a part in it. So a refusal tells
    nothing, nor does the time it took. The price: a granted answer may be unsafe by the data,
    with a probability of up to delta at each new answer, in the eyes of the public.
    """

    def __init__(self, table: Table, policy: Policy) -> None:
        self.table, self.policy = table, policy
        _check(table, policy)
        self._states: OrderedDict[tuple[Sets, int], tuple[PublicBelief, ManyTables]] = OrderedDict()
        self._known = lru_cache(REMEMBERED)(self._refusal)

    def refusal(self, out: Sets, margin: int) -> Refusal:
        """The decision on a margin when those in `out` are public."""
        return self._known(maximal(out), margin)

    def _refusal(self, out: Sets, margin: int) -> Refusal:
        delta, draws = self.policy.server.delta, self.policy.server.draws
        while True:
            belief, screen = self._state(out, draws)
            probability, error = belief.probability(screen.unsafe(margin))
            refuses = probability + SURE * error > delta
            draws *= MORE
            if not refuses or probability > delta or draws > self._most:
                return Refusal(refuses, probability, error, belief.exact, delta)

    @property
    def _most(self) -> int:
        """Draws that a request close to delta may take."""
        return min(
            MORE * int(self.policy.server.draws), MOST_SUMS // Lattice(self.table.shape).size
        )

    def _state(self, out: Sets, draws: int) -> tuple[PublicBelief, ManyTables]:
        if (out, draws) not in self._states:
            belief = public_belief(self.release(out), draws)
            screen = ManyTables(self.table.variables, self.policy, out, belief.tables, belief.exact)
            self._states[out, draws] = belief, screen
            if len(self._states) > STATES:
                self._states.popitem(last=False)
        return self._states[out, draws]

    def release(self, out: Sets) -> Release:
        """What is public: the margins, or the total alone."""
        names = [self.table.axes.names_of(s) for s in out] or [()]
        return Release(self.table.variables, tuple(map(self.table.margin, names)))


def _check(table: Table, policy: Policy) -> None:
    """Refuse what would take too long, before anybody asks."""
    shape, draws = table.shape, policy.server.draws
    cells, sums = math.prod(shape), Lattice(shape).size
    told = "use the static rule, whose refusals tell nothing either, or a smaller table."
    if table.supposing().impossible:
        raise PolicyError(
            "the simulatable rule does not know of combinations that cannot occur, or that only "
            "look so; use the static rule."
        )
    if sums * draws > MOST_SUMS:
        raise PolicyError(
            f"the simulatable rule would follow {sums:,} sums of {cells:,} cells in each of "
            f"{draws:,} draws, more than {MOST_SUMS:,} together; {told}"
        )
    if not quick(policy, table.variables) and cells > SLOW_CELLS:
        raise PolicyError(
            f"under rules that judge tables one by one, the simulatable rule takes tables of up to "
            f"{SLOW_CELLS} cells, and this one has {cells:,}; {told}"
        )

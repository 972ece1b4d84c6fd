"""How many tables fit a release."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, InconsistentRelease, SolverError, Stopped
from discreet.intruder.tables.enumerate import Walk, weigh
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.result import TableCount
from discreet.intruder.tables.sequential import Estimate, Sampler
from discreet.intruder.tables.split import NOTHING_FITS, System, merged, open_cells, split
from discreet.intruder.tables.twoway import TwoWay
from discreet.look.progress import working
from discreet.release.doors import of_release
from discreet.release.release import Release

MOST_COLUMNS = 1_000
MOST_STEPS = 1_000_000_000  # of a two-way count
MOST_LISTED = 4_000_000_000  # numbers looked at to list tables
MOST_DRAWN = 2_000_000_000  # numbers looked at to draw tables
CLOSED, TWO_WAY, WALKED = "closed form", "two-way count", "enumeration"
SAMPLED = "sequential importance sampling"


@of_release
def count(
    release: Release,
    *,
    exact: bool | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    draws: int = 100_000,
    error: float = 0.01,
    seed: int = 0,
) -> TableCount:
    """The number of tables of whole counts that have every released margin and known cell.

    Parts that share no sum are counted on their own and multiplied; a part with row and column
    sums only by dynamic programming, any other by listing its tables where that takes no more than
    `effort` times the usual work. A part beyond that is estimated by sequential importance
    sampling, with as many of `draws` draws as the relative standard error `error` takes; the same
    seed gives the same estimate. `exact=True` never estimates, `exact=False` always does.
    `seconds` only stop: the count says so then, or there is none.

    >>> from discreet.table.load import load
    >>> count(Release.margins(load("example:tract"), "Race*Income + Income*Gender"))
    TableCount(59,400 tables: product of 3 two-way counts)
    """
    clock = Clock.of(seconds)
    for name, value in (("draws", draws), ("error", error)):
        if not value > 0:
            raise DataError(f"{name} is {value!r}; give a number above 0.")
    if not release.total:
        return TableCount(1, True, CLOSED)  # nobody: the empty table
    parts = split(merged(*open_cells(release)))
    budget = _Budget(exact, Effort(effort), clock, draws, error, np.random.default_rng(seed))
    with working("counting tables"):
        found = [budget.count(system, len(parts.blocks)) for system in parts.blocks]
    number = parts.factor * math.prod(n for _, n in found if isinstance(n, int))
    method = _method(Counter(name for name, _ in found))
    estimates = [n for _, n in found if isinstance(n, Estimate)]
    if not estimates:
        return TableCount(number, True, method)
    drawn = sum(part.draws for part in estimates)
    return TableCount.estimate(
        math.log(number) + sum(part.log for part in estimates),
        math.sqrt(math.prod(1 + part.relative_error**2 for part in estimates) - 1),
        method,
        draws=drawn,
        effective=min(part.effective for part in estimates),
        stopped=clock.sentence(f"{drawn:,} tables were drawn", "Allow more seconds."),
    )


@dataclass(frozen=True, eq=False)
class _Budget:
    """What may be spent on the parts of a release."""

    exact: bool | None
    effort: Effort
    clock: Clock
    draws: int
    error: float
    rng: np.random.Generator

    def count(self, system: System, parts: int) -> tuple[str, int | Estimate]:
        """How a part was counted, and its number."""
        two_way = TwoWay.of(system) if self.exact is not False else None
        number = two_way.count(self.effort.of(MOST_STEPS), self.clock) if two_way else None
        if number is not None:
            return TWO_WAY, _some(number)
        if len(system.sizes) > MOST_COLUMNS:
            raise SolverError(
                f"{len(system.sizes):,} open cells of the release hang together, more than "
                f"{MOST_COLUMNS:,}, too many to count the tables; release more margins, or count "
                "those of a table with fewer variables."
            )
        search = Search.of(system)
        most = self.effort.of(MOST_LISTED) // parts
        number, guess = (None, None) if self.exact is False else self._walk(system, search, most)
        if number is not None:
            return WALKED, _some(number)
        if self.clock.stopped and (self.exact or guess is None):
            self.clock.check("listing tables")
        if self.exact:
            raise SolverError(
                f"the tables could not all be listed by looking at {most:,} numbers; allow more "
                "effort, or an estimate (exact=None)."
            )
        try:
            found = Sampler.best(system, search, self.rng, self.clock).estimate(
                error=self.error / math.sqrt(parts),
                draws=self.draws,
                looked=self.effort.of(MOST_DRAWN) // parts,
            )
        except Stopped:
            if guess is None or guess.log == -math.inf:
                raise
            found = guess
        if found.log == -math.inf:
            raise SolverError(
                f"none of {found.draws:,} random draws met a table that fits; allow more effort "
                "or more draws, or release more margins."
            )
        return SAMPLED, found

    def _walk(
        self, system: System, search: Search, most: int
    ) -> tuple[int | None, Estimate | None]:
        """All tables listed and counted, None once that proves too much work; and a guess."""
        walk = Walk(system, search)
        total, guess = 0, None
        for lines in walk.lines(most, self.clock):
            number = weigh(lines, system.sizes, self.clock)
            if number is None:
                return None, guess
            total += number
            if not (walk.done or self.exact or guess) and walk.looked > most // 20:
                # what is left is guessed from a few draws, so that hopeless cases end early
                guess = Sampler(system, search, np.random.default_rng(0), self.clock).pilot
                if guess.log > math.log(max(total, 1)) + math.log(3 * most / walk.looked):
                    break
        return (total if walk.done else None), guess


def _some(number: int) -> int:
    if not number:
        raise InconsistentRelease(NOTHING_FITS)
    return number


def _method(parts: Counter[str]) -> str:
    """How the parts were counted, in words."""
    if not parts:
        return CLOSED
    if parts.total() == 1:
        return next(iter(parts))
    if len(parts) == 1:
        method, times = next(iter(parts.items()))
        plural = {TWO_WAY: "two-way counts"}.get(method, f"counts by {method}")
        return f"product of {times:,} {plural}"
    return "product of " + ", ".join(
        f"{times:,} by {method}" for method, times in sorted(parts.items())
    )

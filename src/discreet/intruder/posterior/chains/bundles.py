"""Chains of sixteen lanes: a walker's chains, each walked sixteen times at once.

The lanes of a chain begin at its table, share its moves and go their own ways. They need weights
that stay, as ratios small enough to be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.intruder.posterior.chains.walker import EXCLUDED, Walker

if TYPE_CHECKING:
    from discreet._kernels.bundles import Lane, Paths, Ratios
    from discreet._kernels.chains import Moves, Space

MOST_RATIOS = 1 << 22
MOST_STATES = 1 << 25
LARGEST = 600.0  # log of a ratio of weights
IN_LANE = 0.015  # what a slide of one lane takes, in the units of walker.SLIDE
SELDOM = 0.01  # fills a draw at least, which join what moves do not
SWEEPS = 4  # times as many slides a draw: a draw costs more to be judged than to be made


@dataclass(eq=False)
class Bundle:
    """A `walker` in lanes: `states` have an entry in a row of lanes, `seeds` four words a lane."""

    walker: Walker
    lane: Lane
    ratios: Ratios
    paths: Paths | None
    slides: int
    refills: float
    states: list[NDArray[np.int32]]
    seeds: list[NDArray[np.uint64]]
    orders: list[NDArray[np.int32]]
    turns: list[Ints]
    times: int = 1
    wanted: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    tally: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.tally = np.zeros((len(self.states), 4), np.int64)

    @classmethod
    def of(cls, walker: Walker) -> Self | None:
        """None where ratios of weights, or states, are too many to keep."""
        from discreet._kernels.bundles import lay
        from discreet._kernels.chains import Edges
        from discreet._kernels.lanes import LANES

        space, capped = walker.space, walker.capped
        size = (space.doublings + 1) * space.logs.size
        lane = _lane(space, capped)
        entries = len(lane.low) + len(lane.under)
        if size > MOST_RATIOS or entries * LANES > MOST_STATES:
            return None
        paths = None
        if not isinstance(walker.how, Edges):
            paths = _paths(walker.how[0], lane.under, len(space.low))
        states = []
        for x in walker.states:
            y = np.empty(entries * LANES, np.int32)
            for at in range(LANES):
                lay(y, lane, at, x)
            states.append(y)
        seeds = [_seeds(rng, 4 * LANES) for rng in walker.rngs]
        moves = 0 if paths is None else len(paths.unit)
        slides, refills = SWEEPS * walker.slides, walker.refills
        if slides:  # half as long as slides, but not hardly ever
            refills = min(refills, max(SELDOM, IN_LANE * slides / 2 / walker.fill_cost))
        return cls(
            walker, lane, _ratios(space, len(lane.under)), paths, slides, refills, states, seeds,
            [np.arange(moves, dtype=np.int32) for _ in states],
            [np.array([moves, 0]) for _ in states],
        )  # fmt: skip

    @property
    def lanes(self) -> int:
        return len(self.seeds[0]) // 4

    def state(self, chain: int) -> tuple[Any, ...]:
        """All that a run of the chain changes."""
        places = self.states, self.seeds, self.orders, self.turns
        return *(of[chain] for of in places), self.walker.rngs[chain], self.tally[chain]

    def resume(self, chain: int, state: tuple[Any, ...]) -> None:
        """From where it stood, maybe elsewhere."""
        (
            self.states[chain], self.seeds[chain], self.orders[chain], self.turns[chain],
            self.walker.rngs[chain], self.tally[chain],
        ) = state  # fmt: skip

    def run(self, chain: int, draws: int) -> NDArray[np.int32]:
        """The wanted columns after each of so many draws of every lane, lane after lane."""
        from discreet._kernels.bundles import run_bundle, run_edge_bundle
        from discreet._kernels.chains import Edges
        from discreet._kernels.lanes import LANES

        out = np.empty((draws, LANES, len(self.wanted)), np.int32)
        how, slides = self.walker.how, self.slides * self.times
        given = self.walker.rngs[chain], self.seeds[chain], out, self.tally[chain]
        if isinstance(how, Edges):
            run_edge_bundle(
                self.lane, how, self.ratios, self.states[chain], self.wanted, slides, *given
            )
        else:
            assert self.paths is not None
            run_bundle(
                self.walker.space, self.lane, self.paths, self.ratios, how[1],
                self.states[chain], self.orders[chain], self.turns[chain], self.wanted, slides,
                self.refills * self.times, *given,
            )  # fmt: skip
        return out.reshape(draws * LANES, -1)

    @property
    def cost(self) -> float:
        """What a draw of one lane takes."""
        return self.times * (IN_LANE * self.slides + self.refills * self.walker.fill_cost)

    def adapt(self) -> None:
        """As the walker does."""
        self.refills = self.walker.adapted(self.refills, self.tally)

    @property
    def excluded(self) -> bool:
        """Is a lane at a table of weight 0?"""
        space, n = self.walker.space, self.walker.space.columns
        low, kind = space.low[:n, None], space.kind[:n, None]
        entries = len(self.lane.low) + len(self.lane.under)
        counts = (y.reshape(entries, -1)[:n] + low for y in self.states)
        return any(bool((space.logs[kind, x] <= EXCLUDED).any()) for x in counts)


def _seeds(rng: np.random.Generator, words: int) -> NDArray[np.uint64]:
    return rng.integers(1, 1 << 64, words, np.uint64, endpoint=False)


def _lane(space: Space, capped: Ints) -> Lane:
    """Sums known as a range, and columns in one, have a further entry: what is left to the top."""
    from discreet._kernels.bundles import Lane

    under = np.concatenate([capped, np.arange(space.columns, len(space.low))]).astype(np.int64)
    return Lane(space.low, under, space.high[under])


def _paths(moves: Moves, under: Ints, entries: int) -> Paths:
    """Moves with what they do to every entry, first those that go down."""
    from discreet._kernels.bundles import Paths

    move = np.repeat(np.arange(len(moves.starts) - 1), np.diff(moves.starts))
    more_move, more_entry, more_sign = [move], [moves.cells], [moves.signs]
    for place, entry in enumerate(under.tolist()):
        here = np.flatnonzero(moves.cells == entry)
        more_move.append(move[here])
        more_entry.append(np.full(len(here), entries + place))
        more_sign.append(-moves.signs[here])
    move, entry, sign = map(np.concatenate, (more_move, more_entry, more_sign))
    order = np.lexsort((entry, sign > 0, move))
    move, entry, sign = move[order], entry[order], sign[order]
    every = np.arange(len(moves.starts) - 1)
    starts = np.searchsorted(move, np.append(every, len(every)))
    middles = starts[:-1] + np.bincount(move[sign < 0], minlength=len(every))
    unit = np.bincount(move[np.abs(sign) > 1], minlength=len(every)) == 0
    return Paths(starts, middles, entry.astype(np.int64), np.abs(sign).astype(np.int64), unit)


def _ratios(space: Space, more: int) -> Ratios:
    """Also of so many entries more, whose values weigh alike."""
    from discreet._kernels.bundles import Ratios

    kinds, values = space.logs.shape
    rise = np.ones((space.doublings + 1, kinds, values))
    fall = np.ones_like(rise)
    for power in range(space.doublings + 1):
        stride = 1 << power
        if stride < values:
            change: Floats = space.logs[:, stride:] - space.logs[:, :-stride]
            change = np.exp(np.clip(change, -LARGEST, LARGEST))
            rise[power, :, :-stride] = change
            fall[power, :, stride:] = 1 / change
    first = np.append(space.kind * values + space.low, np.full(more, (kinds - 1) * values))
    return Ratios(first, rise.ravel(), fall.ravel(), kinds * values, space.doublings, space.flat)

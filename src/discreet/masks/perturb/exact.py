"""Independent draws of tables that fit, with exactly the probabilities of their weights.

Cells that no published sum ties together are independent: each block is drawn by itself, state by
state backwards through the sums of its columns, or from a list of its tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort
from discreet.errors import DataError, SolverError
from discreet.intruder.posterior.exact.transfer import Transfer
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.enumerate import listed
from discreet.intruder.tables.split import System, open_cells, separate, split
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.table.keys import Codes

MOST_COLUMNS = 2_000  # that hang together
MOST_ENTRIES = 10_000_000  # of the states of a block
MOST_NUMBERS = 4_000_000  # in the list of a block's tables
MOST_LOOKED = 2_000_000_000  # numbers, to find them


def exact_draws(
    release: Release,
    weights: CellWeights,
    draws: int,
    rng: np.random.Generator,
    effort: Effort,
    clock: Clock,
) -> tuple[Codes, Ints]:
    """The open cells, and of each draw their counts; refused if a block is too large."""
    cells, _ = open_cells(release, every_variable=True)
    rows = weights.rows(cells.codes, release.axes.sizes)
    parts = split(separate(cells))
    counts = np.tile(parts.low, (draws, 1))
    with working("drawing tables"):
        for block, columns in zip(parts.blocks, parts.columns, strict=True):
            logs = [
                weights.table(rows[c], int(high), int(low))
                for c, low, high in zip(columns, block.low, block.high, strict=True)
            ]
            counts[:, columns] = _block(block, logs, draws, rng, effort, clock)
    return cells.codes, counts


def _block(
    block: System,
    logs: Sequence[Floats],
    draws: int,
    rng: np.random.Generator,
    effort: Effort,
    clock: Clock,
) -> Ints:
    n = len(block.sizes)
    if n > MOST_COLUMNS:
        raise DataError(
            f"{n:,} open cells of the release hang together, more than {MOST_COLUMNS:,}, too many "
            "to draw their tables exactly; use chains."
        )
    transfer = Transfer.of(block, limit=effort.of(MOST_ENTRIES), clock=clock)
    if transfer is not None:
        return block.low + _backward(transfer, logs, draws, rng)
    most = effort.of(MOST_NUMBERS) // n
    try:
        tables = listed(block, most, effort.of(MOST_LOOKED), clock)
    except SolverError:
        tables = np.zeros((most + 1, 0), np.int64)
    if len(tables) > most:
        raise DataError(
            f"{n:,} open cells of the release hang together and more than {most:,} tables fit "
            "them, too many to list; use chains."
        )
    above = tables - block.low
    terms = sum((log[above[:, c]] for c, log in enumerate(logs)), np.zeros(len(tables)))
    top = float(terms.max())
    _possible(top)
    below = np.cumsum(np.exp(terms - top))
    at = np.searchsorted(below, rng.random(draws) * below[-1], "right")
    chosen: Ints = tables[np.minimum(at, len(tables) - 1)]
    return chosen


def _backward(
    transfer: Transfer, logs: Sequence[Floats], draws: int, rng: np.random.Generator
) -> Ints:
    """What each column has above its least value: the last first, each given those after it."""
    reached = transfer.forward(logs)
    _possible(float(reached[-1][0]))
    found = np.zeros((draws, len(transfer.steps)), np.int64)
    state = np.zeros(draws, np.int64)
    for step, before, after in zip(
        transfer.steps[::-1], reached[-2::-1], reached[:0:-1], strict=True
    ):
        terms = before[step.source] + logs[step.column][step.value]
        base = np.where(np.isfinite(after), after, 0.0)[step.target]
        with np.errstate(under="ignore"):
            below = np.append(0.0, np.cumsum(np.exp(terms - base)))
        first = step.starts
        last = np.append(first[1:], len(terms))
        low, high = below[first[state]], below[last[state]]
        at = np.searchsorted(below, low + rng.random(draws) * (high - low), "right") - 1
        at = np.clip(at, first[state], last[state] - 1)
        found[:, step.column] = step.value[at]
        state = step.source[at]
    return found


def _possible(log: float) -> None:
    if not np.isfinite(log):
        raise DataError("the model gives every table that fits the weight 0; give other odds.")

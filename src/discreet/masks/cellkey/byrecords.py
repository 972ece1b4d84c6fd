"""Beliefs where a cell's key is the sum of its records' keys: exact, by draws or a walk."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Ints
from discreet.effort import Effort
from discreet.errors import DataError, SolverError
from discreet.masks.cellkey.case import Beliefs, Case, filled, shares
from discreet.masks.cellkey.ptable import PTable

DRAWS, BATCH, WANTED, FEW = 10_000_000, 100_000, 4_000, 400
TURNS, CHAINS, BATCHES = 4_000_000, 4, 25
COLD, COLDER, MANY = 1.5, 3.5, 20  # colder where there are many printed cells to fit
PIECE = 500_000  # turns whose random numbers are held at a time


def by_records(
    case: Case, ptable: PTable, rng: np.random.Generator, work: Effort, method: str | None
) -> Beliefs:
    """Draws, and a walk where too few of them show what was shown."""
    if ptable.moves_zeros:
        raise DataError("this perturbation table moves zeros; take keys='apart'.")
    if method not in (None, "draw", "walk"):
        raise DataError(f"there is no method {method!r} for keys of records; take draw or walk.")
    found = None
    if method != "walk":
        found = _drawn(case, ptable, rng, work)
        if method == "draw" and found is None:
            raise SolverError(
                "draws hardly ever showed these counts, or not every fine cell is printed; "
                "take method='walk'."
            )
    if found is None or (method is None and found.ess < FEW):
        found = _walked(case, ptable, rng, work)
    return found


def _noises(ptable: PTable) -> tuple[Ints, Ints]:
    """Where the noises of each i begin, and how they move it."""
    first = np.searchsorted(ptable.i, np.arange(int(ptable.largest) + 2))
    return first, np.round(ptable.v).astype(np.int64)


def _drawn(case: Case, ptable: PTable, rng: np.random.Generator, work: Effort) -> Beliefs | None:
    """Cells and keys that show the printed cells, kept if the totals of both show theirs."""
    from discreet._kernels.noisy import draw

    size = np.diff(case.start)
    own = np.full(case.system.columns, -1, np.int64)
    own[case.cells[case.start[:-1][size == 1]]] = np.flatnonzero(size == 1)
    if (own < 0).any():
        return None
    within = np.exp(case.prior - case.prior.max(1, keepdims=True))
    within = within * case.chances[own][:, : case.widest + 1]
    upto = np.cumsum(within, 1) / within.sum(1, keepdims=True)
    first, move = _noises(ptable)
    kept: list[Ints] = []
    found = drawn = 0
    while drawn < work.of(DRAWS) and found < work.of(WANTED):
        dice, good = rng.random((BATCH, 2 * len(own))), np.empty((BATCH, len(own)), np.int64)
        number = draw(
            dice,
            upto,
            own,
            case.total,
            case.start,
            case.cells,
            case.seen,
            first,
            ptable.lower,
            ptable.upper,
            move,
            good,
        )
        kept.append(good[:number].copy())
        found, drawn = found + number, drawn + BATCH
    tables = np.concatenate(kept)
    if len(tables) < 2:
        return None
    chances = shares(tables, case.widest)
    error = np.sqrt(chances * (1 - chances) / len(tables))
    return Beliefs(case.system, chances, error, "draw", drawn, float(len(tables)))


def _walked(case: Case, ptable: PTable, rng: np.random.Generator, work: Effort) -> Beliefs:
    """A walk over counts and keys that may be off, at a cost; what is not off is a draw.

    Shares of draws that are not off, by batches of several chains; the first tenth is left out.
    """
    from discreet._kernels.keyed import walk_keys

    by_column = case.system.sums.tocsc()
    start, row = by_column.indptr.astype(np.int64), by_column.indices.astype(np.int64)
    first, move = _noises(ptable)
    size, turns = case.system.columns, work.of(TURNS)
    cold = COLD if case.system.cells <= MANY else COLDER
    hits, fits = [], []
    for _ in range(CHAINS):
        x = filled(case, rng) if case.total >= 0 else rng.integers(case.lower, case.upper + 1)
        key = rng.integers(0, 2**64, size, np.uint64)
        out = []
        for begin in range(0, turns, PIECE):
            length = min(PIECE, turns - begin)
            picks = np.stack(
                [
                    rng.integers(0, size, length),
                    rng.integers(0, size, length),
                    rng.integers(0, 6, length),
                ],
                1,
            )
            piece = np.empty((max(1, length // 20), size), np.int64)
            walk_keys(
                x,
                key,
                case.upper,
                case.prior,
                case.total,
                start,
                row,
                case.seen,
                first,
                ptable.upper,
                move,
                cold,
                picks,
                rng.random(length),
                rng.integers(0, 2**64, length, np.uint64),
                piece,
            )
            out.append(piece)
        tables = np.concatenate(out)
        for part in np.array_split(tables[len(tables) // 10 :], BATCHES):
            good = part[part[:, 0] >= 0]
            fits.append(len(good))
            hits.append(
                shares(good, case.widest) * len(good) if len(good) else np.zeros_like(case.prior)
            )
    number = float(np.sum(fits))
    if number < FEW:
        raise SolverError(
            f"the walk showed these counts only {number:g} times; give it more effort."
        )
    chances = np.sum(hits, 0) / number
    # the error of a ratio of sums over batches
    left = np.array(hits) - np.array(fits)[:, None, None] * chances
    error = np.sqrt((left**2).sum(0) * len(fits) / (len(fits) - 1)) / number
    spread = chances * (1 - chances)
    open_ = spread > 1e-3
    ess = (spread[open_] / np.maximum(error[open_], 1e-12) ** 2).min() if open_.any() else number
    said = (f"the walk is worth {ess:.0f} draws only; more effort",) if ess < FEW else ()
    return Beliefs(case.system, chances, error, "walk with keys", CHAINS * turns, float(ess), said)

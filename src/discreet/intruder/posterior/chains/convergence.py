"""How far the draws of Markov chains can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.effort import UNLIMITED, Clock
from discreet.errors import Stopped
from discreet.look.result import Result
from discreet.table.cells import frame

BATCHES = 25  # of each chain
R_HAT = 1.01
FEW_COUNTS = 1 << 17  # that are judged after the time is up
LEAST = 8  # draws of a chain
FEW = 100  # effective draws a chain (Vehtari et al. 2021)


@dataclass(frozen=True, eq=False)
class Convergence(Result):
    """What the chains say of themselves, cell by cell, and what is wrong with them if anything.

    `r_hat` and the effective sample sizes are rank-normalised (Vehtari et al. 2021); `error` is
    the largest standard error of a cell's probabilities, by batch means; `accepted` is the share
    of steps that changed the table.
    """

    r_hat: Floats
    bulk: Floats
    tail: Floats
    error: Floats
    effective: Floats
    chains: int
    draws: int
    accepted: float
    moves: int
    seconds: float
    requested: float | None
    problems: tuple[str, ...]

    @property
    def converged(self) -> bool:
        return not self.problems

    def __repr__(self) -> str:
        said = "; ".join(self.problems) or "converged"
        return (
            f"Convergence({self.chains} chains x {self.draws:,} draws: R-hat "
            f"{self.worst['r_hat']:.4g}, effective {self.worst['bulk']:,.0f} bulk, "
            f"{self.worst['tail']:,.0f} tail; {said})"
        )

    @property
    def worst(self) -> dict[str, float]:
        """Over all cells."""
        return {
            "r_hat": float(self.r_hat.max(initial=1.0)),
            "bulk": float(self.bulk.min(initial=self.chains * self.draws)),
            "tail": float(self.tail.min(initial=self.chains * self.draws)),
            "error": float(self.error.max(initial=0.0)),
        }

    @property
    def worst_cells(self) -> list[int]:
        """Where the chains can be trusted least, by each measure."""
        if not len(self.r_hat):
            return []
        return sorted({int(self.r_hat.argmax()), int(self.bulk.argmin()), int(self.error.argmax())})

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell, in the order of the posterior."""
        columns = {"r_hat": self.r_hat, "bulk": self.bulk, "tail": self.tail, "error": self.error}
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """What the posterior adds to its diagnostics."""
        return {
            "converged": self.converged,
            "problems": list(self.problems),
            "chains": self.chains,
            "draws_per_chain": self.draws,
            "r_hat": self.worst["r_hat"],
            "bulk_effective": self.worst["bulk"],
            "tail_effective": self.worst["tail"],
            "requested_standard_error": self.requested,
            "accepted": self.accepted,
            "moves": self.moves,
            "seconds": self.seconds,
        }


def judge_in_time(
    counts: NDArray[np.signedinteger], clock: Clock, *, lanes: int = 1, **more: Any
) -> Convergence:
    """By some of the draws only if the time is up."""
    try:
        return judge(counts, clock=clock, lanes=lanes, **more)
    except Stopped:
        chains, draws, cells = counts.shape
        step = min(1 + counts.size // FEW_COUNTS, max(1, draws // lanes // LEAST))
        some = counts.reshape(chains, -1, lanes, cells)[:, ::step]
        return judge(some.reshape(chains, -1, cells), lanes=lanes, **more)


def judge(
    counts: NDArray[np.signedinteger], *, requested: float | None, lanes: int = 1,
    clock: Clock = UNLIMITED, **more: Any,
) -> Convergence:  # fmt: skip
    """From chains x draws x cells; the draws of lanes that begin alike take turns in a chain.

    R-hat compares the chains, with all lanes of each (nested R-hat, Margossian et al. 2024);
    effective sample sizes take each lane for a chain, and must not be few.
    """
    chains, draws, cells = counts.shape
    by_lane = counts.reshape(chains, -1, lanes, cells).swapaxes(1, 2)
    apart = by_lane.reshape(chains * lanes, -1, cells)
    error, effective = errors(apart, clock, max(2, BATCHES // lanes))
    r_hat, bulk = np.ones(cells), np.full(cells, float(chains * draws))
    tail = bulk.copy()
    array_stats: Any = import_module("arviz_stats.base").array_stats
    for cell in np.flatnonzero(np.ptp(counts.reshape(-1, cells), axis=0)):
        clock.check("judging chains")
        series = apart[:, :, cell].astype(np.float64)
        with np.errstate(all="ignore"):
            r_hat[cell] = array_stats.rhat(counts[:, :, cell].astype(np.float64))
            bulk[cell] = array_stats.ess(series, method="bulk")
            tail[cell] = array_stats.ess(series, method="tail", prob=(0.05, 0.95))
    r_hat = np.where(np.isnan(r_hat), np.inf, r_hat)
    tail = np.where(np.isnan(tail), bulk, tail)  # a quantile at the end of a cell's values
    # batch means do not see what is slower than a batch; the comparison of the chains does
    worth = np.fmin(effective, bulk)
    error, effective = error * np.sqrt(effective / worth), worth
    problems = []
    if (r_hat > R_HAT).any():
        problems.append(f"R-hat is {r_hat.max():.4g}, above {R_HAT}")
    if (
        lanes > 1 and bulk.min(initial=np.inf) < FEW * chains
    ):  # lanes that hardly leave where they are
        problems.append(f"{bulk.min():,.0f} draws are effective, fewer than {FEW * chains}")
    if requested is not None and error.max(initial=0) > requested:
        problems.append(
            f"the standard error is {error.max():.2g}, not the {requested:g} that was requested"
        )
    return Convergence(
        r_hat, bulk, tail, error, effective, chains, draws,
        requested=requested, problems=tuple(problems), **more,
    )  # fmt: skip


def errors(
    counts: NDArray[np.signedinteger], clock: Clock = UNLIMITED, batches: int = BATCHES
) -> tuple[Floats, Floats]:
    """Of each cell the largest standard error of a probability, and the fewest effective draws.

    By the spread of batch means over all chains; never less than that of independent draws, and
    as if half a draw did otherwise where all agree.
    """
    chains, draws, cells = counts.shape
    batches = max(1, min(batches, draws // 2))
    used = counts[:, draws % batches :].reshape(chains * batches, -1, cells)
    length, total = used.shape[1], chains * draws
    error, effective = np.zeros(cells), np.full(cells, float(total))
    batch = np.repeat(np.arange(len(used)), length)
    for cell in range(cells):
        clock.check("judging chains")
        series = used[:, :, cell].ravel().astype(np.int64)
        series -= series.min()
        size = int(series.max()) + 1
        if size > total:  # most counts were never seen
            values, series = np.unique(series, return_inverse=True)
            size = len(values)
        seen = np.bincount(batch * size + series, minlength=len(used) * size)
        shares = seen.reshape(len(used), size) / length
        p = shares.mean(0)
        least = p * (1 - p) / total
        spread = shares.var(0, ddof=1) / len(used) if len(used) > 1 else least + 1
        variance = np.maximum(spread, least)
        some = least > 0
        if some.any():
            effective[cell] = ((p * (1 - p))[some] / variance[some]).min()
        share = 0.5 / (effective[cell] + 1)
        error[cell] = max(np.sqrt(variance.max()), np.sqrt(share * (1 - share) / effective[cell]))
    return error, effective

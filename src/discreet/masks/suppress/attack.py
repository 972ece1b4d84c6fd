"""The attacker's linear programs against a pattern, and the cuts that follow from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.effort import Clock
from discreet.errors import SolverError
from discreet.intruder.sums.protection import Protection
from discreet.intruder.sums.tables import any_table
from discreet.release.printed import Printed
from discreet.sheets.system import System
from discreet.solver import Ended, Limit, Program, Sums

NEAR = 1e-6


class Cut(NamedTuple):
    """weights @ x >= need for every pattern x that protects."""

    weights: Floats
    need: float


class Side(NamedTuple):
    """How far a target goes, <= weights @ x + rest for every pattern x, and what is `told` of this
    one: as far as it goes, but for the solver's tolerances."""

    far: float
    weights: Floats
    rest: float
    told: float

    @property
    def agrees(self) -> bool:
        return abs(self.told - self.far) <= 10 * NEAR * max(1.0, self.far)


class Attacker:
    """How far a target rises or falls if a pattern x, whole or not, is suppressed.

    With x0 some fine table of the values, z its change, S the sums and c the target's sum:

        max c z   with  -(v - floor) x <= S z <= (ceiling - v) x,  agree z = 0,  z >= -x0

    By duality, with a, b, g >= 0 of the upper sides, the lower sides and z >= -x0, which do not
    depend on x, the maximum at any x is at most (a (ceiling - v) + b (v - floor)) x + g x0, and
    equal at this x. So the target rises by `need` only if weights @ x >= need - g x0, where no
    weight needs to pass the right side as x is 0 or 1 (Fischetti & Salazar 2001). For a width the
    two sides are added. Fine cells that no sheet prints are in it by g alone; those that are in no
    printed sum at all rise without limit, so they end at u, above all that is asked, and with
    h >= 0 of z <= u the maximum has h u besides.
    """

    def __init__(
        self,
        system: System,
        values: Floats,
        protection: Protection,
        floor: ArrayLike,
        ceiling: ArrayLike,
        clock: Clock,
    ) -> None:
        from scipy.sparse import csr_matrix, vstack

        self.protection, self.targets = protection, protection.sums(system)
        whole = bool((values == np.round(values)).all())
        first = any_table(Printed.exact(system, values, whole=whole), clock)
        self.value = self.targets @ first
        most = float(np.abs(values).max(initial=1.0))
        needs = [protection.high - self.value, self.value - protection.low, protection.width]
        far = system.columns * float(np.max(needs, initial=1.0)) + most  # no move needs more
        self.unit = 1.0 if whole and far < 1e6 else 2.0 ** np.ceil(np.log2(most) - 17)
        self.fall = np.maximum(values - np.broadcast_to(floor, values.shape), 0.0) / self.unit
        rise = np.minimum(np.broadcast_to(ceiling, values.shape) - values, far)
        self.rise = np.maximum(rise, 0.0) / self.unit
        self.first = first / self.unit
        covered = np.bincount(system.sums.indices, minlength=system.columns) > 0
        self.room = np.where(covered, 0.0, far / self.unit)  # of what nothing else ends
        self.rows = system.cells
        zero = np.zeros(self.rows + system.agree.shape[0])
        matrix = csr_matrix(vstack([system.sums, system.agree], format="csr"))
        self.program = Program(
            system.columns,
            Sums.of(matrix, zero, zero),
            lower=-self.first,
            upper=np.where(covered, np.inf, self.room),
            primal=True,
            presolve=False,
            duals=True,
        )
        self.pattern = np.zeros(self.rows)
        self.clock, self.programs = clock, 0

    def against(self, pattern: Floats) -> None:
        """The programs that follow are about this pattern."""
        for row in np.flatnonzero(pattern != self.pattern).tolist():
            x = float(pattern[row])
            self.program.range(row, -self.fall[row] * x, self.rise[row] * x)
        self.pattern = pattern.copy()

    def cuts(self, target: int) -> list[Cut]:
        """What the pattern violates for one target; nothing if it is protected."""
        asked, value = self.protection, float(self.value[target])
        rise = float(asked.high[target]) - value
        fall = value - float(asked.low[target])
        width = float(asked.width[target])
        found = []
        up = self._side(target, True) if rise > 0 or width > 0 else None
        down = self._side(target, False) if fall > 0 or (width > 0) else None
        if up and rise > 0:
            found.append((up.told, up.weights, up.rest, rise))
        if down and fall > 0:
            found.append((down.told, down.weights, down.rest, fall))
        if up and down and width > 0:
            sides = up.weights + down.weights
            found.append((up.told + down.told, sides, up.rest + down.rest, width))
        cuts = []
        for far, weights, rest, wanted in found:
            wanted /= self.unit
            need = wanted - rest
            if far < wanted - NEAR * wanted - NEAR / 10:
                cuts.append(Cut(np.minimum(weights, need) / need, 1.0))
        return cuts

    def _side(self, target: int, up: bool) -> Side:
        side = self._solved(target, up)
        if not side.agrees:  # the last vertex was a poor place to begin
            self.program.forget()
            side = self._solved(target, up)
            assert side.agrees or side.told > side.far, "a cut below what the attacker reaches"
        return side

    def _solved(self, target: int, up: bool) -> Side:
        sums = self.targets[target]
        sign = -1.0 if up else 1.0
        found = self.program.least(sums.indices, sign * sums.data, Limit(seconds=self.limit))
        self.programs += 1
        if found.ended is not Ended.BEST or found.duals is None or found.reduced is None:
            self.clock.check("attacking a pattern")
            raise SolverError(f"an attack ended with {found.ended}; try the heuristic.")
        dual = found.duals[: self.rows]
        weights = np.where(dual > 0, dual * self.fall, -dual * self.rise)
        rest = float(np.maximum(found.reduced, 0.0) @ self.first)
        rest += float(np.maximum(-found.reduced, 0.0) @ self.room)
        return Side(-found.bound, weights, rest, float(weights @ self.pattern) + rest)

    @property
    def limit(self) -> float:
        return max(self.clock.left, 1e-3)

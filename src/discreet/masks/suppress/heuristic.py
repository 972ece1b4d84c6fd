"""Suppression that scales: cheap cubes, elimination, programs for what is lacking, then pruning."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.errors import Stopped
from discreet.masks.suppress.elimination import determined, eliminate, eliminates
from discreet.masks.suppress.problem import Unprotectable
from discreet.masks.suppress.prover import Prover
from discreet.masks.suppress.touching import Touching

PRUNING = 15_000_000  # iterations of the simplex times columns
ROUNDS = 8  # in which a pattern is bettered,
MANY = 60_000  # cells times targets of them all
TOUCHING = 2_000  # nodes of an integer program over the whole system


class Search(Prover):
    """One pattern, from a start that the generator draws."""

    def run(self, guarantee: str, number: int) -> None:
        """The pattern of start `number`."""
        if guarantee == "unique":
            self.begin(pool=1 + number % 3)
            self.undetermined()
            return
        if number % 2 or self.problem.intruders:
            self.begin_wide()
        else:
            self.begin()
        self.secure()
        self.prune()

    def again(self, hidden: Bools, price: Floats | None = None) -> Search:
        """Another pattern from these hidden cells on, made safe where it is not."""
        other = Search(
            self.problem, self.rng, fractions=self.fractions, effort=self.effort, clock=self.clock
        )
        other.cubes, other.fragile = self.cubes, self.fragile
        other.price = self.price if price is None else price
        other.hidden = hidden.copy()
        other.secure()
        return other

    def improved(self) -> Search:
        """The best after some rounds: publish a part of what is hidden, hide and prune anew."""
        best, problem = self, self.problem
        cells = problem.system.cells
        most = self.effort.of(MANY) // (cells * max(1, self.targets))
        rounds = min(self.effort.of(ROUNDS), most)
        for _ in range(rounds):
            if self.clock.over():
                break
            secondary = np.flatnonzero(best.hidden & (problem.costs > 0))
            drop = secondary[self.rng.random(len(secondary)) < 0.4]
            hidden = best.hidden.copy()
            hidden[drop] = False
            price = problem.costs * self.rng.uniform(0.7, 1.4, cells)
            price[drop] *= 1.5
            try:
                other = self.again(hidden, price)
            except Stopped:
                break
            other.prune()
            if other.cost < best.cost:
                best = other
        return best

    @property
    def cost(self) -> float:
        return float(self.problem.costs[self.hidden].sum())

    def begin(self, pool: int = 1) -> None:
        """Cubes through every target, thinned by elimination until no cell is determined."""
        problem = self.problem
        costs = self.price
        wild = np.zeros((len(self.printed), 3))
        hide = np.zeros(problem.system.cells, bool)
        for _ in range(pool):
            order = self.rng.permutation(len(self.printed))
            hide |= self.cover(self.printed[order], wild, costs)[0]
        self.universe |= hide
        self.hidden |= hide
        if eliminates(problem.system, self.hidden):
            kept = costs == 0
            noise = 1e-3 * self.rng.random(len(costs))
            shown_first = np.where(np.isfinite(costs), costs, 0.0) * (1 + noise)
            self.hidden = eliminate(problem.system, self.hidden, problem.primary, kept, shown_first)

    def begin_wide(self) -> None:
        """Cubes through every target that move it as far as asked."""
        order = self.printed[self.rng.permutation(len(self.printed))]
        self.hidden |= self.cover(order, self.problem.needs[order], self.price)[0]
        self.universe |= self.hidden

    def undetermined(self) -> None:
        """Hide further cells for those that still follow from the published ones."""
        problem = self.problem
        while (found := determined(problem.system, self.hidden) & problem.primary).any():
            self.clock.check("hiding further cells")
            target = int(np.flatnonzero(problem.targets.rows == np.argmax(found))[0])
            self.program(target, np.zeros(0, np.int64))

    def secure(self) -> None:
        """Hide until every target has what is asked, against everybody."""
        for known in self.views():
            while len(bad := self.prove(known)):
                self.clock.check("hiding further cells")
                self.mend(bad, known)

    def mend(self, bad: Ints, known: Ints) -> None:
        """Hide further cells for some of the targets that lack protection."""
        problem = self.problem
        some = bad[: max(4, len(bad) // 6)]
        costs = np.where(self.hidden, 0.0, self.price)
        costs[known] = np.inf
        if len(some) < len(bad):  # one program serves all rounds
            every = np.intersect1d(bad, self.printed)
            self.universe |= self.cover(every, problem.needs[every], costs)[0]
        chosen = np.intersect1d(some, self.printed)
        hide, lost = self.cover(chosen, problem.needs[chosen], costs)
        rest = np.union1d(lost, np.setdiff1d(some, chosen))
        if not hide.any() and not len(rest):
            rest = some  # cubes are there, and are not enough
        self.hidden |= hide
        for target in rest.tolist():
            self.program(target, known)

    def program(self, target: int, known: Ints) -> None:
        """Hide cells where cubes do not help; raises where nothing does."""
        problem, before = self.problem, self.hidden.copy()
        prices = np.where(self.hidden, 0.0, self.price)
        prices[known] = np.inf
        touching = Touching(problem, prices)
        whole = problem.whole and not self.fractions
        nodes, left = self.effort.of(TOUCHING), max(self.clock.left, 1e-3)
        found = touching.move(target, whole=whole, nodes=nodes, seconds=left)
        self.clock.check("hiding further cells")
        if found is not None:
            self.hidden |= found.hide
            space = self.open_space()
            for change in found.changes:
                space.take(change[space.columns], self.witnesses)
            lacks = problem.lacking(self.witnesses.reach(known.tolist()))[target]
            if not lacks or (self.hidden & ~before).any():
                return
        asked = _asked(problem.needs[target] * problem.unit)
        whom = " against somebody who knows other cells" if len(known) else ""
        cell = problem.name(int(problem.targets.rows[target]))
        if found is not None or touching.limited:
            raise Unprotectable(
                f"{cell} was not made uncertain {asked}{whom} by so many programs; allow more "
                "effort, merge categories, or ask for less.",
                int(problem.targets.rows[target]),
                known.tolist(),
            )
        raise Unprotectable(
            f"{cell} cannot be made uncertain {asked}{whom}, whatever else is hidden; let further "
            "cells be hidden, merge categories, or ask for less.",
            int(problem.targets.rows[target]),
            known.tolist(),
        )

    def prune(self) -> None:
        """Publish again what is hidden for nothing, the costliest first."""
        problem, space = self.problem, self.open_space()
        rows = np.flatnonzero(self.hidden & (problem.costs > 0))
        rows = self.rng.permutation(rows)
        rows = rows[np.argsort(-problem.costs[rows], kind="stable")]
        most = space.work + self.effort.of(PRUNING) // max(1, len(space.columns))
        for row in rows.tolist():
            if space.work > most or self.clock.over():
                break
            self.hidden[row] = False
            space.turn(row, False)
            if all(not len(self._left(row, known)) for known in self.views()):
                self.witnesses.publish(row)
            else:
                self.hidden[row] = True
                space.turn(row, True)

    def _left(self, row: int, known: Ints) -> Ints:
        self.open_space().work += 1
        return self.prove(np.r_[known, row], first=True)


def _asked(need: Floats) -> str:
    up, down, width = need.tolist()
    said = [f"by {up:g} above" * (up > 0), f"by {down:g} below" * (down > 0)]
    said.append(f"by a width of {width:g}" * (width > 0))
    return " and ".join(filter(None, said))

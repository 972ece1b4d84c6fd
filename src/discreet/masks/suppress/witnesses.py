"""Other tables with the same publication, and what each of them shows of the targets."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.arrays import Bools, Floats, Ints

Best = tuple[float, int]
NONE: Best = (0.0, -1)  # the true table
FEW = 64


class Witnesses:
    """Tables that fit, as changes of the true one: which hidden rows each changes, and by how much
    it moves which targets. A row that is published ends the witnesses that change it.
    """

    def __init__(self, targets: int) -> None:
        self.whole: list[bool] = []
        self.users: dict[int, list[int]] = {}
        self.alive: list[bool] = []
        self.moves: list[list[Best]] = [[] for _ in range(targets)]
        self.best: list[list[Best]] = [[NONE] * targets, [NONE] * targets]  # down, up
        self.far = np.zeros((2, targets))  # the same without their numbers

    def add(self, rows: Ints, targets: Ints, moves: Floats, whole: bool) -> None:
        """A table that changes these rows and moves these targets."""
        number = len(self.alive)
        self.whole.append(whole)
        self.alive.append(True)
        for row in rows.tolist():
            self.users.setdefault(row, []).append(number)
        down, up = self.far[0][targets], self.far[1][targets]
        helps = (moves < down) | (moves > up)
        if len(targets) <= FEW:  # a small one may stay when others end
            helps[:] = True
        for target, move in zip(targets[helps].tolist(), moves[helps].tolist(), strict=True):
            self.moves[target].append((move, number))
            side = int(move > 0)
            if abs(move) > abs(self.best[side][target][0]):
                self.best[side][target] = (move, number)
                self.far[side, target] = move

    def reach(self, known: Iterable[int] = (), *, whole: bool = False) -> Floats:
        """The farthest moves of every target, down and up, where these rows are known."""
        if whole and not all(self.whole):
            return self._whole(known)
        found = self.far.copy()
        dead = {n for row in known for n in self.users.get(row, ()) if self.alive[n]}
        for target in self._held(dead):
            left = [m for m, n in self.moves[target] if self.alive[n] and n not in dead]
            found[:, target] = min([0.0, *left]), max([0.0, *left])
        return found

    def _whole(self, known: Iterable[int]) -> Floats:
        """By tables of whole numbers alone."""
        dead = {n for row in known for n in self.users.get(row, ())}
        found = np.zeros_like(self.far)
        for target, moves in enumerate(self.moves):
            left = [m for m, n in moves if self.alive[n] and self.whole[n] and n not in dead]
            found[:, target] = min([0.0, *left]), max([0.0, *left])
        return found

    def publish(self, row: int) -> None:
        """The row is fixed from now on."""
        dead = {n for n in self.users.pop(row, ()) if self.alive[n]}
        held = self._held(dead)
        for number in dead:
            self.alive[number] = False
        for target in held:
            self.moves[target] = [m for m in self.moves[target] if self.alive[m[1]]]
            self.best[0][target] = min([NONE, *self.moves[target]])
            self.best[1][target] = max([NONE, *self.moves[target]])
            self.far[:, target] = self.best[0][target][0], self.best[1][target][0]

    def hold(self, hidden: Bools) -> bool:
        """Does every table that counts change hidden rows alone?"""
        shown = (row for row in self.users if not hidden[row])
        return not any(self.alive[n] for row in shown for n in self.users[row])

    def _held(self, numbers: set[int]) -> list[int]:
        if not numbers:
            return []
        down, up = self.best
        return [t for t in range(len(self.moves)) if down[t][1] in numbers or up[t][1] in numbers]

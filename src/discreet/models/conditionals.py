"""A hierarchical model within the cells of one of its margins: theta(i | i_C).

The margin's own probabilities are Dirichlet and drop out of every sum; only the parameters outside
it are left: those of a logistic regression of the other variables on the margin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.models.bayes import Array, Axes
from discreet.table.lattice import bits, closure

NEWTON = 50


@dataclass(frozen=True, eq=False)
class Conditionals:
    """log theta(i | i_C) = x(i) phi, less what makes it sum to one; `design` is cells x parameters.

    >>> Conditionals.of((2, 3, 3), [0b011, 0b110, 0b101], given=0b110)
    Conditionals(5 parameters of 2x3x3 cells given axes 1, 2)
    """

    shape: tuple[int, ...]
    given: Axes
    design: Array

    @classmethod
    def of(cls, shape: tuple[int, ...], sets: Iterable[int], given: int) -> Conditionals:
        """The terms of the model that are not within `given`, in orthonormal contrasts."""
        terms = [s for s in sorted(closure(sets)) if s & ~given]
        columns = [np.zeros((int(np.prod(shape)), 0)), *(_columns(shape, s) for s in terms)]
        return cls(shape, tuple(bits(given)), np.concatenate(columns, 1))

    @property
    def parameters(self) -> int:
        return int(self.design.shape[1])

    def log(self, phi: Array) -> Array:
        """log theta(i | i_C) of each row of parameters: draws x cells."""
        eta = (phi @ self.design.T).reshape(len(phi), *self.shape)
        top = eta.max(self._rest, keepdims=True)
        with np.errstate(under="ignore"):
            eta = eta - top - np.log(np.exp(eta - top).sum(self._rest, keepdims=True))
        return np.asarray(eta.reshape(len(phi), -1))

    def parameters_of(self, theta: Array) -> Array:
        """The parameters of probabilities within the model, rows x cells; contrasts are
        orthogonal."""
        logs = np.log(np.maximum(theta, 1e-300))
        return np.asarray(logs @ (self.design / (self.design**2).sum(0)))

    @property
    def _rest(self) -> tuple[int, ...]:
        return tuple(axis + 1 for axis in range(len(self.shape)) if axis not in self.given)

    def _within(self, cells: Array) -> Array:
        """The sum over each cell's group, given to each of its cells; cells is rows x cells."""
        shaped = cells.reshape(len(cells), *self.shape)
        summed = np.broadcast_to(shaped.sum(self._rest, keepdims=True), shaped.shape)
        return np.asarray(summed.reshape(cells.shape))

    def covariance(self, phi: Array, counts: Array, left: Array, right: Array) -> Array:
        """Of two linear functions of a table with these counts in the margin: left' S right."""
        theta = np.exp(self.log(phi[None]))
        n = self._within(counts.reshape(1, -1))[0]
        mean = self._within(theta * right.T).T
        return np.asarray(left.T @ ((n * theta[0])[:, None] * (right - mean)))

    def mode(self, hyper: Array) -> Array:
        """Where prod theta(i | i_C)^a(i) is largest, by Newton's method; it is concave."""
        phi, a = np.zeros(self.parameters), hyper.reshape(-1)
        n = self._within(a[None])[0]

        def height(at: Array) -> float:
            return float(self.log(at[None])[0] @ a)

        for _ in range(NEWTON):
            slope = self.design.T @ (a - n * np.exp(self.log(phi[None])[0]))
            curve = self.covariance(phi, a, self.design, self.design)
            step = np.linalg.lstsq(curve, slope, rcond=1e-12)[0]
            if float(slope @ step) < 1e-9:
                break
            while height(phi + step) < height(phi) and np.abs(step).max() > 1e-9:
                step = step / 2
            phi = phi + step
        return phi

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        axes = ", ".join(map(str, self.given)) or "none"
        return f"Conditionals({self.parameters} parameters of {shape} cells given axes {axes})"


def indicators(shape: tuple[int, ...], sets: Iterable[int]) -> Array:
    """Which cell of each margin a cell belongs to: cells x cells of the margins."""
    columns = []
    for s in sets:
        places = np.zeros(shape, np.int64)
        for axis in bits(s):
            places = places * shape[axis] + np.indices(shape)[axis]
        columns.append(np.eye(int(places.max()) + 1)[places.reshape(-1)])
    return np.concatenate(columns, 1)


def _columns(shape: tuple[int, ...], term: int) -> Array:
    """The contrasts of an interaction."""
    found = np.ones((1, 1))
    for axis, size in enumerate(shape):
        each = _contrasts(size) if term >> axis & 1 else np.ones((size, 1))
        found = np.einsum("ia,jb->ijab", found, each).reshape(len(found) * size, -1)
    return found


def _contrasts(size: int) -> Array:
    """Helmert's, orthonormal."""
    found = np.zeros((size, size - 1))
    for k in range(1, size):
        found[:k, k - 1], found[k, k - 1] = 1, -k
    return np.asarray(found / np.sqrt((found**2).sum(0)))

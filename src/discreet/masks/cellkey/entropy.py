"""The distribution of greatest entropy under linear conditions, by interior points."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.errors import SolverError

STEPS, NEAR = 300, 1e-11


def greatest_entropy(equal: Floats, to: Floats, below: Floats, than: Floats) -> Floats:
    """min sum p log p over equal p = to, below p <= than: primal-dual Newton steps.

    >>> even = np.ones((1, 4))
    >>> greatest_entropy(even, np.ones(1), -np.eye(4), np.zeros(4)).round(9).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    size, equations, rows = equal.shape[1], len(equal), len(below)
    p = np.full(size, 1 / size)
    slack = np.maximum(than - below @ p, 0.1)
    force, price = np.ones(rows), np.zeros(equations)
    for _ in range(STEPS):
        gap = float(slack @ force) / rows
        dual = np.log(p) + 1 + below.T @ force + equal.T @ price
        primal, lack = equal @ p - to, below @ p + slack - than
        worst = max(np.abs(dual).max(), np.abs(primal).max(), np.abs(lack).max())
        if worst < NEAR and gap < NEAR:
            return p
        comp = slack * force - 0.1 * gap
        matrix = np.zeros((size + equations, size + equations))
        matrix[:size, :size] = np.diag(1 / p) + below.T @ ((force / slack)[:, None] * below)
        matrix[:size, size:], matrix[size:, :size] = equal.T, equal
        right = np.concatenate([-dual - below.T @ ((force * lack - comp) / slack), -primal])
        try:
            step = np.linalg.solve(matrix, right)
        except np.linalg.LinAlgError:
            break
        dp, dprice = step[:size], step[size:]
        dslack = -lack - below @ dp
        dforce = (-comp - force * dslack) / slack
        reach = min(_reach(p, dp), _reach(slack, dslack), _reach(force, dforce))
        p, slack = p + reach * dp, slack + reach * dslack
        force, price = force + reach * dforce, price + reach * dprice
    raise SolverError("no distribution meets the conditions")


def _reach(at: Floats, step: Floats) -> float:
    falls = step < 0
    return min(1.0, 0.99 * float((-at[falls] / step[falls]).min())) if falls.any() else 1.0

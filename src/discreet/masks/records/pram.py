"""The post-randomisation method: categories changed at random, by a known matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.households import Households
from discreet.masks.records.mask import Mask, MaskedFile, amount, listed, others_changed

Matrix = Mapping[str, Mapping[str, float]]
EXACT = 1e-12


@dataclass(frozen=True)
class Pram(Mask):
    """Each category becomes another with the probabilities of its row of R.

        R = alpha P Q + (1 - alpha) I,   q_kl = p_l P_lk / sum_j p_j P_jk

    p are the frequencies in the file, so p'R = p': tables of one column are right in expectation
    (Gouweleeuw et al. 1998). P has diagonals drawn from [keep, 1] and the rest at random. With
    `invariant` false R is P; a `matrix` for a column is taken as it is. `weighted`: p counts each
    record with its weight. Missing values stay missing. A column that is one for all members of
    each household changes for the household as a whole.

    >>> import pandas as pd
    >>> people = RecordFile(pd.DataFrame({"sex": ["f", "m"] * 50, "town": ["a"] * 80 + ["b"] * 20}))
    >>> masked = Pram(("town",), keep=0.7).apply(people, np.random.default_rng(1))
    >>> R = masked.keys["town"].matrix
    >>> round(0.8 * R["a"]["a"] + 0.2 * R["b"]["a"], 12)
    0.8
    >>> Pram(("town",), keep=0.7).broken(people, masked)
    []
    """

    name: ClassVar[str] = "pram"
    promise: ClassVar[str] = (
        "invariant PRAM leaves the frequencies of each column in expectation, p'R = p' to 1e-12; "
        "missing stays missing, and other columns are as they were"
    )

    columns: str | Sequence[str]
    keep: float = 0.8
    alpha: float = 0.5
    invariant: bool = True
    weighted: bool = False
    matrix: Mapping[str, Matrix] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = listed(self.columns, "columns of pram")
        amount(self.keep, "keep", least=0, most=1)
        amount(self.alpha, "alpha", least=0, most=1)
        if odd := sorted(set(self.matrix) - set(names)):
            raise OptionError(f"matrix is given for {odd[0]!r}, which is not in columns; add it.")

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        names = listed(self.columns, "columns of pram")
        self.check_columns(file, names)
        columns: dict[str, Any] = {}
        keys, said = {}, []
        for name in names:
            codes, categories = file.codes(name)
            if not categories:
                raise DataError(f"all values of {name!r} are missing; leave it out of pram.")
            if name in self.matrix:
                R = _given(self.matrix[name], categories, name)
            else:
                R = transition(self._frequencies(file, codes, len(categories)), self, rng)
            unit = _units(file, codes)
            moved = _moved(codes, R, rng.random(int(unit.max()) + 1)[unit])
            rows = np.zeros(len(categories), np.int64)
            rows[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
            rows = np.where(codes < 0, np.arange(len(file)), rows[moved])
            columns[name] = file.data[name].iloc[rows].to_numpy()
            if hasattr(file.data[name], "cat"):
                columns[name] = file.data[name].iloc[rows].array
            keys[name] = Key(name, Kind.CATEGORY, matrix=_named(R, categories))
            said.append(f"{int((moved != codes).sum()):,} values of {name} are changed.")
        return self.changed(file, columns, keys, said)

    def _frequencies(self, file: RecordFile, codes: Ints, many: int) -> Floats:
        there = codes >= 0
        weights = None
        if self.weighted:
            if file.weight is None:
                raise DataError("pram is to be weighted, but the file has no weight; name it.")
            weights = file.numbers(file.weight)[there]
            if not (weights > 0).all():
                raise DataError("pram needs weights above 0; repair them, or leave out weighted.")
        found = np.bincount(codes[there], weights, many).astype(np.float64)
        return np.asarray(found / found.sum())

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        names = listed(self.columns, "columns of pram")
        after = RecordFile(masked.data)
        found = others_changed(file, masked, names, "not to be changed")
        for name in names:
            was, now = file.labels(name), after.labels(name)
            if ((was == "") != (now == "")).any():
                found.append(f"missing values of {name!r} have changed.")
            matrix = masked.keys[name].matrix or {}
            if any(matrix.get(a, {}).get(b, 0) <= 0 for a, b in {*zip(was, now, strict=True)} if a):
                found.append(f"a change of {name!r} has probability 0.")
            if self.invariant and name not in self.matrix:
                off = deviation(file, name, matrix, weighted=self.weighted)
                if off > EXACT:
                    found.append(f"p'R of {name!r} is {off:.2g} away from p'.")
        return found


def transition(p: Floats, mask: Pram, rng: np.random.Generator) -> Floats:
    """R of one column with frequencies p.

    >>> p = np.array([0.7, 0.2, 0.1])
    >>> R = transition(p, Pram(("any",)), np.random.default_rng(1))
    >>> bool(np.abs(p @ R - p).max() < 1e-15), bool((np.diag(R) > 0.5).all())
    (True, True)
    """
    many = len(p)
    if many == 1:
        return np.ones((1, 1))
    stay = rng.uniform(mask.keep, 1, many)
    shares = rng.uniform(0, 1, (many, many))
    np.fill_diagonal(shares, 0)
    P = shares * ((1 - stay) / shares.sum(1))[:, None]
    np.fill_diagonal(P, stay)
    if not mask.invariant:
        return np.asarray(P)
    joint = p[:, None] * P
    Q = (joint / joint.sum(0)).T
    R = mask.alpha * P @ Q + (1 - mask.alpha) * np.eye(many)
    return np.asarray(R / R.sum(1, keepdims=True))


def deviation(file: RecordFile, name: str, matrix: Matrix, *, weighted: bool = False) -> float:
    """Largest |p'R - p'| of a column."""
    labels = file.labels(name)
    each = file.numbers(file.weight) if weighted and file.weight else np.ones(len(file))
    names = sorted(set(labels) - {""})
    p = np.array([each[labels == one].sum() for one in names]) / each[labels != ""].sum()
    R = np.array([[matrix[a].get(b, 0.0) for b in names] for a in names])
    return float(np.abs(p @ R - p).max())


def _moved(codes: Ints, R: Floats, u: Floats) -> Ints:
    """The category that each number between 0 and 1 picks from the row of R."""
    found = codes.copy()
    for code, row in enumerate(np.cumsum(R, axis=1)):
        mine = codes == code
        last = int(np.flatnonzero(R[code] > 0)[-1])
        found[mine] = np.minimum(np.searchsorted(row, u[mine], side="right"), last)
    return found


def _units(file: RecordFile, codes: Ints) -> Ints:
    """Who changes together: households, where each has one value of the column; else records."""
    homes = Households.of(file)
    return homes.home if homes.constant(codes) else np.arange(len(file))


def _given(matrix: object, categories: list[str], name: str) -> Floats:
    from discreet.intruder.linkage.model import _matrix

    rows = _matrix(matrix, f"pram of {name!r}") or {}
    if odd := sorted(set(categories) - set(rows)):
        raise DataError(f"the matrix of {name!r} has no row for {odd[0]!r}; add it.")
    if odd := sorted({to for a in categories for to in rows[a]} - set(categories)):
        raise DataError(f"the matrix of {name!r} leads to {odd[0]!r}, which the file lacks.")
    return np.array([[rows[a].get(b, 0.0) for b in categories] for a in categories])


def _named(R: Floats, categories: list[str]) -> dict[str, dict[str, float]]:
    return {
        a: {b: float(R[i, j]) for j, b in enumerate(categories) if R[i, j] > 0}
        for i, a in enumerate(categories)
    }

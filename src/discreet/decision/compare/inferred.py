"""What a model learns from a released file about a sensitive value, and what it owes to a person.

A value of a target is predicted from the keys by

    b(v | x)  ~  n_x(v) + p(v) prod over keys k of p(x_k | v)

n_x(v): released records with all keys of the target and the value v, which count beside naive Bayes
(Domingos & Pazzani 1997) as one record. Both are counts of records, so that the model without a
person's own record is known in closed form. What is right without it is learnt from others: it
would be right of somebody who is not in the data. The difference is what the file says of people
because they are in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.decision.compare.sensitive import became, is_number, tenths
from discreet.intruder.linkage.kinds import plainly
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Sensitive

PIECE = 2_000_000  # probabilities at a time


@dataclass(frozen=True)
class Inferred:
    """The share of people of whom a model gets a sensitive value right: fitted to the released
    file, and without their own record.
    """

    released: float
    baseline: float

    @property
    def gain(self) -> float:
        """What the file says of people because they are in it."""
        return self.released - self.baseline


def inferred(
    file: RecordFile, masked: MaskedFile, keys: Sequence[str], column: Sensitive
) -> Inferred | None:
    """Of one sensitive column, from the keys; None where nobody has a value of it.

    Records that belong to nobody have no own record: then the model without it is fitted to the
    true records of all others.

    >>> import pandas as pd
    >>> from discreet.decision.compare.sensitive import sensitive_column
    >>> from discreet.masks.records.sampling import Sample
    >>> people = pd.DataFrame({"town": list("abcdefgh"), "ill": list("ynynynyn")})
    >>> file = RecordFile(people)
    >>> whole = Sample(share=1.0).apply(file, np.random.default_rng(1))
    >>> inferred(file, whole, ["town"], sensitive_column(file, whole, "ill"))
    Inferred(released=1.0, baseline=0.0)
    """
    known = column.truth >= 0
    if not known.any():
        return None
    mine, theirs = _codes(file, masked, keys)
    if (masked.rows >= 0).any():
        found, others = guesses(mine, theirs, column.believed, masked.rows)
        return Inferred(*(_right(one, column.truth) for one in (found, others)))
    each = len(file) / len(masked)
    found, _ = guesses(mine, theirs, column.believed * each, masked.rows)
    own = np.zeros((len(file), len(column.prior)))
    own[known, column.truth[known]] = 1
    _, others = guesses(mine, mine, own, np.arange(len(file)))
    return Inferred(_right(found, column.truth), _right(others, column.truth))


def _right(guessed: Ints, truth: Ints) -> float:
    return float((guessed == truth)[truth >= 0].mean())


def _codes(file: RecordFile, masked: MaskedFile, keys: Sequence[str]) -> tuple[Ints, Ints]:
    """Source and released records: the code of each key, numbers in tenths, and of all together
    as they are.
    """
    import pandas as pd

    released, found, exact = RecordFile(masked.data), [], []
    for key in keys:
        labels = np.concatenate([became(file, masked, key), released.labels(key)])
        codes = pd.factorize(plainly(labels))[0]
        exact.append(codes)
        if is_number(file, key) and is_number(released, key):
            true = file.numbers(key)
            both = [tenths(true, values) for values in (true, released.numbers(key))]
            codes = np.concatenate(both) + 1
        found.append(codes)
    table = np.stack([*found, pd.MultiIndex.from_arrays(exact).factorize()[0]], 1)
    return table[: len(file)], table[len(file) :]


def guesses(mine: Ints, theirs: Ints, weights: Floats, rows: Ints) -> tuple[Ints, Ints]:
    """The most probable value of each source record: by all released records, and by all but its
    own. `mine` and `theirs` have the code of each column, and of all together in the last.
    """
    size = weights.shape[1]
    counts = []
    for a, b in zip(mine.T, theirs.T, strict=True):
        table = np.zeros((int(max(a.max(), b.max())) + 1, size))
        np.add.at(table, b, weights)
        counts.append(table)
    total = weights.sum(0)
    own = np.full(len(mine), -1)
    there = np.flatnonzero(rows >= 0)
    own[rows[there]] = there
    found = np.zeros((2, len(mine)), np.int64)
    step = max(1, PIECE // size)
    for at in range(0, len(mine), step):
        part = slice(at, at + step)
        left = own[part]
        gone = np.where((left >= 0)[:, None], weights[left], 0.0)
        same = (theirs[left] == mine[part]) & (left >= 0)[:, None]
        for which, less in enumerate((np.zeros_like(gone), gone)):
            belief = _beliefs(counts, total, mine[part], less, same)
            found[which, part] = belief.argmax(1)
    return found[0], found[1]


def _beliefs(
    counts: Sequence[Floats], total: Floats, codes: Ints, less: Floats, same: NDArray[np.bool_]
) -> Floats:
    """b(v | x) of some people, without `less` of what their own record adds where it is counted."""
    every = np.maximum(total - less, 0)
    logs = np.log(every + 1 / len(total))
    for place, table in enumerate(counts[:-1]):
        here = np.maximum(table[codes[:, place]] - less * same[:, place, None], 0)
        logs = logs + np.log((here + 1 / len(table)) / (every + 1))
    naive = np.exp(logs - logs.max(1, keepdims=True))
    naive /= naive.sum(1, keepdims=True)
    alike = np.maximum(counts[-1][codes[:, -1]] - less * same[:, -1, None], 0)
    return np.asarray(alike + naive)

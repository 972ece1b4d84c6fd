"""Weights that are products of factors, one for each key, as raking makes them.

No one column and no two give such a weight, and all keys together do: whoever sees the weight and
all keys but the masked one knows the masked one's factor.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.compare.column import Column
from discreet.decision.compare.plan import Plan
from discreet.masks.records.file import RecordFile

LOOKED = 5_000  # records that are looked at
MOST = 200  # values of a key that have a factor each
LEFT = 0.1  # of the variance of a weight's logarithm: what factors may leave
RANK = 1e-9  # of the largest singular value: what is less is rounding
MORE = 2.0  # so much is left without the masked keys, if these matter


def raked(file: RecordFile, plan: Plan, hidden: Collection[str]) -> bool:
    """Do the weights follow from factors of the keys, those that are `hidden` among them?

    >>> import pandas as pd
    >>> cells = [(t, s, a) for t in "abc" for s in "fm" for a in range(9)] * 3
    >>> people = pd.DataFrame(cells, columns=["town", "sex", "age"])
    >>> people["w"] = people["town"].map({"a": 1.0, "b": 1.7, "c": 2.5}) * (9 + people["age"])
    >>> plan = Plan.of({"keys": ["town", "sex", "age"], "masks": [{"method": "sample"}]})
    >>> file = RecordFile(people, weight="w")
    >>> raked(file, plan, ["town"]), raked(file, plan, ["sex"])
    (True, False)
    """
    if file.weight is None or not {*plan.keys} & {*hidden}:
        return False
    weights = file.numbers(file.weight)
    there = np.flatnonzero(weights > 0)
    some = there[np.linspace(0, len(there) - 1, min(len(there), LOOKED)).astype(np.int64)]
    logs = np.log(weights[some])
    codes = {name: _codes(file, name)[some] for name in plan.keys if name != file.weight}
    total = float(((logs - logs.mean()) ** 2).sum()) if len(some) else 0.0
    left = _left(logs, [*codes.values()])
    open_ones = [code for name, code in codes.items() if name not in hidden]
    return left < LEFT * total and MORE * left < _left(logs, open_ones)


def _codes(file: RecordFile, name: str) -> NDArray[np.int64]:
    """Values of a key, or tenths of it where they are many."""
    column = Column.true(file, name)
    return column.classes + 1 if column.codes.max(initial=0) >= MOST else column.codes


def _left(logs: Floats, keys: list[NDArray[np.int64]]) -> float:
    """The sum of squares that factors leave of each record, which is told by the others."""
    rows = [np.ones((len(logs), 1)), *(np.eye(int(key.max(initial=0)) + 1)[key] for key in keys)]
    x = np.column_stack(rows)
    base, sizes, _ = np.linalg.svd(x, full_matrices=False)
    base = base[:, sizes > RANK * sizes[0]]
    leverage = (base**2).sum(1)
    rest = logs - base @ (base.T @ logs)
    return float(((rest / np.maximum(1 - leverage, LEFT)) ** 2).sum())

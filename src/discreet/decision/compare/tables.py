"""Masks of one table on one scale: made, and read by one intruder.

Before the release every table of the known total is alike to him; he knows the mask and its
parameters, and none of its random numbers (Duncan, Keller-McNulty & Stokes 2001; Dobra, Fienberg &
Trottini 2003).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.decision.compare.cellbeliefs import Asked
from discreet.decision.compare.tablecandidate import TableCandidate
from discreet.decision.compare.tablemakers import TABLE_METHODS
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, OptionError
from discreet.masks.options import check_kind
from discreet.risk.limits import Says, breaks
from discreet.table.table import Table
from discreet.utility.distances import ORDERS, by_order

__all__ = ["TABLE_METHODS", "TableCandidate", "make_table", "table_risk", "table_worth"]


def make_table(
    table: Table,
    method: str,
    options: Mapping[str, Any],
    policy: Policy,
    rng: np.random.Generator,
) -> TableCandidate:
    """A table behind a mask, by its name in `TABLE_METHODS` and its options.

    >>> from discreet.table.load import load
    >>> table, rng = load("example:tract"), np.random.default_rng(1)
    >>> made = make_table(table, "margins", {"release": "Race*Income + Gender"}, Policy(), rng)
    >>> made
    TableCandidate(margins, FAIL: 4 small counts, exact)
    >>> made.beliefs[0].round(3)
    array([0.5, 0.5])
    """
    if method not in TABLE_METHODS:
        raise OptionError(
            f"no mask of a table is called {method!r}; {', '.join(TABLE_METHODS)} are."
        )
    maker = TABLE_METHODS[method]
    known = {
        name: one
        for name, one in signature(maker).parameters.items()
        if one.kind is Parameter.KEYWORD_ONLY
    }
    if odd := sorted(set(options) - set(known)):
        raise OptionError(
            f"{method} has no option {odd[0]!r}; it has {', '.join(known) or 'none'}."
        )
    kinds = get_type_hints(maker)
    for name, one in known.items():
        if one.default is Parameter.empty and name not in options:
            raise OptionError(f"{method} needs {name!r}; give it.")
        if name in options:
            check_kind(f"{name} of {method}", options[name], kinds[name])
    return maker(Asked(table, policy.small.most), policy, rng, **options)


def table_risk(candidate: TableCandidate, table: Table, *, act: float) -> dict[str, float]:
    """What the intruder states of the guarded cells.

    He states a count that he believes with a probability of `act` or more. `disclosed` is the share
    of guarded cells stated rightly, `perceived` of those stated at all; `expected` is the mean
    probability of the true count, and `highest` the largest.

    >>> from discreet.table.load import load
    >>> table, rng = load("example:tract"), np.random.default_rng(1)
    >>> table_risk(make_table(table, "whole", {}, Policy(), rng), table, act=0.9)
    {'disclosed': 1.0, 'perceived': 1.0, 'expected': 1.0, 'highest': 1.0}
    """
    return stated(candidate.beliefs, table.all().counts[candidate.guarded], act=act)


def stated(beliefs: Sequence[Floats], truth: Ints, *, act: float) -> dict[str, float]:
    """The same of beliefs about counts and their true values."""
    if not 0 < act <= 1:
        raise DataError(f"act is {act}; give a probability, such as 0.9.")
    if not len(truth):
        return dict.fromkeys(("disclosed", "perceived", "expected", "highest"), 0.0)
    right, best = [], []
    for chances, count in zip(beliefs, truth.tolist(), strict=True):
        right.append(float(chances[count]) if count < len(chances) else 0.0)
        best.append(float(chances.max()))
    sure, true = breaks(np.array(best), act, Says.OR_MORE), np.array(right)
    return {
        "disclosed": float(breaks(true, act, Says.OR_MORE).mean()),
        "perceived": float(sure.mean()),
        "expected": float(true.mean()),
        "highest": float(true.max()),
    }


def table_worth(table: Table, estimate: ArrayLike, variables: Iterable[str] | None = None) -> float:
    """1 - the mean over orders 1 to 3 of the mean Hellinger distance of the margins.

    Of some `variables` only, if they are named.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> table_worth(table, table.dense())
    1.0
    >>> round(table_worth(table, np.ones(table.size), ["Race"]), 3)
    0.496
    """
    values = np.asarray(estimate, np.float64).reshape(table.shape)
    if variables is not None:
        wanted = table.axes.places(variables)
        left = [place for place in range(len(table.names)) if place not in wanted]
        names = [name for place, name in enumerate(table.names) if place not in left]
        values, table = values.sum(tuple(left)), table.margin(names)
    orders = [order for order in ORDERS if order <= len(table.names)]
    return by_order(table, values, orders=orders).score()

"""Which intruders pose little risk (Lambert 1993, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.linkage.encode import Encoded, _marginal, encode
from discreet.intruder.linkage.links import link_encoded
from discreet.intruder.linkage.model import Intruder, Kind
from discreet.intruder.linkage.records import Records
from discreet.look.result import Result
from discreet.table.cells import frame

MEASURES = ("pessimistic", "average", "above")
MOST_TIMES = 1024
AFTER = 3  # doublings in a row that must be within the limit
HALVINGS = 5  # of the last doubling: 1.02 times the least


@dataclass(frozen=True)
class Harmless(Result):
    """Intruders `times` less precise than assumed, or more, keep `measure` at most `limit`.

    None: no intruder up to 1,024 times less precise does. The risk need not fall steadily; `grid`
    has every number of times that was checked, and its risk. `without`: the risk if one key is
    unknown and the others are as assumed.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> found = dc.linkage.harmless(records, intruder, limit=0.5)
    >>> found
    Harmless(pessimistic risk at most 0.5: from 10.2 times on)
    >>> round(found.times, 1), round(found.without["age"], 3)
    (10.2, 0.333)
    """

    limit: float
    measure: str
    act: float
    times: float | None
    grid: tuple[tuple[float, float], ...]
    without: dict[str, float]

    def __repr__(self) -> str:
        found = "never" if self.times is None else f"from {self.times:.3g} times on"
        return f"Harmless({self.measure} risk at most {self.limit:g}: {found})"

    @property
    def assumed(self) -> float:
        """The risk of the intruder as assumed."""
        return self.grid[0][1]

    @property
    def steady(self) -> bool:
        """Whether the risk never rose on the grid."""
        risks = [risk for _, risk in self.grid]
        return all(b <= a + 1e-9 for a, b in pairwise(risks))

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row an intruder: so many times less precise, or without a key."""
        risks = [*(risk for _, risk in self.grid), *self.without.values()]
        columns = {
            "times": [*(times for times, _ in self.grid), *(1.0 for _ in self.without)],
            "unknown": [*("" for _ in self.grid), *self.without],
            "risk": risks,
            "within": [risk <= self.limit for risk in risks],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "limit": self.limit,
            "measure": self.measure,
            "act": self.act,
            "assumed": self.assumed,
            "times": self.times,
            "steady": self.steady,
            "grid": [{"times": times, "risk": risk} for times, risk in self.grid],
            "without": self.without,
        }


def harmless(
    records: Records,
    intruder: Intruder,
    *,
    limit: float,
    measure: str = "pessimistic",
    act: float = 0.5,
) -> Harmless:
    """The least imprecision from which on the risk is at most `limit`, and the risk without a key.

    The measure is the `pessimistic` or `average` perceived risk, or how many are `above` `act`.
    Imprecision is doubled until the risk stays within the limit, and the last step is halved.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> dc.linkage.harmless(records, intruder, limit=0.5)
    Harmless(pessimistic risk at most 0.5: from 10.2 times on)
    """
    if measure not in MEASURES:
        raise DataError(f"the measure {measure!r} is not known; use {', '.join(MEASURES)}.")
    most = np.inf if measure == "above" else 1.0
    if not 0 <= limit <= most:
        to = "from 0 on" if measure == "above" else "from 0 to 1"
        raise DataError(f"the limit is {limit:g}; give a number {to}.")
    if not 0 <= act <= 1:
        raise DataError(f"act is {act:g}; give a probability from 0 to 1.")

    def risk(data: Encoded) -> float:
        return _measured(link_encoded(data, intruder).perceived, measure, act)

    data = encode(records, intruder)
    times, grid = _least(lambda m: risk(blurred(data, m)), limit)
    known = [key.name for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    without = {}
    for name in known:
        try:
            rest = encode(records, intruder.only_keys([key for key in known if key != name]))
        except DataError:  # what is left tells nobody apart
            crowd = records.count if intruder.present else intruder.population or records.sources
            without[name] = _measured(np.full(records.sources, 1 / crowd), measure, act)
        else:
            without[name] = risk(rest)
    return Harmless(float(limit), measure, act, times, grid, without)


def blurred(data: Encoded, times: float) -> Encoded:
    """The same for an intruder who is `times` less precise.

    Spreads and windows of ranks are so many times wider. A category or label is known as before
    with probability 1 / times, and else not at all: it is as frequent as in the released file.
    """
    x, chances = data.x / times, data.chances.copy()
    for v, size in enumerate(data.outcomes.tolist()):
        known, frequent = chances[:, v, :, :size], data.chances[:, v, size, None, :size]
        known += (1 - 1 / times) * (frequent - known)
    return replace(
        data,
        y=data.y / times,
        x=x,
        unknown=_marginal(x),
        chances=chances,
        matches=data.matches.blurred(times),
        ranks=data.ranks.wider(times),
        own=data.own.wider(times),
    )


def _least(
    risk: Callable[[float], float], limit: float
) -> tuple[float | None, tuple[tuple[float, float], ...]]:
    """The least number of times that, with all greater ones of the grid, is within the limit."""
    found: dict[float, float] = {}
    times, within = 1.0, 0
    while times <= MOST_TIMES and within < AFTER:
        found[times] = risk(times)
        within = within + 1 if found[times] <= limit else 0
        times *= 2
    if not within:
        return None, tuple(found.items())
    high = times / 2**within
    if high > 1:
        low = high / 2
        for _ in range(HALVINGS):
            middle = (low * high) ** 0.5
            found[middle] = risk(middle)
            low, high = (low, middle) if found[middle] <= limit else (middle, high)
    return high, tuple(sorted(found.items()))


def _measured(perceived: Floats, measure: str, act: float) -> float:
    if measure == "above":
        return float((perceived >= act).sum())
    return float(perceived.max() if measure == "pessimistic" else perceived.mean())

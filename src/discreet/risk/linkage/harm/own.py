"""Costs that differ by respondent: a column of the source, or by the labels of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.data.settings import Keys, number
from discreet.errors import DataError
from discreet.intruder.linkage.records import Records, numbers, texts
from discreet.look.result import Shown


@dataclass(frozen=True)
class OwnCost(Shown):
    """A number of each respondent: what stands in a column of the source, or what `by` says of it.

    >>> import discreet as dc
    >>> dc.linkage.OwnCost("region", {"North": 1, "South": 3})
    OwnCost(column='region', by={'North': 1, 'South': 3})
    """

    column: str
    by: Mapping[str, float] | None = None

    def of(self, records: Records, what: str, *, least: float = -np.inf) -> Floats:
        """Of every source record."""
        if self.column not in records.source:
            raise DataError(
                f"{what} is a column {self.column!r}, which was not read; give it to groups."
            )
        column, where = records.source[self.column], records.names[0]
        if self.by is None:
            found = numbers(column, self.column, where)
        else:
            labels = texts(column)
            if odd := sorted(set(labels) - set(map(str, self.by))):
                listed = ", ".join(map(str, self.by))
                raise DataError(f"{what} has nothing for {odd[0]!r}; it has {listed}.")
            named = {str(k): float(v) for k, v in self.by.items()}
            found = np.array([named[label] for label in labels])
        if not (found >= least).all():
            row = int(np.argmax(~(found >= least))) + 1
            said = "nothing" if np.isnan(found[row - 1]) else f"{found[row - 1]:g}"
            ends = "a number" if least == -np.inf else f"a number from {least:g}"
            raise DataError(
                f"row {row} of {where} has {said} in {self.column!r}, where {what} needs {ends}."
            )
        return found


Amount = float | OwnCost


def read_amount(value: object, what: str, **ends: float) -> Amount:
    """A number, { column = NAME }, or { column = NAME, by = { LABEL = NUMBER } }."""
    if not isinstance(value, dict):
        try:
            return number(value, what, **ends)
        except DataError as error:
            said = str(error)[:-1]
            raise DataError(f"{said}, or {{ column = NAME }} of the source.") from None
    keys = Keys(value, {"column", "by"}, what)
    column, by = keys.column(), keys.get("by", {})
    if not isinstance(by, dict) or ("by" in keys and not by):
        keys.refuse("by", "give a table from labels to numbers")
    listed = {str(k): number(v, f"{k} in {what}", **ends) for k, v in by.items()}
    return OwnCost(column, listed or None)


def amount(value: Any, records: Records, what: str, *, least: float = -np.inf) -> Any:
    """A number, or that of every respondent."""
    return value.of(records, what, least=least) if isinstance(value, OwnCost) else value

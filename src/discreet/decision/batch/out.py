"""What is out of a sheet: its true values, or behind a mask the least and the most they can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats
from discreet.data.amounts import unit_of
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import InconsistentRelease
from discreet.masks.mechanism import Mechanism, mechanism
from discreet.sheets.sheet import Status

NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class Behind:
    """A sheet that is out rounded or perturbed: each value lies between `low` and `high`.

    `method` is how it was made, and `known` whether that is all that follows from it. Of amounts in
    steps `rounding` says more by what is `shown`.
    """

    low: Floats
    high: Floats
    method: str
    known: bool
    shown: Floats | None = None
    rounding: Mechanism | None = None

    def ends(self, step: float) -> tuple[Floats, Floats]:
        """The least and the most of each, as a multiple of a step if there is one."""
        if not step or self.rounding is None or self.shown is None:
            return self.low, self.high
        low, high = self.rounding.steps(self.shown, step)
        there = ~np.isnan(self.shown)
        return np.where(there, low, self.low), np.where(there, high, self.high)


Out = Mapping[str, "Floats | Behind"]  # by the names of sheets; nan where nothing is printed


def out_of(values: Floats, said: Mapping[str, Any]) -> Floats | Behind:
    """What a release that is out tells of a sheet, by what its manifest says of the table.

    >>> rounded = {"exact": False, "whole": True, "method": "controlled rounding"}
    >>> found = out_of(np.array([9.0, 12.0]), rounded | {"parameters": {"base": 3}})
    >>> found.low.tolist(), found.high.tolist()
    ([7.0, 10.0], [11.0, 14.0])
    """
    if said["exact"]:
        return values
    method, parameters, whole = said["method"], said["parameters"], bool(said["whole"])
    how = mechanism(method, parameters, whole=whole)
    low, high = np.zeros(values.shape), np.full(values.shape, np.inf)
    shown = ~np.isnan(values)
    if how is not None:
        low[shown], high[shown] = how.ends(values[shown], whole=whole)
    rounded = "rounding" in method
    if rounded:
        _check_multiples(values[shown], float(parameters["base"]), method)
    known = rounded or parameters.get("silent") is True
    fine = mechanism(method, parameters, whole=False) if rounded else None
    return Behind(low, high, str(method), known, values, fine)


def _check_multiples(values: Floats, base: float, method: str) -> None:
    """What was rounded shows multiples of its base; sums may be printed with few decimals."""
    off = np.abs(values - base * np.round(values / base))
    if (off > unit_of(values) / 2 + NEAR * np.maximum(1.0, values)).any():
        raise InconsistentRelease(
            f"a table is out by {method}, and shows what is no multiple of {base:g}; take the "
            "release as it was written."
        )


def as_it_is(one: Floats | Behind | None, shape: tuple[int, ...]) -> Bools:
    """The cells of a sheet that is out whose true values are known."""
    if one is None:
        return np.ones(shape, bool)
    return np.zeros(shape, bool) if isinstance(one, Behind) else ~np.isnan(one)


def ends(case: SheetCase, out: Out) -> tuple[Floats, Floats]:
    """Between what all rows of a case lie, by the sheets that are out rounded or with gaps."""
    low, high = np.zeros(case.cells.printed), np.full(case.cells.printed, np.inf)
    for rows, one in _out_of(case, out):
        if isinstance(one, Behind):
            least, most = one.ends(case.step)
            np.maximum.at(low, rows, np.minimum(least.ravel(), case.values[rows]))
            np.minimum.at(high, rows, np.maximum(most.ravel(), case.values[rows]))
        else:
            gaps = rows[np.isnan(one.ravel())]
            low[gaps] = np.maximum(low[gaps], np.minimum(case.floor, case.values)[gaps])
    return low, high


def check_out(case: SheetCase, out: Out) -> None:
    """What is out is of these data: what changed since would be told by the difference."""
    for rows, one in _out_of(case, out):
        truth, how = case.values[rows], ""
        if isinstance(one, Behind):
            low, high, how = one.low.ravel(), one.high.ravel(), f" by {one.method}"
        else:
            half = unit_of(one[~np.isnan(one)]) / 2  # it may be printed with few decimals
            low, high = one.ravel() - half, one.ravel() + half
        near = NEAR * np.maximum(1.0, np.abs(truth))
        off = (truth < low - near) | (truth > high + near)
        if off.any():
            raise InconsistentRelease(
                f"{case.named(int(rows[off][0]))} is out{how}, and is not what these data would "
                "give; name the data that it was made of."
            )


def _out_of(case: SheetCase, out: Out) -> Iterator[tuple[NDArray[np.int64], Floats | Behind]]:
    """The rows of each sheet that is out behind a mask, and what is printed there."""
    for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
        if sheet.status is Status.OUT and sheet.name in out:
            yield rows.ravel(), out[sheet.name]


def unknown(out: Out) -> Iterator[Reason]:
    """A doubt where it is not known what follows from a sheet that is out."""
    for name, one in out.items():
        if isinstance(one, Behind) and not one.known:
            text = f"table {name} is out by {one.method}; what its noise tells is not judged."
            yield Reason("tables that are out", Verdict.REVIEW, text)

"""Rank swapping: numbers move to records whose rank is near."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile, amount
from discreet.masks.records.numeric import Columns, NumberMask

SWEEPS = 48  # exchanges tried a record; ranks are as good as fresh after 16
PARTS = 20


@dataclass(frozen=True)
class RankSwap(NumberMask):
    """Each column's values are exchanged among records at most `window` apart in rank.

    The window is a share of the records that have a value (Moore 1996). Where Moore scans the
    ranks once and swaps pairs, exchanges go on until every rearrangement p with
    |p(i) - i| <= window is about as likely as any other: a Metropolis chain of so many sweeps.
    So the chance of a whole file is the same product of chances over its records, whoever they
    belong to, also near both ends of the ranks where the window is cut; this is what equation (1)
    of Lambert 1993 takes for granted, and what no single scan gives. Ties have ranks at random.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [31, 47, 50, 52, 68, 70]}))
    >>> masked = RankSwap("age", window=0.4).apply(file, np.random.default_rng(1))
    >>> sorted(masked.data["age"]), masked.keys["age"].window
    ([31, 47, 50, 52, 68, 70], 0.3333333333333333)
    """

    window: float

    name: ClassVar[str] = "rank-swap"
    promise: ClassVar[str] = (
        "Every column has the same values, each as often, and none has moved further in rank than "
        "the window."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        new, keys = {}, {}
        for name, values in self.numbers(file).items():
            reach = self._reach(name, values)
            order = _order(values, rng)
            given = file.data[name].to_numpy(copy=True)
            given[order] = given[order[rearranged(len(order), reach, rng)]]
            new[name] = given
            keys[name] = Key(name, Kind.RANK, window=reach / len(order), law=(1 / PARTS,) * PARTS)
        return self.changed(file, new, keys)

    def broken_numbers(self, file: RecordFile, columns: Columns, released: RecordFile) -> list[str]:
        found = []
        for name, values in columns.items():
            after = released.numbers(name)
            there = ~np.isnan(values)
            ranks = np.sort(values[there])
            if (ranks != np.sort(after[there])).any():
                found.append(f"{name!r} has other values than before")
                continue
            first, last = _span(ranks, values[there])
            start, end = _span(ranks, after[there])
            far = np.maximum(start - last, first - end)
            if far.max() > self._reach(name, values):
                found.append(f"{name!r} has moved further in rank than the window")
        return found

    def _reach(self, name: str, values: Floats) -> int:
        """How many ranks the window is."""
        many = int((~np.isnan(values)).sum())
        window = amount(self.window, "window of rank-swap", least=0, most=1)
        reach = min(math.floor(window * many + 1e-9), many - 1)
        if reach < 1:
            raise DataError(
                f"a window of {window:g} is less than one rank of the {many:,} in {name!r}; give "
                f"at least {1 / many:.3g}, or leave the column out."
            )
        return reach


def rearranged(many: int, reach: int, rng: np.random.Generator) -> Ints:
    """A rearrangement of ranks in which none moves by more than `reach`, about all alike likely.

    >>> found = rearranged(1000, 20, np.random.default_rng(1))
    >>> sorted(found.tolist()) == list(range(1000)), int(abs(found - np.arange(1000)).max()) <= 20
    (True, True)
    """
    from discreet._kernels.rankswap import exchange

    holds = np.arange(many)
    for _ in range(SWEEPS):
        first = rng.integers(many, size=many)
        step = rng.integers(1, reach + 1, size=many)
        second = first + np.where(rng.random(many) < 0.5, step, -step)
        exchange(holds, first, second, reach)
    return holds


def _order(values: Floats, rng: np.random.Generator) -> Ints:
    """Rows that have a value, by their value; ties in random order."""
    mixed = rng.permutation(np.flatnonzero(~np.isnan(values)))
    return np.asarray(mixed[np.argsort(values[mixed], kind="stable")])


def _span(ranks: Floats, values: Floats) -> tuple[Ints, Ints]:
    """First and last rank of each value."""
    return np.searchsorted(ranks, values, "left"), np.searchsorted(ranks, values, "right") - 1

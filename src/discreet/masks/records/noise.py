"""Noise that is added to numbers, or that they are multiplied with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile, amount
from discreet.masks.records.numeric import Columns, NumberMask, by_column, mean_moved

KINDS = ("independent", "correlated", "multiplicative")
KEPT = ("nothing", "means")
SINGULAR = 1e-8  # the least eigenvalue of a correlation matrix
FAR = 7.0  # standard deviations that noise never reaches
DIGITS = 10  # digits of noise that are released


@dataclass(frozen=True)
class Noise(NumberMask):
    """Normal noise: x = y + e, or x = y exp(e) if multiplicative.

    `spread` is the standard deviation of e as a share of that of the column, or a list of
    deviations in the column's own units, one a column. Correlated noise has the data's covariance
    times spread^2, so that correlations stay as they are (Kim 1986); variances grow by
    1 + spread^2. For multiplicative noise it is the deviation of log x - log y, whose mean is 0:
    the factor has median 1 and mean exp(spread^2 / 2).

    `keep = "means"` takes the mean off the noise (a factor: its geometric mean), rescaled so that
    each e still has the spread. Noise cannot keep variances and stay centred at y.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [31.0, 47.0, None, 50.0]}))
    >>> masked = Noise("age", spread=0.1).apply(file, np.random.default_rng(1))
    >>> masked.data["age"].round(1).tolist()
    [31.4, 47.8, nan, 48.7]
    >>> masked.keys["age"].kind, round(masked.keys["age"].spread[0], 3)
    (<Kind.NORMAL: 'normal'>, 1.021)
    """

    spread: float | tuple[float, ...]
    kind: str = "independent"
    keep: str = "nothing"

    name: ClassVar[str] = "noise"
    promise: ClassVar[str] = (
        "What is missing stays missing, and no other column changes; with keep = 'means' the "
        "means of the records (of their logarithms, if multiplicative) are kept."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        columns = self.numbers(file)
        names, values = list(columns), np.column_stack(list(columns.values()))
        spreads = self._spreads(names, values)
        correlation = _correlation(names, values) if self._tied(names) else np.eye(len(names))
        root = np.linalg.cholesky(correlation)
        noise = rng.standard_normal(values.shape) @ root.T
        if self.keep == "means":
            noise = _centred(noise, values)
        noise *= spreads
        released = values * np.exp(noise) if self._times else values + noise
        released = _cut_off(released, spreads, times=self._times)
        kind = Kind.LOGNORMAL if self._times else Kind.NORMAL
        return self.changed(
            file,
            dict(zip(names, released.T, strict=True)),
            {n: Key(n, kind, spread=(float(s),)) for n, s in zip(names, spreads, strict=True)},
            (*self._said(), *_averaged(file, columns)),
            correlation={
                (names[a], names[b]): float(correlation[a, b])
                for a, b in combinations(range(len(names)), 2)
                if self._tied(names)
            },
        )

    def broken_numbers(self, file: RecordFile, columns: Columns, released: RecordFile) -> list[str]:
        found = []
        spreads = self._spreads(list(columns), np.column_stack(list(columns.values())))
        for (name, values), spread in zip(columns.items(), spreads, strict=True):
            after = released.numbers(name)
            if self._times:
                values, after = np.log(values), np.log(np.where(after > 0, after, np.nan))
            there = ~np.isnan(values)
            if np.isnan(after[there]).any() or (np.abs(after - values)[there] > FAR * spread).any():
                found.append(f"{name!r} has noise of more than {FAR:g} standard deviations")
            elif self.keep == "means" and mean_moved(values, after, np.ones(len(file))):
                found.append(f"the mean of {name!r} is not kept")
        return found

    @property
    def _times(self) -> bool:
        return self.kind == "multiplicative"

    def _tied(self, names: list[str]) -> bool:
        return self.kind == "correlated" and len(names) > 1

    def numbers(self, file: RecordFile) -> Columns:
        for what, given, known in (("kind", self.kind, KINDS), ("keep", self.keep, KEPT)):
            if given not in known:
                raise OptionError(f"{what} of noise is {given!r}; write one of {', '.join(known)}.")
        columns = super().numbers(file)
        for name, values in columns.items() if self._times else ():
            if (low := np.nanmin(values)) <= 0:
                raise DataError(
                    f"{name!r} has {low:g}; multiplicative noise needs numbers above 0, others "
                    'kind = "independent".'
                )
        return columns

    def _spreads(self, names: list[str], values: Floats) -> Floats:
        """The standard deviation of the noise of each column, of its logarithm if a factor."""
        given = by_column(self.spread, names, "spread of noise")
        spreads = np.array([amount(one, "spread of noise", least=1e-12) for one in given])
        if self._times or isinstance(self.spread, tuple | list):
            return spreads
        many = (~np.isnan(values)).sum(0)
        for name, column, count in zip(names, values.T, many, strict=True):
            if count < 2 or np.nanmax(column) == np.nanmin(column):
                raise DataError(
                    f"{name!r} does not vary, so that a share of its deviation is no noise; give "
                    "spread as a list, in units of the columns."
                )
        return np.asarray(spreads * np.nanstd(values, 0, ddof=1))

    def _said(self) -> tuple[str, ...]:
        if self.kind == "correlated" and not isinstance(self.spread, tuple | list):
            factor = 1 + self.spread**2
            return (f"Covariances of the released numbers are {factor:.4g} times those before.",)
        if self._times:
            return ("Factors have median 1; of a sum, divide by their mean exp(spread^2 / 2).",)
        return ("Variances of the released numbers are larger by those of the noise.",)


def _correlation(names: list[str], values: Floats) -> Floats:
    """That of the records that have all the columns."""
    whole = values[~np.isnan(values).any(1)]
    if len(whole) > len(names) and (whole.max(0) > whole.min(0)).all():
        found = np.asarray(np.corrcoef(whole.T))
        if np.linalg.eigvalsh(found).min() > SINGULAR:
            return found
    raise DataError(
        f"the columns {', '.join(names)} depend on each other without any rest (or too few "
        'records have all of them); leave one out, or write kind = "independent".'
    )


def _centred(noise: Floats, values: Floats) -> Floats:
    """Sum 0 over the records that have a number, and variance 1 as before."""
    there = ~np.isnan(values)
    many = there.sum(0)
    if (many < 2).any():
        raise DataError('keep = "means" needs two numbers in every column; leave it out.')
    mean = np.where(there, noise, 0).sum(0) / many
    return np.asarray((noise - mean) / np.sqrt(1 - 1 / many))


def _cut_off(released: Floats, spreads: Floats, *, times: bool) -> Floats:
    """Without the last digits: those of a sum or a product in floating point tell which numbers
    it can be of (Mironov 2012).

    >>> _cut_off(np.array([17.123456789012345]), np.array([3.0]), times=False).tolist()
    [17.123456789]
    """
    size = np.minimum(spreads, 1) * np.abs(released) if times else spreads + 0 * released
    digits = np.floor(np.log10(np.where(size > 0, size, 1)))
    scale = 10.0 ** (DIGITS - digits)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = released * scale
        cut = np.rint(whole) / scale
    return np.where(np.abs(whole) < 2**53, cut, released)


def _averaged(file: RecordFile, columns: dict[str, Floats]) -> list[str]:
    """Members of a household who share a number get noise of their own, which averages out."""
    if file.household is None:
        return []
    import pandas as pd

    said = []
    for name, values in columns.items():
        groups = pd.Series(values).groupby(file.labels(file.household))
        several = groups.count() > 1
        if several.any() and (groups.nunique()[several] == 1).all():
            said.append(
                f"Members of a household share {name}: their average is closer to it than the "
                "noise of one record says. Give one record a household."
            )
    return said

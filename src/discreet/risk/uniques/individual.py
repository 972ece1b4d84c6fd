"""The risk of a record, and of a household, when the file is a sample with survey weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.data.classes import check_columns, group_members
from discreet.errors import DataError
from discreet.look.result import Result, Shown
from discreet.look.words import percent, plural
from discreet.risk.uniques.classes import KeyClasses
from discreet.table.cells import frame
from discreet.table.keys import lookup

FEW, TERMS = 20, 80  # 1 / C(20 + 80, 80) is below 1e-20
LEVELS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Sampling(Shown):
    """What is known of the population: the share of each class that is in the sample, and how.

    >>> import discreet as dc
    >>> classes = dc.anonymity.KeyClasses(dc.load("example:tract"))
    >>> sampling = dc.anonymity.Sampling.of(classes, fraction=0.1)
    >>> sampling.known, sampling.overall, sampling.words
    (True, 0.1, '0.1 of the population is sampled')
    """

    share: Floats
    overall: float
    words: str

    @property
    def known(self) -> bool:
        """Whether there is a population beyond the file."""
        return self.overall < 1

    @classmethod
    def of(
        cls, classes: KeyClasses, population: int | None = None, fraction: float | None = None
    ) -> Sampling:
        """From weights, the size of the population, or the fraction that is sampled.

        With none of them the file is taken for the population, which is the careful side.
        """
        given = [classes.weights is not None, population is not None, fraction is not None]
        if sum(given) > 1:
            raise DataError("give weights, or the population, or the fraction: one of them.")
        if classes.weighted is not None and classes.weights is not None:
            share = np.minimum(classes.frequency / classes.weighted, 1.0)
            people = float(classes.weights.sum())
            return cls(share, classes.records / people, f"weights sum to {people:,.0f}")
        if population is not None:
            if population < classes.records:
                raise DataError(
                    f"the sample has {classes.records:,} records, its population "
                    f"{population:,}; give a population as large as the sample at least."
                )
            fraction, words = classes.records / population, f"population {population:,}"
        else:
            fraction = classes.table.sampling_fraction if fraction is None else fraction
            words = "the file is taken for the population"
            if fraction is not None:
                words = f"{fraction:.4g} of the population is sampled"
        fraction = 1.0 if fraction is None else fraction
        if not 0 < fraction <= 1:
            raise DataError(f"fraction is {fraction!r}; give a number above 0 and at most 1.")
        return cls(np.full(len(classes), float(fraction)), float(fraction), words)


def expected_inverse(counts: Ints, share: Floats) -> Floats:
    """E(1/F | f) where F - f is negative binomial(f, p), p the share sampled.

        p I(f),   I(f) = integral over 0 < u < 1 of u^(f-1) / (p + q u),   q = 1 - p

    for f = 1   p log(1/p) / q   (Benedetti & Franconi 1998, whose hypergeometric function this is).
    """
    pairs, place = np.unique(np.column_stack([counts, share]), axis=0, return_inverse=True)
    f, p = pairs.T
    found = np.empty(len(f))
    steps = (p < 0.5) & (f < FEW)
    found[steps] = _by_steps(f[steps], p[steps])
    found[~steps] = _by_series(f[~steps], p[~steps])
    return np.asarray(np.minimum(p * found, 1 / f)[place.ravel()])


def _by_steps(f: Floats, p: Floats) -> Floats:
    """I(1) = log(1/p) / q and q I(f + 1) = 1/f - p I(f), which keeps errors small for p < q."""
    found = -np.log(p) / (1 - p)
    for step in range(1, int(f.max(initial=1))):
        found = np.where(f > step, (1 / step - p * found) / (1 - p), found)
    return found


def _by_series(f: Floats, p: Floats) -> Floats:
    """I(f) is the sum over j of q^j j! (f-1)! / (f+j)!, short for q <= 1/2 and for large f."""
    term = 1 / f
    found = term.copy()
    for j in range(1, TERMS):
        term = term * (1 - p) * j / (f + j)
        found += term
    return found


@dataclass(frozen=True, eq=False)
class IndividualRisk(Result):
    """Of each class the probability that one of its records is linked to the right person.

    The intruder picks at random among the F people of the population who look alike; F is not
    known, so the risk is E(1/F | f) (`expected_inverse`).

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f", "m"], "Age": [30, 30, 30, 40]})
    >>> found = dc.uniques(people, "Sex,Age", population=40).risk
    >>> found
    IndividualRisk(4 records, population 40: 0.6771 expected to be linked, highest risk 0.2558)
    >>> found.risk.round(3)
    array([0.083, 0.256, 0.256])
    """

    classes: KeyClasses
    sampling: Sampling
    risk: Floats

    @classmethod
    def of(cls, classes: KeyClasses, sampling: Sampling) -> IndividualRisk:
        return cls(classes, sampling, expected_inverse(classes.frequency, sampling.share))

    @property
    def expected(self) -> float:
        """Records that would be linked rightly, by expectation."""
        return float(self.classes.table.counts @ self.risk)

    @property
    def mean(self) -> float:
        return self.expected / self.classes.records

    @property
    def highest(self) -> float:
        return float(self.risk.max())

    def above(self, level: float) -> int:
        """Records with a risk above the level."""
        return int(self.classes.table.counts[self.risk > level].sum())

    def bands(self) -> list[tuple[float, float, int]]:
        """Risk above, up to, records."""
        return spread(self.risk, self.classes.table.counts)

    def __repr__(self) -> str:
        return (
            f"IndividualRisk({plural(self.classes.records, 'record')}, {self.sampling.words}: "
            f"{self.expected:,.4g} expected to be linked, highest risk {self.highest:.4g})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a class: records, those who look alike, the share sampled, the risk."""
        extra: dict[str, Any] = {
            "alike": self.classes.frequency, "share": self.sampling.share, "risk": self.risk,
        }  # fmt: skip
        if self.classes.first is not None:
            extra["first_row"] = self.classes.first
        return self.classes.table.nonzero().to_frame(kind, count="records", **extra)

    def to_json(self) -> dict[str, Any]:
        return {
            "basis": self.sampling.words, "expected": self.expected, "mean": self.mean,
            "highest": self.highest, "distribution": bands_json(self.bands()),
        }  # fmt: skip

    def plot(self, **options: Any) -> Any:
        """Bars: the share of records at each level of risk."""
        from discreet.look.bars import share_chart

        rows = [(level_name(a, b), n, self.classes.records) for a, b, n in self.bands()]
        title = (
            f"{self.expected:,.4g} of {plural(self.classes.records, 'record')} would be linked "
            "to the right person"
        )
        words = {"title": title, "axis": "Records", "key": "Records by their individual risk."}
        return share_chart(rows, **(words | options))

    def households(self, column: str) -> HouseholdRisk:
        """The risk that a household is found through one of its members."""
        classes = self.classes
        if classes.source is None:
            raise DataError("households need records, not cells; give the file of records.")
        check_columns(classes.source, [column])
        if column in classes.keys:
            raise DataError(f"{column!r} is a key and cannot name households too; name it once.")
        found, home, many = group_members(classes.source, classes.keys, column, classes.codebook)
        shape = classes.table.shape
        place = lookup(classes.table.codes, shape, found.codes)
        order = np.lexsort((place, home))  # sums in one order, whatever the engine's
        place, home, times = place[order], home[order], found.counts[order]
        risk = self.risk[place]
        members = np.bincount(home, times, minlength=many).astype(np.int64)
        sure = np.bincount(home, risk >= 1) > 0
        safe = np.bincount(home, times * np.log1p(-np.where(risk < 1, risk, 0.0)))
        chance = np.where(sure, 1.0, -np.expm1(safe))
        if found.first is None:
            return HouseholdRisk(column, chance, members, None)
        rows = np.full(many, np.iinfo(np.int64).max)
        np.minimum.at(rows, home, found.first[order])
        by_row = np.argsort(rows)
        return HouseholdRisk(column, chance[by_row], members[by_row], rows[by_row])


@dataclass(frozen=True, eq=False)
class HouseholdRisk(Result):
    """Of each household the probability that one member at least is linked to the right person.

        1 - product over its members of (1 - r_i)

    which all its members then share (Franconi & Polettini 2004). `rows` are the first records of
    households, which come in their order; None where records have no order, as in a database.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Home": [1, 1, 2], "Sex": ["f", "m", "f"], "Age": [30, 30, 30]})
    >>> found = dc.uniques(people, "Sex,Age", population=30, household="Home").households
    >>> found
    HouseholdRisk(2 households by Home: 0.4001 expected to be found, highest risk 0.3174)
    >>> found.risk.round(3)
    array([0.317, 0.083])
    """

    column: str
    risk: Floats
    members: Ints
    rows: Ints | None

    @property
    def expected(self) -> float:
        """Households that would be found, by expectation."""
        return float(self.risk.sum())

    @property
    def expected_records(self) -> float:
        """Their members."""
        return float(self.members @ self.risk)

    def __len__(self) -> int:
        return len(self.risk)

    def __repr__(self) -> str:
        return (
            f"HouseholdRisk({plural(len(self), 'household')} by {self.column}: "
            f"{self.expected:,.4g} expected to be found, highest risk {self.risk.max():.4g})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a household, known by its first record only; the riskiest first."""
        order = np.argsort(-self.risk, kind="stable")
        columns: dict[str, Any] = {} if self.rows is None else {"first_row": self.rows}
        columns |= {"members": self.members, "risk": self.risk}
        return frame({name: values[order] for name, values in columns.items()}, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "column": self.column, "households": len(self), "expected": self.expected,
            "expected_records": self.expected_records, "highest": float(self.risk.max()),
            "distribution": bands_json(spread(self.risk, np.ones(len(self), np.int64))),
        }  # fmt: skip


def spread(risk: Floats, times: Ints) -> list[tuple[float, float, int]]:
    """How many have a risk above the first number and up to the second; empty bands left out."""
    place = np.clip(np.searchsorted(LEVELS, risk, side="left"), 1, len(LEVELS) - 1)
    found = np.bincount(place, times, minlength=len(LEVELS)).astype(np.int64)
    return [(LEVELS[p - 1], LEVELS[p], int(n)) for p, n in enumerate(found) if n]


def bands_json(bands: list[tuple[float, float, int]]) -> list[dict[str, float]]:
    return [{"above": low, "to": high, "number": n} for low, high, n in bands]


def level_name(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"

"""How many tables fit a release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.look.result import Paged
from discreet.table.cells import frame

SPOKEN = 10**24
LARGEST_FLOAT = 10**300


@dataclass(frozen=True)
class TableCount(Paged):
    """The number of tables that fit: exact, or an unbiased estimate with its standard error.

    An estimate of more than 10^300 tables is held as a whole number, since no float holds it.

    >>> import discreet as dc
    >>> found = dc.count(dc.load("example:tract"), "Race*Income + Income*Gender")
    >>> found.tables, found.exact, round(found.log10, 2)
    (59400, True, 4.77)
    """

    tables: int | float
    exact: bool
    method: str
    standard_error: int | float | None = None
    draws: int | None = None
    effective: float | None = None
    stopped: str | None = None

    @classmethod
    def estimate(
        cls, log: float, relative_error: float, method: str, *, draws: int, effective: float,
        stopped: str | None = None,
    ) -> TableCount:  # fmt: skip
        """An estimate from the natural logarithm of the number."""
        tables = _exp(log)
        error = _exp(log + math.log(relative_error)) if relative_error else 0.0
        return cls(tables, False, method, error, draws, effective, stopped)

    @property
    def log10(self) -> float:
        return math.log10(self.tables)

    @property
    def relative_error(self) -> float:
        """The standard error as a share of the number; 0 if exact."""
        return 0.0 if self.standard_error is None else float(self.standard_error / self.tables)

    @property
    def reliable(self) -> bool:
        """Is the number exact, or did enough draws agree on it?"""
        return self.effective is None or (self.effective >= 30 and self.relative_error <= 0.2)

    def __str__(self) -> str:
        """The number in words: `59,400 tables`, `about 7.06e+05 tables, give or take 1.2%`."""
        if self.exact:
            spoken = f"{self.tables:,}" if self.tables < SPOKEN else f"10^{self.log10:,.2f}"
            return f"{spoken} table{'' if self.tables == 1 else 's'}"
        number = _json(self.tables)
        spoken = number if isinstance(number, str) else f"{number:.3g}"
        doubt = "" if self.reliable else ", not reliable"
        return f"about {spoken} tables, give or take {self.relative_error:.1%}{doubt}"

    def __repr__(self) -> str:
        draws = "" if self.draws is None else f", {self.draws:,} draws"
        stopped = ", stopped" if self.stopped else ""
        return f"TableCount({self}: {self.method}{draws}{stopped})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row: the number, in full or rounded, and how it was found."""
        return frame({name: [value] for name, value in self.to_json().items()}, kind)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet count --json` prints; an exact number is a string."""
        document: dict[str, Any] = {
            "tables": digits(int(self.tables)) if self.exact else _json(self.tables),
            "exact": self.exact,
            "standard_error": None if self.standard_error is None else _json(self.standard_error),
            "log10": self.log10,
            "method": self.method,
            "stopped": self.stopped,
        }
        if not self.exact:
            document |= {
                "relative_error": self.relative_error,
                "draws": self.draws,
                "effective_draws": self.effective,
                "reliable": self.reliable,
            }
        return document


def digits(number: int) -> str:
    """All digits; Python's own str stops at 4,300."""
    return format(Decimal(number), "f")


def _exp(log: float) -> int | float:
    if log < math.log(LARGEST_FLOAT):
        return math.exp(log)
    power = int(log / math.log(10)) - 17
    lead = int(math.exp(log - power * math.log(10)))
    return lead * int(10**power)


def _json(number: int | float) -> float | str:
    return float(number) if number < LARGEST_FLOAT else f"{Decimal(number):.6e}"

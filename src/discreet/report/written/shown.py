"""One table as it is printed: its cells as numbers and texts, and nothing that is hidden."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import OutputError
from discreet.masks.masked import Masked
from discreet.sheets.sheet import Sheet, Status

Number = int | float | None
MOST_DECIMALS = 7


@dataclass(frozen=True, eq=False)
class Shown:
    """A sheet and its printed cells, nan where the symbol stands.

    `exact` if what is shown is what was counted, up to its decimals; without `decimals` sums are
    written in full.
    """

    sheet: Sheet
    values: NDArray[np.float64]
    whole: bool
    decimals: int | None
    method: str
    parameters: Mapping[str, object]
    exact: bool

    @property
    def column(self) -> str:
        """The head of the column of cells."""
        name = self.sheet.measure.value or "count"
        while name in self.sheet.names:
            name += "_"
        return name

    @property
    def title(self) -> str:
        """`Turnover of industry`, or what it shows."""
        if self.sheet.title:
            return self.sheet.title
        by = " by ".join(self.sheet.names) or "total"
        kept = "".join(f", {g.name}: {g.labels[0]}" for g in self.sheet.where)
        return f"{by}, {self.sheet.measure}{kept}"

    def numbers(self) -> list[Number]:
        """The cells in row-major order, none where hidden."""
        return [self._number(value) for value in self.values.ravel().tolist()]

    def texts(self, symbol: str) -> list[str]:
        return [symbol if one is None else self._text(one) for one in self.numbers()]

    def _number(self, value: float) -> Number:
        if math.isnan(value):
            return None
        if self.whole:
            if value != round(value):
                raise OutputError(
                    f"table {self.sheet.name!r} counts {value:g} somewhere, no whole number; give "
                    "its decimals."
                )
            return round(value)
        if not math.isfinite(value):
            raise OutputError(f"table {self.sheet.name!r} has the value {value}; mend its data.")
        return value + 0.0 if self.decimals is None else round(value, self.decimals) + 0.0

    def _text(self, value: int | float) -> str:
        if isinstance(value, int) or self.decimals is None:
            return repr(value)
        return f"{value:.{self.decimals}f}"


def shown(masked: Sequence[Masked], decimals: int | None) -> tuple[Shown, ...]:
    """The wanted sheets of all, each name once; what is out already is not printed again."""
    found: list[Shown] = []
    for one in masked:
        for sheet in one.system.sheets:
            if sheet.status is not Status.WANTED:
                continue
            if any(sheet.name == other.sheet.name for other in found):
                raise OutputError(f"two tables are called {sheet.name!r}; rename one.")
            found.append(_shown(one, sheet, decimals))
    if not found:
        raise OutputError("there is no table to write; name one that is not out already.")
    return tuple(found)


def _decimals(masked: Masked) -> int | None:
    """As few as all printed values have, but for what adding up in floating point leaves."""
    values = masked.values[~np.isnan(masked.values)]
    near = 1e-9 * max(1.0, float(np.abs(values).max(initial=0.0)))
    few = (d for d in range(MOST_DECIMALS) if (np.abs(values - values.round(d)) <= near).all())
    return next(few, None)


def _shown(masked: Masked, sheet: Sheet, decimals: int | None) -> Shown:
    values = np.array(masked.shown(sheet), np.float64)
    given = sheet.options.get("decimals", decimals)
    if given is not None and (type(given) is not int or not 0 <= given <= 15):
        raise OutputError(f"decimals of table {sheet.name!r} = {given!r} must be 0 to 15.")
    exact = False
    if masked.printed is not None:
        rows = masked.system.places[masked.system.sheets.index(sheet)]
        lower, upper = masked.printed.lower[rows], masked.printed.upper[rows]
        exact = bool((np.isnan(values) | ((lower == values) & (upper == values))).all())
    decimals = None if masked.whole else _decimals(masked) if given is None else given
    return Shown(
        sheet, values, masked.whole, decimals, masked.method, dict(masked.parameters), exact
    )

"""A list of cells of a table, with their counts: what bounds and beliefs are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.look.notebook import Rows
from discreet.look.result import Result, first_rows
from discreet.table.axes import OverAxes
from discreet.table.keys import Codes, Counts


@dataclass(frozen=True, eq=False)
class Cells(Result, OverAxes):
    """Cells by their codes (cells x variables); `counts` is what the custodian knows of them.

    >>> import discreet as dc
    >>> small = dc.load("example:tract").small()
    >>> small
    Cells(4 of Gender x Race x Income)
    >>> small.label(0), small.counts
    ({'Gender': 'Male', 'Race': 'Chinese', 'Income': 'up to $10,000'}, array([1, 1, 2, 1]))
    """

    variables: tuple[Variable, ...]
    codes: Codes
    counts: Counts

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[dict[str, str]]:
        for row in range(len(self)):
            yield self.label(row)

    def __repr__(self) -> str:
        return f"Cells({len(self):,} of {' x '.join(self.names)})"

    def _shown_rows(self, most: int) -> Rows | None:
        count = "count" + "_" * ("count" in self.names)
        return first_rows(self.take(slice(most)).to_frame(count=count), len(self), most)

    def label(self, row: int) -> dict[str, str]:
        """The cell as a mapping from variable to category."""
        return {
            variable.name: variable.categories[code]
            for variable, code in zip(self.variables, self.codes[row], strict=True)
        }

    def take(self, rows: Any) -> Cells:
        """The cells at `rows` (indices or a mask)."""
        return Cells(self.variables, self.codes[rows], self.counts[rows])

    def project(self, names: Sequence[str]) -> Codes:
        """Codes of the given variables only, in the given order."""
        return self.codes[:, self.axes.places(names)]

    def to_frame(self, kind: str = "pandas", *, count: str = "count", **extra: Any) -> Any:
        """One row a cell: its labels, the counts in column `count`, and any further columns."""
        if taken := {count, *extra} & set(self.names):
            raise DataError(
                f"{min(taken)!r} names a variable already; choose another name for that column."
            )
        return frame(labels(self.variables, self.codes) | {count: self.counts} | extra, kind)


def labels(variables: Sequence[Variable], codes: Codes) -> dict[str, Any]:
    """The categories of each cell, a column a variable, in the variable's order."""
    import pandas as pd

    return {
        variable.name: pd.Categorical.from_codes(codes[:, place], list(variable.categories))
        for place, variable in enumerate(variables)
    }


def frame(columns: Mapping[str, Any], kind: str = "pandas") -> Any:
    """Columns as a pandas, polars or Arrow frame; labels keep the order of their categories."""
    import pandas as pd

    if kind == "pandas":
        return pd.DataFrame(columns)
    if kind not in ("polars", "arrow"):
        raise DataError(f"there is no frame {kind!r}; choose pandas, polars or arrow.")
    import pyarrow as pa

    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    if kind == "arrow":
        return table
    try:
        import polars as pl
    except ImportError:
        raise DataError("polars is not installed; pip install 'discreet[polars]'.") from None

    ordered = {
        name: pl.Enum(list(column.categories))
        for name, column in columns.items()
        if isinstance(column, pd.Categorical)
    }
    return pl.DataFrame(table).cast(ordered)  # type: ignore[arg-type]

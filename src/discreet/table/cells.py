"""A list of cells of a table, with their counts: what bounds and beliefs are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.table.keys import Codes, Counts


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells by their codes (cells x variables); `counts` is what the custodian knows of them."""

    variables: tuple[Variable, ...]
    codes: Codes
    counts: Counts

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(variable.size for variable in self.variables)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[dict[str, str]]:
        for row in range(len(self)):
            yield self.label(row)

    def __repr__(self) -> str:
        return f"Cells({len(self):,} of {' x '.join(self.names)})"

    def _repr_html_(self) -> str:
        return str(self.to_frame().head(20).to_html(index=False))

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
        return self.codes[:, [self.names.index(name) for name in names]]

    def to_frame(self, kind: str = "pandas", **extra: Any) -> Any:
        """One row a cell with its labels, `count` and any further columns."""
        columns: dict[str, Any] = {
            variable.name: np.array(variable.categories, object)[self.codes[:, place]]
            for place, variable in enumerate(self.variables)
        }
        return frame(columns | {"count": self.counts} | extra, kind)


def frame(columns: dict[str, Any], kind: str = "pandas") -> Any:
    """Columns as a pandas, polars or Arrow frame."""
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    if kind not in ("polars", "arrow"):
        raise DataError(f"there is no frame {kind!r}; choose pandas, polars or arrow.")
    lists = {
        name: column.tolist() if isinstance(column, np.ndarray) else list(column)
        for name, column in columns.items()
    }
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(lists)
    import pyarrow as pa

    return pa.table(lists)

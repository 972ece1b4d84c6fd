"""A source: records as one ibis table; what every kind of source is made with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.engines import error_kinds, reason
from discreet.data.engines import own_duckdb as own_duckdb
from discreet.errors import DataError

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook

NOT_UTF8 = "it is not UTF-8; save it as UTF-8 and try again."


@dataclass(frozen=True)
class Source:
    """An ibis table, the order of categories that its types carry, and what to call it.

    `codebook` is what the file says of itself (labels, missing codes), `notes` are sentences on how
    it was read. `files` are where the records come from, `version` is that of a table that has
    versions, and `ordered` says whether its rows have numbers, as those of a file have.
    `count` is the column of counts where the rows are cells by construction, as in a table of R.
    """

    records: Any
    name: str
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    codebook: Codebook | None = None
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    version: str | None = None
    ordered: bool = True
    count: str | None = None

    def __post_init__(self) -> None:
        if self.codebook is not None:  # of columns that were taken out it says nothing
            object.__setattr__(self, "codebook", self.codebook.among(self.records.columns))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.records.columns)

    @property
    def engine(self) -> str:
        """duckdb, postgres, pyspark or sqlite."""
        return str(self.records.get_backend().name)


class OnlyCapitals(DataError):
    """Names of columns that engines do not tell apart; `records` has them, if they are at hand."""

    records: Any = None


@contextmanager
def engine_errors(name: str) -> Iterator[None]:
    """Whatever the engine says becomes one sentence."""
    try:
        yield
    except error_kinds() as error:
        raise DataError(f"cannot read {name}: {_sentence(reason(error))}") from None


def _sentence(message: str) -> str:
    """The part of an engine's message that a person can act on."""
    if re.search(r"unicode|utf-?8|codec", message, re.IGNORECASE):
        return NOT_UTF8
    line = re.search(r"CSV Error on Line: (\d+)", message)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line and fields:
        return (
            f"line {line[1]} has {fields[2]} field{'s' * (fields[2] != '1')} where the header has "
            f"{fields[1]}; repair that line."
        )
    if line and "unterminated quote" in message:
        return f"line {line[1]} has a quote or a line end out of place; repair that line."
    if line:
        return f"line {line[1]} is no line of CSV; repair that line."
    if re.search(r"parquet", message, re.IGNORECASE):
        return "it is not a Parquet file, or a damaged one; write it again."
    if "state machine" in message:
        return "its quotes or line ends are mixed; save it again as CSV."
    if re.search(r"conversion failed|could not convert|isoformat", message, re.IGNORECASE):
        column = re.search(r"failed for column (.+?) with type", message)
        which = f"column {column[1]!r}" if column else "a column"
        return f"{which} has values that are not of its type; read a view that makes them text."
    first = message.strip().splitlines()[0] if message.strip() else "the engine gives no reason"
    return first.rstrip(".") + "."


def from_arrow(records: Any, orders: Mapping[str, tuple[str, ...]], name: str) -> Source:
    """An Arrow table without dictionaries as a source."""
    names = trimmed(records.column_names)
    records = records.rename_columns(names)
    try:
        check_names(names, name)
    except OnlyCapitals as error:
        error.records = records
        raise
    connection = own_duckdb()
    with engine_errors(name):
        connection.con.register("records", records)
        orders = {column.strip(): order for column, order in orders.items()}
        return Source(connection.table("records"), name, orders)


def trimmed(names: Sequence[str]) -> list[str]:
    """Names of columns without blanks around them.

    >>> trimmed([" Sex", "Age group "])
    ['Sex', 'Age group']
    """
    return [column.strip().removeprefix("\ufeff").strip() for column in names]


def check_names(names: Sequence[str], name: str) -> None:
    """Engines do not tell Sex from sex, and cannot address a column without a name."""
    seen: dict[str, str] = {}
    for place, column in enumerate(names, 1):
        if not column.strip():
            raise DataError(f"column {place} of {name} has no name; give it one in the header.")
        if "\0" in column:
            raise DataError(f"the header of {name} is no text; it is damaged, or of another kind.")
        if (other := seen.setdefault(column.lower(), column)) != column:
            raise OnlyCapitals(
                f"{name} has the columns {other!r} and {column!r}, which differ only in capitals; "
                "rename one."
            )
        if [*names].index(column) != place - 1:
            raise DataError(f"{name} has two columns named {column!r}; rename one.")
    if not seen:
        raise DataError(f"{name} has no columns; put their names in the first line.")

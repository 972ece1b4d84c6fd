"""Cells on disk: a folder of Parquet parts with small codes, and what is known of them.

    people.cells/
        cells.json             the variables, the total, and the rows of every part
        part-00000.parquet     a column of codes a variable, and the counts

A code is the place of a category among the variable's categories. No cell stands twice, within a
part or in two: whoever writes the parts promises it, and `check_cells` looks.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.data.count import LARGEST_COUNT
from discreet.data.database import hidden
from discreet.data.engines import own_duckdb
from discreet.data.hierarchy import Hierarchy
from discreet.data.variable import Role
from discreet.errors import DataError, DisclosureError, reason

KIND, FORMAT = "discreet cells", 1
LISTED = "cells.json"
PART = re.compile(r"part-(\d{5,})\.parquet")
ROW_GROUP = 1 << 20  # cells that are read at a time

Combination = tuple[tuple[str, str], ...]
Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Part:
    """One file of cells."""

    number: int
    rows: int
    total: int
    size: int  # of the file, in bytes

    @property
    def name(self) -> str:
        return part_name(self.number)


@dataclass(frozen=True)
class StoredCells:
    """A folder of cells that was finished; `count` is the name of the column of counts."""

    folder: Path
    variables: tuple[Variable, ...]
    count: str
    parts: tuple[Part, ...]
    dropped: int = 0
    sampling_fraction: float | None = None
    impossible: tuple[Combination, ...] | None = None  # stated; None: nobody has looked
    # two names, how many combinations nobody has, these, did somebody say that they can occur
    codings: tuple[tuple[str, str, int, tuple[Combination, ...], bool], ...] = ()
    nestings: tuple[tuple[str, str], ...] = ()

    @property
    def total(self) -> int:
        return sum(part.total for part in self.parts)

    def __len__(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def paths(self) -> list[Path]:
        return [self.folder / part.name for part in self.parts]

    @classmethod
    def open(cls, folder: str | Path) -> StoredCells:
        """The cells of a folder; what is unfinished, damaged or not of this program is refused."""
        folder = Path(folder)
        found = read_list(folder)
        if found is None:
            raise DataError(
                f"{shown(folder)} has no {LISTED}; it is no folder of cells. Make one with "
                "Table.store."
            )
        if not found.get("finished"):
            raise DataError(
                f"{shown(folder)} was not written to its end; run what writes it again, it goes "
                "on where it stopped."
            )
        with _as_listed(folder):
            parts = tuple(Part(**part) for part in found["parts"])
            cells = cls(folder, _variables(found), found["count"], parts, **_known(found))
            if (found["cells"], found["total"]) != (len(cells), cells.total):
                raise ValueError
        for part in parts:
            _check_part(cells, part)
        return cells

    def batches(
        self, names: Sequence[str] | None = None
    ) -> Iterator[tuple[list[Codes], NDArray[np.int64]]]:
        """Columns of codes, in the order of `names`, and counts, a row group at a time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        names = [v.name for v in self.variables] if names is None else list(names)
        for path in self.paths:
            try:
                with pq.ParquetFile(
                    path, memory_map=True, page_checksum_verification=True, pre_buffer=False
                ) as file:
                    for group in range(file.num_row_groups):
                        found = file.read_row_group(group, columns=[*names, self.count])
                        yield (
                            [found.column(name).to_numpy() for name in names],
                            found.column(self.count).to_numpy(),
                        )
            except (OSError, pa.ArrowException) as error:
                raise _damaged(self.folder, path.name) from error

    def check_cells(self) -> None:
        """Refuse a cell that stands twice, by an engine that sorts hashes, on disk if need be.

        Cells that are the same have the same hash; the few whose hashes agree are compared.
        """
        row = ", ".join(_quoted(v.name) for v in self.variables)
        parts = [str(path) for path in self.paths]
        connection = own_duckdb().con
        connection.execute("SET memory_limit = '4GB'")
        connection.execute("SET enable_progress_bar = false")
        hashes = f"SELECT hash({row}) AS h FROM read_parquet($1)"
        shared = f"SELECT h FROM ({hashes}) GROUP BY h HAVING count(*) > 1"
        again = connection.execute(
            f"SELECT {row}, count(*) FROM read_parquet($1) WHERE hash({row}) IN ({shared}) "
            f"GROUP BY {row} HAVING count(*) > 1 LIMIT 1",
            [parts],
        ).fetchone()
        if again is not None:
            cell = ", ".join(
                f"{v.name}={v.categories[code]}"
                for v, code in zip(self.variables, again, strict=False)
            )
            raise DataError(
                f"{shown(self.folder)} has the cell {cell} {again[-1]} times; add its rows up "
                "and write the folder again."
            )


def is_stored(data: object) -> bool:
    """Is it a folder of cells, finished or not?"""
    return isinstance(data, str | Path) and (Path(data) / LISTED).is_file()


def part_name(number: int) -> str:
    return f"part-{number:05d}.parquet"


def code_type(size: int) -> Any:
    """The smallest unsigned numbers that hold the codes of so many categories."""
    return np.dtype(np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32)


# The list of a folder


def read_list(folder: Path) -> dict[str, Any] | None:
    """What `cells.json` says, if it is there."""
    try:
        found = json.loads((folder / LISTED).read_text("utf-8"))
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise DataError(f"{shown(folder)} is a file; name a folder of cells.") from None
    except OSError as error:
        raise DataError(
            f"cannot read {shown(folder)}: {reason(error)}; check its rights."
        ) from None
    except ValueError:
        raise _damaged(folder, LISTED) from None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise DataError(
            f"the {LISTED} of {shown(folder)} is of another program; name a folder of cells."
        )
    if found.get("format") != FORMAT:
        raise DataError(
            f"{shown(folder)} has the format {found.get('format')!r}, and this version reads "
            f"{FORMAT}; update discreet, or write the folder again."
        )
    return found


@contextmanager
def _as_listed(folder: Path) -> Iterator[None]:
    """What a wrong list raises becomes one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, DisclosureError):
        raise _damaged(folder, LISTED) from None


def described(variable: Variable) -> dict[str, Any]:
    return {
        "name": variable.name,
        "categories": list(variable.categories),
        "role": variable.role.value,
        "sensitive": list(variable.sensitive),
        "hierarchy": None if variable.hierarchy is None else [*map(list, variable.hierarchy.pairs)],
        "values": [list(value) for value in variable.values],
    }


def _variables(found: Mapping[str, Any]) -> tuple[Variable, ...]:
    return tuple(
        Variable(
            each["name"],
            tuple(each["categories"]),
            Role(each["role"]),
            tuple(each["sensitive"]),
            None if each["hierarchy"] is None else Hierarchy.of(each["hierarchy"]),
            tuple((str(c), float(low), float(high)) for c, low, high in each["values"]),
        )
        for each in found["variables"]
    )


def _known(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is impossible, and what only looks so; earlier versions listed both as impossible."""
    listed = None if found["impossible"] is None else _combinations(found["impossible"])
    codings = []
    for a, b, number, *more in found["codings"]:
        if len(more) == 1:
            own = tuple(c for c in listed or () if {name for name, _ in c} == {a, b})
            listed = listed and tuple(c for c in listed if c not in set(own))
            more = [own if more[0] else (), False]
        codings.append((a, b, int(number), _combinations(more[0]), bool(more[1])))
    return {
        "dropped": int(found["dropped"]),
        "sampling_fraction": found["sampling_fraction"],
        "impossible": listed,
        "codings": tuple(codings),
        "nestings": tuple((a, b) for a, b in found.get("nestings", ())),
    }


def _combinations(listed: Iterable[Any]) -> tuple[Combination, ...]:
    return tuple(tuple((name, category) for name, category in each) for each in listed)


def _check_part(cells: StoredCells, part: Part) -> None:
    """Is the part there, whole, with the right columns and codes within the categories?"""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = cells.folder / part.name
    try:
        same = stat.S_ISREG(path.stat().st_mode) and path.stat().st_size == part.size
        with pq.ParquetFile(path) as file:
            about = file.metadata
            kinds = [pa.from_numpy_dtype(code_type(v.size)) for v in cells.variables]
            names = [*(v.name for v in cells.variables), cells.count]
            same &= about.num_rows == part.rows and file.schema_arrow.names == names
            same &= file.schema_arrow.types == [*kinds, pa.int64()]
            same &= all(_within(about.row_group(g), cells) for g in range(about.num_row_groups))
    except (OSError, pa.ArrowException):
        same = False
    if not same:
        raise _damaged(cells.folder, part.name)


def _within(group: Any, cells: StoredCells) -> bool:
    """Do the codes of a row group lie within the categories, by its own statistics?"""
    sizes = [*(v.size for v in cells.variables), LARGEST_COUNT + 1]
    for place, size in enumerate(sizes):
        known = group.column(place).statistics
        if known is None or not known.has_min_max or not 0 <= known.min <= known.max < size:
            return not group.num_rows
    return not group.num_rows or known.min > 0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def shown(folder: Path) -> str:
    return repr(hidden(str(folder)))


def _damaged(folder: Path, name: str) -> DataError:
    return DataError(
        f"{name} of {shown(folder)} is damaged or missing; copy the folder again, or write it "
        "again."
    )

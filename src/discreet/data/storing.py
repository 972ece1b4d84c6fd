"""Writing a folder of cells, part by part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.codebook import Variable
from discreet.data.count import LARGEST_COUNT
from discreet.data.files import unfinished
from discreet.data.stored import (
    FORMAT,
    KIND,
    LISTED,
    PART,
    ROW_GROUP,
    Combination,
    Part,
    StoredCells,
    code_type,
    described,
    part_name,
    read_list,
    shown,
)
from discreet.errors import DataError, OutputError


class CellsWriter:
    """Writes a folder of cells part by part; parts that are there stay, so it can be run again.

    Everything is written under another name first, and for its owner alone to read. `impossible`
    are combinations that nobody can have, as stated, `codings` and `nestings` those of a table;
    left out, codings are looked for when the cells are read.

    >>> import tempfile
    >>> sex = Variable("Sex", ("f", "m"))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     writer = CellsWriter(f"{place}/people.cells", [sex])
    ...     writer.write(0, {"Sex": [0, 1]}, [3, 4])
    ...     writer.has(0), writer.finish().total
    (True, 7)
    """

    def __init__(
        self,
        folder: str | Path,
        variables: Iterable[Variable],
        *,
        sampling_fraction: float | None = None,
        impossible: Iterable[Combination] | None = None,
        codings: Iterable[tuple[str, str, int, Iterable[Combination], bool]] = (),
        nestings: Iterable[tuple[str, str]] = (),
    ) -> None:
        import pyarrow as pa

        self.folder, self.variables = Path(folder), tuple(variables)
        names = [v.name for v in self.variables]
        if not names or len(set(names)) < len(names):
            raise DataError("cells are stored by one variable at least, each named once.")
        self.count = "count"
        while self.count in names:
            self.count += "_"
        fields = [pa.field(v.name, pa.from_numpy_dtype(code_type(v.size))) for v in self.variables]
        self.schema = pa.schema([*fields, pa.field(self.count, pa.int64())])
        self._known = {
            "sampling_fraction": sampling_fraction,
            "impossible": None
            if impossible is None
            else [list(map(list, combination)) for combination in impossible],
            "codings": [
                [a, b, number, [list(map(list, c)) for c in combinations], denied]
                for a, b, number, combinations, denied in codings
            ],
            "nestings": list(map(list, nestings)),
        }
        self._begin()

    def _begin(self) -> None:
        """A new folder, or one that the same writer left unfinished."""
        wanted = self._list()
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            found = read_list(self.folder)
            if found is None and any(self.folder.iterdir()):
                raise OutputError(
                    f"{shown(self.folder)} has other files in it; name a folder that is new."
                )
            if found is None:
                self._put_list(wanted)
        except OSError as error:
            raise _cannot(self.folder, error) from None
        if found is None:
            return
        if found.get("finished"):
            raise OutputError(f"{shown(self.folder)} is there already; name a folder that is new.")
        if any(found.get(key) != wanted[key] for key in wanted):
            raise OutputError(
                f"{shown(self.folder)} was begun with other variables; name a folder that is new."
            )

    @property
    def done(self) -> tuple[int, ...]:
        """The numbers of the parts that are there."""
        found = (PART.fullmatch(path.name) for path in self.folder.iterdir())
        return tuple(sorted(int(match[1]) for match in found if match))

    def has(self, number: int) -> bool:
        return (self.folder / part_name(number)).exists()

    def write(self, number: int, columns: Mapping[str, Any], counts: Any) -> None:
        """One part from one batch: the codes of every variable, and the counts."""
        self.write_batches(number, [(columns, counts)])

    def write_batches(self, number: int, batches: Iterable[tuple[Mapping[str, Any], Any]]) -> None:
        """One part from batches of (codes by variable, counts), as numpy or Arrow arrays.

        Cells without people are left out; a part that is there already is replaced.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        target = self.folder / part_name(number)
        temporary = unfinished(self.folder / f".{target.name}.{os.getpid()}")
        try:
            temporary.touch(mode=0o600)
            with pq.ParquetWriter(
                temporary, self.schema, compression="lz4", write_page_checksum=True
            ) as out:
                for columns, counts in batches:
                    out.write_batch(self._batch(columns, counts), ROW_GROUP)
            temporary.chmod(0o600)
            os.replace(temporary, target)
        except (OSError, pa.ArrowException) as error:
            raise _cannot(self.folder, error) from None
        finally:
            temporary.unlink(missing_ok=True)

    def _batch(self, columns: Mapping[str, Any], counts: Any) -> Any:
        """Checked codes in their small types; zeros left out."""
        import pyarrow as pa

        people = np.asarray(counts)
        if people.dtype.kind not in "iu" or (len(people) and people.min() < 0):
            raise DataError(
                "a count to store is no whole number from 0 on; store counts of people."
            )
        kept = people > 0
        arrays = []
        for variable in self.variables:
            codes = np.asarray(columns[variable.name])
            if len(codes) != len(people) or codes.dtype.kind not in "iu":
                raise DataError(f"{variable.name!r} has not one code for each count; give as many.")
            if len(codes) and not (int(codes.min()) >= 0 and int(codes.max()) < variable.size):
                raise DataError(
                    f"{variable.name!r} has a code outside its {variable.size} categories; give "
                    f"codes from 0 to {variable.size - 1}."
                )
            codes = codes.astype(code_type(variable.size), copy=False)
            arrays.append(pa.array(codes if kept.all() else codes[kept]))
        people = people.astype(np.int64, copy=False)
        arrays.append(pa.array(people if kept.all() else people[kept]))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def finish(self, *, dropped: int = 0) -> StoredCells:
        """Say that all parts are there; `dropped` people had a missing value."""
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        parts = []
        for number in self.done:
            path = self.folder / part_name(number)
            people = pq.read_table(path, columns=[self.count]).column(0)
            total = int(pc.sum(people).as_py() or 0)
            parts.append(Part(number, len(people), total, path.stat().st_size))
        if (total := sum(part.total for part in parts)) > LARGEST_COUNT or not total:
            raise DataError(
                f"the counts sum to {total:,}; a table counts from 1 to {LARGEST_COUNT:,} people."
            )
        listed = self._list() | {
            "finished": True,
            "total": total,
            "cells": sum(part.rows for part in parts),
            "dropped": dropped,
            "parts": [vars(part) for part in parts],
        }
        try:
            self._put_list(listed)
        except OSError as error:
            raise _cannot(self.folder, error) from None
        return StoredCells.open(self.folder)

    def _list(self) -> dict[str, Any]:
        return {
            "kind": KIND,
            "format": FORMAT,
            "count": self.count,
            "variables": [described(variable) for variable in self.variables],
        } | self._known

    def _put_list(self, listed: Mapping[str, Any]) -> None:
        temporary = unfinished(self.folder / f".{LISTED}.{os.getpid()}")
        try:
            temporary.touch(mode=0o600)
            temporary.write_text(json.dumps(listed, indent=1, ensure_ascii=False), "utf-8")
            os.replace(temporary, self.folder / LISTED)
        finally:
            temporary.unlink(missing_ok=True)


def _cannot(folder: Path, error: Exception) -> OutputError:
    reason = (getattr(error, "strerror", None) or str(error).splitlines()[0]).lower()
    return OutputError(
        f"cannot write {shown(folder)}: {reason}; choose a folder that you can write to."
    )

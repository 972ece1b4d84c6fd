"""The source file and the released file, column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.data.encode import check_alike
from discreet.data.frames import label
from discreet.data.readers import text
from discreet.data.reading import Reading
from discreet.data.source import Source, engine_errors
from discreet.data.totals import check_labels
from discreet.errors import DataError
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.look.result import Unpublished


@dataclass(frozen=True, eq=False)
class Records(Unpublished):
    """Keys of both files as read, further columns, and the source row of each released record.

    `parents` is None without an id; -1 marks a released record that the source does not have.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> records
    Records(3 released of 3)
    >>> records.parents
    array([0, 1, 2])
    """

    source: dict[str, Any]
    released: dict[str, Any]
    sources: int
    count: int
    parents: Ints | None = None
    names: tuple[str, str] = ("the source", "the released file")
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Records({self.count:,} released of {self.sources:,})"


def read_records(
    source: object,
    released: object,
    intruder: Intruder,
    *,
    id: str | None = None,
    also: Sequence[str] = (),
    groups: Sequence[str] = (),
    records: bool = False,
) -> Records:
    """The keys of the source and of the released file, as far as the intruder knows them.

    `also` are further columns of both, `groups` of the source only; `id` says whose a record is.

    What looks like cells is refused unless `records` says that each row is a person, and so is a
    key that has a category called Total.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> dc.linkage.read_records(people, masked, intruder, id="id")
    Records(3 released of 3)
    """
    how = Reading(records=records)
    aside = [id] if id else []
    files = how.open(source, aside=aside), how.open(released, aside=aside)
    first, second = files[0].source, files[1].source
    known = [key for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    keys = list(dict.fromkeys(name for key in known for name in (key.name, *key.joint)))
    told = list(dict.fromkeys(name for key in known for name in key.columns))
    pairs = [name for key in intruder.correlation.values() for name in [getattr(key, "column", "")]]
    rest = [*also, *([id] if id else [])]
    shared = list(dict.fromkeys([*keys, *rest]))
    asked = list(dict.fromkeys([*told, *filter(None, pairs), *rest]))
    for opened, needed in ((first, asked), (second, shared)):
        missing = [name for name in needed if name not in opened.columns]
        if missing:
            raise DataError(
                f"{opened.name} has no column {missing[0]!r}; it has {', '.join(opened.columns)}."
            )
    if odd := [name for name in groups if name not in first.columns]:
        raise DataError(f"{first.name} has no column {odd[0]!r} to group by.")
    for one in files:
        one.check_people(known={*shared, *asked, *groups})
    columns = _columns(first, [*asked, *(g for g in groups if g not in asked)])
    masked = _columns(second, shared)
    for one, held in zip(files, (columns, masked), strict=True) if not records else ():
        keyed = ((name, held[name].unique().to_pylist()) for name in keys if name in held)
        check_labels(keyed, ("records", True), one.name, one.book)
    for name in keys if not records else ():
        both = [side[name].unique().to_pylist() for side in (columns, masked) if name in side]
        texts = [value for values in both for value in values if isinstance(value, str)]
        check_alike(name, texts, files[0].book, f"{first.name} and {second.name}")
    for key in known:
        for name in (key.name, *key.joint) if _comparable(key, columns) else ():
            _same_type(name, (first, columns[name]), (second, masked[name]))
    for name in shared if id is None else [name for name in shared if name != id]:
        if name in columns:
            _same_codes(name, (first, columns[name]), (second, masked[name]))
    sources, count = (len(next(iter(table.values()), ())) for table in (columns, masked))
    everyone = intruder.population or sources
    if everyone < sources:
        raise DataError(
            f"the population is said to be {everyone:,}, but the source has {sources:,} records."
        )
    if count > everyone:
        raise DataError(
            f"{count:,} records are released of {everyone:,}; a sample is no larger than its "
            "population."
        )
    parents = None
    if id is not None:
        parents = _parents(columns[id], masked[id], id, everyone > sources, (first, second))
    return Records(columns, masked, sources, count, parents, (first.name, second.name))


def texts(column: Any) -> NDArray[np.object_]:
    """Labels of a column; missing ones are empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return _spoken(pc.fill_null(pc.utf8_trim_whitespace(column), ""), str)
    found = column.unique().to_pylist()
    if len(found) * 4 < len(column):
        return _spoken(column, label)
    names = np.array([label(value) for value in found], object)
    places = {value: place for place, value in enumerate(found)}
    return np.array([names[places[value]] for value in column.to_pylist()], object)


def _spoken(column: Any, said: Callable[[Any], str]) -> NDArray[np.object_]:
    """What is said of each value; a text that many rows share is held once."""
    import pyarrow as pa

    coded = pa.chunked_array(column.dictionary_encode(null_encoding="encode"))
    found = np.empty(len(coded), object)
    at = 0
    for chunk in coded.unify_dictionaries().chunks:
        if at == 0:
            names = np.array([said(value) for value in chunk.dictionary.to_pylist()], object)
        found[at : at + len(chunk)] = names[chunk.indices.to_numpy(zero_copy_only=False)]
        at += len(chunk)
    return found


def numbers(column: Any, name: str, where: str) -> NDArray[np.float64]:
    """Numbers of a column; missing ones are nan."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, trimmed.type), trimmed)
    try:
        found = pc.cast(column, pa.float64()).to_numpy()
    except pa.ArrowException:
        for row, value in enumerate(column.to_pylist(), 1):
            if value is not None and not _is_number(value):
                raise DataError(
                    f"row {row} of {where} has {value!r} in {name!r}, where a number is needed."
                ) from None
        raise DataError(f"{name!r} of {where} is no column of numbers.") from None
    found = np.array(found, np.float64)
    if np.isinf(found).any():
        raise DataError(f"{name!r} of {where} has an infinite number; repair it.")
    return found


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _columns(source: Source, names: list[str]) -> dict[str, Any]:
    with engine_errors(source.name):
        chosen = source.records.select(*names) if names else source.records
        table = chosen.to_pyarrow()
    if table.num_rows == 0:
        raise DataError(f"{source.name} has no records; it needs at least one.")
    return dict(zip(table.column_names, table.columns, strict=True))


def _comparable(key: Key, columns: dict[str, Any]) -> bool:
    """Whether released values are of the same type as those of the source."""
    recoded = key.kind in (Kind.INTERVAL, Kind.TOPCODE, Kind.SHARED)
    return not recoded and key.seen is None and key.matrix is None and key.name in columns


def _same_type(name: str, first: tuple[Source, Any], second: tuple[Source, Any]) -> None:
    import pyarrow as pa

    said = []
    for source, column in (first, second):
        if source.name.rstrip("'").lower().endswith(text.SUFFIXES):
            return  # all text
        whole = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        said.append("numbers" if whole or pa.types.is_decimal(column.type) else str(column.type))
    if said[0] != said[1]:
        raise DataError(
            f"{name!r} is {said[0]} in {first[0].name} and {said[1]} in {second[0].name}; give "
            "both the same type."
        )


def _same_codes(name: str, first: tuple[Source, Any], second: tuple[Source, Any]) -> None:
    """Codes with labels mean the same in both files, and neither has labels in place of codes."""
    books = [
        source.codebook.entry(name).labels if source.codebook else {}
        for source, _ in (first, second)
    ]
    for code in books[0].keys() & books[1].keys():
        if books[0][code] != books[1][code]:
            raise DataError(
                f"{code!r} of {name!r} is {books[0][code]!r} in {first[0].name} and "
                f"{books[1][code]!r} in {second[0].name}; give both the same codes."
            )
    for labels, (coded, _), (other, column) in (
        (books[0], first, second),
        (books[1], second, first),
    ):
        found = {label(value) for value in column.unique().to_pylist()} if labels else set()
        if (odd := sorted((found - labels.keys()) & set(labels.values()))) and found - {""}:
            raise DataError(
                f"{name!r} is in codes in {coded.name} and in labels such as {odd[0]!r} in "
                f"{other.name}; give both the same."
            )


def _parents(
    source: Any, released: Any, name: str, outsiders: bool, files: tuple[Source, Source]
) -> Ints:
    import pandas as pd

    if (quick := _rows_of(source, released)) is not None and (outsiders or (quick >= 0).all()):
        return quick
    index, wanted = pd.Index(texts(source)), pd.Index(texts(released))
    for listed, file in ((index, files[0]), (wanted, files[1])):
        if listed.has_duplicates:
            row = int(np.argmax(listed.duplicated())) + 1
            raise DataError(f"the id {name!r} of {file.name} is not unique: see row {row}.")
    parents = np.asarray(index.get_indexer(wanted), np.int64)
    if not outsiders and (parents < 0).any():
        raise DataError(
            f"row {int(np.argmax(parents < 0)) + 1} of {files[1].name} has an id {name!r} that "
            f"{files[0].name} does not have."
        )
    return parents


def _rows_of(source: Any, released: Any) -> Ints | None:
    """The source row of each released id, -1 if none; None where ids have to be compared as texts.

    Only the released ids are held in a table: the source may have a hundred times as many.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = source.type
    if kind != released.type or source.null_count or released.null_count:
        return None
    if pa.types.is_string(kind):
        source, released = pc.utf8_trim_whitespace(source), pc.utf8_trim_whitespace(released)
    elif not pa.types.is_integer(kind):
        return None
    if any(pc.count_distinct(column).as_py() < len(column) for column in (source, released)):
        return None
    whole = released.combine_chunks() if isinstance(released, pa.ChunkedArray) else released
    place = pc.index_in(source, value_set=whole)
    rows = np.flatnonzero(pc.is_valid(place).to_numpy())
    found = np.full(len(released), -1, np.int64)
    found[place.drop_null().to_numpy()] = rows
    return found

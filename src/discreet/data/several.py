"""Several files as one: a folder, a pattern or a list, of one kind and with the same columns."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.data.codebook import Codebook, Entry
from discreet.data.engines import own_duckdb
from discreet.data.fingerprint import fingerprint
from discreet.data.frames import label
from discreet.data.layout import BESIDE
from discreet.data.readers import parquet, suffix_of
from discreet.data.source import Source, engine_errors
from discreet.errors import DataError

LISTED = 3
NO_CHANCE = 10  # records, from which two files with the same ones are copies
MANY = 100_000  # records, from which the engine hashes them


def files_in(folder: Path) -> list[Path]:
    """The files of a folder that can be read, if they are of one kind."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith((".", "~")))
    layouts = tuple(end for end in BESIDE if end != ".xml")
    read = [path for path in files if suffix_of(path) and not path.name.lower().endswith(layouts)]
    if not read:
        raise DataError(f"the folder {str(folder)!r} has no file that can be read; name a file.")
    kinds = list(dict.fromkeys(suffix_of(path) for path in read))
    if len(kinds) > 1:
        raise DataError(
            f"the folder {str(folder)!r} has files of several kinds, {_listed(map(str, kinds))}; "
            f"say which by a pattern, as in {str(folder / ('*' + str(kinds[0])))!r}."
        )
    return read


def as_one(
    paths: Sequence[Path], read: Callable[[Path], Source], name: str | None = None
) -> Source:
    """One source of all records; files that differ in their columns or labels are refused."""
    shown = name or f"{len(paths)} files"
    kinds = {suffix_of(path): path for path in paths}
    if len(kinds) > 1:
        one, other, *_ = kinds.values()
        raise DataError(
            f"{one.name!r} and {other.name!r} are files of different kinds; name files of one."
        )
    _check_copies(paths)
    sources = [read(path) for path in paths]
    for source in sources[1:]:
        _check_columns(sources[0], source)
    _check_same_records(sources, shown)
    codebook = _joined_books(sources)
    orders = _joined_orders(sources)
    records = _union(sources, paths, shown)
    files = _listed(source.name for source in sources)
    told = f"{shown}: {len(sources)} files are read as one, {files}."
    notes = dict.fromkeys([told, *(note for source in sources for note in source.notes)])
    return Source(records, shown, orders, codebook, tuple(notes), files=tuple(paths))


def _check_copies(paths: Sequence[Path]) -> None:
    """A file that is there twice would count its people twice."""
    sizes: dict[int, list[Path]] = {}
    for path in paths:
        sizes.setdefault(path.stat().st_size, []).append(path)
    for alike in sizes.values():
        seen: dict[str, Path] = {}
        for path in alike if len(alike) > 1 else ():
            with open(path, "rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            if (other := seen.setdefault(content, path)) is not path:
                raise DataError(
                    f"{other.name!r} and {path.name!r} have the same content, so that everybody in "
                    "them would count twice; leave one out."
                )


def _check_same_records(sources: Sequence[Source], name: str) -> None:
    """Copies in another order, or with other line ends."""
    sizes: dict[int, list[Source]] = {}
    with engine_errors(name):
        for source in sources:
            rows = int(source.records.count().to_pyarrow().as_py())
            sizes.setdefault(rows, []).append(source)
        for rows, alike in sizes.items():
            seen: dict[str, Source] = {}
            for source in alike if len(alike) > 1 and rows >= NO_CHANCE else ():
                if (other := seen.setdefault(_fingerprint(source, rows), source)) is not source:
                    raise DataError(
                        f"{other.name} and {source.name} have the same {rows:,} records, so that "
                        "everybody in them would count twice; leave one out."
                    )


def _fingerprint(source: Source, rows: int) -> str:
    """Of the records, whatever their order and that of the columns."""
    columns, number = sorted(source.columns), "n"
    if rows >= MANY:
        return str(fingerprint(replace(source, files=(), ordered=False), columns))
    while number in {column.lower() for column in columns}:
        number += "_"
    records = source.records
    found = records.group_by(columns).aggregate(**{number: records.count()}).to_pyarrow()
    texts = ([label(value) for value in found[name].to_pylist()] for name in (*columns, number))
    cells = sorted("\x1f".join(cell) for cell in zip(*texts, strict=True))
    return hashlib.sha256("\x1e".join(cells).encode(errors="surrogatepass")).hexdigest()


def _check_columns(first: Source, other: Source) -> None:
    for one, two in ((first, other), (other, first)):
        if lost := [column for column in one.columns if column not in two.columns]:
            raise DataError(
                f"{one.name} has the column {lost[0]!r} and {two.name} has not; files that are "
                "read as one have the same columns."
            )


def _joined_orders(sources: Sequence[Source]) -> dict[str, tuple[str, ...]]:
    """The longest order that a file carries, if it holds the others."""
    orders: dict[str, tuple[str, ...]] = {}
    for source in sources:
        for column, order in source.orders.items():
            known = orders.setdefault(column, order)
            short, long = sorted((known, order), key=len)
            if tuple(category for category in long if category in short) != short:
                raise DataError(
                    f"{source.name} has the categories of {column!r} in another order, or others, "
                    "than the files before it; make them the same."
                )
            orders[column] = long
    return orders


def _joined_books(sources: Sequence[Source]) -> Codebook | None:
    """Labels of all files; one code must not mean two things."""
    found: Codebook | None = None
    for source in sources:
        book = source.codebook
        if book is None or found is None:
            found = found or book
            continue
        if book.weights != found.weights:
            raise DataError(
                f"{source.name} is weighted by {book.weights!r} and another file by "
                f"{found.weights!r}; weight them alike."
            )
        entries = dict(found.entries)
        for column, entry in book.entries.items():
            entries[column] = _joined(entries.get(column, entry), entry, column, source.name)
        found = replace(found, entries=entries)
    return found


def _joined(first: Entry, second: Entry, column: str, where: str) -> Entry:
    for one, two in ((first.labels, second.labels), (_inverse(first), _inverse(second))):
        for key in one.keys() & two.keys():
            if one[key] != two[key]:
                raise DataError(
                    f"the labels of {column!r} differ: {key!r} goes with {one[key]!r} in a file "
                    f"and with {two[key]!r} in {where}; make them the same."
                )
    open_ = first.open or second.open
    return replace(first, labels={**first.labels, **second.labels}, open=open_)


def _inverse(entry: Entry) -> Mapping[str, str]:
    return {text: code for code, text in entry.labels.items()}


def _union(sources: Sequence[Source], paths: Sequence[Path], name: str) -> Any:
    """All records in one engine, a file after the other; as text where types differ."""
    columns = sources[0].columns
    schemas = [source.records.schema() for source in sources]
    kinds = {column: [schema[column] for schema in schemas] for column in columns}
    mixed = [column for column, found in kinds.items() if not _alike(found)]
    if not mixed and str(suffix_of(paths[0])) in parquet.SUFFIXES and _as_named(paths, columns):
        return parquet.view_of(paths).select(list(columns))
    connection = own_duckdb()
    with engine_errors(name):
        for place, source in enumerate(sources):
            rows = source.records.select(list(columns)).to_pyarrow_batches()
            rows = _texts(rows.read_all(), mixed) if mixed else rows
            connection.con.register("part", rows)
            start = "INSERT INTO records" if place else "CREATE TABLE records AS"
            connection.con.execute(f"{start} SELECT * FROM part")
            connection.con.unregister("part")
        return connection.table("records")


def _as_named(paths: Sequence[Path], columns: Sequence[str]) -> bool:
    """Do columns have the names that they have in the files?"""
    import pyarrow.parquet as pq

    return all(set(pq.read_schema(path).names) == set(columns) for path in paths)


def _alike(kinds: Sequence[Any]) -> bool:
    return all(kind.copy(nullable=True) == kinds[0].copy(nullable=True) for kind in kinds)


def _texts(rows: Any, names: Sequence[str]) -> Any:
    """1 and 1.0 are one category, in whatever file they are."""
    import pyarrow as pa

    for name in names:
        encoded = rows[name].combine_chunks().dictionary_encode()
        said = pa.array([label(value) for value in encoded.dictionary.to_pylist()], pa.string())
        column = pa.DictionaryArray.from_arrays(encoded.indices, said).cast(pa.string())
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def _listed(names: Any) -> str:
    shown = list(names)
    return ", ".join(shown[:LISTED]) + (", ..." if len(shown) > LISTED else "")

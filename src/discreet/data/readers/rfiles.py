"""Data frames and tables of R, in .rds files and workspaces (parsed by rdata)."""

from __future__ import annotations

import lzma
import struct
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.frames import label
from discreet.data.labelled import Coded, as_source
from discreet.data.source import Source
from discreet.errors import DataError

SUFFIXES = (".rds", ".rda", ".rdata")
TABLES = True
COUNT = "Freq"  # as R calls the counts of a table
LATIN1 = 4  # flag of a text, see R Internals 1.1.2
PLAIN = {"AsIs", "numeric", "integer", "double", "character", "logical", "vctrs_vctr", "noquote"}
LABELLED = {"haven_labelled", "haven_labelled_spss", "labelled", "labelled_spss"}
FACTORS, TIMES = {"factor", "ordered"}, {"Date", "POSIXct", "POSIXt"}


def read(path: Path, name: str, table: str | None = None) -> Source:
    try:
        import rdata
    except ImportError:
        raise DataError(
            f"{name} is read by rdata, which is not installed; run pip install 'discreet[formats]'."
        ) from None
    failed = (ValueError, NotImplementedError, EOFError, OSError, zlib.error, lzma.LZMAError)
    broken = (KeyError, IndexError, TypeError, AssertionError, struct.error)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that its end says nothing of its kind
            content = rdata.parser.parse_file(path).object
        found = {"": content} if path.suffix.lower() == ".rds" else dict(_pairs(content))
        classes = {key: _classes(value) for key, value in found.items()}
    except (*failed, *broken):
        raise DataError(
            f"cannot read {name}: it is no file that R saved, or a damaged one; save it again."
        ) from None
    held = _frame(found, classes, name, table)
    if "table" in _classes(held):
        return replace(as_source(_cells(held, name), name), count=COUNT)
    return as_source(_columns(held, name), name)


def _frame(
    found: dict[str, Any], classes: dict[str, list[str]], name: str, wanted: str | None
) -> Any:
    """The data frame or table that is named, or the only one."""
    frames = [key for key, known in classes.items() if {"data.frame", "table"} & set(known)]
    if not frames:
        raise DataError(f"{name} holds no data frame; save one in it.")
    if frames == [""]:
        if wanted is not None:
            raise DataError(f"{name} holds one data frame without a name; leave out {wanted!r}.")
        return found[""]
    if wanted is None and len(frames) > 1:
        raise DataError(
            f"{name} has the data frames {', '.join(map(repr, frames))}; name one by --table, or "
            "by table= in Python."
        )
    if wanted is not None and wanted not in frames:
        raise DataError(
            f"{name} has no data frame {wanted!r}; it has {', '.join(map(repr, frames))}."
        )
    return found[wanted or frames[0]]


def _cells(table: Any, name: str) -> list[Coded]:
    """A table of R, one row a cell as `as.data.frame` has them: the first axis runs fastest."""
    import pyarrow as pa

    said = dict(_attributes(table))
    labels: Any = said.get("dimnames")
    called = None if labels is None else dict(_attributes(labels)).get("names")
    axes = _texts(called, name) if called is not None else []
    if not axes or not all(axes) or len(set(axes)) < len(axes) or COUNT in axes:
        raise DataError(
            f"{name} holds a table of R whose axes have no names; give each one, as in "
            "table(Sex = x, Town = y)."
        )
    sizes = [int(size) for size in _plain(said["dim"], name)]
    places = np.unravel_index(np.arange(np.prod(sizes)), sizes, order="F")
    columns = []
    for axis, listed, codes in zip(axes, labels.value, places, strict=True):
        known = _texts(listed, name)
        values = pa.array([known[code] for code in codes], pa.string())
        columns.append(Coded(axis, values, order=tuple(map(label, known))))
    counts = Coded(COUNT, _values(table, table.info.type.name, name))
    return [*columns, counts]


def _columns(frame: Any, name: str) -> list[Coded]:
    said = dict(_attributes(frame))
    rows = said.get("row.names")
    texts = _texts(rows, name) if rows is not None and rows.info.type.name == "STR" else []
    if any(not str(text).isdigit() for text in texts):
        raise DataError(
            f"{name} has row names such as {texts[0]!r}, which are not read; make them a column, "
            "or drop them with rownames(x) <- NULL."
        )
    names = _texts(said["names"], name) if "names" in said else []
    if not names:
        raise DataError(f"{name} has no columns; save a data frame that has.")
    pairs = zip(names, frame.value, strict=True)
    return [_column(called or "", column, name) for called, column in pairs]


def _column(called: str, column: Any, name: str) -> Coded:
    import pyarrow as pa

    said, kind, classes = dict(_attributes(column)), column.info.type.name, _classes(column)
    strange = [c for c in classes if c not in PLAIN | LABELLED | FACTORS | TIMES]
    if "dim" in said or kind not in ("LGL", "INT", "REAL", "STR"):
        strange = strange or ["matrix" if "dim" in said else "list"]
    if strange:
        raise DataError(
            f"column {called!r} of {name} is a {strange[0]} of R, which is not read; make it plain "
            "with as.character, or leave it out."
        )
    if FACTORS & set(classes):
        levels = _texts(said["levels"], name)
        places = np.ma.filled(column.value, 0)
        known = pa.array(levels, pa.string()).take(pa.array(places - 1, mask=places < 1))
        return Coded(called, known, title=_title(said, name), order=tuple(map(label, levels)))
    values = _values(column, kind, name)
    values = _as_times(values, classes, said, name)
    values, missing = _without(values, said, name)
    labels = _labels(said, name) if "labels" in said else {}
    return Coded(called, values, labels, _title(said, name), missing)


def _values(column: Any, kind: str, name: str) -> Any:
    import pyarrow as pa

    if kind == "STR":
        return pa.array(_texts(column, name), pa.string())
    values = np.ma.getdata(column.value)
    gone = np.ma.getmaskarray(column.value) | (np.isnan(values) if kind == "REAL" else False)
    return pa.array(values, mask=np.broadcast_to(gone, values.shape).copy())


def _as_times(values: Any, classes: list[str], said: dict[str, Any], name: str) -> Any:
    """Days and seconds since 1970, as R counts them; a moment by the clock of its zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "Date" in classes:
        return pc.floor(values.cast(pa.float64())).cast(pa.int32()).cast(pa.date32())
    if "POSIXct" not in classes:
        return values
    moments = pc.round(pc.multiply(values.cast(pa.float64()), 1e6)).cast(pa.int64())
    zone = (_texts(said["tzone"], name)[0] if "tzone" in said else "") or "UTC"
    try:
        return pc.local_timestamp(moments.cast(pa.timestamp("us", zone)))
    except pa.ArrowException:
        raise DataError(f"{name} has times in the unknown zone {zone!r}; use UTC.") from None


def _without(values: Any, said: dict[str, Any], name: str) -> tuple[Any, dict[str, int]]:
    """Values without the codes that haven calls missing."""
    import pyarrow as pa

    gone = None
    found = values.to_pylist() if {"na_values", "na_range"} & said.keys() else []
    if "na_values" in said:
        listed = {label(v) for v in _plain(said["na_values"], name)}
        gone = np.array([label(value) in listed for value in found], bool)
    if "na_range" in said:
        low, high = _plain(said["na_range"], name)
        inside = np.array([value is not None and low <= value <= high for value in found], bool)
        gone = inside if gone is None else gone | inside
    if gone is None:
        return values, {}
    codes = Counter(label(value) for value, hit in zip(found, gone, strict=True) if hit)
    codes.update(dict.fromkeys(_listed_missing(said, name), 0))
    kept = [None if hit else value for value, hit in zip(found, gone, strict=True)]
    return pa.array(kept, values.type), dict(codes)


def _listed_missing(said: dict[str, Any], name: str) -> list[str]:
    """Labelled codes that are missing, whether they occur or not."""
    low, high = _plain(said["na_range"], name) if "na_range" in said else (1, 0)
    codes = {label(v) for v in _plain(said["na_values"], name)} if "na_values" in said else set()
    for code in _labels(said, name) if "labels" in said else ():
        if isinstance(code, int | float) and low <= code <= high:
            codes.add(label(code))
    return sorted(codes)


def _labels(said: dict[str, Any], name: str) -> dict[Any, str]:
    named = dict(_attributes(said["labels"]))
    texts = _texts(named["names"], name) if "names" in named else []
    codes = _plain(said["labels"], name)
    pairs = zip(codes, texts, strict=True)
    return {code: text for code, text in pairs if text and code is not None and code == code}


def _plain(value: Any, name: str) -> list[Any]:
    if value.info.type.name == "STR":
        return _texts(value, name)
    found: list[Any] = np.ma.getdata(value.value).tolist()
    return found


def _title(said: dict[str, Any], name: str) -> str | None:
    held = said.get("label")
    return _texts(held, name)[0] if held is not None and held.info.type.name == "STR" else None


def _classes(value: Any) -> list[str]:
    held = dict(_attributes(value)).get("class")
    return [] if held is None else [str(text) for text in _texts(held, "")]


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    if value.attributes is not None:
        yield from _pairs(value.attributes)


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """A pairlist: a tag and a value each."""
    while value is not None and value.info.type.name in ("LIST", "ATTRLIST"):
        tag = value.tag
        if tag is not None and tag.info.type.name == "REF":
            tag = tag.referenced_object
        held, value = value.value
        if tag is not None:
            yield tag.value.value.decode("utf-8", "replace"), held


def _texts(value: Any, name: str) -> list[Any]:
    try:
        return [_text(each) for each in value.value]
    except UnicodeDecodeError:
        raise DataError(
            f"cannot read {name}: its text is in no known encoding; use enc2utf8() before saving."
        ) from None


def _text(char: Any) -> str | None:
    if char.value is None:
        return None
    content: bytes = char.value
    return content.decode("latin-1" if char.info.gp & LATIN1 else "utf-8")

"""SPSS, Stata and SAS, with their labels and missing codes (by ReadStat)."""

from __future__ import annotations

import mmap
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.data.frames import label
from discreet.data.labelled import Coded, as_source
from discreet.data.source import Source
from discreet.data.spss import weight_of
from discreet.errors import DataError

SPSS, STATA, SAS = (".sav", ".zsav", ".por"), (".dta",), (".sas7bdat", ".xpt")
SUFFIXES = (*SPSS, *STATA, *SAS)
CALLS = {".zsav": "read_sav", ".xpt": "read_xport"}
CODES = (".sav", ".zsav", ".dta", ".sas7bdat")  # kinds that tell missing codes apart
MEMBERS = (rb"HEADER RECORD\*{7}MEMBER  HEADER", rb"HEADER RECORD\*{7}MEMBV8  HEADER")  # of .xpt
MOST_CODES = 50  # of one column that a note counts


def read(path: Path, name: str) -> Source:
    suffix = path.suffix.lower()
    frame, meta, notes = _loaded(path, name, suffix)
    if not len(frame.columns):
        raise DataError(f"{name} has no columns; write it again with its variables.")
    labels = _labels(path, meta, suffix, notes, name)
    coded = [_column(frame, place, n, meta, labels) for place, n in enumerate(meta.column_names)]
    if suffix == ".por":  # whose missing codes are not told
        coded = [_used(column) for column in coded]
    weight = _weight(path, name, meta.column_names) if suffix in (".sav", ".zsav") else None
    if weight is not None:
        notes.append(f"{name} is weighted by {weight!r}, which is set aside as the weight.")
    return as_source(coded, name, weights=weight, notes=notes)


def _loaded(path: Path, name: str, suffix: str) -> tuple[Any, Any, list[str]]:
    """The frame and what is said of it; text that is not in the encoding it claims is retried."""
    try:
        import pyreadstat
    except ImportError:
        raise DataError(
            f"{name} is read by pyreadstat, which is not installed; run "
            "pip install 'discreet[formats]'."
        ) from None
    if suffix == ".xpt":
        _check_members(path, name)
    call = getattr(pyreadstat, CALLS.get(suffix, f"read_{suffix[1:]}"))
    options: dict[str, Any] = {"user_missing": True} if suffix in CODES else {}
    failed = (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OverflowError, ValueError)
    try:
        return *_without_dates(call, path, options), []
    except failed as error:
        if "convert string" not in str(error) or suffix == ".por":
            raise DataError(_sentence(name, error)) from None
    try:
        found = _without_dates(call, path, options | {"encoding": "WINDOWS-1252"})
    except failed as error:
        raise DataError(_sentence(name, error)) from None
    return *found, [f"{name} is not in the encoding that it claims, and is read as Windows-1252."]


def _without_dates(call: Any, path: Path, options: dict[str, Any]) -> tuple[Any, Any]:
    """What a call reads; dates that are missing codes are null, for their numbers are gone."""
    frame, meta = call(str(path), **options)
    dates = [n for n in meta.missing_ranges if n in frame and frame[n].dtype.kind in "OM"]
    dates = [n for n in dates if meta.readstat_variable_types.get(n) != "string"]
    if dates:
        again, _ = call(str(path), **options | {"user_missing": False, "usecols": dates})
        for name in dates:
            frame[name] = again[name]
            del meta.missing_ranges[name]
    return frame, meta


def _check_members(path: Path, name: str) -> None:
    """Only the first table of a transport file would be read."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        number = sum(len(re.findall(mark, text)) for mark in MEMBERS)
    if number > 1:
        raise DataError(f"{name} holds {number} tables; write each to a file of its own.")


def _sentence(name: str, error: Exception) -> str:
    if isinstance(error, OverflowError) or "date" in str(error).lower():
        return f"cannot read {name}: it has a date that no calendar has; repair it."
    if "convert string" in str(error):
        return f"cannot read {name}: its text is in no known encoding; save it as UTF-8."
    said = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "no reason"
    return f"cannot read {name}: {said[:1].lower()}{said[1:]}; it is damaged, write it again."


def _column(frame: Any, place: int, name: str, meta: Any, labels: Mapping[str, Any]) -> Coded:
    """A column without its missing codes, which are counted."""
    series = frame.iloc[:, place]
    title = meta.column_names_to_labels.get(name)
    letters = meta.missing_user_values.get(name) or []
    ranges = meta.missing_ranges.get(name) or []
    gone = None
    numeric = meta.readstat_variable_types.get(name) != "string"
    if letters and numeric:
        gone = series.map(lambda value: isinstance(value, str) and value in letters)
    for each in ranges:
        low, high = each["lo"], each["hi"]
        if isinstance(low, str):
            hit = series.astype(str).str.rstrip() == low.rstrip()
        else:
            hit = (series >= low) & (series <= high)
        gone = hit if gone is None else gone | hit
    missing: dict[str, int] = {}
    if gone is not None:
        codes = Counter(label(value) for value in series[gone])
        missing = dict(sorted(codes.items())[:MOST_CODES])
        series = series.mask(gone)
    said = {
        c: text for c, text in (labels.get(name) or {}).items() if not _falls(c, letters, ranges)
    }
    extra = {c: t for c, t in (labels.get(name) or {}).items() if label(c) in missing}
    return Coded(name, _arrow(series, name, numeric), {**said, **extra}, title, missing)


def _falls(code: Any, letters: list[str], ranges: list[dict[str, Any]]) -> bool:
    """Is a code one of those that are missing?"""
    if isinstance(code, str):
        return code in letters or any(str(r["lo"]).rstrip() == code.rstrip() for r in ranges)
    return any(not isinstance(r["lo"], str) and r["lo"] <= code <= r["hi"] for r in ranges)


def _arrow(series: Any, name: str, numeric: bool) -> Any:
    import pyarrow as pa

    if numeric and series.dtype == object:  # numbers among which letters stood, dates, times
        values = [None if value != value else value for value in series]
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {int, float}:
            return pa.array([None if v is None else float(v) for v in values], pa.float64())
        series = values
    return pa.array(series, from_pandas=True)


def _used(column: Coded) -> Coded:
    found = {label(value) for value in column.values.unique().to_pylist()}
    kept = {c: text for c, text in column.labels.items() if label(c) in found}
    return replace(column, labels=kept)


def _labels(
    path: Path, meta: Any, suffix: str, notes: list[str], name: str
) -> Mapping[str, Mapping[Any, str]]:
    """Labels of each column; those of SAS are in a catalogue beside the file."""
    if suffix != ".sas7bdat":
        return dict(meta.variable_value_labels)
    beside = {p.name.lower(): p for p in path.parent.glob("*") if p.suffix.lower() == ".sas7bcat"}
    for called in (f"{path.stem}.sas7bcat".lower(), "formats.sas7bcat"):
        if called in beside:
            import pyreadstat

            try:
                formats = pyreadstat.read_sas7bcat(str(beside[called]))[1].value_labels
            except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
                raise DataError(_sentence(repr(beside[called].name), error)) from None
            notes.append(f"the labels of {name} are from {beside[called].name!r} beside it.")
            used = meta.variable_to_label.items()
            return {n: formats[said] for n, said in used if said in formats}
    return {}


def _weight(path: Path, name: str, columns: Sequence[str]) -> str | None:
    said = weight_of(path)
    if said is None:
        return None
    found = [column for column in columns if column.upper() == said.upper()]
    if not found:
        raise DataError(
            f"{name} is weighted by {said!r}, which is none of its variables; switch the weight "
            "off in SPSS (WEIGHT OFF) and save it again."
        )
    return found[0]

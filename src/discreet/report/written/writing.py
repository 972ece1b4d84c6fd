"""Write masked sheets: a folder with its record, or one file."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.data.files import unfinished, whole
from discreet.errors import DataError, OutputError, near, reason
from discreet.masks.masked import Masked
from discreet.report.written.delimited import all_csv, long_csv, sdmx_csv, wide_csv
from discreet.report.written.documents import all_json, as_bytes, json_stats
from discreet.report.written.manifest import manifest
from discreet.report.written.safe import no_formula
from discreet.report.written.shown import Shown, shown
from discreet.report.written.workbook import workbook
from discreet.sheets.columns import NUMBER
from discreet.sheets.released import MANIFEST, read_manifest

FORMATS = ("csv", "xlsx", "json", "json-stat", "sdmx-csv")
LAYOUTS = ("long", "wide", "both")
SUFFIXES = (".csv", ".xlsx", ".json", ".jsonstat")
Content = dict[str, tuple[bytes, dict[str, Any]]]  # by name: the file, and what is said of it


def write(
    masked: Sequence[Masked],
    out: str | Path,
    *,
    symbol: str = "x",
    layout: str = "long",
    formats: Sequence[str] = ("csv",),
    decimals: int | None = None,
    record: Mapping[str, object] | None = None,
    force: bool = False,
) -> list[Path]:
    """Write every wanted sheet as it is printed; the paths written.

    `out` is a folder, or a file .csv, .xlsx, .json or .jsonstat of all sheets. A folder gets
    `formats`, CSV in a `layout`, and a manifest.json with the record. Hidden cells are the
    `symbol`, whyever they are hidden. `decimals` are those of sums, unless a sheet has an option
    of that name. A folder with anything else in it is left alone, unless by `force`.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.decision.batch.masking import mask
    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write(mask(records, sheets).masked, Path(folder) / "2026")]
    ['table-Gender_Race.csv', 'table-Gender_Income.csv', 'manifest.json']
    """
    out = Path(out)
    _check(symbol, layout, formats)
    tables = shown(masked, decimals)
    if out.suffix.lower() in SUFFIXES and not out.is_dir():
        content = _one_file(tables, out.suffix.lower(), symbol, record or {}, layout)
        with whole(out) as temporary:
            temporary.write_bytes(content)
        return [out]
    files = _files(tables, symbol, layout, formats, record or {})
    said = [{**about, "sha256": _hash(data)} for data, about in files.values()]
    made = {name: data for name, (data, _) in files.items()}
    made[MANIFEST] = as_bytes(manifest(tables, symbol, record or {}, said))
    _place(made, out, force)
    return [out / name for name in made]


def _check(symbol: str, layout: str, formats: Sequence[str]) -> None:
    if not symbol.strip() or NUMBER.fullmatch(symbol) or no_formula(symbol) != symbol:
        raise OutputError(f"the symbol {symbol!r} could be taken for a cell; choose one like x.")
    if layout not in LAYOUTS:
        raise OutputError(f"layout is {layout!r}; choose {', '.join(LAYOUTS)}.")
    for one in formats:
        if one not in FORMATS:
            raise OutputError(f"there is no format {one!r}; {near(one, FORMATS)}")
    if not formats:
        raise OutputError(f"no format is named; there are {', '.join(FORMATS)}.")


def _one_file(
    tables: Sequence[Shown], suffix: str, symbol: str, record: Mapping[str, object], layout: str
) -> bytes:
    if suffix == ".xlsx":
        return workbook(tables, symbol)
    if suffix == ".json":
        return all_json(tables, manifest(tables, symbol, record))
    if suffix == ".jsonstat":
        return json_stats(tables, symbol)
    if layout == "long":
        return all_csv(tables, symbol)
    if layout == "both" or len(tables) > 1:
        raise OutputError(
            f"{len(tables)} tables do not fit one CSV file in the layout {layout!r}; name a folder."
        )
    return wide_csv(tables[0], symbol)


def _files(
    tables: Sequence[Shown],
    symbol: str,
    layout: str,
    formats: Sequence[str],
    record: Mapping[str, object],
) -> Content:
    told, by_name = manifest(tables, symbol, record), {t.sheet.name: t for t in tables}
    found: Content = {}
    for about in listed(tables, layout, formats):
        own = tables if about["table"] is None else [by_name[about["table"]]]
        data = made(own, about["format"], about["layout"], symbol, told)
        found[about["name"]] = data, about
    return found


def listed(tables: Sequence[Shown], layout: str, formats: Sequence[str]) -> list[dict[str, Any]]:
    """The files of a folder in their order, and what the manifest says of each; one of all tables
    names none."""
    laid = ("long", "wide") if layout == "both" else (layout,)
    kinds = [("csv", one) for one in laid] + [("json-stat", ""), ("sdmx-csv", "")]
    found = [
        _about(stem, kind, one, table.sheet.name)
        for stem, table in zip(_stems(tables), tables, strict=True)
        for kind, one in kinds
        if kind in formats
    ]
    whole = (("xlsx", "wide"), ("json", ""))
    return found + [_about("tables", kind, one, None) for kind, one in whole if kind in formats]


def _about(stem: str, kind: str, layout: str, table: str | None) -> dict[str, Any]:
    ends = {"json-stat": "jsonstat", "sdmx-csv": "sdmx.csv"}
    end = "wide.csv" if (kind, layout) == ("csv", "wide") else ends.get(kind, kind)
    return {"name": f"{stem}.{end}", "format": kind, "layout": layout, "table": table}


def made(
    tables: Sequence[Shown],
    kind: str,
    layout: str,
    symbol: str,
    told: Mapping[str, Any] | None = None,
) -> bytes:
    """One file of a folder, of one table or of all; JSON has in it what the manifest has told."""
    if kind == "csv":
        return (wide_csv if layout == "wide" else long_csv)(tables[0], symbol)
    if kind == "sdmx-csv":
        return sdmx_csv(tables[0])
    if kind == "json-stat":
        return json_stats(tables, symbol)
    return workbook(tables, symbol) if kind == "xlsx" else all_json(tables, told or {})


def _stems(tables: Sequence[Shown]) -> list[str]:
    """`table-1`: names of files, none alike on any machine."""
    found: list[str] = []
    for place, table in enumerate(tables, 1):
        kept = re.sub(r"[^A-Za-z0-9_-]+", "_", table.sheet.name).strip("_")[:60] or str(place)
        stem = f"table-{kept}"
        while stem.casefold() in map(str.casefold, found):
            stem = f"{stem}-{place}"
        found.append(stem)
    return found


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _place(files: Mapping[str, bytes], out: Path, force: bool) -> None:
    """All files or none: in a new folder, which then takes its place."""
    target = Path(os.path.realpath(out))
    if target.exists() and not target.is_dir():
        raise OutputError(
            f"{str(out)!r} is a file; name a folder, or a file {', '.join(SUFFIXES)}."
        )
    foreign, old = _foreign(target)
    if foreign and not force:
        raise OutputError(
            f"the folder {str(out)!r} has {foreign[0]!r} in it, which no release wrote; name "
            "another folder, or force it."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = unfinished(Path(tempfile.mkdtemp(prefix=".discreet-", dir=target.parent)))
    except OSError as error:
        raise _refusal(out, error) from None
    try:
        for name, data in files.items():
            (fresh / name).write_bytes(data)
        if foreign:
            _move_in(files, fresh, target, old)
        else:
            _swap(fresh, target)
    except OSError as error:
        raise _refusal(out, error) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, target: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    fresh.chmod(0o777 & ~mask)
    if not target.exists():
        fresh.rename(target)
        return
    aside = Path(tempfile.mkdtemp(prefix=".discreet-", dir=target.parent))
    try:
        target.rename(aside / "old")
        fresh.rename(target)
    except BaseException:  # an interrupt, too: what was there comes back
        if (aside / "old").exists():
            (aside / "old").rename(target)
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _move_in(files: Mapping[str, bytes], fresh: Path, target: Path, old: Sequence[str]) -> None:
    """Among what somebody else put there; the manifest last, without files of another release."""
    for name in files:
        os.replace(fresh / name, target / name)
    for name in old:
        if name not in files:
            (target / name).unlink(missing_ok=True)


def _foreign(target: Path) -> tuple[list[str], list[str]]:
    """What is in a folder that no release wrote, and what one did."""
    if not target.exists():
        return [], []
    try:
        said = read_manifest(target)["files"]
        own = [MANIFEST, *(str(file["name"]) for file in said)]
    except (DataError, KeyError, TypeError):
        own = []
    own = [name for name in own if Path(name).name == name]
    return sorted(one.name for one in target.iterdir() if one.name not in own), own


def _refusal(out: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write {str(out)!r}: {reason(error)}; choose another place.")

"""Is a file what is written of the cells that it shows, and nothing else?

Files are read by code of their own, which looks for what should not be there. Here each is written
once more, from the manifest and the cells that were read of it. Whatever differs is in no cell: a
title, the name of a sheet, an author, an order of rows, a format of numbers, a blank.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from discreet.decision.law.verdict import Verdict
from discreet.errors import OutputError
from discreet.report.checking.archive import archive_differs
from discreet.report.checking.found import Finding
from discreet.report.checking.tables import Printing
from discreet.report.written.documents import as_bytes
from discreet.report.written.manifest import manifest as written_manifest
from discreet.report.written.shown import Shown
from discreet.report.written.writing import listed, made
from discreet.sheets.released import MANIFEST
from discreet.sheets.sheet import Sheet

MOST_SHOWN = 60  # letters of what differs


def as_written(
    folder: Path,
    manifest: Mapping[str, Any],
    sheets: Sequence[Sheet],
    printings: Mapping[str, Mapping[str, Printing]],
) -> Iterator[Finding]:
    """What differs from the release as it would be written: the manifest, names, each file.

    `printings` are the tables that each file shows, by file and table; a file that is not among
    them is known to be wrong.
    """
    yield from _manifest(folder, manifest, sheets)
    described = [*zip(sheets, manifest["tables"], strict=True)]
    told = {**manifest, "files": []}
    for file in manifest["files"]:
        name, kind, layout = str(file["name"]), str(file["format"]), str(file["layout"])
        if name not in printings:
            continue
        own = [(sheet, said) for sheet, said in described if file["table"] in (None, sheet.name)]
        tables = [_shown(sheet, said, printings[name][sheet.name]) for sheet, said in own]
        try:
            wanted = made(tables, kind, layout, manifest["symbol"], told)
        except OutputError as error:
            yield _finding(name, f"its cells would not be written so: {error}")
            continue
        if differs := _differs((folder / name).read_bytes(), wanted, kind):
            yield _finding(name, differs)


def _finding(file: str, text: str) -> Finding:
    return Finding("content", Verdict.FAIL, text, file)


def _shown(sheet: Sheet, said: Mapping[str, Any], printing: Printing | None) -> Shown:
    """A table as the manifest describes it, with the cells that a file shows."""
    if printing is not None:
        values = printing.values
    else:
        values = np.zeros(sheet.shape)
        values.ravel()[said["hidden"]] = np.nan
    decimals = None if said["whole"] else said["decimals"]
    method, parameters = said["method"], said["parameters"]
    return Shown(sheet, values, said["whole"], decimals, method, parameters, said["exact"])


def _manifest(
    folder: Path, manifest: Mapping[str, Any], sheets: Sequence[Sheet]
) -> Iterator[Finding]:
    """What the manifest says that is not said of these tables, or in another way."""
    tables = [_shown(s, said, None) for s, said in zip(sheets, manifest["tables"], strict=True)]
    symbol, files = manifest["symbol"], manifest["files"]
    try:
        wanted = written_manifest(tables, symbol, manifest["record"], files)
    except OutputError as error:
        yield _finding(MANIFEST, str(error))
        return
    if manifest["program"] != wanted["program"]:
        text = f"it was written by {_brief(manifest['program'])}, and this is {wanted['program']}"
        yield Finding("not judged", Verdict.REVIEW, text, MANIFEST)
    wanted["program"] = manifest["program"]
    layouts = {file["layout"] for file in files if file["format"] == "csv"}
    layout = "both" if len(layouts) > 1 else min(layouts, default="long")
    names = listed(tables, layout, [file["format"] for file in files])
    said = [{key: one for key, one in file.items() if key != "sha256"} for file in files]
    if text := _first_difference(manifest, wanted) or _first_difference(said, names, "files"):
        yield _finding(MANIFEST, text)
    elif (folder / MANIFEST).read_bytes() != as_bytes(wanted):
        yield _finding(MANIFEST, "its text is not as it is written: blanks, order or repeated keys")


def _differs(found: bytes, wanted: bytes, kind: str) -> str:
    """Where a file first differs from what is written; nothing if it is the same."""
    if found == wanted:
        return ""
    if kind == "xlsx":
        return archive_differs(found, wanted)
    if kind in ("json", "json-stat"):
        text = _first_difference(json.loads(found), json.loads(wanted))
        return text or "its text is not as it is written: blanks, order or repeated keys"
    lines = found.split(b"\r\n"), wanted.split(b"\r\n")
    for number, (one, other) in enumerate(zip_longest(*lines, fillvalue=b""), 1):
        if one != other:
            return f"line {number} is {_brief(one)}, and would be {_brief(other)}"
    return "its lines end in another way"


def _first_difference(found: Any, wanted: Any, at: str = "") -> str:
    """The first place where two documents differ, in words."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for key in dict.fromkeys([*found, *wanted]):
            here = f"{at}.{key}" if at else str(key)
            if key not in wanted:
                return f"it has {_brief(here)}, which is not written"
            if key not in found:
                return f"it lacks {_brief(here)}"
            if text := _first_difference(found[key], wanted[key], here):
                return text
        return ""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for place, (one, other) in enumerate(zip(found, wanted, strict=True)):
            if text := _first_difference(one, other, f"{at}[{place}]"):
                return text
        return ""
    if type(found) is type(wanted) and found == wanted:
        return ""
    return f"{at} is {_brief(found)}, and would be {_brief(wanted)}"


def _brief(value: object) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}...")

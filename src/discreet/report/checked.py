"""A second look at a folder of published tables: does any file give away what was to be hidden?"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from discreet.arrays import Floats
from discreet.data.codebook import Variable
from discreet.decision.batch.measures import doubts
from discreet.decision.law.verdict import Verdict, worst
from discreet.effort import Clock, Seconds
from discreet.errors import DataError, near
from discreet.look.result import Paged
from discreet.look.words import number, plural
from discreet.masks.masked import TRIAL
from discreet.report.checking.found import KINDS, Finding, Found, Spec
from discreet.report.checking.lines import odd_lines, written_by_people
from discreet.report.checking.rewritten import as_written
from discreet.report.checking.sums import Joint, against_data, by_sums, elsewhere
from discreet.report.checking.tables import Judged, Printing, aside, joined, printing
from discreet.report.checking.texts import (
    read_any,
    read_csv,
    read_json,
    read_record,
    read_sdmx,
    read_stat,
)
from discreet.report.checking.workbook import read_workbook
from discreet.report.page import Facts, Findings, Page, Points, Say, Section, data_file
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.joined import Impossible
from discreet.sheets.records import Records
from discreet.sheets.released import MANIFEST, read_manifest, read_released, sheets_of
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System
from discreet.table.cells import frame
from discreet.table.words import brief

Values = Callable[[System], Floats]
UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, csv.Error,
    zipfile.BadZipFile, ElementTree.ParseError,
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Checked(Paged):
    """What was found in a folder; `narrowest` is the least width of a hidden cell that was proven.

    PASS: every file is as its manifest says, all agree with each other and with the data, and no
    hidden cell follows from printed ones of the same measure. It says nothing of tables that are
    not in the folder or `released`, and nothing of intruders who know more than the tables. `texts`
    are those that people wrote into the release, for a person to read.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.decision.batch.masking import mask
    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> with TemporaryDirectory() as folder:
    ...     _ = mask(records, sheets).write(Path(folder) / "2026")
    ...     _ = (Path(folder) / "2026" / "notes.txt").write_text("draft")
    ...     found = check(Path(folder) / "2026", records.variables, values_from(records))
    >>> found
    Checked(FAIL 2026: 4 files, 1 finding)
    >>> found.findings[0].file, found.findings[0].text
    ('notes.txt', 'it is not in the manifest')
    """

    folder: Path
    findings: tuple[Finding, ...]
    files: int
    tables: int
    cells: int
    hidden: int
    narrowest: float
    compared: bool
    texts: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return worst(finding.verdict for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": str(self.verdict),
            "folder": self.folder.name,
            "files": self.files,
            "tables": self.tables,
            "cells": self.cells,
            "hidden": self.hidden,
            "narrowest": self.narrowest if math.isfinite(self.narrowest) else None,
            "compared": self.compared,
            "texts": list(self.texts),
            "findings": [finding.to_json() for finding in self.findings],
        }

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row a finding."""
        rows = [finding.to_json() for finding in self.findings]
        names = [field.name for field in dataclasses.fields(Finding)]
        columns = {name: [_flat(row[name]) for row in rows] for name in names}
        return frame(columns, kind)

    def __repr__(self) -> str:
        said = f"{plural(self.files, 'file')}, {plural(len(self.findings), 'finding')}"
        return f"Checked({self.verdict} {self.folder.name}: {said})"


def _flat(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return str(value)


def check(
    folder: str | Path,
    variables: Iterable[Variable],
    values_of: Values | None = None,
    *,
    released: Iterable[str | Path] = (),
    width: float | None = None,
    impossible: Impossible | None = None,
    records: Records | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Checked:
    """Read every file of a release again and look for what should not be there.

    `values_of` gives the true values of the rows of a system whose sheets have one measure, and
    behind them those of its fine cells if it has them; without it nothing is compared with the
    data, and the verdict is REVIEW at best. A hidden cell must be able to range over `width`;
    counts over 1 at least, sums over anything. `released` are folders that are out already: what
    they show is added up with the rest, and what they hide must stay hidden. `impossible` are
    combinations of codes that nobody has, as everybody knows. In `records` measures are sought that
    tell of each other.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.decision.batch.masking import mask
    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> with TemporaryDirectory() as folder:
    ...     _ = mask(records, sheets).write(Path(folder) / "2026")
    ...     check(Path(folder) / "2026", records.variables, values_from(records))
    Checked(PASS 2026: 3 files, 0 findings)
    """
    folder, clock, variables = Path(folder), Clock.of(seconds), tuple(variables)
    manifest = read_manifest(folder)
    sheets = sheets_of(manifest, variables)
    if records is not None:
        _has_columns(records, sheets)
    read, findings = _read(folder, manifest)
    shown: dict[str, dict[str, Printing]] = {name: {} for name in read}
    tables = []
    for sheet, said in zip(sheets, manifest["tables"], strict=True):
        printings = []
        for file, found in read.items():
            if sheet.name in found.cells:
                one, wrong = printing(file, found, sheet, manifest["symbol"])
                printings.append(one)
                shown[file][sheet.name] = one
                findings += wrong
        if not printings:
            text = "no file that can be read has the table"
            findings.append(Finding("file", Verdict.FAIL, text, "", sheet.name))
        table, wrong = joined(sheet, said, printings)
        tables.append(table)
        findings += wrong
    findings += _rewritten(folder, manifest, sheets, shown, findings)
    earlier = [table for one in released for table in _released(Path(one), variables)]
    truth: dict[str, Floats] = {}
    narrowest = math.inf
    for measure in dict.fromkeys(_printed(sheet) for sheet in sheets):
        joint = _joint(measure, [*tables, *earlier], values_of, impossible)
        truth |= joint.true_values()
        findings += [*elsewhere(joint), *against_data(joint)]
        wrong, least = by_sums(joint, width=width, effort=effort, seconds=clock)
        findings += wrong
        narrowest = min(narrowest, least)
    findings += odd_lines(tables, truth)
    for file, found in read.items():
        findings += aside(file, found, tables, truth)
    findings += _tied(records, [*tables, *earlier])
    once = {(f.kind, f.file, f.table, *f.cell.items(), f.text * (not f.cell)): f for f in findings}
    findings = [*once.values()]
    for said in manifest["tables"]:
        if "trial" in said["parameters"]:
            findings.append(Finding("trial", Verdict.REVIEW, f"it is {TRIAL}", "", said["name"]))
    if values_of is None:
        text = "the files were not compared with the data"
        findings.append(Finding("not judged", Verdict.REVIEW, text))
    hidden = sum(int(table.hidden.sum()) for table in tables)
    cells = sum(table.sheet.cells for table in tables)
    ordered = sorted(findings, key=lambda one: (-one.verdict.rank, [*KINDS].index(one.kind)))
    return Checked(
        folder, tuple(ordered), len(read), len(tables), cells, hidden, narrowest,
        values_of is not None, written_by_people(manifest, columns=records is not None),
    )  # fmt: skip


def values_from(records: Records) -> Values:
    """What records add up to in the rows of a system whose sheets have one measure, and below.

    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Gender")
    >>> values_from(records)(System.of(sheets)).tolist()
    [742.0, 356.0, 386.0, 356.0, 386.0]
    """

    def values(system: System) -> Floats:
        _has_columns(records, system.sheets[:1])
        amounts = printed_amounts(records, system.sheets[0].measure)
        fine = system.fine(records.codes, amounts)
        return np.concatenate([system.sums @ fine, fine])

    return values


def _has_columns(records: Records, sheets: Iterable[Sheet]) -> None:
    """The columns of which tables tell must be some that were read of the data."""
    numbers, owners, asking = map(frozenset, (records.numbers, records.owners, records.asking))
    of = {"value": numbers, "weight": numbers, "shadow": numbers}
    for sheet in sheets:
        for role, columns in {**of, "holding": owners, "request": asking}.items():
            name = getattr(sheet.measure, role)
            if name is not None and name not in columns:
                raise DataError(
                    f"table {sheet.name!r} of the release has the {role} {name!r}, which the data "
                    f"that were read have not; {near(name, columns)}"
                )


def _tied(records: Records | None, tables: Iterable[Judged]) -> Iterator[Finding]:
    """A doubt where tables of several measures tell of each other."""
    if records is None:
        return
    known = [t for t in tables if records.numbers.keys() >= {*t.sheet.measure.numbers}]
    guarded = {table.sheet.measure for table in known if table.hidden.any()}
    for reason in doubts(records, [table.sheet for table in known], guarded):
        yield Finding("not judged", reason.verdict, reason.text)


def _printed(sheet: Sheet) -> tuple[str | None, str | None]:
    """What is added up; who is protected by it does not matter here."""
    return sheet.measure.value, sheet.measure.weight


def _released(folder: Path, variables: Iterable[Variable]) -> list[Judged]:
    """The tables of a release that is out, as they are."""
    told, found = read_manifest(folder)["tables"], read_released(folder, variables)
    return [
        Judged(dataclasses.replace(sheet, name=f"{folder.name}/{sheet.name}"), said, values, gaps)
        for said, sheet, values, gaps in zip(told, *found, strict=True)
    ]


def _joint(
    measure: tuple[str | None, str | None],
    tables: Iterable[Judged],
    values_of: Values | None,
    impossible: Impossible | None,
) -> Joint:
    plain = Measure(*measure)
    own = [table for table in tables if _printed(table.sheet) == measure]
    alike = [dataclasses.replace(table.sheet, measure=plain) for table in own]
    system = System.of(alike, impossible=impossible)
    if values_of is None:
        return Joint(system, tuple(own), None)
    values = np.asarray(values_of(system), float)
    fine = values[system.cells :] if len(values) > system.cells else None
    return Joint(system, tuple(own), values[: system.cells], fine)


def _read(folder: Path, manifest: Mapping[str, Any]) -> tuple[dict[str, Found], list[Finding]]:
    """What every file says, and which are not as the manifest has them."""
    specs = {said["name"]: Spec.of(said) for said in manifest["tables"]}
    read: dict[str, Found] = {}
    findings: list[Finding] = []

    def say(kind: str, text: str, file: str) -> None:
        findings.append(Finding(kind, Verdict.FAIL, text, file))

    read[MANIFEST] = read_record(manifest)
    for text in read[MANIFEST].extras:
        say("content", text, MANIFEST)
    listed = {str(file["name"]): file for file in manifest["files"]}
    for name, file in listed.items():
        path = folder / name
        if Path(name).name != name or not path.is_file() or path.is_symlink():
            say("file", "it is in the manifest, and is no file of the folder", name)
            continue
        if hashlib.sha256(path.read_bytes()).hexdigest() != file["sha256"]:
            say("file", "it was changed after it was written", name)
        try:
            read[name] = _parsed(path, file, specs, manifest)
        except UNREADABLE as error:
            say("content", f"it cannot be read ({type(error).__name__}: {error})", name)
            continue
        for text in dict.fromkeys(read[name].extras):
            say("content", text, name)
        for table in [file["table"]] if file["table"] is not None else specs:
            if table not in read[name].cells:
                say("content", f"it lacks table {table!r}", name)
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name in listed or name == MANIFEST:
            continue
        if path.is_dir():
            say("file", "it is a folder, and a release has none", name)
            continue
        say("file", "it is not in the manifest", name)
        if path.is_file() and not path.is_symlink():
            read[name] = _any(path)
    return read, findings


def _rewritten(
    folder: Path,
    manifest: Mapping[str, Any],
    sheets: tuple[Sheet, ...],
    shown: Mapping[str, Mapping[str, Printing]],
    findings: Iterable[Finding],
) -> list[Finding]:
    """What files hold that is no cell, of those in which nothing wrong was found by reading."""
    wrong = {one.file for one in findings if one.kind != "file"}
    names = {sheet.name for sheet in sheets}
    sound = {}
    for file in manifest["files"]:
        wanted = names if file["table"] is None else {file["table"]}
        if file["name"] not in wrong and wanted <= {*shown.get(file["name"], ())}:
            sound[file["name"]] = shown[file["name"]]
    return [*as_written(folder, manifest, sheets, sound)]


def _any(path: Path) -> Found:
    try:
        if zipfile.is_zipfile(path):
            return read_workbook(path, [])
        return read_any(path)
    except UNREADABLE:
        return Found()


def _parsed(
    path: Path, file: Mapping[str, Any], specs: Mapping[str, Spec], manifest: Mapping[str, Any]
) -> Found:
    kind, table = file["format"], file["table"]
    if kind == "csv":
        return read_csv(path, specs[table], file["layout"])
    if kind == "sdmx-csv":
        return read_sdmx(path, specs[table])
    if kind == "json-stat":
        return read_stat(path, specs)
    if kind == "json":
        return read_json(path, specs, manifest)
    if kind == "xlsx":
        return read_workbook(path, [*specs.values()])
    raise ValueError(f"the format {kind!r} is unknown")


def checked_page(found: Checked, *, data: str | Path | None = None) -> Page:
    """The verdict, each finding, and what was looked at."""
    many = plural(len(found.findings), "finding")
    headline = f"{number(found.hidden)} hidden of {plural(found.cells, 'cell')}: {many}"
    rows = [(one.verdict, _where(one), one.text) for one in found.findings]
    rows = rows or [(Verdict.PASS, "every file", "nothing that was to be hidden was found")]
    narrow = "no cell is hidden" if not found.hidden else "none has a limit"
    if math.isfinite(found.narrowest):
        narrow = number(found.narrowest)
    facts = [
        ("folder", found.folder.name),
        ("files", number(found.files)),
        ("tables", number(found.tables)),
        ("hidden cells", number(found.hidden)),
        ("least width of a hidden cell that was proven", narrow),
        ("compared with the data", "yes" if found.compared else "no"),
    ]
    only = "Tables that were not named, and what intruders know besides, were not looked at"
    return Page(
        "Check of a release",
        headline,
        [
            Section("Findings", [Findings(rows)]),
            Section("Written by people, to be read by a person", [Points(found.texts)]),
            Section("Looked at", [Facts(facts)]),
        ],
        verdict=found.verdict,
        size=plural(found.tables, "table"),
        said=[Say(only, "quiet")],
        files=data_file(data),
    )


def _where(finding: Finding) -> str:
    cell = brief(finding.cell)
    table = f"table {finding.table}" if finding.table else ""
    return " / ".join(part for part in (finding.file, table, cell) if part) or finding.kind

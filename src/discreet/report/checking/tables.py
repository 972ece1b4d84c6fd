"""One table in all its files: what each prints of every cell, and whether they agree."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.law.verdict import Verdict
from discreet.report.checking.found import Finding, Found, Labels
from discreet.sheets.sheet import Sheet

NEAR = 1e-6  # of a sum, that arithmetic may lose
NUMBER = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Printing:
    """A sheet as one file prints it: `seen` where it has the cell, nan in `values` where hidden."""

    file: str
    sheet: Sheet
    values: Floats
    seen: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Judged:
    """A table of the manifest with all its printings: `values` are nan where nothing is shown.

    `hidden` is what the manifest or any file hides.
    """

    sheet: Sheet
    said: Mapping[str, Any]
    values: Floats
    hidden: NDArray[np.bool_]
    printings: tuple[Printing, ...] = ()

    @property
    def slack(self) -> float:
        """How far a printed value may be from that behind it."""
        decimals = self.said["decimals"]
        return 0.0 if decimals is None else 0.5 * 10.0**-decimals

    def near(self, values: Floats) -> Floats:
        """The same with what arithmetic loses, beside these values."""
        lost = 1e-6 if self.said["whole"] else NEAR * np.maximum(1, np.abs(values))
        return np.asarray(self.slack + lost)


def printing(file: str, found: Found, sheet: Sheet, symbol: str) -> tuple[Printing, list[Finding]]:
    """The cells of a sheet that a file has, and what is wrong with them."""
    places = [{one: i for i, one in enumerate(g.labels)} for g in sheet.groupings]
    for known in places:  # as they stand behind an apostrophe, where they look like a formula
        known |= {f"'{one}": i for one, i in known.items() if f"'{one}" not in known}
    values = np.full(sheet.shape, math.nan)
    seen = np.zeros(sheet.shape, bool)
    wrong: list[Finding] = []

    def say(kind: str, text: str, labels: Labels) -> None:
        cell = dict(zip(sheet.names, labels, strict=False))
        wrong.append(Finding(kind, Verdict.FAIL, text, file, sheet.name, cell))

    for labels, text in found.cells.get(sheet.name, ()):
        at = tuple(known.get(one, -1) for known, one in zip(places, labels, strict=False))
        if len(at) != len(places) or -1 in at:
            say("content", f"it has {', '.join(labels)}, which is no cell of the table", labels)
        elif seen[at]:
            say("content", "it has the cell twice", labels)
            if NUMBER.fullmatch(text):
                values[at] = float(text) if math.isnan(values[at]) else values[at]
        else:
            seen[at] = True
            if NUMBER.fullmatch(text):
                values[at] = float(text)
            elif text not in (symbol, ""):
                say("content", f"it shows {text!r}, no number and not {symbol!r}", labels)
        if (sheet.name, labels) in found.marked:
            say("leak", f"it calls the cell confidential and shows {text}", labels)
    if not seen.all():
        say("content", f"it lacks {int((~seen).sum())} cells of the table", ())
    return Printing(file, sheet, values, seen), wrong


def joined(
    sheet: Sheet, said: Mapping[str, Any], printings: Sequence[Printing]
) -> tuple[Judged, list[Finding]]:
    """All printings of a table together."""
    listed = np.zeros(sheet.cells, bool)
    listed[said["hidden"]] = True
    hidden = listed.reshape(sheet.shape).copy()
    values = np.full(sheet.shape, math.nan)
    for one in printings:
        hidden |= one.seen & np.isnan(one.values)
        values = np.where(np.isnan(values), one.values, values)
    table = Judged(sheet, said, values, hidden, tuple(printings))
    return table, [*_disagreements(table, listed.reshape(sheet.shape))]


def _disagreements(table: Judged, listed: NDArray[np.bool_]) -> Iterator[Finding]:
    sheet = table.sheet
    for one in table.printings:
        shown = ~np.isnan(one.values)
        for cell in np.flatnonzero(shown & table.hidden).tolist():
            by = "the manifest" if listed.ravel()[cell] else "another file"
            text = f"it shows {one.values.ravel()[cell]:g}, which {by} hides"
            yield _finding("leak", text, one.file, sheet, cell)
        both = shown & ~np.isnan(table.values) & ~table.hidden
        differ = both & (np.abs(one.values - table.values) > table.near(table.values))
        for cell in np.flatnonzero(differ).tolist():
            a, b = one.values.ravel()[cell], table.values.ravel()[cell]
            text = f"it shows {a:g}, and another file {b:g}"
            yield _finding("contradiction", text, one.file, sheet, cell)
    unlisted = table.hidden & ~listed
    for cell in np.flatnonzero(unlisted).tolist():
        yield _finding(
            "contradiction", "a file hides it, and the manifest does not", "", sheet, cell
        )


def _finding(kind: str, text: str, file: str, sheet: Sheet, cell: int) -> Finding:
    return Finding(kind, Verdict.FAIL, text, file, sheet.name, sheet.label(cell))


def aside(
    file: str, found: Found, tables: Sequence[Judged], truth: Mapping[str, Floats]
) -> Iterator[Finding]:
    """Hidden values that stand elsewhere in a file, in one row with the labels of their cell."""
    rows = [(what, [_bare(one) for one in (*texts, *_words(texts))]) for what, texts in found.aside]
    by_word: dict[str, set[int]] = {}
    for number, (_, words) in enumerate(rows):
        for word in words:
            by_word.setdefault(word, set()).add(number)
    for table in tables:
        values = truth.get(table.sheet.name)
        if values is None:
            continue
        for cell in np.flatnonzero(table.hidden).tolist():
            figure = _bare(repr(float(values.ravel()[cell])))
            if not (hits := by_word.get(figure)):
                continue
            labels = table.sheet.label(cell)
            words = [_bare(one) for one in labels.values()]
            own = words.count(figure)  # a label like 17
            hits = hits.intersection(*(by_word.get(word, set()) for word in words))
            if hits := {row for row in hits if rows[row][1].count(figure) > own}:
                text = (
                    f"the hidden value stands with the labels of its cell in {rows[min(hits)][0]}"
                )
                yield Finding("leak", Verdict.FAIL, text, file, table.sheet.name, labels)


def _words(texts: Sequence[str]) -> Iterator[str]:
    """Of texts that have several."""
    for text in texts:
        words = re.findall(r"[\w.]*\w", text)
        if len(words) > 1:
            yield from words


def _bare(text: str) -> str:
    """A number in one way of writing it."""
    text = text.strip().lstrip("'")
    return f"{float(text):.12g}" if NUMBER.fullmatch(text) else text

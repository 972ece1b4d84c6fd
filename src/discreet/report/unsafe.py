"""The unsafe cells of a batch: the first on the page, all in a confidential file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.data.files import whole
from discreet.errors import OutputError
from discreet.look.words import number, plural
from discreet.report.page import Rows, Say, Section
from discreet.report.written.safe import csv_line
from discreet.sheets.released import MANIFEST
from discreet.table.words import brief

if TYPE_CHECKING:
    from discreet.decision.batch.unsafe import UnsafeCells

FIRST = 10  # on a page
TOP = "Confidential: unsafe cells and what is known of their values. Do not publish."
HEADS = ("table", "cell", "rule", "kind", "verdict", "needs", "has", "contributors")


def unsafe_section(cells: UnsafeCells) -> list[Section]:
    """The first cells, and how many there are of each kind; nothing where there is none."""
    if not len(cells):
        return []
    first = cells.first(FIRST)
    kinds = f"{number(cells.number('primary'))} primary, {number(cells.number('secondary'))}"
    text = f"{plural(len(cells), 'unsafe cell')}: {kinds} secondary"
    more = len(cells) - len(first)
    if more:
        text += f". The first {number(len(first))} are shown; --unsafe FILE writes all"
    if not cells.complete:
        text += ". Printed cells fail already, so others that follow from them were not looked for"
    rows = Rows(
        "Primary: a rule forbids it. Secondary: it follows from others, or is hidden for them",
        ["cell"],
        [[brief(one.cell) or "the total"] for one in first],
        ["tables", "rule", "kind", "needs", "has"],
        [[", ".join(one.tables) or "none", one.rule, one.kind, one.needs, one.has]
         for one in first],
        every=len(first),
        verdicts=[one.verdict for one in first],
        words=["tables", "rule", "kind", "needs", "has"],
        short=FIRST,
    )  # fmt: skip
    return [Section("Unsafe cells", [Say(f"{text}."), rows])]


def check_unsafe_path(path: str | Path, *others: str | Path | None) -> None:
    """Refuse a confidential file in the folder of a release, or in place of another file."""
    place = Path(path).resolve()
    named = [Path(one).resolve() for one in others if one is not None]
    if place in named:
        raise OutputError(f"{str(path)!r} is another file of this run; name one of its own.")
    for folder in place.parents:
        if folder in named or (folder / MANIFEST).exists():
            raise OutputError(
                f"{str(path)!r} is in the folder of a release, and unsafe cells are confidential; "
                "name a file elsewhere."
            )


def write_unsafe(cells: UnsafeCells, path: str | Path) -> None:
    """All cells as CSV below a line that says that they are confidential."""
    with whole(path, private=True) as temporary:
        lines = [csv_line([TOP]), csv_line(HEADS)]
        for one in cells:
            said = [" + ".join(one.tables), brief(one.cell) or "the total", one.rule, one.kind]
            number_ = "" if one.contributors is None else str(one.contributors)
            lines.append(csv_line([*said, str(one.verdict), one.needs, one.has], [number_]))
        temporary.write_text("".join(lines), encoding="utf-8", newline="")

"""Pages in a terminal, or as plain text in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.decision.law.verdict import Verdict
from discreet.look.palette import TERMINAL as COLOURS
from discreet.look.words import named, number, printable
from discreet.report.page import HTML, Facts, Findings, Page, Part, Points, Rows, Say
from discreet.table.words import MOST_UNNAMED

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

MOST_LETTERS = 300
TONES = {"": "", "quiet": "dim", "grave": "bold red"}
_PLAIN = str.maketrans({"✓": "+", "✗": "x", "–": "-", "×": "x", "…": "~", "±": "~"})


def print_page(page: Page, console: Console) -> None:
    """The finding first, then a block a section."""
    if page.verdict is None:
        head(console, page.headline, gap=False)
    else:
        item(console, page.verdict, page.headline, bold=True)
    for said in page.said:
        show(said, console)
    for section in page.sections:
        parts = [part for part in section.parts if part.on != HTML]
        if section.on == HTML or not (parts or section.finding):
            continue
        if not section.bare:
            head(console, section.finding or section.title)
        for part in parts:
            show(part, console)


def show(part: Part, console: Console) -> None:
    """A part, unless it is for an HTML file."""
    if part.on == HTML:
        return
    match part:
        case Say(text, tone):
            say(console, text, TONES[tone])
        case Points(texts, short):
            for text in texts[:short]:
                say(console, text)
            more(console, len(texts) - short)
        case Findings(rows):
            for verdict, about, text in rows:
                item(console, verdict, f"{about}: {text}")
        case Facts(rows):
            for about, text in rows:
                say(console, f"{about.lower()}: {text}", "dim")
        case Rows():
            first = slice(part.short)
            if part.labels:
                cells(
                    console,
                    part.labels[first],
                    part.names,
                    part.figures[first],
                    part.heads,
                    part.verdicts[first],
                    part.words,
                )
            more(console, max(part.every, len(part.labels)) - part.short)


def cells(
    console: Console,
    labels: Sequence[Sequence[str]],
    names: Sequence[str],
    figures: Sequence[Sequence[str]],
    heads: Sequence[str],
    verdicts: Sequence[Verdict] = (),
    words: Sequence[str] = (),
) -> None:
    """Rows of labels, right-aligned figures and words, which may run over several lines; labels
    share a column if they are too wide."""
    from rich.padding import Padding
    from rich.table import Table

    wide = sum(
        max(len(name), *(len(row[place]) for row in labels)) + 2 for place, name in enumerate(names)
    )
    plain = [place for place, head in enumerate(heads) if head not in words]
    figure = max((len(line[place]) for line in figures for place in plain), default=0)
    taken = sum(max(len(heads[place]), figure) + 2 for place in plain) + 10 * bool(verdicts)
    if not names or wide > console.width - 2 - taken:
        if len(names) > MOST_UNNAMED:
            labels = [[named(dict(zip(names, row, strict=True)))] for row in labels]
            names = ["cell"]
        labels, names = [[", ".join(row)] for row in labels], [", ".join(names) or "cell"]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(_text(console, name), overflow="fold")
    for head in heads:
        if head in words:
            table.add_column(_text(console, head), overflow="fold")
        else:
            table.add_column(_text(console, head), justify="right", no_wrap=True)
    if verdicts:
        table.add_column("", no_wrap=True)
    for place, (row, line) in enumerate(zip(labels, figures, strict=True)):
        shown: list[Any] = [_text(console, text) for text in (*row, *line)]
        if verdicts:
            mark = verdicts[place]
            shown.append(_text(console, f"{mark.symbol} {mark}", COLOURS[mark]))
        table.add_row(*shown)
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def item(console: Console, verdict: Verdict, text: str, *, bold: bool = False) -> None:
    """A verdict and, beside it, what it is about."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, width=8)
    grid.add_column(overflow="fold")
    mark = _text(console, f"{verdict.symbol} {verdict}", f"bold {COLOURS[verdict]}")
    grid.add_row(mark, _text(console, text, "bold" if bold else ""))
    console.print(grid if bold else Padding(grid, (0, 0, 0, 2), expand=False))


def head(console: Console, text: str, *, gap: bool = True) -> None:
    """A heading."""
    if gap:
        console.print()
    console.print(_text(console, text, "bold"))


def say(console: Console, text: str, style: str = "") -> None:
    """A line below a heading."""
    from rich.padding import Padding

    console.print(Padding(_text(console, text, style), (0, 0, 0, 2), expand=False))


def more(console: Console, left: int) -> None:
    """How many are not shown."""
    if left > 0:
        say(console, f"... and {number(left)} more", "dim")


def _text(console: Console, text: str, style: str = "") -> Text:
    """Text that is shown as it is: no markup, no control characters, no letter too many."""
    from rich.text import Text

    shown = printable(text)
    if not console.encoding.lower().startswith("utf"):
        shown = shown.translate(_PLAIN).encode(console.encoding, "replace").decode(console.encoding)
    return Text(shown, style=style)

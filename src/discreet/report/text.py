"""An assessment in a terminal, or as plain text in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.result import Rung
from discreet.look.palette import TERMINAL, number, plural, span
from discreet.report import sheets, words
from discreet.table.notation import printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.text import Text

    from discreet.decision.law.assess import Assessment
    from discreet.intruder.bounds.result import CellBounds

MOST = 20
MOST_LETTERS = 300
_PLAIN = str.maketrans({"✓": "+", "✗": "x", "–": "-", "×": "x", "…": "~"})


def print_assessment(assessment: Assessment, console: Console, *, most: int = MOST) -> None:
    """Verdict, reasons, the narrowest small counts, disclosed groups, what to release instead."""
    decision, table = assessment.decision, assessment.table
    formula = words.shortened(str(assessment.requested), MOST_LETTERS)
    _item(console, assessment.verdict, f"{formula} ({decision.basis})", bold=True)
    over = words.listed(list(table.names), 8)
    total = f"total {number(table.total)} in {number(len(table))} of {plural(table.size, 'cell')}"
    _say(console, f"{assessment.provenance.data}: {total} over {over}", style="dim")
    if decision.rung is not Rung.INTEGER:
        _say(console, words.proof_words(decision), style="dim")
    if assessment.released:
        already = words.shortened(str(assessment.released), MOST_LETTERS)
        _say(console, f"published already: {already}", style="dim")

    _head(console, "Reasons")
    for reason in decision.reasons:
        _item(console, reason.verdict, f"{reason.rule}: {reason.text}")

    rows, small = sheets.small_rows(assessment, most), decision.case.small
    if rows:
        _head(console, f"{words.narrowing(assessment)}")
        _cells(
            console,
            [list(row.cell.values()) for row in rows],
            [variable.name for variable in small.cells.variables],
            [[number(r.count), span(r.lower, r.upper), number(r.width)] for r in rows],
            ["count", "interval", "width"],
            [row.verdict for row in rows],
        )
        _more(console, len(small.cells) - len(rows))

    if groups := sheets.disclosures(assessment):
        _head(console, f"{plural(len(groups), 'group')} with a disclosed category")
        for disclosure in groups[:most]:
            _say(console, str(disclosure))
        _more(console, len(groups) - most)

    if assessment.verdict is not Verdict.PASS:
        _head(console, "Instead")
        for offer in assessment.alternatives:
            worth = words.worth_words(offer.decision.utility.released, decision.utility.possible)
            _item(console, offer.decision.verdict, f"{offer.how}: {worth}")
        if not assessment.alternatives:
            _say(console, "no smaller release that passes was found within the policy's limits")

    utility, orders = decision.utility, sheets.order_rows(assessment)
    _head(console, f"In the release: {words.worth_words(utility.released, utility.possible)}")
    by_order = (f"{plural(k, 'variable')}: {number(n)} of {number(of)}" for k, n, of in orders)
    _say(console, "; ".join(by_order))

    _head(console, "Assumed")
    for text in decision.assumptions:
        _say(console, words.shortened(text, MOST_LETTERS))


def print_bounds(
    bounds: CellBounds,
    counts: NDArray[np.int64] | None,
    console: Console,
    *,
    most: int = MOST,
    beta: int = 3,
) -> None:
    """Feasible intervals, narrowest first; `counts` are the true ones, if they may be shown."""
    import numpy as np

    names = [variable.name for variable in bounds.variables]
    fitted = bounds.proven(Rung.LINEAR).all()
    tight = "sharp" if bounds.sharp else "linear" if fitted else "not proven tight"
    narrowest = "" if bounds.narrowest is None else f", narrowest width {number(bounds.narrowest)}"
    over = words.listed(names, 8)
    _head(
        console,
        f"{plural(len(bounds), 'cell')} over {over}: {bounds.method}, {tight}{narrowest}",
        gap=False,
    )
    if not len(bounds):
        return
    rows = np.argsort(bounds.width, kind="stable")[:most]
    figures, labels, status = [], [], bounds.status(beta)
    for row in rows:
        codes = zip(bounds.variables, bounds.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        lower, upper = int(bounds.lower[row]), int(bounds.upper[row])
        line = [span(lower, upper), number(upper - lower)]
        line.append(str(status[row]))
        figures.append(line if counts is None else [number(int(counts[row])), *line])
    heads = (
        ["interval", "width", "status"]
        if counts is None
        else ["count", "interval", "width", "status"]
    )
    _cells(console, labels, names, figures, heads)
    _more(console, len(bounds) - len(rows))


def _cells(
    console: Console,
    labels: Sequence[Sequence[str]],
    names: Sequence[str],
    figures: Sequence[Sequence[str]],
    heads: Sequence[str],
    verdicts: Iterable[Verdict] = (),
) -> None:
    """Rows of labels and right-aligned figures; labels share a column if they are too wide."""
    from rich.padding import Padding
    from rich.table import Table

    marks = list(verdicts)
    wide = sum(
        max(len(name), *(len(row[place]) for row in labels)) + 2 for place, name in enumerate(names)
    )
    figure = max(len(text) for line in figures for text in line)
    room = console.width - 2 - sum(max(len(head), figure) + 2 for head in heads) - 10 * bool(marks)
    if not names or wide > room:
        labels, names = [[", ".join(row)] for row in labels], [", ".join(names) or "cell"]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(_text(console, name), overflow="fold")
    for head in heads:
        table.add_column(_text(console, head), justify="right", no_wrap=True)
    if marks:
        table.add_column("", no_wrap=True)
    for place, (row, line) in enumerate(zip(labels, figures, strict=True)):
        cells: list[Any] = [_text(console, text) for text in (*row, *line)]
        if marks:
            mark = marks[place]
            cells.append(_text(console, f"{mark.symbol} {mark}", TERMINAL[mark]))
        table.add_row(*cells)
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def _item(console: Console, verdict: Verdict, text: str, *, bold: bool = False) -> None:
    """A verdict and, beside it, what it is about."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, width=8)
    grid.add_column(overflow="fold")
    mark = _text(console, f"{verdict.symbol} {verdict}", f"bold {TERMINAL[verdict]}")
    grid.add_row(mark, _text(console, text, "bold" if bold else ""))
    console.print(grid if bold else Padding(grid, (0, 0, 0, 2), expand=False))


def _head(console: Console, text: str, *, gap: bool = True) -> None:
    if gap:
        console.print()
    console.print(_text(console, text, "bold"))


def _say(console: Console, text: str, style: str = "") -> None:
    from rich.padding import Padding

    console.print(Padding(_text(console, text, style), (0, 0, 0, 2), expand=False))


def _more(console: Console, left: int) -> None:
    if left > 0:
        _say(console, f"... and {number(left)} more", "dim")


def _text(console: Console, text: str, style: str = "") -> Text:
    """Text that is shown as it is: no markup, no control characters, no letter too many."""
    from rich.text import Text

    shown = printable(text)
    if not console.encoding.lower().startswith("utf"):
        shown = shown.translate(_PLAIN).encode(console.encoding, "replace").decode(console.encoding)
    return Text(shown, style=style)

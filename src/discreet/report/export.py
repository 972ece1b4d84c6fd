"""Everything of an assessment as files: report, JSON, charts, tables.

Report, JSON, workbook and every chart of counts say that they are confidential; a CSV file holds
its table alone, and `CONFIDENTIAL.txt` beside it says so of all.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import whole, write_text
from discreet.errors import OutputError, reason
from discreet.look.frontiercharts import release_chart
from discreet.look.palette import DARK, LIGHT
from discreet.look.theme import dark_style
from discreet.report.assessment import small_chart
from discreet.report.html import write_html
from discreet.report.sheets import Sheet, sheets
from discreet.report.words import CONFIDENTIAL, date_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.decision.law.assess import Assessment

CHARTS = (".png", ".svg", ".html", ".json")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
SCALE = 2
NOTICE = "CONFIDENTIAL.txt"
PAGE = """<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body {{ margin: 0; background: {light}; }}
body #vis.vega-embed {{ display: block; overflow-x: auto; }}
{dark}
@media screen and (prefers-color-scheme: dark) {{
body, #vis svg {{ background: {ground} !important; }}
}}
</style>
"""
EXCEL_ROWS = 1_048_576 - 4
EXCEL_LETTERS = 32_767


def export(
    assessment: Assessment, folder: str | Path, *, against: Mapping[str, Any] | None = None
) -> tuple[Path, ...]:
    """Write the report, its JSON, its charts and its tables; the paths written."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot make the folder {str(folder)!r}: {reason(error)}; choose another place."
        ) from None
    written = [folder / "report.html", folder / "report.json"]
    write_html(assessment, written[0], against=against)
    document = {"confidential": CONFIDENTIAL} | assessment.to_json()
    write_text(written[1], json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    for name, chart in _charts(assessment).items():
        for suffix in (".png", ".svg"):
            written.append(folder / f"{name}{suffix}")
            save_chart(chart, written[-1])
    tables = sheets(assessment)
    for sheet in tables:
        written.append(folder / f"{sheet.name}.csv")
        _write_csv(written[-1], sheet.columns, sheet.rows)
    written.append(folder / "tables.xlsx")
    _write_excel(written[-1], assessment, tables)
    named = "".join(f"{path.name}\n" for path in written if not path.name.startswith("orders."))
    written.append(folder / NOTICE)
    write_text(written[-1], f"{CONFIDENTIAL}\n\nThis holds for\n{named}")
    return tuple(written)


def save_chart(chart: Any, path: str | Path) -> None:
    """A chart as .png, .svg, .html (with its scripts inside: no network) or .json.

    On a dark screen .svg and .html are dark.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in CHARTS:
        raise OutputError(
            f"cannot write a chart as {str(path)!r}; end its name with {', '.join(CHARTS)}."
        )
    options: dict[str, dict[str, Any]] = {
        ".png": {"scale_factor": SCALE},
        ".html": {"inline": True, "embed_options": {"actions": False, "renderer": "svg"}},
    }
    with whole(path) as temporary:
        chart.save(str(temporary), format=suffix[1:], **options.get(suffix, {}))
        if suffix in (".svg", ".html"):
            _themed(Path(temporary), suffix)


def _themed(path: Path, suffix: str) -> None:
    """Add the colours of dark screens; on a phone a chart scrolls in its own box."""
    text = path.read_text(encoding="utf-8")
    if suffix == ".svg":
        end = text.index(">", text.index("<svg")) + 1
        text = f"{text[:end]}<style>{dark_style()}</style>{text[end:]}"
    else:
        end = text.index("<head>") + len("<head>")
        page = PAGE.format(light=LIGHT.paper, ground=DARK.paper, dark=dark_style())
        text = text[:end] + page + text[end:]
    path.write_text(text, encoding="utf-8")


def save_frame(frame: Any, path: str | Path) -> None:
    """A pandas frame as .csv or .parquet."""
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        columns = [frame[name].tolist() for name in frame.columns]
        _write_csv(path, list(frame.columns), zip(*columns, strict=True))
    elif suffix == ".parquet":
        with whole(path) as temporary:
            frame.to_parquet(temporary, index=False)
    else:
        raise OutputError(
            f"cannot write a table as {str(path)!r}; end its name with .csv, .parquet."
        )


def _charts(assessment: Assessment) -> dict[str, Any]:
    utility = assessment.decision.utility
    source = f"Source: {assessment.provenance.data}."
    return {
        "intervals": small_chart(assessment, source=source),
        "orders": release_chart(utility.by_order, utility.variables, source=source),
    }


def _write_csv(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with whole(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([_harmless(name) for name in columns])
        writer.writerows([_harmless(value) for value in row] for row in rows)


def _harmless(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula, with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _write_excel(path: Path, assessment: Assessment, tables: Iterable[Sheet]) -> None:
    """One sheet a table, after one with the verdict; no text becomes a formula or a link."""
    import xlsxwriter

    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with whole(path) as temporary:
        book = xlsxwriter.Workbook(str(temporary), plain)
        first = Sheet(
            "verdict", "Disclosure assessment", ("", ""),
            (
                ("verdict", str(assessment.verdict)),
                ("release", str(assessment.requested)),
                ("published already", str(assessment.released or "nothing")),
                ("data", assessment.provenance.data),
                ("total", assessment.table.total),
                ("assessed", date_words(assessment.provenance.when)),
                ("sha256", assessment.provenance.sha256),
            ),
        )  # fmt: skip
        for sheet in (first, *tables):
            _write_sheet(book, sheet)
        try:
            book.close()
        except xlsxwriter.exceptions.FileCreateError as error:
            raise OutputError(
                f"cannot write {str(path)!r}: {error}; choose another folder."
            ) from None


def _write_sheet(book: Any, sheet: Sheet) -> None:
    page = book.add_worksheet(sheet.name)
    bold, muted = book.add_format({"bold": True}), book.add_format({"font_color": "#59616b"})
    head = book.add_format({"bold": True, "bottom": 1})
    whole_number = book.add_format({"num_format": "#,##0"})
    share = book.add_format({"num_format": "0.0%" if "share" in sheet.columns else "General"})
    page.write_string(0, 0, sheet.shows, bold)
    page.write_string(1, 0, CONFIDENTIAL, muted)
    for place, name in enumerate(sheet.columns):
        page.write_string(3, place, name, head)
    for line, row in enumerate(sheet.rows[:EXCEL_ROWS], start=4):
        for place, value in enumerate(row):
            if isinstance(value, bool | str):
                text = str(value).lower() if isinstance(value, bool) else value
                page.write_string(line, place, text[:EXCEL_LETTERS])
            elif value is not None:
                page.write_number(
                    line, place, value, share if type(value) is float else whole_number
                )
    for place, name in enumerate(sheet.columns):
        longest = max([len(str(row[place])) for row in sheet.rows[:1000]] + [len(name)])
        page.set_column(place, place, min(max(longest + 2, 9), 70))
    page.freeze_panes(4, 0)

"""Pages as one HTML file that needs nothing else and asks nothing of the network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.data.files import write_text
from discreet.look import palette
from discreet.look.pages import page_of
from discreet.look.theme import NARROW, WIDE
from discreet.look.words import full, number, percent, plural, sentence, span
from discreet.report import words
from discreet.report.page import TERMINAL, Chart, Page

WIDTHS = (("wide", WIDE), ("phone", NARROW))


def html_report(
    result: Any, *, again: str | Mapping[str, Any] | None = None, **options: Any
) -> str:
    """The page of a result; the options are those of its kind of page.

    `again` is what is typed, or run, to do it again; with a mapping also the options in effect and
    the hashes of files.
    """
    how = {"command": again} if isinstance(again, str) else again
    return html_page(replace(page_of(result, **options), again=how))


def write_html(result: Any, path: str | Path, **options: Any) -> None:
    """The page of a result as a file, whole or not at all; `again` says how to do it again.

    >>> import discreet as dc
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> widths = dc.widths(dc.load("example:tract"))
    >>> with TemporaryDirectory() as folder:
    ...     dc.write_html(widths, Path(folder) / "widths.html")
    ...     [path.name for path in Path(folder).iterdir()]
    ['widths.html']
    """
    write_text(path, html_report(result, **options))


def html_page(page: Page) -> str:
    """A page as HTML; all text is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("discreet.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter_ in (number, percent, sentence, full):
        environment.filters[filter_.__name__] = filter_
    environment.filters["what"] = lambda part: type(part).__name__
    environment.globals |= {"span": span, "plural": plural, "say": words, "draw": drawn}
    environment.tests["shown"] = lambda part: part.on != TERMINAL
    provenance = page.stamp()
    files = page.sources() or [("Data", provenance.data, provenance.sha256)]
    view = {
        "light": palette.LIGHT.to_dict(),
        "dark": palette.DARK.to_dict(),
        "font": palette.FONT,
        "confidential": words.CONFIDENTIAL,
        "page": page,
        "provenance": provenance,
        "files": files,
    }
    return environment.get_template(page.template).render(**view | page.view())


def drawn(chart: Chart) -> dict[str, Any]:
    """The chart for pages and for phones, without its title, and the title."""
    finding = chart.draw(width=WIDE).description
    found: dict[str, Any] = {"finding": finding, "caption": chart.caption}
    for size, width in WIDTHS:
        found[size] = inline_svg(
            chart.draw(width=width, title=""), f"{chart.name}-{size}", finding, chart.description
        )
    return found


def inline_svg(chart: Any, name: str, title: str, description: str) -> Any:
    """The chart as an SVG element: it scales, says what it shows, and refers to nothing."""
    import io

    from markupsafe import Markup, escape

    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    found = re.fullmatch(r"\s*<svg([^>]*)>(.*)</svg>\s*", buffer.getvalue(), re.DOTALL)
    if found is None:
        raise RuntimeError("the chart was not drawn as one SVG element")
    box = re.search(r'viewBox="([\d. -]+)"', found[1])
    size = box[1] if box else f"0 0 {WIDE} {WIDE}"
    head = Markup(
        '<svg role="img" aria-labelledby="{0}-title {0}-desc" viewBox="{1}" width="{2}">'
        '<title id="{0}-title">{3}</title><desc id="{0}-desc">{4}</desc>'
    ).format(name, size, size.split()[2], title, description)
    # ids of clip paths repeat between charts, and links to name spaces are not needed in HTML
    body = re.sub(r'(id="|url\(#)(\w+)', rf"\1{escape(name)}-\2", found[2])
    return head + Markup(re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", body)) + Markup("</svg>")

"""Pictures of every report and chart, to be looked at: `python -m browser.report_shots FOLDER`.

Each report on a page, on a phone, dark, and as it is printed; each `plot()` on a page, on a phone
and dark. What is off the screen, too small, too pale or cut off is said.
"""

import sys
from html import escape
from inspect import signature
from pathlib import Path

from browser.live import chromium, find_chromium
from browser.reports import COMMANDS, whats_wrong, write_reports

SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 800}, "device_scale_factor": 2},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone-dark": {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"},
}


def main(folder, *names):
    path = find_chromium()
    if path is None:
        raise SystemExit("there is no Chromium: install it, or say where it is with CHROMIUM")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pages = write_reports(folder, names or tuple(COMMANDS))
    if not names:
        pages |= write_charts(folder)
    with chromium(path) as browser:
        for screen, options in SCREENS.items():
            context = browser.new_context(**options)
            for name, file in pages.items():
                page = context.new_page()
                page.goto(file.resolve().as_uri())
                for said in whats_wrong(page) if name in COMMANDS else ():
                    print(f"{name}, {screen}: {said}")
                page.screenshot(path=folder / f"{name}-{screen}.png", full_page=True)
                if screen == "desktop":
                    page.pdf(path=folder / f"{name}.pdf", prefer_css_page_size=True)
                page.close()


def write_charts(folder):
    """One page with every `plot()`, as its SVG file has it, in both widths."""
    from discreet.look.theme import NARROW, WIDE
    from discreet.report.export import save_chart
    from laws.test_results import made

    pages = {}
    for name, width in (("charts-wide", WIDE), ("charts-narrow", NARROW)):
        drawn = []
        for kind, result in sorted(made().items()):
            if hasattr(result, "plot"):
                needed = {"row": 0} if "row" in signature(result.plot).parameters else {}
                save_chart(result.plot(**needed, width=width), folder / "chart.svg")
                svg = (folder / "chart.svg").read_text(encoding="utf-8")
                drawn.append(f"<h2>{escape(kind)}</h2>{svg}")
        pages[name] = folder / f"{name}.html"
        head = "<!DOCTYPE html><meta charset=utf-8><meta name=color-scheme content='light dark'>"
        pages[name].write_text(head + "".join(drawn), encoding="utf-8")
    return pages


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Pictures of the server for its documentation: `python -m browser.screenshots docs/img`."""

import sys
import tempfile
from pathlib import Path

from browser.live import PHONE, Visits, chromium, find_chromium, live_server
from discreet.data.examples import find_example
from discreet.server.showing.describe import describe
from discreet.table.load import load

OUT = ("ABC", "BCE", "DE", "ADF")


def main(folder):
    path = find_chromium()
    if path is None:
        raise SystemExit("there is no Chromium: install it, or say where it is with CHROMIUM")
    with tempfile.TemporaryDirectory() as place, live_server(place) as live:
        about = describe(find_example("example:czech").codebook, load("example:czech"))
        live.open("proven", out=OUT, slug="workers", title="Czech car workers", about=about)
        ask_custodian(live, "ABEF")
        with chromium(path) as browser:
            visits = Visits(browser, live)
            for name, page in pictures(visits):
                page.screenshot(path=Path(folder) / f"server-{name}.png")
            visits.close()


def ask_custodian(live, margin):
    counter = live.site.counter
    counter.change_policy("workers", {"server.approval": "always"}, "1", "decided by hand")
    counter.request("workers", list(margin))


def pictures(visits):
    """Names, and pages that are ready to be taken."""
    page = visits.page("/d/workers", height=660)
    tick(page, "BDF", "Possible")
    yield "picker", page
    yield "table", visits.page("/d/workers/t/A*B*C", height=1020)
    page = visits.page("/d/workers", height=680)
    tick(page, "ABCDEF", "Gone")
    page.locator("form.ask").evaluate("form => form.requestSubmit()")
    page.locator("#outcome").wait_for()
    yield "refusal", page
    yield "desk", visits.staff("ada", "/desk/workers", height=1220)
    page = visits.staff("ada", "/desk/workers/policy", height=905)
    page.get_by_label("small.width").fill("12")
    page.get_by_role("button", name="Try it").click()
    page.locator("#changes").wait_for()
    yield "dry-run", page
    page = visits.page("/d/workers", **PHONE)
    tick(page, "AB", "Released")
    yield "phone", page


def tick(page, names, status):
    """Pick variables, and wait for what is said of their table."""
    for name in names:
        page.locator(f"#pick input[value={name}]").check()
    page.locator(f"#answer.{status.lower()}").wait_for()


if __name__ == "__main__":
    main(*sys.argv[1:])

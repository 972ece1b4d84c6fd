"""axe finds nothing wrong in the public's pages: wide and on a phone, light and dark."""

import pytest

from browser.live import PHONE, POLICY
from discreet.decision.law.policy import Policy
from server.axe import axe_script, violations
from server.described import open_described

WIDE = {"width": 1200, "height": 900}
OUT = (["Town", "Sex", "Age"], ["Region", "Age"])
PAGES = {
    "start": "/",
    "search": "/search?q=town",
    "nothing found": "/search?q=zebra",
    "interface": "/api",
    "picker": "/d/towns",
    "released": "/d/towns?v=Town&v=Age",
    "possible": "/d/towns?v=Town&v=Region&v=Sex",
    "about": "/d/towns/about",
    "table": "/d/towns/t/Town*Sex*Age",
    "one variable": "/d/towns/t/Town",
    "pivot": "/d/towns/t/Town*Sex*Age?rows=Town&cols=Sex&cols=Age&show=row",
    "slice": "/d/towns/t/Town*Age?where=Sex:male&level=Age:1&of=Age:under 40",
    "entry": "/d/towns/e/6",
    "gone": "/d/{czech}?v=A&v=B&v=C&v=D&v=E&v=F",
    "withdrawn": "/d/{czech}/t/D*E",
    "waiting": "/d/{approved}/requests/{ticket}",
    "nothing here": "/nope",
}


@pytest.fixture(scope="module")
def places(live, tmp_path_factory):
    """The data sets that the pages are of."""
    folder = tmp_path_factory.mktemp("towns")
    open_described(live.site.counter, folder, Policy.of(POLICY), slug="towns", out=OUT)
    czech, approved = live.open(out=["ABC", "DE"]), live.open("approved")
    live.site.counter.withdraw(czech, ["D", "E"], "1", "a coding error in E")
    ticket = live.site.counter.request(approved, ["A", "B"]).number
    return {"czech": czech, "approved": approved, "ticket": ticket}


@pytest.fixture(scope="module")
def script(request):
    return axe_script(request.config.cache)


def test_axe_finds_nothing(visits, places, script):
    for name, path in PAGES.items():
        page = visits.page(path.format_map(places), **WIDE, color_scheme="light")
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert violations(page, script) == [], name
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark")
        assert violations(page, script, styled=True) == [], f"{name}, dark on a phone"
        visits.close()


def test_axe_finds_nothing_in_german(visits, places, script):
    for name in ("start", "picker", "table", "about", "search"):
        page = visits.page(PAGES[name].format_map(places), locale="de-DE")
        assert page.locator("html").get_attribute("lang") == "de"
        assert violations(page, script) == [], name
        visits.close()


def test_axe_finds_something_where_something_is_wrong(visits, places, script):
    page = visits.page("/")
    page.evaluate("document.querySelector('h1').innerHTML = '<img src=\"/static/site.svg\">'")
    found = {line.partition(":")[0] for line in violations(page, script)}
    assert found == {"image-alt", "empty-heading"}


def test_axe_finds_what_is_wrong_in_the_dark_only(visits, places, script):
    page = visits.page("/", color_scheme="light")
    dark = "@media (prefers-color-scheme: dark) { h1 { color: #333; background: #222; } }"
    sheet = "css => { const one = new CSSStyleSheet(); one.replaceSync(css); "
    page.evaluate(sheet + "document.adoptedStyleSheets = [one]; }", dark)
    assert violations(page, script) == []
    page.emulate_media(color_scheme="dark")
    found = {line.partition(":")[0] for line in violations(page, script, styled=True)}
    assert found == {"color-contrast"}

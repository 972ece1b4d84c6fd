"""The public in a real browser: pick, ask, read, download."""

import csv
import io
import json
import re
from itertools import product

import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook
from playwright.sync_api import expect
from pyjstat import pyjstat

from browser.live import PHONE, numbers, overflow, pick, says, unpick
from server.loopback import quiet_import

EVERYTHING = "ABCDEF"


def with_totals(counts):
    """Rows with their sums, then the sums of the columns."""
    rows = counts.reshape(-1, counts.shape[-1])
    lines = [*rows.tolist(), rows.sum(0).tolist()]
    return [n for line in lines for n in (*line, sum(line))]


def test_pick_ask_and_read(visits, live):
    """Clicks from the start page to a table with its totals."""
    slug = live.open(title="Car workers")
    page = visits.page("/")
    page.get_by_role("link", name="Car workers").click()
    expect(page.locator("#answer")).to_contain_text("Pick one or more variables")
    pick(page, "A")
    says(page, "Released", "A")
    expect(page.get_by_role("link", name="Open the table")).to_be_visible()
    pick(page, "BC")
    says(page, "Possible", "ABC")
    assert page.url == live.at(f"/d/{slug}?v=A&v=B&v=C")
    page.get_by_role("button", name="Ask for the table").click()
    expect(page.locator("#outcome .word")).to_have_text("Granted")
    page.get_by_role("link", name="Open the table").click()
    expect(page).to_have_title(re.compile("A by B by C"))
    published = live.site.catalogue.published(slug, list("ABC"))
    assert numbers(page) == with_totals(published.counts)
    assert published.total == 1841
    expect(page.locator("figure svg:visible")).to_have_count(1)
    page.goto(live.at(f"/d/{slug}"))
    expect(page.get_by_role("link", name="A by B by C")).to_be_visible()


def test_the_status_follows_every_click(visits, live):
    slug = live.open(out=["ABC"])
    page = visits.page(f"/d/{slug}")
    pick(page, "ABCD")
    says(page, "Possible", "ABCD")
    unpick(page, "D")
    says(page, "Released", "ABC")
    expect(page.get_by_role("button", name="Ask for the table")).to_be_hidden()
    pick(page, "DEF")
    says(page, "Gone", EVERYTHING)
    expect(page.locator("#answer .why")).to_contain_text("would disclose too much")
    expect(page.get_by_role("button", name="Ask for the table")).to_be_hidden()
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("#answer .hint")).to_be_visible()
    expect(page.locator("#answer .kind:visible")).to_have_count(0)
    assert page.url == live.at(f"/d/{slug}")


def test_an_address_with_variables_has_them_picked(visits, live):
    slug = live.open()
    page = visits.page(f"/d/{slug}?v=B&v=F")
    says(page, "Possible", "BF")
    expect(page.locator("input[name=v]:checked")).to_have_count(2)


def test_a_refusal_has_a_reason_and_an_alternative(visits, live):
    """Whoever insists on all six variables is refused, and led to what there is."""
    slug = live.open(out=["ABC", "DE"])
    page = visits.page(f"/d/{slug}")
    pick(page, EVERYTHING)
    says(page, "Gone", EVERYTHING)
    nearest = page.locator("#answer .near a")
    expect(nearest.first).to_have_text("A by B by C")
    page.locator("form.ask").evaluate("form => form.requestSubmit()")
    expect(page.locator("#outcome .word")).to_have_text("Refused")
    expect(page.locator(".why")).to_have_text(
        "What is out rests on outer bounds, which prove nothing. "
        "With all that is out, the table would disclose too much."
    )
    near = page.locator(".near a")
    expect(near).to_have_count(3)
    for margin in near.all_inner_texts():
        link = page.get_by_role("link", name=margin, exact=True)
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(margin)
        expect(page.locator("table.counts tfoot")).to_contain_text("1,841")
        page.go_back()
    assert live.entries(slug)[-1].outcome == "refused"


def test_what_was_not_chosen_is_gone_under_the_static_rule(visits, live):
    slug = live.open("static")
    page = visits.page(f"/d/{slug}")
    pick(page, "DEF")
    says(page, "Released", "DEF")
    pick(page, "A")
    says(page, "Gone", "ADEF")
    expect(page.locator("#answer .why")).to_contain_text("not among those that were chosen")
    page.locator("#answer .near a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("D by E by F")


def rows_of(table):
    labels = product(*table.categories)
    return [(*cell, n) for cell, n in zip(labels, table.counts.ravel().tolist(), strict=True)]


def read_csv(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        head, *rows = csv.reader(file)
    return head[:-1], [(*row[:-1], int(row[-1])) for row in rows]


def read_parquet(path):
    frame = pq.read_table(path)
    return frame.column_names[:-1], [tuple(row.values()) for row in frame.to_pylist()]


def read_json(path):
    content = json.loads(path.read_text())
    cells = product(*(variable["categories"] for variable in content["variables"]))
    rows = [(*cell, n) for cell, n in zip(cells, content["values"], strict=True)]
    return content["margin"], rows


def read_json_stat(path):
    frame = pyjstat.Dataset.read(path.read_text()).write("dataframe")
    rows = [(*row[:-1], int(row[-1])) for row in frame.itertuples(index=False)]
    return list(frame.columns[:-1]), rows


def read_xlsx(path):
    head, *rows = load_workbook(io.BytesIO(path.read_bytes()))["Table"].iter_rows(values_only=True)
    return list(head[:-1]), [tuple(row) for row in rows]


def read_px(path):
    frame = quiet_import().parse(str(path), encoding="utf-8")["DATA"]
    rows = [(*row[:-1], int(row[-1])) for row in frame.itertuples(index=False, name=None)]
    return list(frame.columns[:-1]), rows


def read_sdmx(path):
    """Labels behind the codes."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    names = [name.partition(": ")[2] for name in head[3:-1]]
    return names, [(*(c.partition(": ")[2] for c in row[3:-1]), int(row[-1])) for row in rows]


READERS = {
    "CSV": read_csv,
    "Excel": read_xlsx,
    "PX": read_px,
    "SDMX-CSV 2.0": read_sdmx,
    "Parquet": read_parquet,
    "JSON": read_json,
    "JSON-stat 2.0": read_json_stat,
}


@pytest.mark.filterwarnings("ignore:Shouldn't use this:DeprecationWarning:pyjstat")  # says itself
@pytest.mark.parametrize("where", [{}, {"C": "no"}])
def test_downloads_hold_the_table(visits, live, where, tmp_path):
    """Of a table and of a slice of it, in every format."""
    slug = live.open(out=["ABC"])
    names = [name for name in "ABC" if name not in where]
    query = "&".join(f"where={k}:{v}" for k, v in where.items())
    page = visits.page(f"/d/{slug}/t/{'*'.join(names)}?{query}")
    table = live.site.catalogue.published(slug, names, where)
    for word, read in READERS.items():
        with page.expect_download() as started:
            page.get_by_role("link", name=word, exact=True).click()
        path = tmp_path / word
        started.value.save_as(path)
        head, rows = read(path)
        assert head == names, word
        assert rows == rows_of(table), word


def test_a_slice_has_its_own_address(visits, live):
    slug = live.open(out=["ABC"])
    page = visits.page(f"/d/{slug}/t/A*B*C")
    page.get_by_label("C", exact=True).select_option("yes")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/t/A*B?where=C%3Ayes")
    expect(page.locator(".subject")).to_contain_text("where C is yes")
    part = live.site.catalogue.published(slug, ["A", "B"], {"C": "yes"})
    assert numbers(page) == with_totals(part.counts)
    expect(page.get_by_label("C", exact=True)).to_have_value("C:yes")
    page.get_by_label("C", exact=True).select_option("all")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A by B by C")


def test_a_citation_leads_to_the_table(visits, live):
    slug = live.open(out=["ABC"])
    page = visits.page(f"/d/{slug}/t/A*B?where=C:no")
    cited = page.locator("#citation .address").inner_text()
    assert page.locator("link[rel=canonical]").get_attribute("href") == cited
    expect(page.locator("#citation")).to_contain_text("Office of Statistics: Czech workers")
    shown = numbers(page)
    page.goto(cited)
    assert numbers(page) == shown
    expect(page.locator("#citation .address")).to_have_text(cited)


def test_a_withdrawn_table_tells_why(visits, live):
    slug = live.open(out=["DE"])
    live.site.counter.withdraw(slug, ["D", "E"], "1", "a coding error in E")
    page = visits.page(f"/d/{slug}/t/D*E")
    expect(page.get_by_role("heading", level=2)).to_contain_text("This table was withdrawn")
    expect(page.locator(".why")).to_have_text("A coding error in E.")
    expect(page.locator("table")).to_have_count(0)
    page.get_by_role("link", name="Pick other variables").click()
    expect(page.locator("#pick")).to_be_visible()


def test_without_scripts_the_forms_do_the_same(visits, live):
    slug = live.open(out=["DE"])
    page = visits.page(f"/d/{slug}", java_script_enabled=False)
    pick(page, "ABC")
    page.get_by_role("button", name="Look").click()
    says(page, "Possible", "ABC")
    page.get_by_role("button", name="Ask for the table").click()
    expect(page.locator("#outcome .word")).to_have_text("Granted")
    page.get_by_role("link", name="Open the table").click()
    published = live.site.catalogue.published(slug, list("ABC"))
    assert numbers(page) == with_totals(published.counts)
    page.get_by_label("C", exact=True).select_option("no")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".subject")).to_contain_text("where C is no")
    page.goto(live.at(f"/d/{slug}"))
    pick(page, EVERYTHING)
    page.get_by_role("button", name="Look").click()
    says(page, "Gone", EVERYTHING)
    page.locator("#answer .near").get_by_role("link", name="D by E", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("D by E")


def test_a_silent_server_is_told(visits, live):
    slug = live.open()
    page = visits.page(f"/d/{slug}")
    page.route("**/status?*", lambda route: route.abort("timedout"))
    pick(page, "A")
    expect(page.locator("#answer .why")).to_have_text("The server did not answer. Try again.")
    page.unroute("**/status?*")
    pick(page, "B")
    says(page, "Possible", "AB")
    visits.wrong = [line for line in visits.wrong if "ERR_TIMED_OUT" not in line]


def test_a_phone_scrolls_in_one_direction(visits, live):
    slug = live.open(out=["ABC", "DE"])
    live.site.counter.withdraw(slug, ["D", "E"], "1", "a coding error in E")
    page = visits.page("/", **PHONE)
    for path in ("", "?v=A&v=B", "/t/A*B*C", "/t/D*E", "/about"):
        page.goto(live.at(f"/d/{slug}{path}"))
        assert overflow(page) == 0, path
    page.goto(live.at("/login"))
    assert overflow(page) == 0


def test_pages_ask_for_nothing_but_themselves(visits, live):
    """The page, its style, its script, its icon and the status: no font, no counter, nobody."""
    slug = live.open()
    page = visits.page(f"/d/{slug}")
    pick(page, "AB")
    says(page, "Possible", "AB")
    paths = {re.sub(r"-[0-9a-f]{16}", "", url.removeprefix(live.address)) for url in visits.asked}
    kinds = {path.partition("?")[0] for path in paths}
    status = f"/api/v1/datasets/{slug}/status"
    assert kinds <= {
        f"/d/{slug}",
        "/static/site.css",
        "/static/site.js",
        "/static/site.svg",
        status,
    }
    assert kinds >= {f"/d/{slug}", "/static/site.css", "/static/site.js", status}
    assert page.context.cookies() == []

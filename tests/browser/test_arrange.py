"""Arranging a table in a real browser: by mouse, by keyboard, and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from browser.live import PHONE, overflow, pick


def expect_heads(page, beside, above):
    """The variables beside the rows and those above the columns, once the page is there."""
    expect(page.locator("table.counts thead th[id^=v]")).to_have_text(beside)
    expect(page.locator("table.counts thead th[id^=above]")).to_have_text(above)


def chip(page, name):
    return page.locator(f"#arrange .chip[data-name='{name}']")


@pytest.fixture
def table(visits, live):
    slug = live.open(out=["ABC"])
    page = visits.page(f"/d/{slug}/t/A*B*C")
    expect_heads(page, ["A", "B"], ["C"])
    return page


def test_a_variable_is_dragged_to_the_columns(table):
    chip(table, "A").drag_to(table.locator(".zone[data-zone=cols]"))
    table.wait_for_url("**/t/A*B*C?rows=B&cols=*&cols=*")
    expect_heads(table, ["B"], [re.compile("^[AC]$")] * 2)


def test_a_variable_is_moved_by_arrow_keys(table):
    grip = chip(table, "B").locator(".grip")
    grip.focus()
    table.keyboard.press("ArrowUp")
    table.wait_for_url("**rows=B&rows=A&cols=C**")
    expect_heads(table, ["B", "A"], ["C"])
    expect(chip(table, "B").locator(".grip")).to_be_focused()
    table.keyboard.press("ArrowRight")
    table.wait_for_url("**rows=A&cols=C&cols=B**")
    expect_heads(table, ["A"], ["C", "B"])
    expect(chip(table, "B").locator(".grip")).to_be_focused()


def test_shares_totals_and_turning(table):
    table.get_by_label("Cells show").select_option("shares of the row")
    table.get_by_label("with totals").uncheck()
    table.get_by_role("button", name="Show").click()
    table.wait_for_url("**?show=row&totals=no")
    expect(table.locator("table.counts tfoot")).to_have_count(0)
    cells = table.locator("table.counts td.n")
    expect(cells).to_have_text([re.compile("%$")] * cells.count())
    table.get_by_role("link", name="Exchange rows and columns").click()
    expect_heads(table, ["C"], ["A", "B"])
    expect(table.get_by_label("Cells show")).to_have_value("column")


def test_without_scripts_a_table_is_arranged_by_its_form(visits, live):
    page = visits.page(f"/d/{live.open(out=['ABC'])}/t/A*B*C", java_script_enabled=False)
    expect(page.locator(".grip")).to_have_count(0)
    page.get_by_role("button", name="Move B to the front").click()
    expect_heads(page, ["B", "A"], ["C"])
    page.get_by_label("Place of A").select_option("in columns")
    page.get_by_role("button", name="Show").click()
    expect_heads(page, ["B"], ["A", "C"])
    page.get_by_label("A", exact=True).select_option("yes")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".subject")).to_contain_text("where A is yes")
    expect_heads(page, ["B"], ["C"])
    page.get_by_label("A", exact=True).select_option("all")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("table.counts thead th:is([id^=v], [id^=above])")).to_have_count(3)


def test_arranging_an_entry_stays_at_the_entry(visits, live):
    slug = live.open(out=["ABC"])
    number = live.site.catalogue.published(slug, list("ABC")).entry
    page = visits.page(f"/d/{slug}/e/{number}?v=A&v=B")
    page.get_by_label("Place of A").select_option("in columns")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(f"**/d/{slug}/e/{number}?v=A&v=B&cols=**")
    expect(page.locator("#citation .address")).to_have_text(
        re.compile(re.escape(f"/e/{number}?v=A&v=B") + "$")
    )


def test_a_phone_shows_it_all(visits, live):
    page = visits.page(f"/d/{live.open(out=['ABCDE'])}/t/A*B*C*D*E?cols=D&cols=E", **PHONE)
    assert overflow(page) == 0
    expect(page.locator("#arrange .chip")).to_have_count(5)


def test_the_picker_speaks_the_readers_language(visits, live):
    page = visits.page(f"/d/{live.open(out=['ABC'])}", locale="de-DE")
    pick(page, "AB")
    expect(page.locator("#answer .what")).to_have_text("A nach B")
    expect(page.locator("#answer .why")).to_contain_text("ergibt sich aus einer veröffentlichten")
    expect(page.locator("#answer .kind:visible .word")).to_have_text("Veröffentlicht")
    pick(page, "CDEF")
    expect(page.locator("#answer .offers")).to_contain_text("Sie könnten anfordern")
    page.get_by_role("link", name="English").click()
    expect(page.locator("#answer .offers")).to_contain_text("You could ask for")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_what_is_offered_can_be_picked_with_a_click(visits, live):
    page = visits.page(f"/d/{live.open()}")
    pick(page, "ABCDEF")
    first = page.locator("#answer .offered a").first
    expect(first).to_be_visible()
    names = first.inner_text().split(" by ")
    first.click()
    expect(page.locator("#answer .what")).to_have_text(" by ".join(names))
    expect(page.locator("input[name=v]:checked")).to_have_count(len(names))


def test_search_leads_to_a_table(visits, live):
    live.open(out=["AB"], title="Workers to be found")
    page = visits.page("/")
    page.get_by_label("Search tables, variables and categories").fill("found")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Workers to be found").click()
    expect(page.locator("#pick")).to_be_visible()

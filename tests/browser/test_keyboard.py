"""Everything by keyboard: Tab, Space, Enter and letters, with the focus to be seen."""

import re

from playwright.sync_api import expect

from browser.live import PASSWORD, says

STOP = """target => {
    const here = document.activeElement, style = getComputedStyle(here);
    const box = here.getBoundingClientRect();
    const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    const inside = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.left >= 0;
    const seen = here.matches(":focus-visible") && outlined && inside;
    return { seen, reached: here === target, html: here.outerHTML.slice(0, 200) };
}"""


def tab_to(page, target, most=40):
    """Press Tab until it has the focus; what has it can be seen at every stop."""
    for _ in range(most):
        page.keyboard.press("Tab")
        stop = target.evaluate(STOP)
        assert stop["seen"], stop["html"]
        if stop["reached"]:
            return
    raise AssertionError(f"{most} times Tab did not come to {target}")


def press(page, target, key="Enter"):
    tab_to(page, target)
    page.keyboard.press(key)


def test_the_first_stop_skips_to_the_content(visits, live):
    page = visits.page(f"/d/{live.open()}")
    skip = page.get_by_role("link", name="Skip to the content")
    assert skip.bounding_box()["y"] < 0
    page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('content').contains(document.activeElement)")


def test_pick_ask_read_and_download(visits, live):
    """The whole way of a reader, without a mouse."""
    slug = live.open(title="Workers by keyboard")
    page = visits.page("/")
    link = page.get_by_role("link", name="Workers by keyboard")
    tab_to(page, link, most=200)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/d/{slug}")
    for name in "ABC":
        press(page, page.get_by_role("checkbox", name=re.compile(f"^{name} ")), "Space")
    says(page, "Possible", "ABC")
    press(page, page.get_by_role("button", name="Ask for the table"))
    expect(page.locator("#outcome .word")).to_have_text("Granted")
    press(page, page.get_by_role("link", name="Open the table"))
    expect(page.locator("table.counts")).to_be_visible()
    tab_to(page, page.get_by_label("C", exact=True))
    page.keyboard.press("y")
    press(page, page.get_by_role("button", name="Show"))
    page.wait_for_url("**/t/A*B?where=C%3Ayes")
    tab_to(page, page.get_by_role("link", name="CSV", exact=True))
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    assert started.value.suggested_filename == f"{slug}-A-B.csv"


def test_a_table_that_is_too_wide_scrolls_by_keyboard(visits, live):
    page = visits.page(f"/d/{live.open(out=['ABCDE'])}/t/A*B*C*D*E", width=320, height=700)
    region = page.get_by_role("region", name="Number in each group")
    tab_to(page, region)
    assert region.evaluate("element => element.scrollWidth > element.clientWidth")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert region.evaluate("element => element.scrollLeft") > 0


def test_log_in_decide_and_log_out(visits, live):
    slug = live.open("approved")
    live.site.counter.request(slug, ["A", "B"])
    page = visits.page(f"/desk/{slug}")
    tab_to(page, page.get_by_label("Name"))
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#waiting")).to_have_text("1 request waiting")
    tab_to(page, page.get_by_label("Note for the ledger"))
    page.keyboard.type("by keyboard")
    press(page, page.get_by_role("button", name="Approve"), "Space")
    expect(page.get_by_role("status")).to_contain_text("The table is published.")
    press(page, page.get_by_text("The same as a table"))
    expect(page.get_by_role("table", name="Tables by their number of variables")).to_be_visible()
    page.goto(live.at(f"/desk/{slug}"))
    press(page, page.get_by_role("button", name="Log out"))
    page.wait_for_url(live.at("/"))


def test_nothing_holds_the_focus(visits, live):
    """Tab goes through every page and out of it again."""
    slug = live.open("approved", out=[])
    live.site.counter.request(slug, ["A", "B"])
    page = visits.staff("ada")
    paths = [f"/d/{slug}", f"/desk/{slug}", f"/desk/{slug}/ledger", "/desk/users", "/account"]
    for path in paths:
        page.goto(live.at(path))
        last = page.locator("footer.site a").last
        tab_to(page, last, most=150)

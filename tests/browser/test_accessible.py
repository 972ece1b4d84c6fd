"""Pages of the staff under axe: labels, contrast, headings, landmarks, names of controls."""

import pytest
from playwright.sync_api import expect

from browser.live import PHONE, log_in
from server.axe import axe_script, violations

DESK = ("", "/policy", "/ledger", "/refusals", "/listed", "/codebook")
OFFICE = ("/desk", "/desk/users", "/desk/trail", "/account", "/account/second-factor")


@pytest.fixture
def script(cache):
    return axe_script(cache)


@pytest.fixture(scope="module")
def slug(live):
    """A desk with something on every page: out, waiting, refused, withdrawn, listed."""
    slug = live.open("approved")
    counter = live.site.counter
    waiting = [counter.request(slug, list(margin)).number for margin in ("AB", "CD", "EF")]
    counter.approve(slug, waiting[0], "1", "for the yearbook")
    counter.withdraw(slug, ["A", "B"], "1", "a coding error in B")
    counter.request(slug, list("ABCDEF"))
    counter.list_margins(slug, [["A", "B", "C"]], "1")
    return slug


@pytest.mark.parametrize("name", ["ada", "otto"])
def test_the_staffs_pages(visits, slug, script, name):
    wrong = {}
    page = visits.staff(name, color_scheme="light")
    paths = [*OFFICE, *(f"/desk/{slug}{tab}" for tab in DESK)]
    for path in paths:
        page.goto(visits.address + path)
        found = violations(page, script)
        page.emulate_media(color_scheme="dark")
        found += violations(page, script, styled=True)
        page.emulate_media(color_scheme="light")
        if found:
            wrong[path] = found
    assert not wrong


@pytest.mark.parametrize("more", [{}, PHONE], ids=["desk", "phone"])
def test_logging_in_and_what_goes_wrong(visits, script, more):
    page = visits.page("/login", **more)
    assert not violations(page, script)
    log_in(page, "ada", "not her password")
    expect(page.get_by_role("alert")).to_be_visible()
    assert not violations(page, script)


def test_a_dry_run_a_verified_ledger_and_a_new_factor(visits, slug, script):
    page = visits.staff("ada", f"/desk/{slug}/ledger")
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_role("status")).to_contain_text("The ledger holds.")
    assert not violations(page, script)
    page.goto(f"{visits.address}/account/second-factor")
    page.get_by_role("button", name="Set it up").click()
    expect(page.get_by_label("Code")).to_be_visible()
    assert not violations(page, script)
    page.goto(f"{visits.address}/desk/{slug}/policy")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert not violations(page, script)

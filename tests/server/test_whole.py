"""All of it in a real browser: nginx with TLS, a login elsewhere, and one with a second factor."""

import re
from datetime import UTC, datetime

import pyotp
import pytest
from playwright.sync_api import expect, sync_playwright

from browser.live import SWITCHES, find_chromium, log_in
from server.deployed import HOST, discreet, find_nginx, fronted, serving
from server.provider import provider
from server.sites import PASSWORD

SITE = f"https://{HOST}"
WORDS = ("example:czech", "--title", "Czech workers", *(
    word
    for change in ("server.rule=myopic", "server.slot=0", "bounds.proof=outer",
                   "attribute.check=false", "server.approval=always")
    for word in ("--set", change)
))  # fmt: skip


@pytest.fixture(scope="module")
def office():
    """The identity provider."""
    if find_chromium() is None:
        pytest.skip("there is no Chromium: install it, or say where it is with CHROMIUM")
    find_nginx()
    with provider() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def database(folder):
    return f"sqlite:///{folder}/site.db"


@pytest.fixture(scope="module")
def front(folder, database, office):
    settings = {
        "address": SITE,
        "trusted_proxies": "127.0.0.1",
        "logins_per_minute": 1_000,
        "requests_per_minute": 10_000,
        "second_factor": "staff",
        **office.settings(),
    }
    with serving(folder, *WORDS, database=database, **settings) as server:
        discreet("accounts", "add", "ada", "--role", "custodian", "--password-stdin",
                 given=f"{PASSWORD}\n", database=database)  # fmt: skip
        with fronted(folder, server.port, quick=False) as running:
            yield running


@pytest.fixture(scope="module")
def browser(front):
    """Finds the host at nginx's port, as the DNS would; the certificate is one of the test."""
    found = f"--host-resolver-rules=MAP {HOST}:443 127.0.0.1:{front.port}"
    with sync_playwright() as playwright:
        path = find_chromium()
        opened = playwright.chromium.launch(executable_path=path, args=[*SWITCHES, found])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser):
    """Opens pages, each as another person; nothing goes wrong in them."""
    contexts, wrong = [], []

    def note(line):
        if line.type in ("error", "warning") and "the server responded with a" not in line.text:
            wrong.append(line.text)

    def open_page(path):
        context = browser.new_context(ignore_https_errors=True)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(SITE + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


def ask(visit, names):
    """A reader asks, and waits for a custodian; on the page that answers."""
    page = visit("/d/czech")
    for name in names:
        page.locator(f"input[name=v][value={name}]").check()
    page.get_by_role("button", name="Ask for the table").click()
    expect(page.locator("#outcome .word")).to_have_text("Waiting")
    return page


def approve(page, title, note):
    """At the desk; and the ledger has it, with the name of who did it."""
    page.get_by_role("link", name="Czech workers", exact=True).click()
    request = page.get_by_role("article", name=title)
    request.get_by_label("Note for the ledger").fill(note)
    request.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("The table is published.")
    page.get_by_role("link", name="Ledger", exact=True).click()
    return page.locator("table.ledger tbody tr", has_text=note)


def check_cookies(page):
    """Only of this host, over TLS, and not for scripts."""
    cookies = page.context.cookies(SITE)
    assert cookies
    for cookie in cookies:
        assert cookie["name"].startswith("__Host-")
        assert cookie["secure"]
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Lax"
    assert page.evaluate("document.cookie") == ""


def test_a_custodian_logs_in_elsewhere_and_approves(visit, office):
    reader = ask(visit, "AB")
    page = visit("/desk")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    page.get_by_role("link", name="Log in with the office's login").click()
    page.wait_for_url(f"{SITE}/desk")
    assert "/authorize" in office.requests
    check_cookies(page)
    row = approve(page, "A by B", "agreed with the ministry")
    expect(row).to_contain_text("maria")
    expect(row).to_contain_text("A × B")
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_role("status")).to_contain_text("The ledger holds.")
    reader.get_by_role("link", name="this address").click()
    expect(reader.locator("#outcome .word")).to_have_text("Granted")
    reader.get_by_role("link", name="Open the table").click()
    expect(reader.locator("table.counts tfoot").first).to_contain_text("1,841")
    assert reader.url.startswith(f"{SITE}/d/czech/t/")
    page.get_by_role("button", name="Log out").click()
    page.goto(f"{SITE}/desk/czech")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


def test_who_has_no_role_there_is_nobody_here(visit, office):
    known, office.person = office.person, {"sub": "9", "preferred_username": "eve", "roles": []}
    try:
        page = visit("/login")
        page.get_by_role("link", name="Log in with the office's login").click()
        expect(page.get_by_role("alert")).to_contain_text("You are known, but have no role here.")
        page.goto(f"{SITE}/desk")
        expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    finally:
        office.person = known


def test_a_local_custodian_sets_up_a_second_factor_and_approves_with_it(visit, database):
    ask(visit, "CD")
    page = visit("/login")
    log_in(page, "ada")
    page.wait_for_url(f"{SITE}/account/second-factor")
    page.goto(f"{SITE}/desk/czech")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Czech workers")
    page.goto(f"{SITE}/account/second-factor")
    page.get_by_role("button", name="Set it up").click()
    secret = page.locator("code.secret").inner_text().replace(" ", "")
    picture = page.locator("img.qr")
    expect(picture).to_be_visible()
    page.wait_for_function("document.querySelector('img.qr').naturalWidth > 0")
    totp = pyotp.TOTP(secret)
    page.get_by_label("Code").fill(totp.now())
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
    recovery = page.locator("code.secret").all_inner_texts()
    assert len(set(recovery)) == 10

    page = visit("/desk/czech")
    log_in(page, "ada")
    page.wait_for_url(re.compile("/login/code"))
    check_cookies(page)
    page.get_by_label("Code").fill("000000" if totp.now() != "000000" else "111111")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Code").fill(next_code(totp))
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url(f"{SITE}/desk/czech")
    page.goto(f"{SITE}/desk")
    row = approve(page, "C by D", "with the second factor")
    expect(row).to_contain_text("ada")

    page = visit("/login")
    log_in(page, "ada")
    page.get_by_label("Code").fill(recovery[0])
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url(f"{SITE}/desk")
    page.goto(f"{SITE}/desk/trail")
    expect(page.locator("table tbody")).to_contain_text("127.0.0.1")
    assert "✓ PASS" in discreet("ledger", "verify", database=database)


def next_code(totp):
    """Of the step after this one: a code counts once, and that of now may be used up."""
    return totp.at(datetime.now(UTC), counter_offset=1)

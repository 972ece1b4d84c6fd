"""A server on a port of this machine, and a Chromium that is watched."""

import os
import re
import shutil
import socket
import threading
from contextlib import contextmanager
from itertools import count

import uvicorn
from argon2 import PasswordHasher
from playwright.sync_api import expect, sync_playwright
from pydantic import SecretStr

from discreet.decision.law.policy import Policy
from discreet.server.app import create_app
from discreet.server.deciding.counter import Counter
from discreet.server.ledger.database import migrate, open_database
from discreet.server.people.accounts import Accounts
from discreet.server.people.identity import cookie_name
from discreet.server.services import Services
from discreet.server.settings import Settings
from discreet.server.showing import staff_views
from discreet.server.showing.catalogue import Catalogue
from discreet.table.load import load
from discreet.table.table import Table

PASSWORD = "a long enough one 4 tests"
STAFF = {"ada": "custodian", "otto": "auditor"}
POLICY = {
    "server.rule": "myopic",
    "bounds.proof": "outer",
    "attribute.check": False,
    "published.least": 0,
    "server.slot": 0.05,
}
KINDS = {
    "myopic": {},
    "static": {"server.rule": "static"},
    "approved": {"server.approval": "always"},
    "proven": {"bounds.proof": "integer"},
}
FRONTIER = (("A", "B", "C"), ("D", "E", "F"))
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MANY = 10**6
PHONE = {"width": 400, "height": 800}


def workers(n):
    """Car workers of a factory of their own: `n` of them are counted elsewhere."""
    table = load("example:czech")
    counts = table.dense()
    most, next_most = counts.ravel().argsort()[[-1, -2]]
    counts.ravel()[[most, next_most]] += [-n, n]
    return Table.of(counts, **{v.name: v.categories for v in table.variables})


class Live:
    """A site that is served at `address`; every test opens data sets of its own."""

    def __init__(self, site, address):
        self.site, self.address = site, address
        self.numbers = count(1)

    def open(self, kind="myopic", *, out=(), slug=None, title=None, **more):
        """A data set of a kind, with tables that are out already; its slug."""
        n = next(self.numbers)
        slug = slug or f"{kind}{n}"
        self.site.counter.open(
            workers(n),
            Policy.of(POLICY | KINDS[kind]),
            slug=slug,
            title=title or f"Czech workers {n}",
            frontier=FRONTIER if kind == "static" else None,
            apart=True,
            **more,
        )
        for margin in out:
            self.site.counter.request(slug, list(margin))
        return slug

    def at(self, path):
        return self.address + path

    def entries(self, slug):
        """Of the ledger."""
        return staff_views.ledger_view(self.site, slug, 0, 1_000).entries


@contextmanager
def live_server(folder, *, title="Office of Statistics"):
    """The application with uvicorn in a thread."""
    url = f"sqlite:///{folder}/site.db"
    migrate(url)
    database = open_database(url)
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    settings = Settings(
        database=url,
        secret=SecretStr("s" * 32),
        address=address,
        cookies_over_http=True,
        requests_per_minute=MANY,
        decisions_per_minute=MANY,
        logins_per_minute=MANY,
        title=title,
    )
    accounts = Accounts(database, hasher=PasswordHasher(1, 8, 1))
    for name, role in STAFF.items():
        accounts.create(name, role, PASSWORD)
    counter = Counter(database, b"s" * 32)
    site = Services(settings, database, counter, Catalogue(database), accounts)
    app = create_app(settings, site, quiet=True)
    server = uvicorn.Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield Live(site, address)
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def find_chromium():
    """Where Chromium is; the environment's CHROMIUM goes first."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium")


@contextmanager
def chromium(path):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SWITCHES)
        yield browser
        browser.close()


class Visits:
    """Opens pages, each as another person, and notes what goes wrong in them."""

    def __init__(self, browser, live):
        self.browser, self.live, self.address = browser, live, live.address
        self.contexts, self.wrong, self.asked = [], [], []

    def page(self, path="/", *, width=1200, height=900, **more):
        context = self.browser.new_context(viewport={"width": width, "height": height}, **more)
        context.set_default_timeout(60_000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("request", self._note_request)
        page.on("response", self._note_response)
        page.on("console", self._note_line)
        page.on("pageerror", lambda error: self.wrong.append(f"script: {error}"))
        page.goto(self.address + path)
        return page

    def staff(self, name, path="/desk", **more):
        """A page of somebody who is logged in."""
        accounts = self.live.site.accounts
        token, _ = accounts.start_session(accounts.find(name).id)
        cookie = {"name": cookie_name(self.live.site.settings), "value": token, "url": self.address}
        return self.page(path, storage_state={"cookies": [cookie], "origins": []}, **more)

    def close(self):
        for context in self.contexts:
            context.close()

    def _note_request(self, request):
        self.asked.append(request.url)
        if not request.url.startswith((self.address + "/", "data:")):
            self.wrong.append(f"asked somebody else: {request.url}")

    def _note_response(self, response):
        if response.status >= 400 and not response.request.is_navigation_request():
            self.wrong.append(f"{response.status} for {response.url}")

    def _note_line(self, line):
        """Whatever the browser complains of, but pages that are errors on purpose."""
        if line.type in ("error", "warning") and "the server responded with a" not in line.text:
            self.wrong.append(f"console: {line.text}")


def log_in(page, name, password=PASSWORD):
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def pick(page, names):
    for name in names:
        page.get_by_role("checkbox", name=re.compile(f"^{name} ")).check()


def unpick(page, names):
    for name in names:
        page.get_by_role("checkbox", name=re.compile(f"^{name} ")).uncheck()


def says(page, status, margin):
    """The picker tells a status, in words, of this table and no other."""
    answer = page.locator("#answer")
    expect(answer.locator(".what")).to_have_text(" by ".join(margin))
    expect(answer.locator(".kind:visible .word")).to_have_text(status)


def numbers(page):
    """Every count on the page of a table."""
    shown = page.locator("table.counts td.n").all_inner_texts()
    return [int(text.replace(",", "")) for text in shown]


def overflow(page):
    """By how many pixels a page is wider than its window."""
    return page.evaluate("document.scrollingElement.scrollWidth - innerWidth")

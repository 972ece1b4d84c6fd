"""Every page renders, for whoever may see it, and keeps to what a page must be."""

import asyncio
import re
from html.parser import HTMLParser
from itertools import pairwise

import httpx
import pytest
from argon2 import PasswordHasher
from pydantic import SecretStr

from discreet.decision.law.policy import Policy
from discreet.server.app import create_app
from discreet.server.deciding.counter import Counter
from discreet.server.formats import Format
from discreet.server.ledger.database import migrate, open_database
from discreet.server.pages import words
from discreet.server.pages.assets import asset
from discreet.server.pages.charts import space_bars
from discreet.server.pages.grid import grid
from discreet.server.people.accounts import Accounts
from discreet.server.services import Services
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue
from discreet.server.showing.shapes import OrderView
from discreet.table.load import load

OURS = "https://tables.example"
PASSWORD = "correct horse battery"
HTML = {"Accept": "text/html"}
PUBLIC = [
    ("/", 200),
    ("/d/czech", 200),
    ("/d/czech?v=A&v=B", 200),
    ("/d/czech?v=A&v=D&v=F", 200),
    ("/d/czech?v=A&v=B&v=C&v=D&v=E&v=F", 200),
    ("/d/czech?v=nope", 422),
    ("/d/czech/about", 200),
    ("/d/czech/t/A", 200),
    ("/d/czech/t/A*B", 200),
    ("/d/czech/t/A*B*C", 200),
    ("/d/czech/t/A*B?where=C:no", 200),
    ("/d/czech/t/A*B*C?page=2", 422),
    ("/d/czech/t/A*F", 404),
    ("/d/czech/t/D*E", 410),
    ("/d/czech/e/8", 200),
    ("/d/czech/e/8?v=A&where=B:no", 200),
    ("/d/czech/e/1", 404),
    ("/search", 200),
    ("/search?q=A+yes", 200),
    ("/api", 200),
    ("/d/czech/requests/9", 200),
    ("/d/czech/requests/999", 404),
    ("/d/nope", 404),
    ("/nope", 404),
    ("/login", 200),
    ("/desk", 401),
    ("/account", 401),
]
DESK = [
    "/desk",
    "/desk/czech",
    "/desk/czech/policy",
    "/desk/czech/ledger",
    "/desk/czech/refusals",
    "/desk/czech/listed",
    "/desk/czech/codebook",
    "/desk/users",
    "/desk/trail",
]
AUDITED = {
    "/desk",
    "/desk/czech",
    "/desk/czech/policy",
    "/desk/czech/ledger",
    "/desk/czech/listed",
    "/desk/czech/codebook",
    "/desk/trail",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('pages')}/ledger.db"
    migrate(url)
    database = open_database(url)
    counter = Counter(database, b"s" * 32)
    policy = {"server.rule": "myopic", "bounds.proof": "outer", "server.slot": 0.0}
    counter.open(load("example:czech"), Policy.of(policy), slug="czech", title="Czech <workers>")
    for margin in ("ABC", "DE"):
        counter.request("czech", list(margin))
    counter.withdraw("czech", ["D", "E"], "1", "a coding error in E")
    counter.change_policy("czech", {"server.approval": "always"}, "1")
    accounts = Accounts(database, hasher=PasswordHasher(1, 8, 1))
    for name, role in (("ada", "custodian"), ("otto", "auditor"), ("ann", "analyst")):
        accounts.create(name, role, PASSWORD)
    settings = Settings(
        database=url,
        secret=SecretStr("s" * 32),
        cookies_over_http=True,
        requests_per_minute=10_000,
        decisions_per_minute=10_000,
        logins_per_minute=10_000,
        title="Office of Statistics",
        address=OURS,
    )
    yield Services(settings, database, counter, Catalogue(database), accounts)
    database.close()


class Browser:
    """Follows redirects, keeps cookies and wants pages."""

    def __init__(self, app, runner):
        transport = httpx.ASGITransport(app)
        self.runner = runner
        self.http = httpx.AsyncClient(transport=transport, base_url=OURS, headers=HTML)

    def get(self, path, follow_redirects=True, **more):
        return self.runner.run(self.http.get(path, follow_redirects=follow_redirects, **more))

    def post(self, path, follow_redirects=True, **more):
        return self.runner.run(self.http.post(path, follow_redirects=follow_redirects, **more))


@pytest.fixture(scope="module")
def browser(site):
    """Makes browsers."""
    app = create_app(site.settings, site, quiet=True)
    with asyncio.Runner() as runner:
        yield lambda: Browser(app, runner)


@pytest.fixture
def client(browser):
    return browser()


def login(client, name):
    answer = client.post("/login", data={"name": name, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    return client


@pytest.fixture
def custodian(client):
    return login(client, "ada")


class Page(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def all(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


def check(answer):
    """What holds for every page."""
    html = answer.text
    page = Page(html)
    assert html.startswith("<!DOCTYPE html>")
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    assert len(page.all("main")) == 1
    assert "<title>" in html
    assert "#content" in [a.get("href") for a in page.all("a")]
    ids = [a["id"] for _, a in page.tags if a.get("id")]
    assert len(ids) == len(set(ids)), "an id stands twice"
    for tag, attributes in page.tags:
        assert "style" not in attributes, tag
        assert not [name for name in attributes if name.startswith("on")], tag
        for name in ("headers", "aria-labelledby", "aria-describedby"):
            assert set((attributes.get(name) or "").split()) <= set(ids), attributes
        for name in ("src", "href", "action", "formaction"):
            address = attributes.get(name) or "/"
            ours = address.startswith(("/", "#", "?", f"{OURS}/"))
            assert ours, f"{tag} goes to {address}"
    assert not page.all("style")
    assert all(a.get("src", "").startswith("/static/") for a in page.all("script"))
    labelled = {a["for"] for a in page.all("label") if "for" in a}
    for field in page.all("input", "select", "textarea"):
        if field.get("type") != "hidden":
            named = field.get("id") in labelled or "aria-label" in field
            assert named or field.get("type") == "checkbox", field
    posts = [a for a in page.all("form") if a.get("method") == "post"]
    assert html.count('name="csrf"') == len(posts)
    for image in page.all("svg"):
        assert image["role"] == "img"
        assert image["aria-labelledby"]
    headings = [int(tag[1]) for tag, _ in page.tags if tag in ("h1", "h2", "h3")]
    assert all(b - a <= 1 for a, b in pairwise(headings)), headings
    return page


@pytest.mark.parametrize(("path", "status"), PUBLIC)
def test_public_page(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    check(answer)
    assert "<workers>" not in answer.text


@pytest.mark.parametrize("path", DESK)
def test_page_of_the_desk(custodian, path):
    answer = custodian.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    check(answer)


@pytest.mark.parametrize("path", DESK)
def test_an_auditor_reads_and_changes_nothing(client, path):
    answer = login(client, "otto").get(path)
    assert answer.status_code == (200 if path in AUDITED else 403)
    page = check(answer)
    forms = {a["action"] for a in page.all("form") if a.get("method") == "post"}
    assert forms <= {"/logout", "/desk/czech/ledger/verify", "/desk/trail/verify"}
    assert "narrowest" not in answer.text


@pytest.mark.parametrize("path", DESK)
def test_an_analyst_has_no_desk(client, path):
    assert login(client, "ann").get(path).status_code == 403


def test_statuses_have_words_symbols_and_what_to_do(client):
    for query, word in (("v=A&v=B", "Released"), ("v=A&v=F", "Possible")):
        page = client.get(f"/d/czech?{query}").text
        assert f'data-kind="{word.lower()}">' in page.replace(" hidden", "#")
    out = client.get("/d/czech?v=A&v=B").text
    assert 'href="/d/czech/t/A*B">Open the table' in out
    gone = client.get("/d/czech?v=A&v=B&v=C&v=D&v=E&v=F").text
    assert '<p class="kind" data-kind="gone">' in gone
    assert '<a href="/d/czech/t/A*B*C">A by B by C</a>' in gone


def test_a_table_has_totals_downloads_and_a_citation(client, site):
    page = client.get("/d/czech/t/A*B*C").text
    table = site.catalogue.published("czech", list("ABC"))
    assert f'headers="rt ct">{table.total:,}<' in page
    for kind in Format:
        link = f"/api/v1/datasets/czech/tables/A*B*C?format={kind}"
        assert f'href="{link}"' in page
        assert client.get(link).status_code == 200
    assert f"Entry {table.entry} of the ledger czech" in page
    assert f'<span class="address">{OURS}/d/czech/e/{table.entry}</span>' in page


@pytest.mark.parametrize("path", ["/d/czech/about", "/d/czech/t/A*B"])
def test_outer_bounds_are_said_in_the_first_line(client, path):
    text = client.get(path).text
    line = '</h1>\n<p class="message review" role="note">What is out rests on outer bounds, '
    assert f"{line}which prove nothing.</p>" in text


def test_an_answer_says_first_that_it_rests_on_outer_bounds(client):
    asked = client.post("/d/czech/ask", data={"v": list("ABCDEF")}).text
    picked = client.get("/d/czech?v=A&v=B").text
    line = '<p class="why">What is out rests on outer bounds, which prove nothing. '
    assert line in asked
    assert line in picked


@pytest.mark.parametrize(
    ("changes", "lasts"),
    [
        ({"server.rule": "myopic"}, True),
        ({"server.rule": "myopic", "belief.most": 0.9}, False),
        ({"server.rule": "myopic", "published.tables": "A: 5"}, False),
        ({"server.rule": "simulatable"}, False),
    ],
)
def test_gone_is_for_ever_only_if_no_table_mends_what_another_broke(changes, lasts):
    assert words.lasting(Policy.of(changes)) is lasts


def test_rows_of_a_grid_are_those_of_the_table(site):
    table = site.catalogue.published("czech", list("ABC"))
    whole = grid(table)
    assert [row.counts for row in whole.rows] == [tuple(r) for r in table.counts.reshape(-1, 2)]
    assert whole.total == table.total
    pages = [grid(table, page, most=3) for page in (1, 2)]
    assert [row.counts for p in pages for row in p.rows] == [row.counts for row in whole.rows]
    assert pages[0].foot == pages[1].foot == whole.foot
    assert pages[1].rows[0].heads[0].continued
    for page in (whole, *pages):
        for level in range(2):
            spans = [h.span for r in page.rows for h in r.heads if h.id.startswith(f"r{level}-")]
            assert sum(spans) == len(page.rows)


def test_a_slice_goes_to_its_own_address(client):
    answer = client.get("/d/czech/t/A*B*C?is=&is=&is=C:no", follow_redirects=False)
    assert answer.headers["location"] == "/d/czech/t/A*B?where=C%3Ano"
    assert "where C is no" in client.get(answer.headers["location"]).text
    everything = client.get("/d/czech/t/A?is=A:no", follow_redirects=False)
    assert everything.status_code == 422


def test_a_withdrawn_table_says_why(client):
    answer = client.get("/d/czech/t/D*E")
    assert answer.status_code == 410
    assert "A coding error in E." in answer.text


def test_asking_waiting_and_approving(client, browser):
    asked = client.post("/d/czech/ask", data={"v": ["A", "F"], "csrf": ""})
    assert asked.status_code == 200
    check(asked)
    assert "Waiting" in asked.text
    address = re.search(r'"(/d/czech/requests/(\d+))"', asked.text)
    staff = login(browser(), "ada")
    desk = staff.get("/desk/czech").text
    one = staff.get(f"/desk/czech/pending/{address[2]}")
    check(one)
    assert "It would close off" in one.text
    path = f"/desk/czech/pending/{address[2]}/approve"
    assert staff.post(path, data={"note": "fine"}).status_code == 403
    done = staff.post(path, data={"note": "fine", "csrf": token(desk)})
    assert done.url.path == "/desk/czech"
    assert "The table is published." in done.text
    again = staff.post(path, data={"note": "", "csrf": token(desk)})
    assert again.status_code == 422
    assert "decided already" in again.text
    assert "Granted" in client.get(address[1]).text
    assert client.get("/d/czech/t/A*F").status_code == 200


def test_a_refusal_has_a_reason_and_what_is_near(client):
    asked = client.post("/d/czech/ask", data={"v": list("ABCDEF"), "csrf": ""})
    assert asked.status_code == 200
    check(asked)
    assert "Refused" in asked.text
    assert "A by B by C" in asked.text


def test_an_auditor_does_not_ask(client):
    otto = login(client, "otto")
    page = otto.get("/d/czech?v=B&v=F").text
    assert "Ask for the table" not in page
    sent = {"v": ["B", "F"], "csrf": token(page)}
    assert otto.post("/d/czech/ask", data=sent).status_code == 403


def test_a_policy_is_tried_then_changed(custodian, site):
    page = custodian.get("/desk/czech/policy").text
    csrf = token(page)
    tried = custodian.post("/desk/czech/policy/try", data={"csrf": csrf, "small.width": "4"})
    assert tried.status_code == 200
    check(tried)
    assert "What is out keeps the new policy." in tried.text
    assert site.catalogue.dataset("czech").policy.small.width == 3
    version = str(site.catalogue.dataset("czech").policy_version)
    sent = {"csrf": csrf, "small.width": "4", "version": version, "note": "stricter"}
    changed = custodian.post("/desk/czech/policy", data=sent)
    assert "The policy is changed." in changed.text
    assert site.catalogue.dataset("czech").policy.small.width == 4
    assert custodian.post("/desk/czech/policy", data=sent).status_code == 409


@pytest.mark.parametrize("wrong", [{}, {"small.width": "many"}, {"server.rule": "none"}])
def test_a_wrong_policy_is_not_tried(custodian, wrong):
    csrf = token(custodian.get("/desk/czech/policy").text)
    answer = custodian.post("/desk/czech/policy/try", data={"csrf": csrf, **wrong})
    assert answer.status_code == 422
    check(answer)


def test_the_ledger_is_verified(custodian):
    csrf = token(custodian.get("/desk/czech/ledger").text)
    answer = custodian.post("/desk/czech/ledger/verify", data={"csrf": csrf})
    check(answer)
    assert "The ledger holds." in answer.text


def test_a_withdrawal_needs_a_reason(custodian):
    csrf = token(custodian.get("/desk/czech").text)
    sent = {"csrf": csrf, "margin": "A*B*C", "reason": " "}
    answer = custodian.post("/desk/czech/withdraw", data=sent)
    assert answer.status_code == 422
    check(answer)


def test_users_and_keys(custodian, site):
    csrf = token(custodian.get("/desk/users").text)
    new = {"csrf": csrf, "name": "eve", "role": "analyst"}
    made = custodian.post("/desk/users", data=new)
    check(made)
    link = re.search(rf"{OURS}/invitation/[\w-]+", made.text)[0]
    assert custodian.post("/desk/users", data=new).status_code == 422
    eve = site.accounts.find("eve")
    key = site.accounts.make_key(eve.id, "nightly")
    assert link not in custodian.get("/desk/users").text
    closing = {"csrf": csrf, "active": "false"}
    assert "is closed" in custodian.post(f"/desk/users/{eve.id}/active", data=closing).text
    assert site.accounts.by_key(key) is None
    ada = site.accounts.find("ada")
    assert custodian.post(f"/desk/users/{ada.id}/active", data=closing).status_code == 422


def test_ones_own_account(client, site):
    page = login(client, "ann").get("/account")
    check(page)
    csrf = token(page.text)
    made = client.post("/account/keys", data={"csrf": csrf, "name": "laptop"})
    check(made)
    key = re.search(r"dk_[\w-]+", made.text)[0]
    assert site.accounts.by_key(key).name == "ann"
    ada = site.accounts.find("ada")
    site.accounts.make_key(ada.id, "hers")
    (hers,) = [one for one in site.accounts.keys(ada.id) if one.name == "hers"]
    others = client.post(f"/account/keys/{hers.id}/revoke", data={"csrf": csrf})
    assert others.status_code == 422
    assert site.accounts.keys(ada.id)[-1].revoked_at is None
    wrong = {"csrf": csrf, "old": "no", "new": "another one for tests"}
    assert client.post("/account/password", data=wrong).status_code == 422
    assert site.accounts.authenticate("ann", PASSWORD)


def test_login_goes_back_to_a_page_of_ours_only(client, browser):
    asked = client.get("/desk/czech")
    assert asked.status_code == 401
    assert 'name="next" value="/desk/czech"' in asked.text
    wrong = client.post("/login", data={"name": "ada", "password": "no"})
    assert wrong.status_code == 401
    check(wrong)
    for sent, path in (("/desk/czech", "/desk/czech"), ("//evil.example", "/desk")):
        data = {"name": "ada", "password": PASSWORD, "next": sent}
        answer = browser().post("/login", data=data, follow_redirects=False)
        assert answer.headers["location"] == path


def test_logging_out(custodian):
    csrf = token(custodian.get("/desk").text)
    custodian.post("/logout", data={"csrf": csrf})
    assert custodian.get("/desk").status_code == 401


def test_static_files_are_kept_for_a_year_and_ask_nobody_else(client):
    for name in ("site.css", "site.js", "site.svg"):
        answer = client.get(asset(name))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert "http" not in answer.text.replace("http://www.w3.org/2000/svg", "")
        same = client.get(asset(name), headers={"If-None-Match": answer.headers["etag"]})
        assert same.status_code == 304
    assert client.get("/static/../site.css").status_code == 404
    assert client.get("/static/nope.css").status_code == 404


def token(html):
    return re.search(r'name="csrf" value="([^"]+)"', html)[1]


def test_figures_in_bars_are_whole_numbers():
    """18 is not taken for the parts 1 and 8."""
    drawn = space_bars([OrderView(order=3, released=2, possible=18, gone=0)]).wide
    assert ">18</text>" in drawn

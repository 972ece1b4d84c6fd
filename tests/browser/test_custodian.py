"""The desk in a real browser: log in, decide, change the policy, verify, give out keys."""

import httpx
from playwright.sync_api import expect

from browser.live import PASSWORD, PHONE, log_in, overflow, pick, says

TABS = ("", "/policy", "/ledger", "/listed", "/codebook", "/refusals")


def ask(visits, slug, names):
    """A reader who has asked, on the page that answers."""
    page = visits.page(f"/d/{slug}")
    pick(page, names)
    says(page, "Possible", names)
    page.get_by_role("button", name="Ask for the table").click()
    expect(page.locator("#outcome .word")).to_have_text("Waiting")
    return page


def follow_ticket(page, outcome):
    page.get_by_role("link", name="this address").click()
    expect(page.locator("#outcome .word")).to_have_text(outcome)


def test_logging_in_and_out(visits, live):
    slug = live.open()
    page = visits.page(f"/desk/{slug}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    log_in(page, "ada", "not her password")
    expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong.")
    assert page.context.cookies() == []
    log_in(page, "ada")
    page.wait_for_url(f"**/desk/{slug}")
    (cookie,) = page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Lax"
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(live.at("/"))
    assert page.context.cookies() == []
    page.context.add_cookies([cookie])
    page.goto(live.at(f"/desk/{slug}"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    page.go_back()
    expect(page.get_by_role("link", name="Log in")).to_be_visible()


def test_a_pending_request_is_approved(visits, live):
    """The reader waits; the custodian sees the cost and approves; the reader has the table."""
    slug = live.open("approved")
    reader = ask(visits, slug, "ABF")
    page = visits.staff("ada")
    page.get_by_role("link", name=live.site.catalogue.dataset(slug).title, exact=True).click()
    expect(page.locator("#waiting")).to_have_text("1 request waiting")
    request = page.get_by_role("article", name="A by B by F")
    expect(request).to_contain_text("by the public")
    expect(request).to_contain_text("It would close off nothing.")
    expect(request).to_contain_text("The narrowest width would be")
    request.get_by_label("Note for the ledger").fill("agreed with the ministry")
    request.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("The table is published.")
    expect(page.locator("#waiting")).to_have_text("No request is waiting")
    follow_ticket(reader, "Granted")
    reader.get_by_role("link", name="Open the table").click()
    expect(reader.locator("table.counts tfoot")).to_contain_text("1,841")
    entry = live.entries(slug)[-1]
    assert (entry.kind, entry.note) == ("approved", "agreed with the ministry")


def test_a_pending_request_is_rejected(visits, live):
    slug = live.open("approved")
    reader = ask(visits, slug, "BC")
    page = visits.staff("ada", f"/desk/{slug}")
    page.get_by_label("Note for the ledger").fill("not before the census")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("status")).to_contain_text("The request is rejected.")
    follow_ticket(reader, "Refused")
    expect(reader.locator(".why")).to_contain_text("A custodian has decided against the table")
    assert "not before the census" not in reader.content()
    reader.goto(live.at(f"/d/{slug}/t/B*C"))
    expect(reader.get_by_role("heading", level=1)).to_have_text("There is nothing here")


def test_the_desk_shows_the_query_space(visits, live):
    """The chart, the figures and the table beside it say the same."""
    slug = live.open(out=["ABC"])
    page = visits.staff("ada", f"/desk/{slug}")
    figures = page.locator(".figures dd").all_inner_texts()
    page.get_by_text("The same as a table").click()
    foot = page.locator("table tfoot").first.locator("td").all_inner_texts()
    assert foot[:3] == figures[:3] == ["10", "52", "1"]
    assert foot[3] == "63"
    chart = page.get_by_role("img", name="10 released, 52 possible, 1 gone")
    expect(chart).to_be_visible()
    expect(page.get_by_role("table", name="narrowest of the guarded counts")).to_be_visible()


def test_a_policy_is_tried_before_it_is_changed(visits, live):
    slug = live.open(out=["ABC"])
    page = visits.staff("ada", f"/desk/{slug}/policy")
    page.get_by_label("small.width").fill("12")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dry run")
    expect(page.get_by_role("status")).to_contain_text("What is out keeps the new policy.")
    changed = page.get_by_role("row", name="small.width")
    expect(changed.get_by_role("cell")).to_have_text(["3", "12"])
    now, then = (
        int(page.get_by_role("table", name=f"{when}:").locator("tfoot td").nth(2).inner_text())
        for when in ("Now", "Then")
    )
    assert (now, then) == (1, 8)
    dataset = live.site.catalogue.dataset
    assert dataset(slug).policy.small.width == 3
    page.get_by_label("Why, for the ledger").fill("stricter")
    page.get_by_role("button", name="Change the policy").click()
    expect(page.get_by_role("status")).to_contain_text("The policy is changed.")
    expect(page.get_by_label("small.width")).to_have_value("12")
    assert dataset(slug).policy.small.width == 12
    assert live.entries(slug)[-1].note == "stricter"


def test_a_reader_who_was_too_late_is_refused(visits, live):
    """The picker said possible; then the policy became stricter."""
    slug = live.open(out=["ABC"])
    reader = visits.page(f"/d/{slug}")
    pick(reader, "BCDF")
    says(reader, "Possible", "BCDF")
    live.site.counter.change_policy(slug, {"small.width": 12}, "1")
    reader.get_by_role("button", name="Ask for the table").click()
    expect(reader.locator("#outcome .word")).to_have_text("Refused")
    reader.locator(".near a").first.click()
    expect(reader.locator("table.counts")).to_be_visible()
    page = visits.staff("ada", f"/desk/{slug}/refusals")
    expect(page.locator("#refused")).to_have_text("1 table refused as unsafe")


def test_a_policy_that_what_is_out_breaks(visits, live):
    slug = live.open(out=["BCDF"])
    page = visits.staff("ada", f"/desk/{slug}/policy")
    page.get_by_label("small.width").fill("12")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("alert")).to_contain_text("What is out does not keep the new policy.")
    page.get_by_role("link", name="Leave it").click()
    expect(page.get_by_label("small.width")).to_have_value("3")


def test_a_wrong_value_stays_to_be_mended(visits, live):
    slug = live.open()
    page = visits.staff("ada", f"/desk/{slug}/policy")
    page.get_by_label("small.width").fill("many")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be read")
    expect(page.get_by_label("small.width")).to_have_value("many")


def test_a_table_is_withdrawn(visits, live):
    slug = live.open(out=["ABC", "DE"])
    page = visits.staff("ada", f"/desk/{slug}")
    page.get_by_label("Table", exact=True).select_option("D by E")
    page.get_by_label("Reason, for readers").fill("a coding error in E")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("status")).to_contain_text("The table is withdrawn.")
    reader = visits.page(f"/d/{slug}/t/D*E")
    expect(reader.locator(".why")).to_have_text("A coding error in E.")


def test_the_ledger_is_verified(visits, live):
    slug = live.open(out=["ABC"])
    page = visits.staff("ada", f"/desk/{slug}/ledger")
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_role("status")).to_contain_text("The ledger holds.")
    newest = page.locator("table.ledger tbody tr").first
    expect(newest).to_contain_text("A × B × C")
    assert newest.locator("code").get_attribute("title") == live.entries(slug)[-1].hash


def test_an_invited_person_sets_the_password_and_makes_a_key(visits, live):
    """The custodian hands on a link; the key is the person's own, shown once, and works."""
    slug = live.open()
    page = visits.staff("ada", "/desk/users")
    name = f"eve-{slug}"
    page.get_by_role("textbox", name="Name").fill(name)
    page.locator("#role").select_option("analyst")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("status")).to_contain_text(f"The invitation of {name}.")
    link = page.locator(".secret").inner_text()
    account = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name))
    expect(account).to_contain_text("Without a password, invited until")
    person = visits.page(link.removeprefix(live.address))
    expect(person.locator("main")).to_contain_text(f"You are invited as {name}.")
    person.get_by_label("New password").fill(PASSWORD)
    person.get_by_role("button", name="Set it").click()
    expect(person.get_by_role("status")).to_contain_text("The password is set.")
    log_in(person, name)
    person.get_by_role("link", name=name).click()
    person.get_by_label("New key, named by what it is for").fill("nightly run")
    person.get_by_role("button", name="Make a key").click()
    key = person.locator(".secret").inner_text()
    page.goto(live.at("/desk/trail"))
    used = page.get_by_role("row").filter(has_text="invitation used").first
    expect(used).to_contain_text("127.0.0.1")
    asked = httpx.post(
        live.at(f"/api/v1/datasets/{slug}/requests"),
        json={"variables": ["A", "B"]},
        headers={"Authorization": f"Bearer {key}"},
    )
    assert asked.json()["outcome"] == "granted"
    assert live.entries(slug)[-1].actor == str(live.site.accounts.find(name).id)
    page.goto(live.at("/desk/users"))
    assert key not in page.content()
    expect(account).to_contain_text("Key “nightly run”")
    account.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_contain_text("The key is revoked.")
    again = httpx.get(live.at("/api/v1/me"), headers={"Authorization": f"Bearer {key}"})
    assert again.status_code == 401


def test_an_analyst_looks_after_the_own_account(visits, live):
    """A key of one's own, and a new password that ends other sessions and keeps this one."""
    name = f"ann{next(live.numbers)}"
    live.site.accounts.create(name, "analyst", PASSWORD)
    other, page = visits.staff(name, "/account"), visits.staff(name, "/")
    page.get_by_role("link", name=name).click()
    page.get_by_label("New key, named by what it is for").fill("laptop")
    page.get_by_role("button", name="Make a key").click()
    key = page.locator(".secret").inner_text()
    assert live.site.accounts.by_key(key).name == name
    page.get_by_label("Old password").fill("not the old one")
    page.get_by_label("New password").fill("another one for tests")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_role("alert")).to_contain_text("The old password is wrong.")
    page.get_by_label("Old password").fill(PASSWORD)
    page.get_by_label("New password").fill("another one for tests")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_role("status")).to_contain_text("The password is changed")
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("status")).to_contain_text("The key is revoked.")
    assert live.site.accounts.by_key(key) is None
    other.reload()
    expect(other.get_by_role("heading", level=1)).to_have_text("Log in")
    log_in(other, name, "another one for tests")
    expect(other.get_by_role("heading", level=1)).to_have_text("Your account")


def test_an_auditor_reads_and_decides_nothing(visits, live):
    slug = live.open("approved")
    ask(visits, slug, "AB")
    page = visits.staff("otto", f"/desk/{slug}")
    for path in TABS[:4]:
        page.goto(live.at(f"/desk/{slug}{path}"))
        buttons = page.get_by_role("button").all_inner_texts()
        assert set(buttons) <= {"Log out", "Verify the ledger"}, path
    expect(page.get_by_role("link", name="Users")).to_have_count(0)
    page.goto(live.at(f"/desk/{slug}/ledger"))
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_role("status")).to_contain_text("The ledger holds.")
    page.goto(live.at("/desk/users"))
    expect(page.get_by_role("heading", level=1)).to_have_text("This is not allowed")


def test_the_desk_on_a_phone(visits, live):
    slug = live.open("approved", out=[])
    live.site.counter.request(slug, ["A", "B", "F"])
    page = visits.staff("ada", **PHONE)
    for path in (
        "/desk",
        *(f"/desk/{slug}{tab}" for tab in TABS),
        "/desk/users",
        "/desk/trail",
        "/account",
    ):
        page.goto(live.at(path))
        assert overflow(page) == 0, path
    page.goto(live.at(f"/desk/{slug}/policy"))
    page.get_by_label("small.width").fill("5")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Dry run")
    assert overflow(page) == 0


def test_the_desk_without_scripts(visits, live):
    slug = live.open("approved")
    live.site.counter.request(slug, ["A", "B"])
    page = visits.staff("ada", f"/desk/{slug}", java_script_enabled=False)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("status")).to_contain_text("The table is published.")

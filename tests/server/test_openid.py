"""Logging in with an identity provider: one that runs here, honest and not."""

import re
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from argon2 import PasswordHasher
from pydantic import SecretStr
from sqlalchemy import select, text

from discreet.errors import DataError
from discreet.server.ledger.schema import User
from discreet.server.ledger.trail import entries, verify_trail
from discreet.server.people import invitations
from discreet.server.people.accounts import AccountError, Accounts
from discreet.server.people.actors import By
from discreet.server.people.openid import Provider, Vouched, read_map
from discreet.server.people.subjects import account_of
from discreet.server.settings import Settings
from server.provider import CLIENT_SECRET, curve_key, other_key, provider, with_secret
from server.sites import PASSWORD, Client, world


@pytest.fixture
def office():
    with provider() as running:
        yield running


@pytest.fixture
def here(tmp_path, office, request):
    more = getattr(request, "param", {})
    with world(
        tmp_path,
        secret=SecretStr("s" * 32),
        logins_per_minute=10**6,
        **office.settings(**more),
    ) as made:
        yield made


class Browser:
    """Goes to the provider and comes back, with its own cookies."""

    def __init__(self, here, address="192.0.2.4"):
        self.client = Client(here.app, here.runner, address=address)
        self.client.http.headers["accept"] = "text/html"

    def get(self, path):
        return self.client.get(path)

    def begin(self, next=""):
        """Where the provider sends the browser back to."""
        off = self.get(f"/login/openid?next={next}")
        assert off.status_code == 303, off.text
        with httpx.Client(trust_env=False) as http:
            back = http.get(off.headers["location"])
        assert back.status_code == 303
        return back.headers["location"]

    def log_in(self, next=""):
        parts = urlsplit(self.begin(next))
        assert parts.path == "/login/openid/callback"
        return self.get(f"{parts.path}?{parts.query}")

    @property
    def known(self):
        return self.client.get("/api/v1/me").json()


def last(here, kind=None):
    with here.site.database.read() as session:
        return entries(session, kind=kind, limit=1)[0]


def people(here):
    with here.site.database.read() as session:
        found = select(User).where(User.issuer.is_not(None)).order_by(User.id)
        return list(session.scalars(found))


def test_the_login_page_shows_the_way(here):
    html = Browser(here).get("/login?next=/desk").text
    assert '<a class="button" href="/login/openid?next=/desk">' in html
    assert "Log in with the office&#39;s login" in html
    assert 'name="password"' in html


def test_a_login_makes_an_account_with_the_role_of_the_claims(here, office):
    browser = Browser(here)
    done = browser.log_in("/desk/users")
    assert (done.status_code, done.headers["location"]) == (303, "/desk/users")
    assert browser.known["name"] == "maria"
    assert browser.known["role"] == "custodian"
    assert browser.get("/desk/users").status_code == 200
    (user,) = people(here)
    assert (user.issuer, user.subject, user.password_hash) == (office.issuer, "f3a1", None)
    entry = last(here)
    assert (entry.kind, entry.actor, entry.address) == ("login", str(user.id), "192.0.2.4")
    assert entry.note == f"by {office.issuer}"
    created = last(here, "created")
    assert (created.actor, created.note) == (f"issuer {office.issuer}", "maria, custodian")
    assert Browser(here).log_in().headers["location"] == "/desk"
    assert len(people(here)) == 1, "the same person is the same account"
    with here.site.database.read() as session:
        assert verify_trail(session).holds


def test_a_person_is_known_by_the_subject_not_by_the_name(here, office):
    Browser(here).log_in()
    office.person = office.person | {"preferred_username": "Maria Married"}
    browser = Browser(here)
    browser.log_in()
    assert browser.known["name"] == "maria"
    office.person = office.person | {"sub": "another", "preferred_username": "maria"}
    browser = Browser(here)
    browser.log_in()
    host = "127.0.0.1"
    assert browser.known["name"] == f"maria@{host}"
    assert [user.subject for user in people(here)] == ["f3a1", "another"]


def test_a_local_account_of_the_same_name_stays_its_owners(here, office):
    local = here.site.accounts.create("maria", "analyst", PASSWORD)
    browser = Browser(here)
    browser.log_in()
    assert browser.known["name"] != "maria"
    assert here.site.accounts.user(local.id).role == "analyst"
    assert here.site.accounts.user(local.id).issuer is None
    office.person = office.person | {"preferred_username": "custodian1", "sub": "x"}
    Browser(here).log_in()
    assert here.site.accounts.authenticate("custodian1", PASSWORD) is not None


@pytest.mark.parametrize("name", ["", "Zoë & Søn", "../../x", "x" * 300, "-", "\x00", 7, None])
def test_odd_names_become_names(here, office, name):
    office.person = office.person | {"preferred_username": name}
    browser = Browser(here)
    assert browser.log_in().status_code == 303
    assert re.fullmatch(r"[a-z0-9][a-z0-9._@-]{0,63}", browser.known["name"])


def test_another_role_ends_what_the_old_one_gave(here, office):
    browser = Browser(here)
    browser.log_in()
    (user,) = people(here)
    key = here.site.accounts.make_key(user.id, "nightly")
    assert here.site.accounts.by_key(key).role == "custodian"
    office.person = office.person | {"roles": ["tables-audit"]}
    again = Browser(here)
    again.log_in()
    assert again.known["role"] == "auditor"
    assert browser.known["role"] == "public", "the old session is over"
    assert here.site.accounts.by_key(key) is None
    assert last(here, "role").note == "from custodian to auditor, by the claims"


def test_a_lost_role_ends_the_account_s_rights(here, office):
    browser = Browser(here)
    browser.log_in()
    (user,) = people(here)
    key = here.site.accounts.make_key(user.id, "nightly")
    for roles in ([], ["something-else"], "tables-custodiana", None, {"tables-custodian": True}):
        office.person = office.person | {"roles": roles}
        refused = Browser(here).log_in()
        assert refused.status_code == 401
        assert "have no role here" in refused.text
    assert browser.known["role"] == "public"
    assert here.site.accounts.by_key(key) is None
    (user,) = people(here)
    assert (user.role, user.vouched_at) == ("analyst", None)
    with here.site.database.read() as session:
        notes = [one.note for one in entries(session, kind="role", limit=10)]
    assert notes == ["from custodian to none, by the claims"]
    office.person = office.person | {"roles": ["tables-custodian"]}
    back = Browser(here)
    assert back.log_in().status_code == 303
    assert back.known["role"] == "custodian"
    assert here.site.accounts.by_key(key) is None, "what ended stays ended"


def test_who_never_had_a_role_gets_no_account(here, office):
    office.person = office.person | {"roles": []}
    assert Browser(here).log_in().status_code == 401
    assert people(here) == []
    assert last(here).kind == "login_failed"


def test_a_closed_account_stays_closed(here, office):
    Browser(here).log_in()
    (user,) = people(here)
    here.site.accounts.set_active(user.id, False)
    browser = Browser(here)
    assert browser.log_in().status_code == 401
    assert browser.known["role"] == "public"


def test_keys_rest_if_nobody_vouched_for_a_month(here, office):
    """Who left the office does not come back to lose the role."""
    Browser(here).log_in()
    (user,) = people(here)
    accounts, now = here.site.accounts, datetime.now(UTC)
    key = accounts.make_key(user.id, "nightly")
    for days, works in ((29, True), (31, False)):
        accounts.clock = lambda days=days: now + timedelta(days=days)
        assert (accounts.by_key(key) is not None) == works


def test_what_the_provider_says_cannot_be_changed_here(here, office):
    Browser(here).log_in()
    (user,) = people(here)
    accounts = here.site.accounts
    for attempt in (
        lambda: accounts.set_role(user.id, "analyst"),
        lambda: accounts.change_password(user.id, PASSWORD),
        lambda: invitations.invite(accounts, user.id, By("1")),
    ):
        with pytest.raises(AccountError, match=re.escape(office.issuer)):
            attempt()
    assert accounts.authenticate("maria", PASSWORD) is None


@pytest.mark.parametrize("here", [{"second_factor": "all"}], indirect=True)
def test_the_second_factor_is_the_providers_business(here):
    browser = Browser(here)
    browser.log_in()
    assert browser.get("/desk").status_code == 200
    assert "vouches for this account" in browser.get("/account/second-factor").text


@pytest.mark.parametrize(
    "here",
    [{"oidc_roles": "realm_access.roles", "oidc_role_map": "a=auditor,*=analyst"}],
    indirect=True,
)
def test_roles_from_a_path_and_for_everybody(here, office):
    office.person = {"sub": "1", "realm_access": {"roles": ["a"]}}
    browser = Browser(here)
    browser.log_in()
    assert browser.known["role"] == "auditor"
    office.person = {"sub": "2", "realm_access": "no"}
    browser = Browser(here)
    browser.log_in()
    assert browser.known["role"] == "analyst"


def test_roles_that_only_the_user_info_says(here, office):
    office.person = {"sub": "1"}
    office.userinfo = {"sub": "1", "roles": ["tables-audit"], "preferred_username": "otto"}
    browser = Browser(here)
    browser.log_in()
    assert (browser.known["name"], browser.known["role"]) == ("otto", "auditor")
    office.userinfo = {"sub": "2", "roles": ["tables-custodian"]}
    assert Browser(here).log_in().status_code == 401, "of another person"


def test_an_address_counts_if_it_is_verified(here, office):
    office.person = office.person | {"email": "m@example.org", "email_verified": False}
    Browser(here).log_in()
    assert people(here)[0].email is None
    office.person = office.person | {"email_verified": True}
    Browser(here).log_in()
    assert people(here)[0].email == "m@example.org"


def test_other_keys_and_algorithms_of_the_provider(here, office):
    office.key = other_key("new")
    assert Browser(here).log_in().status_code == 401, "not published"
    office.published = [office.published[0], office.key]
    assert Browser(here).log_in().status_code == 303, "keys may change at any time"
    office.key, office.algorithm = curve_key(), "ES256"
    office.published = [office.key]
    assert Browser(here).log_in().status_code == 303


def test_one_person_who_comes_twice_at_once_is_one_account(database):
    """On either database, as are two of one name two accounts."""
    accounts = Accounts(database, hasher=PasswordHasher(1, 8, 1))
    start, found = Barrier(6), []

    def come(subject):
        start.wait()
        person = Vouched(subject, "maria", None, "analyst")
        found.append((subject, account_of(accounts, "https://login.example.org", person, None)))

    threads = [Thread(target=come, args=(subject,)) for subject in "aaabbb"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 2
    assert {user.name for user in accounts.users()} == {"maria", "maria@login.example.org"}
    with database.read() as session:
        assert verify_trail(session).entries == 2


# What is not believed


def claims(**more):
    return lambda said: {k: v for k, v in (said | more).items() if v is not None}


TWISTS = {
    "another nonce": claims(nonce="another"),
    "no nonce": claims(nonce=None),
    "another issuer": claims(iss="https://evil.example.org"),
    "no issuer": claims(iss=None),
    "for another client": claims(aud="another"),
    "for others, by us": claims(aud=["another", "third"], azp="tables"),
    "no audience": claims(aud=None),
    "of another party": claims(aud=["tables", "another"], azp="another"),
    "expired": claims(exp=1_700_000_000),
    "without an end": claims(exp=None),
    "not yet": claims(nbf=4_000_000_000),
    "from the future": claims(iat=4_000_000_000, exp=4_000_000_300),
    "no subject": claims(sub=None),
    "an odd subject": claims(sub=["f3a1"]),
    "a long subject": claims(sub="x" * 256),
    "another access token": claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
}


@pytest.mark.parametrize("what", TWISTS)
def test_a_token_that_says_something_else_is_refused(here, office, what):
    office.twist = TWISTS[what]
    browser = Browser(here)
    refused = browser.log_in()
    assert refused.status_code == 401
    assert "no proof that holds" in refused.text
    assert browser.known["role"] == "public"
    assert people(here) == []
    assert last(here).kind == "login_failed"
    assert last(here).note.startswith("OpenID: ")


def test_an_unsigned_token_is_refused(here, office):
    office.algorithm = "none"
    assert Browser(here).log_in().status_code == 401
    office.metadata = {"id_token_signing_alg_values_supported": ["none", "RS256"]}
    assert Browser(here).log_in().status_code == 401
    assert people(here) == []


def test_a_token_signed_by_somebody_else_is_refused(here, office):
    office.key = other_key()
    assert Browser(here).log_in().status_code == 401
    assert people(here) == []


def test_a_token_signed_with_a_shared_secret_is_refused(here, office):
    """The public key, or the client's secret, taken for a key of HMAC."""
    public = office.key.as_pem(private=False)
    for secret in (public, CLIENT_SECRET.encode()):
        office.signed = lambda said, secret=secret: with_secret(said, secret)
        assert Browser(here).log_in().status_code == 401
    assert people(here) == []


def test_a_changed_token_is_refused(here, office):
    honest = office.signed

    def changed(said):
        head, _, end = honest(said).split(".")
        _, body, _ = honest(said | {"sub": "root"}).split(".")
        return f"{head}.{body}.{end}"

    office.signed = changed
    assert Browser(here).log_in().status_code == 401
    for garbage in ("", "a.b.c", "x", None, 7):
        office.signed = lambda said, garbage=garbage: garbage
        assert Browser(here).log_in().status_code == 401
    assert people(here) == []


def test_a_state_counts_once_and_in_one_browser(here):
    browser = Browser(here)
    back = urlsplit(browser.begin())
    path = f"{back.path}?{back.query}"
    assert Browser(here).get(path).status_code == 401, "another browser"
    assert last(here).note == "OpenID: a state that is not this browser's"
    assert browser.get(path).status_code == 401, "the other one has used it up"
    back = urlsplit(browser.begin())
    path = f"{back.path}?{back.query}"
    assert browser.get(path).status_code == 303
    assert browser.get(path).status_code == 401, "again"
    for state in ("", "made-up", "\x00"):
        sent = {"state": state, "code": "x"}
        assert browser.client.get("/login/openid/callback", params=sent).status_code == 401


def test_a_login_that_was_begun_elsewhere_is_not_finished_here(here):
    """An attacker's own answer, in the victim's browser: nobody is logged in as the attacker."""
    attacker, victim = Browser(here), Browser(here)
    theirs = urlsplit(attacker.begin())
    victim.begin()
    refused = victim.get(f"{theirs.path}?{theirs.query}")
    assert refused.status_code == 401
    assert last(here).note == "OpenID: a state that is not this browser's"
    assert victim.known["role"] == "public"


def test_a_state_ends_after_ten_minutes(here):
    browser, accounts = Browser(here), here.site.accounts
    back = urlsplit(browser.begin())
    later = datetime.now(UTC) + timedelta(minutes=11)
    accounts.clock = lambda: later
    assert browser.get(f"{back.path}?{back.query}").status_code == 401


def test_a_stolen_code_is_worth_nothing_without_the_browsers_word(here, office):
    victim, thief = Browser(here), Browser(here)
    code = parse_qs(urlsplit(victim.begin()).query)["code"][0]
    own = parse_qs(urlsplit(thief.begin()).query)
    sent = {"code": code, "state": own["state"][0]}
    refused = thief.client.get("/login/openid/callback", params=sent)
    assert refused.status_code == 401
    assert thief.known["role"] == "public"


def test_no_state_nonce_or_verifier_is_kept(here):
    browser = Browser(here)
    back = parse_qs(urlsplit(browser.begin()).query)
    kept = browser.client.http.cookies["discreet-openid"]
    with here.site.database.read() as session:
        rows = str(session.execute(text("SELECT * FROM tokens")).all())
    assert back["state"][0] not in rows
    assert kept not in rows


def test_a_refusal_of_the_provider_is_said(here, office):
    office.answer = {"error": "access_denied", "error_description": "<b>no</b>"}
    refused = Browser(here).log_in()
    assert refused.status_code == 401
    assert "broken off" in refused.text
    assert "<b>no" not in refused.text
    office.answer = {"iss": "https://evil.example.org"}
    assert Browser(here).log_in().status_code == 401


def test_a_provider_that_is_away_or_says_it_is_another(here, office):
    office.metadata = {"issuer": "https://evil.example.org"}
    away = Browser(here).get("/login/openid")
    assert away.status_code == 401
    for wrong in ({"token_endpoint": "http://evil.example.org/t"}, {"jwks_uri": None}):
        office.metadata = wrong
        assert Browser(here).get("/login/openid").status_code == 401
    office.metadata = {}
    browser = Browser(here)
    back = urlsplit(browser.begin())
    office.server.shutdown()
    office.server.server_close()
    silent = browser.get(f"{back.path}?{back.query}")
    assert silent.status_code == 401
    assert "does not answer" in silent.text
    assert "does not answer" in Browser(here).get("/login/openid").text


def test_the_way_back_stays_on_this_site(here):
    for sent in ("//evil.example.org", "https://evil.example.org", "/\\evil.example.org"):
        assert Browser(here).log_in(sent).headers["location"] == "/desk"


def test_without_a_provider_there_is_no_such_page(tmp_path):
    with world(tmp_path) as made:
        browser = Browser(made)
        assert browser.get("/login/openid").status_code == 404
        assert browser.get("/login/openid/callback?state=x").status_code == 404
        assert "/login/openid" not in browser.get("/login").text


# Settings


GOOD = {
    "oidc_issuer": "https://login.example.org/realms/office",
    "oidc_client_id": "tables",
    "oidc_role_map": "*=analyst",
    "address": "https://tables.example.org/",
}


def test_the_settings_of_a_provider():
    assert Provider.of(Settings()) is None
    made = Provider.of(Settings(**GOOD, oidc_client_secret="hidden word"))
    assert made.redirect == "https://tables.example.org/login/openid/callback"
    assert "hidden word" not in repr(made)
    assert "hidden word" not in repr(Settings(oidc_client_secret="hidden word"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"oidc_client_id": ""}, "DISCREET_OIDC_CLIENT_ID"),
        ({"oidc_role_map": ""}, "DISCREET_OIDC_ROLE_MAP"),
        ({"address": ""}, "DISCREET_ADDRESS"),
        ({"oidc_issuer": "http://login.example.org"}, "is not https"),
        ({"oidc_issuer": "login.example.org"}, "is not https"),
        ({"oidc_role_map": "a=king"}, "'a=king'; write THEIRS=OURS"),
        ({"oidc_role_map": "a=public"}, "write THEIRS=OURS"),
        ({"oidc_role_map": "custodian"}, "write THEIRS=OURS"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_the_start(change, said):
    with pytest.raises(DataError, match=re.escape(said)):
        Provider.of(Settings(**GOOD | change))


def test_their_names_may_hold_an_equals_sign():
    assert read_map("cn=x=custodian") == (("cn=x", "custodian"),)

"""Notices: who is told what, by real letters and a real receiver, and that nothing is lost."""

import asyncio
import hmac
import json
import re
import ssl
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Barrier, Thread

import pytest
from aiosmtpd.smtp import SMTP, AuthResult
from argon2 import PasswordHasher
from pydantic import SecretStr
from sqlalchemy import func, select

from discreet.errors import DataError
from discreet.server.ledger.schema import Kind, Mark, Notice
from discreet.server.ledger.store import append, open_dataset
from discreet.server.notices.notices import collect
from discreet.server.notices.post import PAUSES, Hook, Mailbox, Post, hook_key, posting
from discreet.server.people import invitations
from discreet.server.people.accounts import Accounts
from discreet.server.people.actors import By
from discreet.server.settings import Settings
from server.sites import MYOPIC, world

SECRET = "s" * 32
ALWAYS = MYOPIC | {"server.approval": "always"}


class Letters:
    """Takes letters, unless it is told to refuse."""

    def __init__(self):
        self.found, self.refuse, self.logins = [], None, []

    async def handle_DATA(self, server, session, envelope):  # noqa: N802 as aiosmtpd calls it
        if self.refuse:
            return self.refuse
        letter = message_from_bytes(envelope.content, policy=policy.default)
        self.found.append((envelope.rcpt_tos, letter))
        return "250 taken"

    def authenticator(self, server, session, envelope, mechanism, data):
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"right & proper")

    @property
    def subjects(self):
        return [(to[0], letter["Subject"]) for to, letter in self.found]


@contextmanager
def mail_server(tls=None, **more):
    """A real one, in a thread of its own; with `tls`, from the first byte."""
    letters, loop = Letters(), asyncio.new_event_loop()

    def protocol():
        return SMTP(letters, loop=loop, authenticator=letters.authenticator, **more)

    running = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", 0, ssl=tls))
    letters.port = running.sockets[0].getsockname()[1]
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield letters
    finally:
        loop.call_soon_threadsafe(running.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(end(loop))
        loop.close()


async def end(loop):
    """What clients left open."""
    tasks = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def letters():
    with mail_server() as running:
        yield running


class Receiver:
    """A program of the office: keeps what it is told, and answers as it should."""

    def __init__(self):
        self.found, self.status = [], 204

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/told"

    @property
    def events(self):
        return [json.loads(body)["event"] for _, body in self.found]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.found.append((dict(self.headers), body))
        self.send_response(receiver.status)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    made = Receiver()
    made.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.server.receiver = made
    thread = Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def here(tmp_path, letters, receiver, request):
    changes = getattr(request, "param", ALWAYS)
    with world(
        tmp_path,
        secret=SecretStr(SECRET),
        smtp_url=f"smtp://127.0.0.1:{letters.port}",
        mail_from="Tables <tables@example.org>",
        webhook_url=receiver.url,
        logins_per_minute=10**6,
    ) as made:
        made.open(changes=changes)
        accounts = made.site.accounts
        for role, email in (("custodian", "c@example.org"), ("analyst", "a@example.org")):
            accounts.set_email(made.users[role], email)
        made.clock = Clock()
        accounts.clock = made.clock
        made.post = made.app.state.post
        made.tell = lambda: made.runner.run(made.post.once())
        made.tell()
        yield made


class Clock:
    """Runs with the machine's, but can be put forward."""

    def __init__(self):
        self.ahead = timedelta()

    def __call__(self):
        return datetime.now(UTC) + self.ahead

    def wait(self, pause):
        self.ahead += pause


def ask(here, role="analyst"):
    body = {"variables": ["Gender", "Income"]}
    answer = here.client(role).post("/api/v1/datasets/tract/requests", body)
    assert answer.status_code == 202, answer.text
    return int(answer.json()["ticket"].rpartition("/")[2])


def decide(here, number, what, role="custodian", key=None):
    client = here.client(role)
    if key is not None:
        client.http.headers["Authorization"] = f"Bearer {key}"
    path = f"/api/v1/datasets/tract/pending/{number}/{what}"
    answer = client.post(path, {"note": "confidential: because of cell 7"})
    assert answer.status_code == 200, answer.text


def waiting_letters(here):
    with here.site.database.read() as session:
        return session.scalar(select(func.count()).select_from(Notice))


def test_custodians_are_told_that_a_request_waits(here, letters, receiver):
    number = ask(here)
    here.tell()
    assert letters.subjects == [("c@example.org", "Table server: A request waits")]
    _, letter = letters.found[0]
    text = letter.get_content()
    assert "Table: Gender by Income" in text
    assert f"http://test/desk/tract/pending/{number}" in text
    assert letter["From"] == "Tables <tables@example.org>"
    assert letter["Auto-Submitted"] == "auto-generated"
    assert receiver.events == ["waiting"]
    told = json.loads(receiver.found[0][1])
    assert told["margin"] == ["Gender", "Income"]
    assert (told["dataset"], told["request"], told["entry"]) == ("tract", number, number)
    assert told["address"] == f"http://test/desk/tract/pending/{number}"
    assert waiting_letters(here) == 0
    here.tell()
    assert len(letters.found) == len(receiver.found) == 1, "once"


@pytest.mark.parametrize(
    ("what", "said"),
    [("approve", "Your request was approved"), ("reject", "Your request was rejected")],
)
def test_requesters_are_told_what_became_of_it(here, letters, receiver, what, said):
    number = ask(here)
    here.tell()
    decide(here, number, what)
    here.tell()
    assert letters.subjects[1:] == [("a@example.org", f"Table server: {said}")]
    text = letters.found[1][1].get_content()
    assert f"http://test/d/tract/requests/{number}" in text
    assert "cell 7" not in text
    assert receiver.events[1] == {"approve": "approved", "reject": "rejected"}[what]
    assert b"cell 7" not in receiver.found[1][1]


def test_of_the_publics_request_nobody_but_the_program_hears(here, letters, receiver):
    number = ask(here, "public")
    decide(here, number, "approve")
    here.tell()
    assert letters.found == []
    assert receiver.events == ["approved"], "what is decided waits no more"


def test_who_joined_a_request_that_waited_is_told_too(here, letters):
    bob = here.site.accounts.create("bob", "analyst", email="b@example.org").id
    here.keys["bob"] = here.site.accounts.make_key(bob, "tests")
    number = ask(here)
    ask(here, "bob")
    decide(here, number, "approve")
    here.tell()
    told = {to for to, subject in letters.subjects if "approved" in subject}
    assert told == {"a@example.org", "b@example.org"}


@pytest.mark.parametrize("here", [ALWAYS | {"server.approvers": 2}], indirect=True)
def test_a_second_custodian_is_told(here, letters, receiver):
    eve = here.site.accounts.create("eve", "custodian", email="e@example.org").id
    key = here.site.accounts.make_key(eve, "tests")
    number = ask(here)
    here.tell()
    decide(here, number, "approve")
    here.tell()
    second = [to for to, subject in letters.subjects if "second custodian" in subject]
    assert second == ["e@example.org"]
    decide(here, number, "approve", key=key)
    here.tell()
    assert letters.subjects[-1] == ("a@example.org", "Table server: Your request was approved")
    assert receiver.events == ["waiting", "second", "approved"]


@pytest.mark.parametrize("here", [ALWAYS | {"server.approvers": 2}], indirect=True)
def test_a_proposed_policy_is_told(here, letters, receiver):
    here.site.accounts.create("eve", "custodian", email="e@example.org")
    body = {"changes": {"small.width": 4}}
    here.client("custodian").post("/api/v1/datasets/tract/policy", body)
    here.tell()
    assert letters.subjects == [
        ("e@example.org", "Table server: A change of the policy is proposed")
    ]
    assert receiver.events == ["proposed"]
    assert json.loads(receiver.found[0][1])["address"] == "http://test/desk/tract/policy"


def test_closed_accounts_and_those_without_an_address_are_not_told(here, letters):
    accounts = here.site.accounts
    accounts.create("eve", "custodian")
    closed = accounts.create("old", "custodian", email="old@example.org").id
    accounts.set_active(closed, False)
    ask(here)
    here.tell()
    assert [to for to, _ in letters.subjects] == ["c@example.org"]


def test_what_the_program_is_told_is_signed(here, receiver):
    ask(here)
    here.tell()
    headers, body = receiver.found[0]
    key = hmac.digest(SECRET.encode(), b"discreet: webhook", "sha256").hex().encode()
    assert key == hook_key(SECRET)
    signed = hmac.digest(key, f"{headers['X-Discreet-Time']}.".encode() + body, "sha256").hex()
    assert headers["X-Discreet-Signature"] == f"sha256={signed}"
    assert abs(int(headers["X-Discreet-Time"]) - time.time()) < 60
    assert headers["X-Discreet-Notice"].isdecimal()
    assert SECRET not in str(headers)


# At least once


def test_what_is_not_taken_is_sent_again_after_growing_pauses(here, letters, receiver):
    letters.refuse, receiver.status = "451 later", 500
    ask(here)
    here.tell()
    tries = [len(receiver.found)]
    for pause in PAUSES[:3]:
        here.clock.wait(pause - timedelta(seconds=10))
        here.tell()
        assert len(receiver.found) == tries[-1], "not before its time"
        here.clock.wait(timedelta(seconds=10))
        here.tell()
        tries.append(len(receiver.found))
    assert tries == [1, 2, 3, 4]
    letters.refuse, receiver.status = None, 204
    here.clock.wait(PAUSES[3])
    here.tell()
    assert len(letters.found) == 1
    assert waiting_letters(here) == 0
    numbers = {headers["X-Discreet-Notice"] for headers, _ in receiver.found}
    assert len(numbers) == 1, "the same notice"


def test_what_nobody_ever_takes_is_given_up(here, letters, receiver, capsys):
    letters.refuse, receiver.status = "550 never", 302
    ask(here)
    here.tell()
    for pause in PAUSES:
        here.clock.wait(pause)
        here.tell()
    assert waiting_letters(here) == 2
    here.clock.wait(PAUSES[-1])
    here.tell()
    assert waiting_letters(here) == 0
    assert len(receiver.found) == len(PAUSES) + 1
    said = capsys.readouterr().err
    assert said.count("notice given up") == 2
    assert "c@example.org" not in said
    assert "127.0.0.1:9" not in said


def test_a_message_that_cannot_be_made_does_not_stop_the_others(here, letters, receiver):
    with here.site.database.write() as session:
        odd = {"event": "something of a later version", "margin": None}
        now = here.clock().isoformat()
        session.add(
            Notice(created_at=now, recipient="x@example.org", content=odd, tries=0, next_at="")
        )
    ask(here)
    here.tell()
    assert [to for to, _ in letters.subjects] == ["c@example.org"]


def test_nothing_is_lost_if_the_process_ends_before_it_was_sent(here, letters, receiver):
    """What was committed is told after the next start, by whichever process."""
    ask(here)
    again = Post(here.site.accounts, here.settings)
    collect(here.site.database, mail=True, hook=True, address="http://test", now=here.clock())
    assert len(here.post._claim()) == 2, "and then it is killed"
    here.runner.run(again.once())
    assert letters.found == []
    here.clock.wait(PAUSES[0])
    here.runner.run(again.once())
    assert len(letters.found) == len(receiver.found) == 1


def test_a_decision_before_the_process_ended_is_told_after_the_start(here, letters):
    """The entry is there, the process ended before it looked: the mark says how far it was."""
    ask(here)
    again = Post(here.site.accounts, here.settings)
    here.runner.run(again.once())
    assert [to for to, _ in letters.subjects] == ["c@example.org"]


def test_what_happened_long_ago_is_no_news(here, letters, receiver):
    ask(here)
    here.clock.wait(timedelta(days=4))
    here.tell()
    assert letters.found == receiver.found == []


def test_the_first_start_tells_nothing_old(here, letters, receiver):
    number = ask(here)
    with here.site.database.write() as session:
        session.delete(session.get_one(Mark, "notices"))
    here.tell()
    assert letters.found == receiver.found == []
    decide(here, number, "reject")
    here.tell()
    assert receiver.events == ["rejected"]


def test_a_data_set_that_is_opened_later_is_told_of_from_its_start(here, receiver):
    here.open(slug="czech", data="example:czech", changes=ALWAYS)
    body = {"variables": ["A", "B"]}
    assert here.client().post("/api/v1/datasets/czech/requests", body).status_code == 202
    here.tell()
    assert [json.loads(told)["dataset"] for _, told in receiver.found] == ["czech"]


def test_two_workers_tell_it_once(here, letters, receiver):
    ask(here)
    other = Post(here.site.accounts, here.settings)

    async def both():
        await asyncio.gather(here.post.once(), other.once())

    here.runner.run(both())
    assert len(letters.found) == len(receiver.found) == 1


def test_an_answer_does_not_wait_for_a_letter(here, letters, receiver):
    letters.refuse, receiver.status = "451 later", 500
    number = ask(here)
    decide(here, number, "approve")
    assert here.client().get("/api/v1/datasets/tract/tables/Gender*Income").status_code == 200


def test_the_server_sends_by_itself_as_long_as_it_runs(here, letters):
    ask(here)

    async def run():
        async with posting(here.post):
            for _ in range(200):
                await asyncio.sleep(0.05)
                if letters.found:
                    break

    here.runner.run(run())
    assert [to for to, _ in letters.subjects] == ["c@example.org"]


def test_many_workers_on_either_database_take_each_notice_once(database):
    """The mark and the claims are locked: four at once put one notice in, and one sends it."""
    accounts = Accounts(database, hasher=PasswordHasher(1, 8, 1))
    accounts.create("ann", "custodian", email="c@example.org")
    collect(database, mail=True, hook=True, address="http://test", now=datetime.now(UTC))
    with database.begin(None) as session:
        dataset = open_dataset(
            session,
            slug="tract",
            title="A tract",
            fingerprint="f00d",
            policy="[server]\n",
            variables=[{"name": "Sex", "categories": ["f", "m"]}],
        )
        asked = {"actor": "public", "state": "", "margin": ["Sex"], "outcome": "pending"}
        append(session, dataset, kind=Kind.REQUEST, why="approval", **asked)
    post = Post(accounts, Settings())
    claimed, start = [], Barrier(4)

    def work():
        start.wait()
        collect(database, mail=True, hook=True, address="http://test", now=datetime.now(UTC))
        claimed.extend((one.id, one.recipient) for one in post._claim())

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    claimed.extend((one.id, one.recipient) for one in post._claim())
    assert sorted(to or "" for _, to in claimed) == ["", "c@example.org"]


# Invitations


def test_an_invitation_goes_to_the_person_alone(here, letters, receiver):
    custodian = here.client("custodian")
    new = {"name": "ada", "role": "analyst", "email": "ada@example.org"}
    made = custodian.post("/api/v1/users", new).json()
    assert made["invitation"]["link"] is None
    with here.site.database.read() as session:
        kept = str(session.scalars(select(Notice)).one().content)
    assert "invitation/" not in kept
    here.tell()
    assert letters.subjects == [("ada@example.org", "Table server: Your invitation")]
    text = letters.found[0][1].get_content()
    token = re.search(r"http://test/invitation/([\w-]{43})", text)[1]
    assert invitations.invited(here.site.accounts, token).name == "ada"
    assert token not in custodian.get("/desk/users").text
    assert receiver.found == []
    without = custodian.post("/api/v1/users", {"name": "bob", "role": "analyst"}).json()
    assert without["invitation"]["link"].startswith("http://test/invitation/")


def test_on_the_page_it_is_said_that_it_was_sent(here):
    custodian = here.client("custodian")
    analyst = here.users["analyst"]
    html = custodian.request("POST", f"/desk/users/{analyst}/invitation", data={}).text
    assert "It went to their e-mail address" in html
    assert "http://test/invitation" not in html


# Letters over TLS, with a password


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Of localhost, by itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = datetime.now(UTC) - timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
@pytest.mark.parametrize("scheme", ["starttls", "smtps"])
def test_letters_over_tls_with_a_password(certificate, scheme, tmp_path, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    how = (
        {"tls_context": context, "require_starttls": True}
        if scheme == "starttls"
        else {"tls": context, "auth_require_tls": False}
    )
    with mail_server(auth_required=True, **how) as letters:
        url = f"{scheme}://tables:right%20%26%20proper@localhost:{letters.port}"
        settings = {"smtp_url": url, "mail_from": "t@example.org", "secret": SecretStr(SECRET)}
        with world(tmp_path, **settings) as made:
            made.open(changes=ALWAYS)
            post, accounts = made.app.state.post, made.site.accounts
            accounts.set_email(made.users["custodian"], "c@example.org")
            made.runner.run(post.once())
            ask(made)
            made.runner.run(post.once())
            assert letters.found == [], "a certificate that nobody vouches for"
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            accounts.clock = Clock()
            accounts.clock.wait(PAUSES[0])
            made.runner.run(post.once())
            assert [to for to, _ in letters.subjects] == ["c@example.org"]
            assert letters.logins == [("tables", "right & proper")]


# Settings


GOOD = {"mail_from": "t@example.org", "address": "https://tables.example.org"}


def test_nothing_is_sent_where_nothing_is_set(tmp_path):
    with world(tmp_path) as made:
        assert not made.app.state.post.in_use
        assert invitations.invite(made.site.accounts, made.users["analyst"], By("1")).token


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"smtp_url": "mail.example.org"}, "write smtps://USER:PASSWORD@HOST"),
        ({"smtp_url": "http://mail.example.org"}, "write smtps://"),
        ({"smtp_url": "smtp://mail.example.org:port"}, "write smtps://"),
        ({"smtp_url": "smtp://a:secret@mail.example.org"}, "a password in the open"),
        ({"smtp_url": "smtps://mail.example.org", "mail_from": ""}, "DISCREET_MAIL_FROM"),
        ({"smtp_url": "smtps://mail.example.org", "mail_from": "me"}, "no e-mail address"),
        ({"smtp_url": "smtps://mail.example.org", "address": ""}, "DISCREET_ADDRESS"),
        ({"webhook_url": "http://office.example.org/x"}, "is not https"),
        ({"webhook_url": "https://office.example.org/x"}, "DISCREET_SECRET"),
        (
            {"webhook_url": "https://x.example.org", "secret": "x", "address": ""},
            "DISCREET_ADDRESS",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_at_the_start(change, said):
    def start():
        settings = Settings(**GOOD | change)
        Mailbox.of(settings), Hook.of(settings)

    with pytest.raises(DataError, match=re.escape(said)) as caught:
        start()
    assert "secret@" not in str(caught.value)


def test_the_ports_of_mail_servers():
    for scheme, port in (("smtp", 25), ("starttls", 587), ("smtps", 465)):
        made = Mailbox.of(Settings(**GOOD, smtp_url=f"{scheme}://mail.example.org"))
        assert (made.port, made.user) == (port, None)
    made = Mailbox.of(Settings(**GOOD, smtp_url="smtps://a:p%40ss@mail.example.org:4650"))
    assert (made.port, made.user, made.password) == (4650, "a", "p@ss")
    assert "p@ss" not in repr(made)

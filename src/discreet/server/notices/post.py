"""Sends what is in the outbox: letters by SMTP, and a signed message to the office's own program.

Each message is sent at least once: it leaves the outbox when it was taken, and is tried again
after growing pauses until then. Nobody waits for it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.message import EmailMessage
from email.utils import parseaddr
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

import aiosmtplib
import requests
from sqlalchemy import delete, select
from starlette.concurrency import run_in_threadpool

from discreet.errors import DataError
from discreet.server.ledger.schema import Notice
from discreet.server.notices.notices import collect
from discreet.server.operation.logs import log
from discreet.server.people.accounts import EMAIL, Accounts, UserView
from discreet.server.people.invitations import Invitation
from discreet.server.people.register import digest, moment
from discreet.server.people.sealed import Seal
from discreet.server.settings import Settings

PORTS = {"smtp": 25, "starttls": 587, "smtps": 465}
PAUSES = [timedelta(minutes=n) for n in (1, 2, 5, 15, 60, 180, 720)]  # between tries
LOOK = 2.0  # seconds between looks at the ledgers
SECONDS = 30.0  # for one message
AT_ONCE = 10
LETTERS = {
    "waiting": ("A request waits", "A request for a table waits for a custodian."),
    "second": ("A request waits for a second custodian", "One custodian approved it."),
    "proposed": ("A change of the policy is proposed", "Another custodian must approve it."),
    "codebook": ("A change of the codebook waits", "Another custodian must accept it, too."),
    "approved": ("Your request was approved", "The table is published."),
    "rejected": ("Your request was rejected", "A custodian decided against it."),
}
INVITED = """You are invited to the table server as {name}.

Set your password here, once, until {until}:
{link}

If you did not expect this, tell whoever runs the server.
"""


@dataclass(frozen=True)
class Mailbox:
    """A server that takes letters."""

    scheme: str
    host: str
    port: int
    user: str | None
    password: str | None = field(repr=False)
    sender: str

    @classmethod
    def of(cls, settings: Settings) -> Mailbox | None:
        if not settings.smtp_url:
            return None
        try:
            parts = urlsplit(settings.smtp_url)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
        except ValueError:
            scheme, host, port = "", None, None
        if scheme not in PORTS or not host:
            raise DataError(
                "DISCREET_SMTP_URL cannot be read; write smtps://USER:PASSWORD@HOST, or with "
                "starttls:// or smtp:// in front."
            )
        for name in ("mail_from", "address"):
            if not getattr(settings, name):
                raise DataError(f"DISCREET_SMTP_URL needs DISCREET_{name.upper()}, too; set it.")
        if not EMAIL.fullmatch(parseaddr(settings.mail_from)[1]):
            raise DataError("DISCREET_MAIL_FROM is no e-mail address; write name@example.org.")
        if scheme == "smtp" and parts.username and not _here(host):
            raise DataError(
                "DISCREET_SMTP_URL would send a password in the open; use smtps:// or starttls://."
            )
        user, password = (unquote(one) if one else None for one in (parts.username, parts.password))
        return cls(scheme, host, port or PORTS[scheme], user, password, settings.mail_from)

    async def send(self, letter: EmailMessage) -> None:
        await aiosmtplib.send(
            letter,
            hostname=self.host,
            port=self.port,
            username=self.user,
            password=self.password,
            use_tls=self.scheme == "smtps",
            start_tls=self.scheme == "starttls",
            timeout=SECONDS,
        )


@dataclass(frozen=True)
class Hook:
    """A program of the office that wants to know. Its key is made from the server's secret."""

    url: str = field(repr=False)
    key: bytes = field(repr=False)

    @classmethod
    def of(cls, settings: Settings) -> Hook | None:
        if not settings.webhook_url:
            return None
        parts, secret = urlsplit(settings.webhook_url), settings.secret.get_secret_value()
        if parts.scheme != "https" and not (parts.scheme == "http" and _here(parts.hostname or "")):
            raise DataError("DISCREET_WEBHOOK_URL is not https; use https.")
        for name, value in (("secret", secret), ("address", settings.address)):
            if not value:
                raise DataError(f"DISCREET_WEBHOOK_URL needs DISCREET_{name.upper()}, too; set it.")
        return cls(settings.webhook_url, hook_key(secret))

    def send(self, number: int, content: dict[str, Any], time: int) -> None:
        body = json.dumps(content).encode()
        signed = hmac.digest(self.key, f"{time}.".encode() + body, "sha256").hex()
        answer = requests.post(
            self.url,
            data=body,
            headers={
                "Content-Type": "application/json",
                "X-Discreet-Notice": str(number),
                "X-Discreet-Time": str(time),
                "X-Discreet-Signature": f"sha256={signed}",
            },
            timeout=SECONDS,
            allow_redirects=False,
        )
        if not 200 <= answer.status_code < 300:
            raise requests.HTTPError(f"status {answer.status_code}")


class Post:
    """The outbox and those who empty it."""

    def __init__(self, accounts: Accounts, settings: Settings) -> None:
        self.accounts, self.database, self.settings = accounts, accounts.database, settings
        self.mailbox, self.hook = Mailbox.of(settings), Hook.of(settings)
        self.seal = Seal(settings.secret.get_secret_value())

    @property
    def in_use(self) -> bool:
        return self.mailbox is not None or self.hook is not None

    def invite(self, account: UserView, invitation: Invitation, link: str) -> bool:
        """Send an invitation's link, if it can be; until then only this server can read it."""
        if self.mailbox is None or account.email is None or not self.seal.secret:
            return False
        now = moment(self.accounts.clock())
        said = json.dumps({"name": account.name, "until": invitation.expires_at, "link": link})
        content = {"event": "invitation", "sealed": self.seal.close(said, "invitation")}
        with self.database.write() as session:
            session.add(
                Notice(
                    created_at=now, recipient=account.email, content=content, tries=0, next_at=now
                )
            )
        return True

    async def once(self) -> None:
        """Look for news, and send what is due."""
        await run_in_threadpool(
            collect,
            self.database,
            mail=self.mailbox is not None,
            hook=self.hook is not None,
            address=self.settings.address,
            now=self.accounts.clock(),
        )
        while due := await run_in_threadpool(self._claim):
            await asyncio.gather(*(self._try(one) for one in due))

    def _claim(self) -> list[Notice]:
        """Some that are due; if this process ends before they are sent, they are due again."""
        now = self.accounts.clock()
        due = select(Notice).where(Notice.next_at <= moment(now)).order_by(Notice.id)
        with self.database.read() as session:
            if session.scalars(due.limit(1)).first() is None:
                return []
        with self.database.write() as session:
            found = list(session.scalars(due.limit(AT_ONCE).with_for_update(skip_locked=True)))
            over = [one for one in found if one.tries > len(PAUSES)]
            for one in over:
                log().error("notice given up", about=one.content["event"], tries=one.tries)
                session.delete(one)
            claimed = [one for one in found if one not in over]
            for one in claimed:
                pause = PAUSES[min(one.tries, len(PAUSES) - 1)]
                one.next_at, one.tries = moment(now + pause), one.tries + 1
        return claimed

    async def _try(self, one: Notice) -> None:
        try:
            await asyncio.wait_for(self._send(one), 2 * SECONDS)
        except Exception as error:  # noqa: BLE001 whatever it is, the others are sent
            reason = type(error).__name__
            log().warning("notice not sent", about=one.content["event"], reason=reason)
            return
        gone = delete(Notice).where(Notice.id == one.id)
        await run_in_threadpool(self._write, gone)

    def _write(self, statement: Any) -> None:
        with self.database.write() as session:
            session.execute(statement)

    async def _send(self, one: Notice) -> None:
        if one.recipient is not None and self.mailbox is not None:
            await self.mailbox.send(self._letter(one, self.mailbox))
        elif one.recipient is None and self.hook is not None:
            time = int(self.accounts.clock().timestamp())
            await run_in_threadpool(self.hook.send, one.id, one.content, time)

    def _letter(self, one: Notice, mailbox: Mailbox) -> EmailMessage:
        content, title = one.content, self.settings.title
        if content["event"] == "invitation":
            said = json.loads(self.seal.open(content["sealed"], "invitation"))
            subject, text = "Your invitation", INVITED.format_map(said)
        else:
            subject, first = LETTERS[content["event"]]
            table = [f"Table: {' by '.join(content['margin'])}"] if content["margin"] else []
            lines = [first, "", f"Data set: {content['title']}", *table, content["address"], ""]
            text = "\n".join(lines)
        letter = EmailMessage()
        letter["From"], letter["To"] = mailbox.sender, one.recipient
        letter["Subject"] = _line(f"{title}: {subject}")
        number = digest(f"{one.id} {one.created_at}")[:32]  # the same if it is sent again
        letter["Message-ID"] = f"<{number}@{parseaddr(mailbox.sender)[1].partition('@')[2]}>"
        letter["Auto-Submitted"] = "auto-generated"
        letter.set_content(text)
        return letter


@asynccontextmanager
async def posting(post: Post) -> AsyncIterator[None]:
    """Sends as long as this lasts; what is under way at the end is sent after the next start."""
    task = asyncio.create_task(_run(post)) if post.in_use else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _run(post: Post) -> None:
    while True:
        try:
            await post.once()
        except Exception as error:  # noqa: BLE001 whatever it is, it goes on
            log().warning("outbox not read", reason=type(error).__name__)
        await asyncio.sleep(LOOK)


def hook_key(secret: str) -> bytes:
    """What the receiver checks signatures with; the secret itself cannot be had from it."""
    return hmac.digest(secret.encode(), b"discreet: webhook", "sha256").hex().encode()


def _here(host: str) -> bool:
    """On this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:200]

"""What each setting may be, and what to write instead; said before anything is served."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from email.utils import parseaddr
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import DataError

PREFIX = "DISCREET_"
# Names in the environment that are no settings of a server: what else reads them.
OTHERS = {
    "DATA", "DEBUG", "DEVICE", "MASK_SECRET", "MEMORY", "WORKERS",  # commands
    "SERVED",  # worker processes
    "ATTACK_SEED", "CELLS", "CHARTS", "EVERYDAY", "EVERYDAY_LIMIT", "MDAV", "RECORDS", "REGISTER",
    "STORED", "TUTORIALS_UNRUN",  # tests and benchmarks
}  # fmt: skip
CONFIDENTIAL = {"database", "secret", "shared", "smtp_url", "webhook_url", "oidc_client_secret"}
LEAST_SECRET = 32  # characters
A_MINUTE = 1_000_000
A_YEAR = 8_760.0  # hours
BODY = range(100, 100_000_001)


def check_value(name: str, value: Any) -> None:
    """Raise unless a setting can be as it is."""
    holds, _ = RIGHT[name]
    if not holds(value):
        raise wrong(name, value)


def wrong(name: str, value: Any) -> DataError:
    """What cannot be, and what to write; a value that may hold a password is not repeated."""
    key, repair = PREFIX + name.upper(), RIGHT[name][1]
    if name in CONFIDENTIAL:
        return DataError(f"{key} {repair}.")
    return DataError(f"{key} = {str(value)[:80]!r} {repair}.")


def check_names(names: Mapping[str, object]) -> None:
    """Raise if the environment has a DISCREET_ name that nothing reads."""
    known = sorted({PREFIX + name.upper() for name in RIGHT} | {PREFIX + name for name in OTHERS})
    for name in sorted(names):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            near = difflib.get_close_matches(name.upper(), known, 1, 0.0)[0]
            raise DataError(
                f"{name} in the environment is no setting; the nearest is {near}. Rename it, or "
                "unset it."
            )


def unknown(name: str) -> DataError:
    """For a name that is given in Python."""
    near = difflib.get_close_matches(name, RIGHT, 1, 0.0)[0]
    return DataError(f"there is no setting {name!r}; the nearest is {near!r}.")


def _line(text: str) -> bool:
    """Nothing that begins another line, or cannot be seen."""
    return text.isprintable()


def _title(text: str) -> bool:
    return _line(text) and 0 < len(text.strip()) <= 200


def _host(text: str) -> bool:
    return (
        _is_ip(text)
        or re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", text) is not None
    )


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _url(text: str, schemes: tuple[str, ...], *, within: bool = True, user: bool = False) -> bool:
    """scheme://HOST, with what comes after it only where it goes on `within` the host."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    if not (_line(text) and " " not in text and parts.scheme in schemes and host and port != 0):
        return False
    if not _host(host) or ("@" in parts.netloc and not user):
        return False
    return within or not (parts.path.strip("/") or parts.query or parts.fragment)


def _address(text: str) -> bool:
    return text == "" or (
        _url(text, ("http", "https")) and not urlsplit(text).query and "#" not in text
    )


def _origins(text: str) -> bool:
    words = _words(text)
    return words == ["*"] or all(_url(word, ("http", "https"), within=False) for word in words)


def _proxies(text: str) -> bool:
    try:
        for word in _words(text):
            if word != "unix":
                ip_network(word, strict=False)
    except ValueError:
        return False
    return True


def _words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def _shared(text: str) -> bool:
    return (
        text in ("", "database")
        or text.startswith("redis+unix://")
        or _url(text, ("redis", "rediss"), user=True)
    )


def _sender(text: str) -> bool:
    return text == "" or (_line(text) and "@" in parseaddr(text)[1])


def _a_minute(number: int) -> bool:
    return 1 <= number <= A_MINUTE


Right = tuple[Callable[[Any], bool], str]  # may it be so, and what is said if not
PER_MINUTE: Right = (_a_minute, f"is no whole number from 1 to {A_MINUTE:,}; write one")
NO_LINE = "has characters that cannot be seen, or none at all; write one line of at most 200"
RIGHT: dict[str, Right] = {
    "database": (
        lambda text: bool(text) and _line(text),
        "is no address of a database; write sqlite:///FILE or "
        "postgresql://USER:PASSWORD@HOST/DATABASE",
    ),
    "secret": (
        lambda secret: _line(secret.get_secret_value()),
        "has characters that cannot be seen; write one line, as `openssl rand -base64 48` makes it",
    ),
    "host": (_host, "is no address to listen on; write 127.0.0.1, 0.0.0.0, or a host's name"),
    "port": (lambda port: 0 <= port < 65_536, "is no port; write a whole number from 0 to 65535"),
    "address": (
        _address,
        "is no address that people can type; write https://HOST, or http://HOST:PORT",
    ),
    "cookies_over_http": (lambda _: True, "is neither true nor false; write one of them"),
    "trusted_proxies": (
        _proxies,
        "has what is no address and no network; write them as numbers, by commas: "
        "127.0.0.1,10.0.0.0/8, or `unix` for a socket",
    ),
    "cors_origins": (
        _origins,
        "has what is no site; write https://HOST for each, by commas, or * alone for all",
    ),
    "session_hours": (
        lambda hours: math.isfinite(hours) and 0 < hours <= A_YEAR,
        f"is no number of hours above 0, up to {A_YEAR:,.0f}; write 8",
    ),
    "requests_per_minute": PER_MINUTE,
    "decisions_per_minute": PER_MINUTE,
    "logins_per_minute": PER_MINUTE,
    "shared": (_shared, "is not known; write database or redis://HOST, or leave it out"),
    "second_factor": (lambda _: True, "is not known; write optional, staff or all"),
    "oidc_issuer": (
        lambda text: text == "" or _url(text, ("http", "https")),
        "is not https; use https://HOST/..., as the issuer says it",
    ),
    "oidc_client_id": (_line, NO_LINE),
    "oidc_client_secret": (_line, "has characters that cannot be seen; write one line"),
    "oidc_roles": (_title, NO_LINE),
    "oidc_role_map": (_line, "cannot be read; write THEIRS=OURS by commas"),
    "oidc_name": (_title, NO_LINE),
    "smtp_url": (
        lambda text: text == "" or _url(text, ("smtp", "smtps", "starttls"), user=True),
        "cannot be read; write smtps://USER:PASSWORD@HOST, or with starttls:// or smtp:// in front",
    ),
    "mail_from": (_sender, "is no e-mail address; write name@example.org, in one line"),
    "webhook_url": (
        lambda text: text == "" or _url(text, ("http", "https"), user=True),
        "cannot be read; write https://HOST/...",
    ),
    "operator": (_line, "has characters that cannot be seen; write a name, in one line"),
    "body_bytes": (
        lambda number: number in BODY,
        f"is no whole number from {BODY[0]:,} to {BODY[-1]:,}; write 64000",
    ),
    "title": (_title, NO_LINE),
    "contact": (lambda text: _line(text) and len(text) <= 200, NO_LINE),
}

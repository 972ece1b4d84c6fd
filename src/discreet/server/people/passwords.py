"""Passwords: which are good enough, and their hashes."""

from __future__ import annotations

import secrets
from base64 import b64encode
from threading import BoundedSemaphore
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from discreet.server.people.register import AccountError, as_bytes

SHORTEST, LONGEST = 12, 1000  # characters
DIFFERENT = 5
AT_ONCE = 4  # that are hashed: each takes 64 MB


class Passwords:
    """Hashes and verifies, a few at a time."""

    def __init__(self, hasher: PasswordHasher) -> None:
        self.hasher = hasher
        self.nobodys = _nobodys(hasher)
        self._turn = BoundedSemaphore(AT_ONCE)

    def hash(self, password: str) -> str:
        with self._turn:
            return self.hasher.hash(as_bytes(normalize("NFC", password)))

    def verify(self, kept: str, password: str) -> bool:
        tried = as_bytes(normalize("NFC", password[:LONGEST]))
        try:
            with self._turn:
                return self.hasher.verify(kept, tried) and len(password) <= LONGEST
        except (VerificationError, InvalidHashError):
            return False


def good(name: str, password: str) -> str:
    """The password, if it is hard enough to guess."""
    without = password.casefold().replace(name.casefold(), "")
    if len(without) < SHORTEST:
        raise AccountError(
            f"the password is too short: {SHORTEST} characters at least, without the name."
        )
    if len(password) > LONGEST:
        raise AccountError(f"the password is too long: {LONGEST} characters at most.")
    if len(set(without)) < DIFFERENT:
        raise AccountError(f"the password needs {DIFFERENT} different characters at least.")
    return password


def _nobodys(hasher: PasswordHasher) -> str:
    """A hash that takes as long to verify as one of `hasher`, and that no password has."""
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, end = (
        b64encode(secrets.token_bytes(n)).decode().rstrip("=")
        for n in (hasher.salt_len, hasher.hash_len)
    )
    return f"$argon2id$v={ARGON2_VERSION}${cost}${salt}${end}"

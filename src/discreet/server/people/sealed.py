"""Text that the database keeps and only this server reads: sealed with the server's secret."""

from __future__ import annotations

import secrets
from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from discreet.server.people.register import AccountError

NONCE = 12  # bytes


class Seal:
    """AES-256-GCM, with a key from the secret; what it is `of` opens it too, and nothing else."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def close(self, text: str, of: str) -> str:
        nonce = secrets.token_bytes(NONCE)
        return b64encode(nonce + self._key().encrypt(nonce, text.encode(), of.encode())).decode()

    def open(self, kept: str, of: str) -> str:
        try:
            raw = b64decode(kept, validate=True)
            return self._key().decrypt(raw[:NONCE], raw[NONCE:], of.encode()).decode()
        except (ValueError, InvalidTag):
            raise AccountError(
                f"the {of} cannot be read: it was kept under another DISCREET_SECRET. Whoever "
                "runs the server restores the secret, or removes it."
            ) from None

    def _key(self) -> AESGCM:
        if not self.secret:
            raise AccountError("this needs the server's secret; set DISCREET_SECRET.")
        derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"discreet sealed text")
        return AESGCM(derive.derive(self.secret.encode()))

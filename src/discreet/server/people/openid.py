"""OpenID Connect: somebody else checks the person, and says who it is and which roles they have.

The authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0, 3.1; RFC 7636).
What the browser keeps is one random word, from which nonce and verifier are made; of the state
the database keeps a hash, which counts once.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, cast, get_args
from urllib.parse import urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import get_well_known_url
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from sqlalchemy import and_, delete

from discreet.errors import DataError, DisclosureError
from discreet.server.ledger.schema import Token
from discreet.server.people.accounts import Accounts
from discreet.server.people.identity import RoleName
from discreet.server.people.register import digest, moment
from discreet.server.settings import Settings

KIND = "openid"
CALLBACK = "/login/openid/callback"
LIFE = timedelta(minutes=10)
SECONDS = 10.0  # for an answer of the provider
LEEWAY = 60  # seconds that clocks may differ
SIGNED = [  # by a key that only the provider has; never "none", nor a shared secret
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
]
AGAIN = "the login took too long, or was used already; begin again."


class OpenIDError(DisclosureError):
    """The provider, or what came from it, is not to be trusted; `why` is for the trail."""

    def __init__(self, message: str, why: str) -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True)
class Vouched:
    """Whom the provider vouches for; without a role they may not in."""

    subject: str
    name: str
    email: str | None
    role: RoleName | None


@dataclass(frozen=True)
class Provider:
    """Who vouches for accounts, and which of their roles are ours."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    redirect: str
    roles: str  # where the claims have them
    role_map: tuple[tuple[str, RoleName], ...]
    name: str

    @classmethod
    def of(cls, settings: Settings) -> Provider | None:
        """The provider that the settings name, if any."""
        if not settings.oidc_issuer:
            return None
        for name in ("oidc_client_id", "oidc_role_map", "address"):
            if not getattr(settings, name):
                raise DataError(f"DISCREET_OIDC_ISSUER needs DISCREET_{name.upper()}, too; set it.")
        _secure(settings.oidc_issuer, settings.oidc_issuer)
        return cls(
            settings.oidc_issuer,
            settings.oidc_client_id,
            settings.oidc_client_secret,
            settings.address.rstrip("/") + CALLBACK,
            settings.oidc_roles,
            read_map(settings.oidc_role_map),
            settings.oidc_name,
        )

    # There

    def begin(self, accounts: Accounts, next: str) -> tuple[str, str]:
        """Where the browser goes, and what it keeps until it comes back."""
        there = self._metadata()["authorization_endpoint"]
        kept, state, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), accounts.clock()
        with accounts.database.write() as session:
            session.execute(delete(Token).where(Token.expires_at <= moment(now)))
            session.add(
                Token(
                    id=digest(state),
                    kind=KIND,
                    value={"browser": digest(kept), "next": next},
                    created_at=moment(now),
                    expires_at=moment(now + LIFE),
                )
            )
        url, _ = self._client().create_authorization_url(
            there,
            state=state,
            nonce=_made(kept, "nonce"),
            code_verifier=_made(kept, "verifier"),
        )
        return str(url), kept

    # And back

    def returned(self, accounts: Accounts, state: str, kept: str) -> str:
        """Where the browser wanted to go: the state is one of ours, this browser's, and new."""
        ours = and_(
            Token.id == digest(state),
            Token.kind == KIND,
            Token.expires_at > moment(accounts.clock()),
        )
        with accounts.database.write() as session:
            value = session.scalar(delete(Token).where(ours).returning(Token.value))
        if value is None or not hmac.compare_digest(str(value["browser"]), digest(kept)):
            raise OpenIDError(AGAIN, "a state that is not this browser's")
        return str(value["next"])

    def vouches(self, code: str, kept: str, now: datetime) -> Vouched:
        """Whom the code stands for, by a token that the provider signed for us and this login."""
        metadata, client = self._metadata(), self._client()
        post = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if self.client_secret and "client_secret_basic" not in post:
            client.token_endpoint_auth_method = "client_secret_post"
        try:
            token = client.fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=_made(kept, "verifier"),
                allow_redirects=False,
            )
            claims = self._claims(token, metadata, _made(kept, "nonce"), now)
            said = self._with_roles(dict(claims), token, metadata, client)
        except (AuthlibBaseError, JoseError) as error:
            raise self._distrusted(type(error).__name__, getattr(error, "error", "")) from None
        except requests.RequestException as error:
            raise self._silent(error) from None
        except (KeyError, TypeError, ValueError) as error:
            raise self._distrusted(type(error).__name__) from None
        return Vouched(str(claims["sub"]), _name(said), _email(said), self.role(said))

    def role(self, claims: Mapping[str, Any]) -> RoleName | None:
        """Our role for theirs: the first of the map that they have."""
        had = _at(claims, self.roles)
        had = [had] if isinstance(had, str) else had if isinstance(had, list) else []
        for theirs, ours in self.role_map:
            if theirs == "*" or theirs in had:
                return ours
        return None

    def _claims(
        self, token: Mapping[str, Any], metadata: Mapping[str, Any], nonce: str, now: datetime
    ) -> Mapping[str, Any]:
        """What the ID token says, if it is signed by the provider, for us, for this login."""
        keys = KeySet.import_key_set(cast(Any, self._get(metadata["jwks_uri"])))
        registry = JWSRegistry(algorithms=SIGNED, strict_check_header=False)
        decoded = jwt.decode(token["id_token"], keys, registry=registry)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": self.issuer},
                "aud": {"essential": True, "value": self.client_id},
                "sub": {"essential": True},
                "exp": {"essential": True},
                "nonce": {"essential": True, "value": nonce},
            },
            {
                "nonce": nonce,
                "client_id": self.client_id,
                "access_token": token.get("access_token"),
            },
        )
        claims.validate(now=int(now.timestamp()), leeway=LEEWAY)
        if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
            raise ValueError("sub")
        return cast(Mapping[str, Any], claims)

    def _with_roles(
        self,
        claims: dict[str, Any],
        token: Mapping[str, Any],
        metadata: Mapping[str, Any],
        client: OAuth2Session,
    ) -> dict[str, Any]:
        """With the provider's further word on the same person, if the token says no roles."""
        if _at(claims, self.roles) is not None or "userinfo_endpoint" not in metadata:
            return claims
        client.token = token
        answer = client.get(metadata["userinfo_endpoint"], allow_redirects=False)
        answer.raise_for_status()
        more = cast(dict[str, Any], answer.json())
        if more.get("sub") != claims["sub"]:
            raise ValueError("sub")
        return more | claims

    def _metadata(self) -> dict[str, Any]:
        """Where the provider's doors are, by itself."""
        try:
            found = self._get(get_well_known_url(self.issuer, external=True))
            if found["issuer"] != self.issuer:
                raise self._distrusted("another issuer in the metadata")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                _secure(str(found[name]), self.issuer)
        except requests.RequestException as error:
            raise self._silent(error) from None
        except (KeyError, TypeError, ValueError, DataError):
            raise self._distrusted("metadata that are none") from None
        return found

    def _get(self, url: str) -> dict[str, Any]:
        answer = requests.get(url, timeout=SECONDS, allow_redirects=False)
        answer.raise_for_status()
        return cast(dict[str, Any], answer.json())

    def _client(self) -> OAuth2Session:
        return OAuth2Session(
            self.client_id,
            self.client_secret or None,
            token_endpoint_auth_method="client_secret_basic" if self.client_secret else "none",
            scope="openid profile email",
            redirect_uri=self.redirect,
            code_challenge_method="S256",
            default_timeout=SECONDS,
        )

    def _distrusted(self, *why: object) -> OpenIDError:
        said = f"{self.name} gave no proof that holds; begin again, or ask whoever runs it."
        return OpenIDError(said, " ".join(str(one) for one in why if one))

    def _silent(self, error: Exception) -> OpenIDError:
        said = f"{self.name} does not answer; try again later."
        return OpenIDError(said, type(error).__name__)


def read_map(text: str) -> tuple[tuple[str, RoleName], ...]:
    """Their roles and ours, by commas; * is everybody.

    >>> read_map("tables-audit=auditor, *=analyst")
    (('tables-audit', 'auditor'), ('*', 'analyst'))
    """
    found: list[tuple[str, RoleName]] = []
    known = [role for role in get_args(RoleName) if role != "public"]
    for part in text.split(","):
        theirs, _, ours = (one.strip() for one in part.rpartition("="))
        if not theirs or ours not in known:
            raise DataError(
                f"DISCREET_OIDC_ROLE_MAP has {part.strip()[:80]!r}; write THEIRS=OURS by commas, "
                f"with OURS one of {', '.join(known)}."
            )
        found.append((theirs, cast(RoleName, ours)))
    return tuple(found)


def _secure(url: str, issuer: str) -> None:
    """Over https; over http only a provider on this machine, to try it out."""
    parts, there = urlsplit(url), urlsplit(issuer)
    local = parts.hostname in ("127.0.0.1", "::1", "localhost") and there.scheme == "http"
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise DataError(f"DISCREET_OIDC_ISSUER: {url[:200]!r} is not https; use https.")


def _made(kept: str, what: str) -> str:
    """A word that whoever sees it cannot turn back."""
    return sha256(f"{what} {kept}".encode("utf-8", "replace")).hexdigest()


def _at(claims: Mapping[str, Any], path: str) -> Any:
    """A claim by its name, or by a path with dots."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def _name(claims: Mapping[str, Any]) -> str:
    for claim in ("preferred_username", "email", "sub"):
        if isinstance(name := claims.get(claim), str) and name:
            return name
    return ""


def _email(claims: Mapping[str, Any]) -> str | None:
    email = claims.get("email")
    return email if isinstance(email, str) and claims.get("email_verified") is True else None

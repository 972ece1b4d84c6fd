"""A small identity provider on this machine: OpenID Connect with signed tokens, and bad ones."""

import base64
import hmac
import json
import secrets
import time
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

CLIENT, CLIENT_SECRET = "tables", "the client's own secret"


class Provider:
    """Logs everybody in as `person`; `twist` changes the claims of a token before it is signed."""

    def __init__(self):
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
        self.published = [self.key]
        self.person = {"sub": "f3a1", "preferred_username": "Maria", "roles": ["tables-custodian"]}
        self.twist = lambda claims: claims
        self.algorithm = "RS256"
        self.userinfo = {}
        self.metadata = {}
        self.answer = {}  # further parameters of the redirect back
        self.issued = {}  # code: what was asked for
        self.requests = []

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def settings(self, **more):
        """What the table server needs to know."""
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_role_map": "tables-custodian=custodian,tables-audit=auditor",
            "oidc_name": "the office's login",
        } | more

    # The four doors

    def discovery(self):
        doors = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "jwks_uri": "jwks",
        }
        if self.userinfo:
            doors["userinfo_endpoint"] = "userinfo"
        found = {name: f"{self.issuer}/{path}" for name, path in doors.items()}
        return {"issuer": self.issuer, **found} | self.metadata

    def authorize(self, asked):
        """A code, as if the person had given a password here."""
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.issued[code] = asked
        back = {"code": code, "state": asked["state"]} | self.answer
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def token(self, sent, authorization):
        """A signed token for a code that was issued, once, and for who shows the verifier."""
        expected = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        if authorization != f"Basic {expected}":
            return 401, {"error": "invalid_client"}
        asked = self.issued.pop(sent["code"], None)
        if asked is None or asked["redirect_uri"] != sent["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        shown = base64.urlsafe_b64encode(sha256(sent["code_verifier"].encode()).digest())
        if shown.decode().rstrip("=") != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            **self.person,
        }
        return 200, {
            "access_token": "opaque",
            "token_type": "Bearer",
            "id_token": self.signed(self.twist(claims)),
        }

    def signed(self, claims):
        header = {"alg": self.algorithm, "kid": self.key.kid}
        if self.algorithm == "none":
            parts = [json.dumps(part).encode() for part in (header, claims)]
            return ".".join(_base64(part) for part in parts) + "."
        return jwt.encode(header, claims, self.key, algorithms=[self.algorithm])

    def jwks(self):
        return KeySet(self.published).as_dict(private=False)


def _base64(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def with_secret(claims, secret):
    """A token signed by HMAC, with the name of the provider's key."""
    parts = ({"alg": "HS256", "kid": "one"}, claims)
    said = ".".join(_base64(json.dumps(part).encode()) for part in parts)
    return f"{said}.{_base64(hmac.digest(secret, said.encode(), 'sha256'))}"


def other_key(kid="one"):
    """A key that the provider does not have."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


def curve_key(kid="two"):
    return ECKey.generate_key("P-256", {"kid": kid, "use": "sig"})


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        provider, parts = self.server.provider, urlsplit(self.path)
        provider.requests.append(parts.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path:
            case "/.well-known/openid-configuration":
                self.say(200, provider.discovery())
            case "/jwks":
                self.say(200, provider.jwks())
            case "/userinfo":
                known = self.headers["Authorization"] == "Bearer opaque"
                self.say(200 if known else 401, provider.userinfo)
            case "/authorize":
                self.say(303, {}, Location=provider.authorize(asked))
            case _:
                self.say(404, {})

    def do_POST(self):
        provider = self.server.provider
        provider.requests.append(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        self.say(*provider.token(sent, self.headers["Authorization"]))

    def say(self, status, document, **headers):
        body = json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def provider(port=0):
    """Runs on loopback as long as this lasts."""
    made = Provider()
    made.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    made.server.provider = made
    thread = Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()

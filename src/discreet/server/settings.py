"""How a server is set up: by the command line, or by DISCREET_... in the environment."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from discreet.server.setting_checks import RIGHT, check_value, unknown, wrong


class Settings(BaseSettings):
    """Every setting of a server, given here or as DISCREET_NAME in the environment.

    >>> import discreet as dc
    >>> settings = dc.server.Settings(database="sqlite:///tables.db", port=8080)
    >>> settings.host, settings.port, settings.requests_per_minute
    ('127.0.0.1', 8080, 120)
    >>> try:
    ...     dc.server.Settings(session_hours=-1)
    ... except dc.DisclosureError as error:
    ...     print(error)
    DISCREET_SESSION_HOURS = '-1.0' is no number of hours above 0, up to 8,760; write 8.
    """

    model_config = SettingsConfigDict(env_prefix="DISCREET_", extra="forbid")

    database: str = "sqlite:///discreet.db"
    secret: SecretStr = SecretStr("")  # signs and fingerprints; made once, kept by the operator
    host: str = "127.0.0.1"
    port: int = 8000
    address: str = ""  # what people type, for citations; else host and port
    cookies_over_http: bool = False  # only for trying out on one machine
    trusted_proxies: str = ""  # addresses whose X-Forwarded-For is believed
    cors_origins: str = ""  # sites whose pages may read the public's API; * for all
    session_hours: float = 8.0
    requests_per_minute: int = 120  # of one client, of any kind
    decisions_per_minute: int = 30  # of one client: requests for tables
    logins_per_minute: int = 5
    shared: str = ""  # where workers count together: database, or redis://HOST
    second_factor: Literal["optional", "staff", "all"] = "optional"  # who must set one up
    oidc_issuer: str = ""  # who vouches for accounts; else there are passwords only
    oidc_client_id: str = ""
    oidc_client_secret: str = Field(default="", repr=False)
    oidc_roles: str = "roles"  # the claim that has them
    oidc_role_map: str = ""  # theirs and ours
    oidc_name: str = "single sign-on"
    smtp_url: str = Field(default="", repr=False)  # how letters are sent
    mail_from: str = ""
    webhook_url: str = Field(default="", repr=False)  # told what happens, too
    operator: str = ""  # who runs the process, for ledgers and the trail; else its user
    body_bytes: int = 64_000
    title: str = "Table server"
    contact: str = ""

    def __init__(self, **given: Any) -> None:
        """Raise, with a sentence, if one of them cannot be."""
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            raise (wrong(name, first["input"]) if name in RIGHT else unknown(name)) from None
        for name in type(self).model_fields:
            check_value(name, getattr(self, name))

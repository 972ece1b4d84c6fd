"""How a server is set up: by the command line, or by DISCREET_... in the environment."""

from __future__ import annotations

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Every setting of a server."""

    model_config = SettingsConfigDict(env_prefix="DISCREET_", extra="ignore")

    database: str = "sqlite:///discreet.db"
    secret: SecretStr = SecretStr("")  # signs and fingerprints; made once, kept by the operator
    host: str = "127.0.0.1"
    port: int = 8000
    address: str = ""  # what people type, for citations; else host and port
    cookies_over_http: bool = False  # only for trying out on one machine
    trusted_proxies: str = ""  # addresses whose X-Forwarded-For is believed
    session_hours: float = 8.0
    requests_per_minute: int = 120  # of one client, of any kind
    decisions_per_minute: int = 30  # of one client: requests for tables
    logins_per_minute: int = 5
    body_bytes: int = 64_000
    title: str = "Table server"
    contact: str = ""

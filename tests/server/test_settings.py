"""Every setting is read before anything is served, and what cannot be is said in a sentence."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from discreet.cli.main import main
from discreet.errors import DataError, LedgerError
from discreet.server.launch import DataSpec, build_services, prepare
from discreet.server.setting_checks import OTHERS, RIGHT, check_names
from discreet.server.settings import Settings

ROOT = Path(__file__).parents[2]
WRONG = {
    "database": ["", "sqlite:///a\nb"],
    "secret": ["a\nb"],
    "host": ["", "http://127.0.0.1", "127.0.0.1:80", "a b", "-"],
    "port": ["", "-1", "65536", "tcp://10.0.0.1:8000", "9" * 30],
    "address": ["tables.example.org", "https://", "ftp://x.org", "https://a b", "https://x.org:port",
                "https://x.org/?a=1", "https://x.org/#a", "https://ann:word@x.org", "http://x\ny"],
    "cookies_over_http": ["perhaps", ""],
    "trusted_proxies": ["nginx", "127.0.0.1;10.0.0.1", "10.0.0.0/33", "127.0.0.1,proxy"],
    "cors_origins": ["example.org", "*,https://x.org", "https://x.org/path", "https://x.org,y"],
    "session_hours": ["-1", "0", "nan", "inf", "-inf", "1e10", "a day"],
    "requests_per_minute": ["-1", "0", "nan", "1e9", "10000000", "9" * 30],
    "decisions_per_minute": ["-1", "0", "x"],
    "logins_per_minute": ["-1", "0", "x"],
    "shared": ["redis", "memcached://x", "redis://", "redis://host:port"],
    "second_factor": ["stuff", ""],
    "oidc_issuer": ["login.example.org", "https://", "https://x\ny"],
    "oidc_client_id": ["a\nb"],
    "oidc_client_secret": ["a\nb"],
    "oidc_roles": ["", "a\nb"],
    "oidc_role_map": ["a=analyst\nb=custodian"],
    "oidc_name": ["", " ", "a\nb"],
    "smtp_url": ["mail.example.org", "http://x.org", "smtps://x.org:port", "smtps://x.org\ny"],
    "mail_from": ["me", "a@example.org\nBcc: b@example.org", "Tables"],
    "webhook_url": ["office.example.org", "https://", "https://x.org:port", "https://x\ny"],
    "operator": ["a\nb"],
    "body_bytes": ["-1", "0", "99", "1e9", "1000000000000", "9" * 30],
    "title": ["", "a\nb", "a" * 201],
    "contact": ["a\nb", "a" * 201],
}  # fmt: skip
FINE = {
    "host": ["0.0.0.0", "::1", "localhost", "tables-1.example.org"],
    "port": ["0", "8000"],
    "address": ["", "https://tables.example.org", "http://[::1]:8000/", "https://x.org/tables/"],
    "trusted_proxies": ["", "127.0.0.1", "10.0.0.0/8, ::1,unix"],
    "cors_origins": ["", "*", "https://a.org, http://b.org:8080/"],
    "session_hours": ["0.5", "8760"],
    "shared": ["", "database", "redis://host:6379/0", "redis://:word@host"],
    "mail_from": ["", "t@example.org", "Tables <t@example.org>"],
    "smtp_url": ["", "smtps://a:p%40ss@mail.example.org:4650"],
    "webhook_url": ["", "https://office.example.org/x?y=z"],
}


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(f"DISCREET_{name.upper()}", raising=False)


def test_every_setting_has_a_check_and_a_wrong_value_here():
    assert set(RIGHT) == set(WRONG) == set(Settings.model_fields)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_what_a_setting_cannot_be_is_said(monkeypatch, name, value):
    key = f"DISCREET_{name.upper()}"
    monkeypatch.setenv(key, value)
    with pytest.raises(DataError, match=rf"^{key} .*(write|use) .*\.$") as caught:
        Settings()
    assert "\n" not in str(caught.value)
    given = {name: SecretStr(value) if name == "secret" else value}
    monkeypatch.delenv(key)
    with pytest.raises(DataError, match=key):
        Settings(**given)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in FINE.items() for v in values])
def test_what_a_setting_can_be(monkeypatch, name, value):
    monkeypatch.setenv(f"DISCREET_{name.upper()}", value)
    Settings()


@pytest.mark.parametrize("name", ["smtp_url", "webhook_url", "shared", "database"])
def test_a_password_is_not_repeated(monkeypatch, name):
    monkeypatch.setenv(f"DISCREET_{name.upper()}", "odd://ann:word@host\n:x")
    with pytest.raises(DataError, match=f"DISCREET_{name.upper()}") as caught:
        Settings()
    assert "word" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("DISCREET_SECOND_FACTORS", "DISCREET_SECOND_FACTOR"),
        ("DISCREET_SESION_HOURS", "DISCREET_SESSION_HOURS"),
        ("discreet_databse", "DISCREET_DATABASE"),
        ("DISCREET_ADRESS", "DISCREET_ADDRESS"),
        ("DISCREET_WORKER", "DISCREET_WORKERS"),
    ],
)
def test_an_unknown_name_stops_with_the_nearest(monkeypatch, tmp_path, name, near):
    monkeypatch.setenv(name, "staff")
    url = f"sqlite:///{tmp_path}/x.db"
    with pytest.raises(DataError, match=rf"^{name} in the environment .* nearest is {near}\."):
        prepare(Settings(database=url))
    assert not list(tmp_path.iterdir())
    for command in ("ledger", "accounts"):
        word = {"ledger": "verify", "accounts": "list"}[command]
        found = CliRunner().invoke(main, [command, word, "--database", url])
        assert found.exit_code == 2
        assert near in found.output


def test_an_unknown_name_in_python_stops_too():
    with pytest.raises(
        DataError, match="no setting 'sesion_hours'; the nearest is 'session_hours'"
    ):
        Settings(sesion_hours=3)


def test_every_name_that_the_project_reads_is_known():
    named = set()
    for folder in ("src", "tests", "benchmarks", "deploy", "docs", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".toml", ".example", ".service", ".ipynb", ".conf"):
                text = path.read_text(encoding="utf-8")
                named |= set(re.findall(r"(?<![A-Za-z_])DISCREET_[A-Z_]*[A-Z]", text))
    known = {f"DISCREET_{name.upper()}" for name in RIGHT} | {f"DISCREET_{n}" for n in OTHERS}
    examples = {"DISCREET_NAME", "DISCREET_SECOND_FACTORS", "DISCREET_SESION_HOURS",
                "DISCREET_ADRESS", "DISCREET_WORKER"}  # fmt: skip
    assert named - examples <= known
    check_names(dict.fromkeys(known, ""))


def test_a_short_secret_is_for_no_new_ledger(tmp_path, capsys):
    url = f"sqlite:///{tmp_path}/x.db"
    with pytest.raises(LedgerError, match=r"^DISCREET_SECRET has 1 characters.*`openssl rand"):
        prepare(Settings(database=url, secret=SecretStr("x")))
    spec = DataSpec("czech", "example:czech", set=("server.rule=myopic",))
    build_services(Settings(database=url, secret=SecretStr("x")), [spec]).database.close()
    assert prepare(Settings(database=url, secret=SecretStr("x"))).secret.get_secret_value() == "x"
    assert "the secret is short" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"smtp_url": "smtps://mail.example.org"}, "DISCREET_SMTP_URL needs DISCREET_MAIL_FROM"),
        ({"webhook_url": "http://office.example.org"}, "DISCREET_WEBHOOK_URL is not https"),
        (
            {"webhook_url": "https://office.example.org"},
            "DISCREET_WEBHOOK_URL needs DISCREET_",
        ),
        ({"oidc_issuer": "https://login.example.org"}, "DISCREET_OIDC_ISSUER needs"),
    ],
)
def test_what_a_setting_needs_is_said_before_data_are_read(tmp_path, given, said):
    with pytest.raises(DataError, match=said):
        prepare(Settings(database=f"sqlite:///{tmp_path}/x.db", **given))


def test_the_command_ends_with_a_sentence(tmp_path):
    for name, value in (("SECOND_FACTORS", "staff"), ("SESSION_HOURS", "nan")):
        own = {k: v for k, v in os.environ.items() if not k.startswith("DISCREET_")}
        words = ["serve", "example:czech", "--database", f"sqlite:///{tmp_path}/x.db"]
        done = subprocess.run(
            [sys.executable, "-m", "discreet", *words],
            env=own | {f"DISCREET_{name}": value},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 2
        assert f"DISCREET_{name}" in done.stderr
        assert len(done.stderr.splitlines()) == 1

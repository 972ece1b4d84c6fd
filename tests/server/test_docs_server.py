"""The server's documentation: what it shows is what the server says, and nothing is left out."""

import dataclasses
import re
import shlex
from pathlib import Path
from string import Template

import pytest

from discreet.data.examples import find_example
from discreet.server.api.roles import ACCOUNTS, ASKING, DECIDING, EVERYBODY, READING
from discreet.server.launch import DataSpec
from discreet.server.settings import Settings
from discreet.server.showing.describe import describe
from discreet.table.load import load
from server.sites import world
from test_docs import blocks, check_shown, commands, section

PAGE = Path(__file__).parents[2] / "docs" / "server.md"
ACCOUNTS_PAGE = PAGE.with_name("server-accounts.md")
READERS_PAGE = PAGE.with_name("server-public.md")
TEXT = PAGE.read_text(encoding="utf-8")
WHO = {
    EVERYBODY: "everybody",
    ASKING: "everybody but auditors",
    ACCOUNTS: "every account",
    READING: "custodians, auditors",
    DECIDING: "custodians",
}


@pytest.fixture
def shown_site(tmp_path):
    """What the first command of the page serves."""
    rule = {"server.rule": "myopic", "server.slot": 0.0}
    with world(tmp_path) as made:
        about = describe(find_example("example:czech").codebook, load("example:czech"))
        yield made.open("czech", rule, "example:czech", title="Czech auto workers", about=about)


def curl(words, client):
    """The answer to `curl`, as far as the page uses it."""
    words = list(words)
    method, body, headers, address = "GET", None, {}, None
    while words:
        match words.pop(0):
            case "-s" | "-g":
                pass
            case "-X":
                method = words.pop(0)
            case "-H":
                name, _, value = words.pop(0).partition(": ")
                headers[name] = value
            case "-o":
                words.pop(0)
            case "--json":
                method, body = "POST" if method == "GET" else method, words.pop(0)
                headers["Content-Type"] = "application/json"
            case word if not word.startswith("-"):
                assert address is None, f"two addresses: {address}, {word}"
                address = word
            case word:
                raise AssertionError(f"curl {word} is not known here")
    return client.request(method, address, content=body, headers=headers)


@pytest.mark.parametrize(("page", "least"), [(PAGE, 20), (ACCOUNTS_PAGE, 3), (READERS_PAGE, 10)])
def test_what_curl_shows_is_what_the_server_says(shown_site, page, least):
    client, key = shown_site.client(), shown_site.keys["custodian"]
    number = 0
    for block in blocks(page):
        if block.language != "console":
            continue
        for command, shown in commands(block):
            if command.startswith("curl "):
                said = Template(command).substitute(SITE="", KEY=key)
                answer = curl(shlex.split(said)[1:], client)
                assert answer.status_code < 500
                check_shown(shown, answer.text, f"{page.name}:{block.line} ({command})")
                number += 1
    assert number > least


def test_every_setting_is_documented_with_its_default():
    for name, field in Settings.model_fields.items():
        key = f"DISCREET_{name.upper()}"
        row = re.search(rf"^\| `{key}` \| ([^|]*) \|", TEXT, re.MULTILINE)
        assert row, f"server.md does not document {key}"
        default = field.default.get_secret_value() if name == "secret" else field.default
        shown = str(default).lower() if isinstance(default, bool) else str(default)
        assert row[1] == ("none" if default in ("", None) else f"`{shown}`"), key


def test_no_setting_is_documented_that_is_not_there():
    known = {f"DISCREET_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"DISCREET_[A-Z_]+", TEXT)) <= known


def test_every_key_of_a_data_set_is_documented():
    for field in dataclasses.fields(DataSpec):
        assert f"| `{field.name}` |" in TEXT, f"server.md does not document {field.name}"


def test_every_route_is_documented_with_who_may_use_it(shown_site):
    there = set()
    for path, methods in shown_site.app.openapi()["paths"].items():
        for method, operation in methods.items():
            route = f"{method.upper()} {path}"
            row = re.search(rf"^\| `{re.escape(route)}` \| ([^|]*) \|", TEXT, re.MULTILINE)
            assert row, f"server.md does not document {route}"
            assert row[1].startswith(WHO[frozenset(operation["x-roles"])]), route
            there.add(route)
    shown = set(re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) /[^`]*)` \|", TEXT, re.MULTILINE))
    assert shown <= there | {"GET /api/v1/openapi.json"}


def test_every_kind_of_the_trail_and_every_notice_is_explained():
    from discreet.server.ledger.trail import Event
    from discreet.server.notices.post import LETTERS

    text = ACCOUNTS_PAGE.read_text(encoding="utf-8")
    for name in (*Event, *LETTERS):
        assert f"`{name}`" in text, f"server-accounts.md does not explain {name}"
    known = {f"DISCREET_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"DISCREET_[A-Z_]+", text)) <= known


def test_every_reason_is_explained():
    from discreet.decision.answering.answer import Why

    for why in Why:
        assert f"| `{why}` |" in TEXT, f"server.md does not explain the reason {why}"


def test_the_commands_page_names_the_server(shown_site):
    assert "server.md" in section("commands.md", "serve")

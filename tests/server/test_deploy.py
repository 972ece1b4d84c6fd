"""What is in deploy/ fits the program: options, settings, limits, and what the docs show."""

import ast
import configparser
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import containerfile
from discreet.cli import main
from discreet.server.deciding.unready import SAID
from discreet.server.ledger.marks import OTHER_SECRET
from discreet.server.operation.health import SILENT
from discreet.server.settings import Settings
from server.deployed import DEPLOY, ROOT

UNIT = DEPLOY / "discreet.service"
UNITS = [path for path in sorted(DEPLOY.iterdir()) if path.suffix in (".service", ".timer")]
DOCS = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("server.md", "runbook.md"))
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
IMAGE = containerfile.read(DEPLOY / "Containerfile")
EXPOSURE = 20  # tenths, of systemd's 100: the less the better


def check_command(line):
    """`discreet serve DATA ...`, `discreet ledger ...`: commands and options that are there."""
    words, command = shlex.split(line), main
    while isinstance(command, click.Group):
        assert words[0] in command.commands, line
        command = command.commands[words.pop(0)]
    known = {word for parameter in command.params for word in parameter.opts}
    used = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert used <= known, line


@pytest.mark.parametrize("name", [path.name for path in sorted(DEPLOY.iterdir())])
def test_the_docs_show_the_very_file(name):
    assert DOCS.count(f'--8<-- "deploy/{name}"') == 1


@pytest.mark.parametrize("name", [path.name for path in sorted(DEPLOY.iterdir())])
def test_settings_that_are_named_are_there(name):
    known = {f"DISCREET_{field.upper()}" for field in Settings.model_fields}
    named = set(re.findall(r"DISCREET_[A-Z_]+", (DEPLOY / name).read_text(encoding="utf-8")))
    assert named <= known


def test_the_settings_of_the_example_are_read_and_do_not_start_as_they_are(monkeypatch):
    """Whoever forgets the secret is told so, and not given one that everybody knows."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"DISCREET_{name.upper()}", raising=False)
    settings = Settings(_env_file=DEPLOY / "server.env.example")
    assert settings.address.startswith("https://")
    assert settings.trusted_proxies == "127.0.0.1"
    assert settings.second_factor == "staff"
    assert settings.secret.get_secret_value() == ""
    assert "PASSWORD" in settings.database
    lines = (DEPLOY / "server.env.example").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if '"' in line or "'" in line.partition("=")[2]]


# systemd


def unit():
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str
    parsed.read(UNIT)
    return parsed


def test_the_unit_starts_what_is_there_and_gives_it_time_to_stop():
    service = unit()["Service"]
    assert int(service["TimeoutStopSec"]) > 30, "requests under way have 30 s"
    assert service["LimitCORE"] == "0", "a core file would hold the confidential table"
    assert service["User"] != "root"


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_commands_of_a_unit_are_there(path):
    lines = re.findall(r"/opt/discreet/bin/discreet ([^'\n]+)", path.read_text(encoding="utf-8"))
    assert len(lines) == path.read_text(encoding="utf-8").count("ExecStart=")
    for line in lines:
        check_command(line)


@pytest.fixture
def units(tmp_path):
    """As they are, but for where the program is."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: only the commands of the units are checked")
    program = str(Path(sys.executable).with_name("discreet"))
    for path in UNITS:
        text = path.read_text(encoding="utf-8").replace("/opt/discreet/bin/discreet", program)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    return [tmp_path / path.name for path in UNITS]


def test_systemd_takes_the_units(units):
    verified = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert verified.returncode == 0, verified.stderr
    assert not [line for line in verified.stderr.splitlines() if "discreet" in line]


def test_systemd_thinks_that_the_server_has_few_rights(units):
    words = ["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}"]
    (unit,) = [path for path in units if path.name == UNIT.name]
    exposed = subprocess.run([*words, unit], capture_output=True, text=True)
    assert exposed.returncode == 0, exposed.stdout[-500:]


# The container


def test_the_container_starts_what_is_there_as_nobody_special():
    image = IMAGE
    assert image.entrypoint[0] == "discreet"
    check_command(shlex.join(image.entrypoint[1:]))
    assert int(image.last("USER")) > 1_000
    assert image.last("VOLUME") == image.last("WORKDIR")
    assert image.environment["NUMBA_CACHE_DIR"].startswith(image.last("VOLUME"))
    assert int(image.last("EXPOSE")) == Settings.model_fields["port"].default
    assert f":{image.last('EXPOSE')}/readyz" in image.healthcheck[-1]
    order = [name for name, _ in image.steps]
    assert order.index("USER") < order.index("ENTRYPOINT")


def test_no_data_get_into_the_image():
    assert containerfile.sent(ROOT) == ["LICENSE", "README.md", "constraints.txt", "pyproject.toml",
                                        "src"]  # fmt: skip


def test_what_is_copied_is_what_the_build_needs():
    """The names that pyproject.toml reads."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in ("README.md", "LICENSE", "src/discreet"):
        assert name in project
        assert name.split("/")[0] in containerfile.sent(ROOT)


def test_commands_in_the_docs_are_there():
    """Also those that are not run, as text or in a table."""
    blocks = re.findall(r"```text\n(.*?)```", DOCS, re.DOTALL)
    shown = "\n".join(blocks).replace("\\\n", " ")
    lines = re.findall(r"\bdiscreet ((?:serve|ledger|accounts) [^\n]*)", shown)
    lines += re.findall(r"`discreet ((?:ledger|accounts) [^`]*)`", DOCS)
    assert len(lines) > 15
    for line in lines:
        check_command(line)
    assert "podman build -t tables -f deploy/Containerfile ." in DOCS


def imported():
    """Modules of others that the server imports, wherever in a file."""
    found = set()
    for path in (ROOT / "src/discreet/server").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"discreet"}


def installed():
    """Names of what `discreet[server]` brings along, by pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = [*project["dependencies"], *project["optional-dependencies"]["server"]]
    found, asked = set(), [(Requirement(line), frozenset()) for line in own]
    while asked:
        need, extras = asked.pop()
        if need.marker and not any(need.marker.evaluate({"extra": e}) for e in extras or {""}):
            continue
        known = canonicalize_name(need.name), frozenset(need.extras)
        if known not in found:
            found.add(known)
            lines = metadata.requires(need.name) or ()
            asked += [(Requirement(line), frozenset(need.extras)) for line in lines]
    return {name for name, _ in found}


def test_the_image_installs_all_that_the_server_imports():
    assert any(name == "RUN" and "/src[server]" in value for name, value in IMAGE.steps)
    there, owners = installed(), metadata.packages_distributions()
    for module in sorted(imported()):
        names = {canonicalize_name(name) for name in owners[module]}
        assert names & there, f"{module} is not in the extra `server` of pyproject.toml"


# nginx


def test_nginx_takes_as_much_as_the_server_and_waits_as_long():
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    most = Settings.model_fields["body_bytes"].default
    assert f"client_max_body_size {most};" in text
    assert f":{Settings.model_fields['port'].default};" in text
    assert "X-Forwarded-For $remote_addr;" in text, "what the client says is not passed on"


# The runbook


SENTENCES = [*(sentence for _, sentence in SAID), SILENT, "no data set is open yet."]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_runbook_has_a_repair_for_each_way_of_not_being_ready(sentence):
    assert re.search(rf"^\s*\| {re.escape(sentence)} \| \S.* \|$", RUNBOOK, re.MULTILINE)


def test_the_runbook_knows_why_a_server_does_not_start():
    assert f"| {OTHER_SECRET.partition(';')[0]} |" in RUNBOOK
    sources = (ROOT / "src/discreet/server").rglob("*.py")
    said = "".join(path.read_text("utf-8") for path in sources)
    for words in ("set DISCREET_SECRET", "are not those that its ledger was opened with",
                  "is a vintage of the same people as", "has the variables of", "does not hold",
                  "run `discreet ledger migrate`"):  # fmt: skip
        assert words in said, words
        assert words in RUNBOOK, words

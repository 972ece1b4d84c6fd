"""What is in deploy/ fits the program: options, settings, limits, and what the docs show."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import containerfile
from discreet.cli import main
from discreet.server.settings import Settings
from server.deployed import DEPLOY, ROOT

UNIT = DEPLOY / "discreet.service"
DOCS = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")
FILES = ("Containerfile", "discreet.service", "nginx.conf", "server.env.example")
EXPOSURE = 20  # tenths, of systemd's 100: the less the better


def options(command):
    return {word for parameter in main.commands[command].params for word in parameter.opts}


def check_command(words):
    """`discreet serve DATA ...` with options that are there."""
    assert Path(words[0]).name == "discreet"
    assert words[1] in main.commands
    used = {word for word in words if word.startswith("--")}
    assert used <= options(words[1])


@pytest.mark.parametrize("name", FILES)
def test_the_docs_show_the_very_file(name):
    assert f'--8<-- "deploy/{name}"' in DOCS


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
    check_command(shlex.split(service["ExecStart"]))
    assert int(service["TimeoutStopSec"]) > 30, "requests under way have 30 s"
    assert service["LimitCORE"] == "0", "a core file would hold the confidential table"
    assert service["User"] != "root"


def test_systemd_takes_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: only the options of the unit are checked")
    program = Path(sys.executable).with_name("discreet")
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/discreet/bin/discreet", str(program)))
    verified = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True)
    assert verified.returncode == 0, verified.stderr
    ours = [line for line in verified.stderr.splitlines() if UNIT.name in line]
    assert not ours
    words = ["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE}"]
    exposed = subprocess.run([*words, copy], capture_output=True, text=True)
    assert exposed.returncode == 0, exposed.stdout[-500:]


# The container


def test_the_container_starts_what_is_there_as_nobody_special():
    image = containerfile.read(DEPLOY / "Containerfile")
    check_command(image.entrypoint)
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


def test_the_lines_of_the_docs_name_what_is_there():
    for words in re.findall(r"^podman (?:exec|run) .*?(?<!\\)$", DOCS, re.MULTILINE | re.DOTALL):
        used = set(re.findall(r"--(?:policy|role|password-stdin)\b", words))
        assert used <= options("serve") | {"--role", "--password-stdin"}
    assert "podman build -t tables -f deploy/Containerfile ." in DOCS


# nginx


def test_nginx_takes_as_much_as_the_server_and_waits_as_long():
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    most = Settings.model_fields["body_bytes"].default
    assert f"client_max_body_size {most};" in text
    assert f":{Settings.model_fields['port'].default};" in text
    assert "X-Forwarded-For $remote_addr;" in text, "what the client says is not passed on"
    assert json.dumps("").join(["Connection ", ";"]) in text

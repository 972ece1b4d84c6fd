"""`discreet doctor` and `discreet completion`."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import doctor, main


def run(*args, **env):
    return CliRunner().invoke(main, [*args], env=env)


def test_what_is_there_and_one_answer():
    found = run("doctor", "--json")
    document = json.loads(found.output)
    says = {line["what"]: line for line in document["findings"]}
    assert found.exit_code == 0
    assert document["well"]
    assert says["numpy"]["ok"]
    assert says["a known answer"]["says"] == "a count of 1 in example:tract is bounded to 0-1"


def test_a_wrong_answer_and_a_missing_package_are_no_health(monkeypatch):
    monkeypatch.setattr(doctor, "KNOWN", (*doctor.KNOWN[:2], "0-2"))
    found = run("doctor")
    assert found.exit_code == 3
    assert "✗ a known answer" in found.output
    assert "0-2 is right" in found.output
    monkeypatch.undo()
    needs = ["no-such-package>=1", "numpy>=99", "torch>=2; extra == 'gpu'"]
    monkeypatch.setattr(doctor, "requires", lambda name: needs)
    found = run("doctor")
    assert found.exit_code == 3
    assert "✗ no-such-package   missing" in found.output
    assert "and discreet needs >=99" in found.output


def test_an_extra_that_is_missing_names_what_installs_it(monkeypatch):
    monkeypatch.setattr(doctor, "EXTRAS", {"moon": ("records on the moon", "no-such-package")})
    found = run("doctor")
    assert found.exit_code == 0
    assert "not installed, for records on the moon: pip install 'discreet[moon]'" in found.output


def test_every_extra_is_known():
    import tomllib
    from pathlib import Path

    content = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    extras = set(content["project"]["optional-dependencies"]) - {"test", "docs", "bench"}
    assert set(doctor.EXTRAS) == extras


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    script = run("completion", shell)
    assert script.exit_code == 0
    assert "_DISCREET_COMPLETE" in script.output


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("discreet doc", "doctor"),
        ("discreet assess example:tr", "example:tract"),
        ("discreet assess --pol", "--policy"),
    ],
)
def test_the_tab_key(typed, offered):
    words = typed.split()
    env = {
        "_DISCREET_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    found = CliRunner().invoke(main, [], prog_name="discreet", env=env)
    assert f"plain,{offered}" in found.output.splitlines()

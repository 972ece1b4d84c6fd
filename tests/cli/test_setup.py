"""`discreet setup`: what it says, where it keeps, and that its list has commands that exist."""

import json
import os

import pytest
from click.testing import CliRunner

from discreet.cli import main, setup
from discreet.look.progress import compiling


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(setup, "WORK", (("examples",), ("uniques", "people.csv", "--keys", "age")))
    return lambda *arguments: CliRunner().invoke(main, ["setup", *arguments])


def test_nothing_to_do(run, tmp_path):
    result = run()
    assert result.exit_code == 0, result.output
    assert result.output == (
        f"Nothing to do: every loop is compiled already, in {tmp_path / 'cache'}.\n"
    )


def test_how_many_how_long_and_where(run, monkeypatch, tmp_path):
    def build(work):
        assert work == setup.WORK
        return 12, {}

    monkeypatch.setattr(setup, "built_ahead", build)
    assert run().output == f"12 loops compiled in 0 s, kept in {tmp_path / 'cache'}.\n"
    document = json.loads(run("--json").output)
    assert document == {
        "compiled": 12,
        "seconds": 0.0,
        "folder": str(tmp_path / "cache"),
        "failed": {},
    }


def test_a_command_that_fails_is_named_and_the_others_go_on(run, monkeypatch):
    work = (("uniques", "people.csv", "--keys", "height"), ("nothing",), *setup.WORK)
    monkeypatch.setattr(setup, "WORK", work)
    result = run()
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first.startswith("discreet: uniques people.csv --keys height: ")
    assert second == "discreet: nothing: No such command 'nothing'."
    assert "0 loops compiled" in result.stdout
    document = json.loads(run("--json").stdout)
    assert [*document["failed"]] == ["uniques people.csv --keys height", "nothing"]


def test_a_folder_that_cannot_be_written(run, monkeypatch, tmp_path):
    (tmp_path / "cache").write_text("a file")
    result = run()
    assert result.exit_code == 2
    assert result.stderr == (
        f"discreet: compiled loops cannot be kept in {tmp_path / 'cache'}; set NUMBA_CACHE_DIR to "
        "a folder that can be written.\n"
    )


def test_commands_run_in_a_folder_that_is_removed():
    here, before = os.getcwd(), compiling.built
    with setup._example_files():
        folder = os.getcwd()
        assert {"people.csv", "masked.csv"} <= set(os.listdir())
    assert os.getcwd() == here
    assert not os.path.exists(folder)
    assert compiling.built == before


@pytest.mark.parametrize("work", setup.WORK, ids=" ".join)
def test_the_list_has_commands_with_their_options(work):
    command = main.commands[work[0]]
    context = command.make_context(work[0], [*work[1:]])
    assert not context.args
    assert [value for value in context.params.values() if value is not None]

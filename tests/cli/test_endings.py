"""Exit codes: 0 and 1 are verdicts, whatever else happens."""

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from discreet.cli import main

ASSESS = ["assess", "example:tract", "--release", "Race"]


def ends(monkeypatch, error, **environment):
    """What `assess` says and returns if that is raised within it."""

    def fail(*_, **__):
        raise error

    monkeypatch.setattr("discreet.table.load.read", fail)
    return CliRunner().invoke(main, ASSESS, env=environment)


@pytest.mark.parametrize(
    "error", [IndexError("out of\nbounds"), AssertionError(), RecursionError("deep"), SystemExit(1)]
)
def test_a_defect_is_no_verdict(monkeypatch, error):
    result = ends(monkeypatch, error)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("discreet: this is a defect of discreet: ")
    assert type(error).__name__ in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_traceback_is_shown_if_asked_for(monkeypatch):
    result = ends(monkeypatch, IndexError("out of bounds"), DISCREET_DEBUG="1")
    assert result.exit_code == 3
    assert result.stderr.startswith("Traceback")
    assert "Traceback" not in ends(monkeypatch, IndexError(), DISCREET_DEBUG="0").stderr


def test_too_little_memory(monkeypatch):
    result = ends(monkeypatch, MemoryError("Unable to allocate 9 TiB"))
    assert result.exit_code == 3
    assert "the memory does not suffice (Unable to allocate 9 TiB); classify by" in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (BrokenPipeError(), 141),
        (click.FileError("x"), 2),
        (SystemExit(7), 7),
    ],
)
def test_other_endings(monkeypatch, error, code):
    assert ends(monkeypatch, error).exit_code == code


def test_a_reader_that_has_seen_enough():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "discreet", *ASSESS]
    found = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert found.returncode == 141
    assert "Traceback" not in found.stderr


TRACT = ["example:tract", "--release", "Race"]
NUMBERS = [
    ["count", *TRACT, "--limit"],
    ["bounds", *TRACT, "--limit"],
    ["bounds", *TRACT, "--witness"],
    ["posterior", *TRACT, "--limit"],
    ["posterior", *TRACT, "--error"],
    ["posterior", *TRACT, "--prior"],
    ["frontier", "example:tract", "--limit"],
    ["serve", "example:tract", "--limit"],
    ["knowledge", "example:estates", "--target", "Estate", "--limit"],
    ["publish", "x.csv", "--population", "N", "--cell-count", "y", "--alpha"],
    ["publish", "x.csv", "--population", "N", "--cell-count", "y", "--ratio"],
]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["bounds", "example:czech", "--release", "A*B + C*D", "--cells", "all"],
        ["bounds", "example:czech", "--release", "A*B + C*D", "--cells", "all", "--json"],
        ["examples"],
    ],
    ids=["help", "version", "page", "json", "echo"],
)
@pytest.mark.parametrize("both", [False, True], ids=["output", "output and errors"])
def test_a_pipe_that_is_closed_is_no_verdict(arguments, both):
    """1 is REVIEW or FAIL: whoever pipes to `head` must not read that, nor a traceback."""
    if both and arguments[0] not in ("--help", "examples"):
        pytest.skip("the same ending")
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "discreet", *arguments]
    found = subprocess.run(
        command, stdout=write, stderr=write if both else subprocess.PIPE, check=False
    )
    os.close(write)
    assert found.returncode == 141
    assert both or found.stderr == b""


def test_warnings_are_sentences_said_once(capfd):
    """No path, no line of code, and nothing of what a library warns about."""
    import warnings

    from discreet.cli.endings import spoken_warnings
    from discreet.errors import ConvergenceWarning

    with warnings.catch_warnings(), spoken_warnings():
        warnings.simplefilter("always")
        for _ in range(2):
            warnings.warn("the chains have not converged.", ConvergenceWarning, stacklevel=1)
        warnings.warn("invalid value", RuntimeWarning, stacklevel=1)
    assert capfd.readouterr().err == "discreet: the chains have not converged.\n"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("arguments", NUMBERS, ids=lambda a: f"{a[0]} {a[-1]}")
def test_numbers_are_finite(arguments, value):
    result = CliRunner().invoke(main, [*arguments, value])
    assert result.exit_code == 2
    if value != "-inf":  # which most ranges exclude
        assert result.stderr == (
            f"discreet: {arguments[-1]} is {value}; give a finite number, like 2.5.\n"
        )


def test_every_number_of_a_command_is_finite():
    plain = [
        f"{command.name} {option.name}"
        for command in main.commands.values()
        for option in command.params
        if type(option.type) in (click.FloatRange, click.types.FloatParamType)
    ]
    assert plain == []


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize(
    "given", ["--incidents {} --companies 3", "--total {} --number 3 --minimum 1"]
)
def test_numbers_that_may_be_columns_are_finite(given, value):
    arguments = ["knowledge", *given.format(value).split(), "--limit", "0.1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert f"has '{value}' where a number is needed" in result.stderr

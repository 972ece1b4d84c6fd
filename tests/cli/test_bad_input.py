"""Wrong input: one clear sentence, exit code 2, no half-written file."""

import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from discreet.cli import main

GOOD = "A,B,n\nx,u,3\nx,v,4\ny,u,5\n"


def fails(*arguments):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        (b"", "is empty"),
        (b"A,B,n\n", "has no cells"),
        (b"A,B,n\nx,u,3\ny,v\n", "fields"),
        (b"A,B,n\nx,u,3\ny,v,4,5\n", "fields"),
        (b"A,B,n\nx,u,-3\n", "negative"),
        (b"A,B,n\nx,u,2.5\n", "not whole"),
        (b"A,B,n\nx,u,\n", "missing"),
        (b"A,B,n\nx,u,many\n", "not a number"),
        (b"A,B,n\nx,u,99999999999999999999\n", "too large"),
        (b"A,B,n\nx,u,3\nx,u,4\n", "2 times"),
        (b"A,A,n\nx,u,3\n", "two columns named 'A'"),
        (b"A,B,m\nx,u,3\n", "no column 'n'"),
    ],
)
def test_files(tmp_path, content, message):
    path = tmp_path / "cells.csv"
    if content is not None:
        path.write_bytes(content)
    said = fails("assess", str(path), "--count", "n", "--release", "A*B")
    assert message in said
    assert said.count("\n") == 1


def test_too_many_categories(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("street,sex\n" + "\n".join(f"Elm {i},f" for i in range(10_001)))
    said = fails("assess", str(path), "--release", "sex", "--variables", "street,sex")
    assert "10,001 categories" in said
    assert "'street'" in said


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("A*Z", "unknown variable 'Z'"),
        ("A*", "*"),
        ("A:B", "A*B"),
        ("", "formula"),
        ("@nothing.txt", "nothing.txt"),
    ],
)
def test_formulas(tmp_path, formula, message):
    path = tmp_path / "cells.csv"
    path.write_text(GOOD)
    assert message in fails("assess", str(path), "--count", "n", "--release", formula)


def test_a_wrong_name_is_underlined(tmp_path):
    said = fails("bounds", "example:tract", "--release", "Race*Income + Income*Gendr")
    assert "did you mean 'Gender'?" in said
    assert "\n                       ^^^^^" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "none.toml"], "cannot read the policy 'none.toml'"),
        (["--set", "small.widht=3"], "did you mean small.width?"),
        (["--html", "no/such/folder/report.html"], "cannot write"),
        (["--export", "/proc/no/such"], "cannot write"),
        (["--against", "none.json"], "none.json"),
        (["--codebook", "none.toml"], "cannot read the codebook"),
        (["--variables", "Gendr"], "did you mean 'Gender'?"),
        (["--table", "people"], "example:tract"),
    ],
)
def test_options(arguments, message):
    assert message in fails("assess", "example:tract", "--release", "Gender*Income", *arguments)


def test_other_sources():
    assert "no example 'track'" in fails("bounds", "example:track", "--release", "A")
    assert "--table NAME" in fails("bounds", "sqlite:///x.db", "--release", "A")
    said = fails("bounds", "postgresql://u:secret@localhost:1/x", "--table", "t", "--release", "A")
    assert "secret" not in said


def test_a_failed_report_leaves_the_old_one(tmp_path, monkeypatch):
    report = tmp_path / "report.html"
    report.write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    result = CliRunner().invoke(
        main, ["assess", "example:tract", "--release", "Race*Income", "--html", str(report)]
    )
    assert result.exit_code == 130
    assert report.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_ctrl_c_leaves_nothing_broken(tmp_path):
    """Interrupted in the middle of many linear programs: no report, no traceback, code 130."""
    script = (
        "import numpy as np, itertools\n"
        "from discreet.table.table import Table\n"
        "a = np.random.default_rng(1).poisson(1, (8,) * 4)\n"
        f"Table.of(a, **{{c: range(8) for c in 'ABCD'}}).write({str(tmp_path / 't.csv')!r})\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    margins = "A*B + A*C + A*D + B*C + B*D + C*D"
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "discreet",
            "assess",
            "t.csv",
            "--count",
            "count",
            "--release",
            margins,
            "--html",
            "report.html",
        ],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    try:
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]

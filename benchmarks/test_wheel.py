"""The built wheel in an empty environment: how long, how large, and every command of the README."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUIET = ("-q", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment with the wheel, and nothing but what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "pip", "wheel", *QUIET, "--no-deps", "-w", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    start = time.perf_counter()
    _run(sys.executable, "-m", "venv", folder / "env")
    pip = folder / "env" / "bin" / "pip"
    _run(pip, "install", *QUIET, "--no-compile", "-c", ROOT / "constraints.txt", wheel)
    seconds = time.perf_counter() - start
    size = _run("du", "-sm", folder / "env").split()[0]
    print(f"\n{wheel.stat().st_size / 1e6:.1f} MB, installed in {seconds:.0f} s, {size} MB")
    return folder / "env" / "bin"


def test_the_commands_of_the_readme(installed, tmp_path):
    readme = (ROOT / "README.md").read_text()
    lines = re.findall(r"^\$ discreet (.+)$", readme, re.M)
    assert len(lines) >= 7
    for line in lines:
        start = time.perf_counter()
        found = subprocess.run(
            f"{installed}/discreet {line}", shell=True, cwd=tmp_path, capture_output=True, text=True
        )
        print(f"{time.perf_counter() - start:5.1f} s, exit {found.returncode}: discreet {line}")
        assert found.returncode in (0, 1), found.stderr
        assert "Traceback" not in found.stderr


def test_the_python_of_the_readme(installed, tmp_path):
    (block,) = re.findall(r"```python\n(.+?)```", (ROOT / "README.md").read_text(), re.S)
    (tmp_path / "readme.py").write_text(block)
    assert "FAIL" in _run(installed / "python", tmp_path / "readme.py")


def test_the_doctor_finds_nothing(installed):
    assert "All that is needed is there." in _run(installed / "discreet", "doctor")


def test_no_test_tools_come_along(installed):
    listed = _run(installed / "pip", "list", "--format", "freeze").lower()
    assert not re.search(r"^(pytest|ruff|mypy|playwright|hypothesis|mkdocs)", listed, re.M)


def _run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

"""The shape of the project: layers, sizes, light start."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discreet"
HEAVY = {
    "numpy",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "ibis",
    "highspy",
    "numba",
    "altair",
    "vl_convert",
    "jinja2",
    "rich",
    "xlsxwriter",
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def python(*args):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True)


def test_the_layers_hold():
    linter = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert linter.returncode == 0, linter.stdout
    assert "1 kept, 0 broken" in linter.stdout


def test_every_package_has_a_layer():
    import tomllib

    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = content["tool"]["importlinter"]["contracts"]
    layers = {name.strip() for line in contract["layers"] for name in line.split("|")}
    modules = {p.stem for p in PACKAGE.iterdir() if p.is_dir() or p.suffix == ".py"}
    parts = {name for name in modules if not name.startswith("__")}
    assert {f"discreet.{part}" for part in parts} == layers


def test_no_module_is_long():
    lines = {path: len(path.read_text().splitlines()) for path in MODULES}
    assert not {path: number for path, number in lines.items() if number > 700}
    assert not {"utils", "helpers", "common", "misc"} & {path.stem for path in MODULES}


@pytest.mark.parametrize("what", ["import discreet", "from discreet.cli import main"])
def test_nothing_heavy_is_imported_at_the_start(what):
    loaded = python("-c", f"{what}\nimport sys\nprint(*sys.modules)").stdout.split()
    assert not HEAVY & set(loaded)

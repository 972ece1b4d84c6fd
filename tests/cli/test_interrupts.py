"""Ctrl-C: code 130, one sentence, nothing left behind; wherever it comes."""

import os
import signal
import subprocess
import sys
import time
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from discreet.cli import interrupts
from discreet.data.files import remove_unfinished, unfinished, whole

PAIRS = " + ".join(f"{a}*{b}" for a, b in combinations("ABCD", 2))
CELLS = ["cells.csv", "--count", "count", "--release", PAIRS]
LONG = {
    "assess": ["assess", *CELLS, "--html", "report.html"],
    "bounds": ["bounds", *CELLS, "--method", "integer"],
    "posterior": ["posterior", *CELLS, "--error", "0.00005"],
    "count": ["count", *CELLS],
    "widths": ["widths", "people.csv"],
    "frontier": ["frontier", "people.csv", "--beta", "3", "--html", "report.html"],
    "uniques": ["uniques", "people.csv", "--keys", ",".join("ABCDEFGHIJKLMNO"), "--largest", "15"],
    "knowledge": ["knowledge", "people.csv", "--target", "A", "--limit", "0.1"],
    "publish": [
        *("publish", "areas.csv", "--sample-size", "n", "--population", "N", "--cell-count", "y"),
        *("--covariate", "x", "--risk", "0.2"),
    ],
    "identify": [
        *("identify", "--source", "known.csv", "--released", "masked.csv", "--id", "id"),
        *("--intruder", "intruder.toml", "--calibrate", "500"),
    ],
}
BEGUN = "print('begun', flush=True)\nfrom discreet.cli import main\nmain(prog_name='discreet')"
SOON = 20.0  # seconds, on a machine with much else to do; measured: 1.3
AT = [(name, 0.3) for name in LONG] + [
    (name, 3.0) for name in LONG if name not in ("count", "knowledge", "publish")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("long"), np.random.default_rng(1)
    places = np.indices((8,) * 4).reshape(4, -1).T
    cells = pd.DataFrame(places, columns=list("ABCD")).assign(count=rng.poisson(1, len(places)))
    people = pd.DataFrame({name: rng.integers(0, 2, 20_000) for name in "ABCDEFGHIJKLMNO"})
    size = rng.integers(200, 90_000, 20_000)
    areas = pd.DataFrame({"n": size // 10 + 1, "N": size, "y": rng.binomial(size // 10, 0.03)})
    known = pd.DataFrame({"id": range(40_000), "age": rng.normal(50, 15, 40_000)})
    masked = known.assign(age=known["age"] + rng.normal(0, 1, 40_000))
    for name, frame in {
        "cells": cells,
        "people": people,
        "areas": areas.assign(x=rng.normal(size=20_000)),
        "known": known,
        "masked": masked,
    }.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / "intruder.toml").write_text('[keys.age]\nkind = "normal"\nspread = 3.0\n')
    return folder


@pytest.mark.skipif(os.name == "nt", reason="signals of another system")
@pytest.mark.parametrize(("name", "after"), AT, ids=lambda value: str(value))
def test_every_command_ends(folder, tmp_path, name, after):
    """While it imports, and with no kernel compiled yet: while these are compiled, or run."""
    before = sorted(path.name for path in folder.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-c", BEGUN, *LONG[name]],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )
    try:
        assert process.stdout.readline() == "begun\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SOON)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == interrupts.CODE, said
    assert "Traceback" not in said
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_command_that_does_not_hear_is_ended(tmp_path):
    """Compiled code that never comes back, while a file is being written."""
    script = (
        "import sys, time\n"
        "from discreet.cli.interrupts import prompt_interrupts\n"
        "from discreet.data.files import whole\n"
        "with prompt_interrupts(), whole('out.txt') as path:\n"
        "    while True:\n"
        "        try:\n"
        "            print('ready', flush=True)\n"
        "            time.sleep(60)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SOON)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == interrupts.CODE
    assert said == "discreet: interrupted; nothing was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_what_is_unfinished_is_removed(tmp_path):
    folder = unfinished(tmp_path / "spill")
    folder.mkdir()
    (folder / "part").write_text("confidential")
    with whole(tmp_path / "done.txt") as temporary:
        temporary.write_text("done")
    remove_unfinished()
    assert [path.name for path in tmp_path.iterdir()] == ["done.txt"]

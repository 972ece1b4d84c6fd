"""Counting that is interrupted: what is finished is kept, and nothing wrong is taken for it."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli.main import main
from discreet.data import grouping, margins
from discreet.data.checkpoint import Checkpoint
from discreet.errors import DataError, DisclosureError, OutputError
from discreet.risk.uniques.uniques import uniques
from discreet.table.load import load
from discreet.table.microdata import Microdata

NAMES = ["Sex", "Age", "Town"]


def write(path, seed=1, records=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "Sex": rng.choice(["f", "m", None], records),
            "Age": rng.integers(0, 9, records),
            "Town": rng.choice(["Ash", "Elm", "Oak"], records),
            "w": rng.choice([1.1, 2.3], records),
        }
    )
    frame.to_parquet(path)
    return path


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(grouping, "RECORDS", 50)
    return write(tmp_path / "people.parquet")


@pytest.fixture
def queries(monkeypatch):
    """How many parts are counted, and how many are taken from disk."""
    seen = {"counted": 0, "read": 0}
    count, read = Checkpoint.parts, Checkpoint._read

    def counting(self, source, columns, query, plan, one):
        def noted(part):
            seen["counted"] += 1
            return one(part)

        return count(self, source, columns, query, plan, noted)

    def reading(self, path, wanted):
        seen["read"] += 1
        return read(self, path, wanted)

    monkeypatch.setattr(Checkpoint, "parts", counting)
    monkeypatch.setattr(Checkpoint, "_read", reading)
    return seen


def parts(folder):
    return sorted(folder.rglob("part-*.parquet"))


def test_the_same_table_in_parts_and_from_disk(file, tmp_path, queries):
    whole = load(file, variables=NAMES, records=True)
    kept = tmp_path / "kept"
    assert load(file, variables=NAMES, records=True, checkpoint=kept) == whole
    number = len(parts(kept))
    assert queries == {"counted": number, "read": 0}
    assert number == 8
    assert load(file, variables=NAMES, records=True, checkpoint=str(kept)) == whole
    assert queries == {"counted": number, "read": number}


def test_other_columns_and_questions_are_jobs_of_their_own(file, tmp_path, queries, monkeypatch):
    kept = tmp_path / "kept"
    wanted = uniques(file, NAMES, weights="w", records=True, sensitive="w").to_json()
    for _ in range(2):
        assert load(file, variables=["Sex"], records=True, checkpoint=kept).total == 400
        found = uniques(file, NAMES, weights="w", records=True, checkpoint=kept, sensitive="w")
        assert found.to_json() == wanted
        people = Microdata.read(file, records=True, bands={"Age": 3})
        assert people.table(NAMES, checkpoint=kept) == people.table(NAMES)
        monkeypatch.setattr(margins, "MOST_CELLS", 10)
        asked = [["Sex", "Age"], ["Town"]]
        assert people.margins(asked, checkpoint=kept) == people.margins(asked)
        monkeypatch.setattr(margins, "MOST_CELLS", 10**6)
    assert queries["counted"] == queries["read"] == len(parts(kept))


def test_nobody_else_can_read_what_is_kept(file, tmp_path):
    kept = tmp_path / "kept"
    before = os.umask(0o000)
    try:
        load(file, variables=NAMES, records=True, checkpoint=kept)
    finally:
        os.umask(before)
    for path in (kept, *kept.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_checkpoint_of_other_data_is_refused(file, tmp_path):
    kept, asked = tmp_path / "kept", {"variables": NAMES, "records": True}
    load(file, **asked, checkpoint=kept)
    write(file, seed=2)
    with pytest.raises(DataError, match=r"kept' is of other data: the data changed since; name"):
        load(file, **asked, checkpoint=kept)
    other = write(tmp_path / "others.parquet")
    with pytest.raises(DataError, match=r"its source is \"'people.parquet'\", not \"'others.par"):
        load(other, **asked, checkpoint=kept)
    pd.read_parquet(file).drop(columns="w").to_parquet(file)
    with pytest.raises(DataError, match="has other columns now"):
        load(file, **asked, checkpoint=kept)


def test_a_database_that_changed_is_refused(tmp_path):
    path, kept = tmp_path / "people.duckdb", tmp_path / "kept"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 3 AS a, i % 2 AS b FROM range(90) t(i)"
        )
    asked = {"table": "people", "records": True, "checkpoint": kept}
    first = load(f"duckdb://{path}", **asked)
    assert load(f"duckdb://{path}", **asked) == first
    with duckdb.connect(path) as connection:  # as many records, and the same one-way margins
        connection.execute("UPDATE people SET b = 1 - b WHERE a < 2 AND b = (a + 1) % 2")
    with pytest.raises(DataError, match="is of other data: the data changed since"):
        load(f"duckdb://{path}", **asked)


def test_weights_and_the_order_of_rows_are_part_of_the_data(tmp_path):
    """What was kept of other weights, or of rows in another order, is not taken for these."""
    frame = pd.DataFrame({"a": [1, 1, 2, 3], "b": [1, 2, 2, 1], "w": [1.5, 2.0, 3.0, 4.0]})
    asked = {"keys": "a,b", "weights": "w", "records": True, "checkpoint": tmp_path / "kept"}
    uniques(frame, **asked)
    for other in (frame.assign(w=[2.0, 1.5, 3.0, 4.0]), frame[::-1].reset_index(drop=True)):
        with pytest.raises(DataError, match="is of other data: the data changed since"):
            uniques(other, **asked)


@pytest.mark.parametrize("change", ["part", "gone", "job", "top", "no json"])
def test_a_damaged_checkpoint_is_refused_in_one_sentence(file, tmp_path, change):
    kept, asked = tmp_path / "kept", {"variables": NAMES, "records": True}
    load(file, **asked, checkpoint=kept)
    part, (job,) = parts(kept)[3], kept.rglob("job.json")
    if change == "part":
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
    elif change == "gone":
        part.unlink()
    elif change == "job":
        said = json.loads(job.read_text())
        job.write_text(json.dumps(said | {"plan": said["plan"][1:]}))
    else:
        (kept / "checkpoint.json").write_text("[]" if change == "top" else "{")
    with pytest.raises(
        DataError, match=r"kept' is damaged: '.+' is not what was written; rem"
    ) as e:
        load(file, **asked, checkpoint=kept)
    assert "\n" not in str(e.value)


def test_folders_that_are_no_checkpoint_are_left_alone(file, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds other files; name a new one"):
        load(file, variables=NAMES, records=True, checkpoint=tmp_path / "mine")
    with pytest.raises(OutputError, match="cannot make the folder"):
        load(file, variables=NAMES, records=True, checkpoint=file / "kept")
    with pytest.raises(DataError, match="a checkpoint is for records that are counted"):
        load("example:tract", checkpoint=tmp_path / "kept")
    url = _sqlite(tmp_path)
    with pytest.raises(DisclosureError, match="cannot be told from other data by sqlite"):
        load(url, table="people", records=True, checkpoint=tmp_path / "kept")


def _sqlite(folder):
    import contextlib
    import sqlite3

    with contextlib.closing(sqlite3.connect(folder / "people.db")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS a, 2 AS b UNION ALL SELECT 2, 3")
        connection.commit()
    return f"sqlite:///{folder / 'people.db'}"


KILLED = """
    import os, signal, sys
    from discreet.data import checkpoint, grouping
    from discreet.table.load import load

    grouping.RECORDS = 50
    write, done = checkpoint._write, []

    def written(path, cells):
        found = write(path, cells)
        done.append(path)
        if len(done) == 4:  # after the file, before the list of what is finished
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    checkpoint._write = written
    load(sys.argv[1], variables=["Sex", "Age", "Town"], records=True, checkpoint=sys.argv[2])
"""


def test_a_killed_count_goes_on_where_it_was(file, tmp_path, queries):
    kept = tmp_path / "kept"
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), file, kept], check=False)
    assert run.returncode == -signal.SIGKILL
    assert len(parts(kept)) == 4
    table = load(file, variables=NAMES, records=True, checkpoint=kept)
    assert queries == {"counted": 5, "read": 3}
    assert table == load(file, variables=NAMES, records=True)


def test_commands_take_a_checkpoint(file, tmp_path, queries):
    asked = [str(file), "--records", "--json", "--checkpoint", str(tmp_path / "kept")]
    for command in (
        ["widths", *asked, "--variables", "Sex,Age,Town"],
        ["assess", *asked, "--variables", "Sex,Age,Town", "--release", "Sex*Age"],
        ["uniques", *asked, "--keys", "Sex,Age"],
    ):
        run = CliRunner().invoke(main, command)
        assert run.exit_code in (0, 1), run.output
    assert queries == {"counted": 16, "read": 8}
    wrong = CliRunner().invoke(main, ["assess", *asked, "--tables", "x.toml"])
    assert (wrong.exit_code, "--checkpoint goes with --release" in wrong.output) == (2, True)

"""The page of benchmarks: its text follows from its data, and only whole runs write it."""

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from claims import Claim, Run
from claims_charts import growth_chart, ratio_chart
from claims_page import page, seconds
from claims_session import Session

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
MACHINE = {"cores": 2, "memory": 8, "processor": "any", "system": "Linux"}
TESTS = {
    "test_one.py": """
        import pytest

        def test_quick(claim):
            claim("bounds", "quick", ours=1, rival="slow", theirs=3)

        @pytest.mark.large
        def test_large(claim):
            claim("bounds", "large", ours=2, why="nobody else can")
        """,
    "test_two.py": """
        def test_absent(claim):
            claim.absent("nobody", "cannot be installed")

        def test_other(claim):
            claim("links", "other", ours=2, rival="one", theirs=1, why="it is small")
        """,
}


def run_of(*claims, date="2026-01-01", **more):
    return Run(date, more.pop("machine", MACHINE), {"discreet": "1"}, claims, **more)


def row(ours=1.0, theirs=3.0, **more):
    rival = None if theirs is None else "rival"
    return Claim("bounds", "small cells", ours, rival, theirs, **{"why": "easy", **more})


def test_the_page_says_what_its_data_say():
    stored = Run.read(ROOT / "docs" / "benchmarks.json")
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page(stored)
    assert Run.read(ROOT / "docs" / "benchmarks.json").to_json() == stored.to_json()
    assert any(claim.ratio and claim.ratio < 1 for claim in stored.claims)  # a rival wins somewhere
    assert all(claim.why for claim in stored.claims if not claim.ratio or claim.ratio < 1)
    for name in ("ratios", "growth"):
        assert (ROOT / "docs" / "img" / f"benchmarks-{name}.svg").exists()


def test_a_row_that_became_slower_is_found():
    before = run_of(row(1.0, 3.0))
    assert run_of(row(1.3, 3.0)).since(before).slower == ()
    (slower,) = run_of(row(1.5, 3.0), date="2026-02-01").since(before).slower
    assert slower.by == "ratio"
    assert (slower.before, slower.now) == (3.0, 2.0)
    assert "slower by 50%" in str(slower)
    # a machine that is half as fast is no change; ours alone is one
    elsewhere = {**MACHINE, "cores": 4}
    assert run_of(row(2.0, 6.0), machine=elsewhere).since(before).slower == ()
    assert run_of(row(2.0, 6.0)).since(before).slower[0].by == "seconds"
    alone = run_of(row(1.0, None))
    assert run_of(row(1.4, None)).since(alone).slower[0].by == "seconds"
    assert run_of(row(1.4, None), machine=elsewhere).since(alone).slower == ()
    assert run_of(row(1.5, 3.0, growth=((1, 1), (2, 4)))).since(None).slower == ()


def test_a_page_names_what_is_slower_absent_and_left_out():
    grown = row(1.5, 3.0, growth=((10.0, 1.0), (20.0, 4.0)), memory=3072.0)
    assert grown.power == pytest.approx(2)
    run = run_of(
        grown, dataclasses.replace(grown, topic="links", theirs=0.5),
        absent={"cat (R)": "from CRAN"}, left_out=("test_large",), load=3.0,
    ).since(run_of(row(1.0, 3.0), date="2025-12-31"))  # fmt: skip
    text = page(run)
    for words in (
        "since the run of 2025-12-31:", "slower by 50%", "cat (R): from CRAN", "`test_large`",
        "× 4 a doubling", "3 GiB", "rival is 3 times as quick", seconds(1.5),
        "The machine was busy",
    ):  # fmt: skip
        assert words in text
    assert "busy" not in page(run_of(row(), load=0.4))
    assert ratio_chart(run).to_dict()
    assert growth_chart([grown]).to_dict()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rival": "one", "theirs": None}, "a time has a rival"),
        ({"theirs": 0.5, "why": ""}, "why does it win"),
        ({"rival": None, "theirs": None, "why": ""}, "why is there no rival"),
        ({"ours": 0.0}, "above 0"),
    ],
)
def test_a_row_without_its_reason_is_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        dataclasses.replace(row(), **changes)


def test_the_same_row_twice_is_refused(tmp_path):
    session = Session(tmp_path)
    session.claim("test_a", row())
    with pytest.raises(ValueError, match="claimed twice"):
        session.claim("test_b", row())


@pytest.fixture
def folder(tmp_path):
    """A project of two benchmarks, with the conftest of this one."""
    import textwrap

    made = tmp_path / "benchmarks"
    made.mkdir()
    for path in [*BENCHMARKS.glob("claims*.py"), BENCHMARKS / "conftest.py"]:
        shutil.copy(path, made)
    for name, text in TESTS.items():
        (made / name).write_text(textwrap.dedent(text))
    (tmp_path / "docs").mkdir()
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\npythonpath = benchmarks\naddopts = --strict-markers --import-mode=importlib\n"
    )
    return tmp_path


def benched(folder, *words):
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words], cwd=folder,
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_only_a_run_of_every_claim_writes_the_page(folder):
    said = benched(folder, "benchmarks/test_one.py")
    assert "not every claim of it ran" in said
    assert not any((folder / "docs").iterdir())
    assert (folder / "benchmarks" / "out" / "benchmarks.md").exists()
    benched(folder, "benchmarks", "-m", "claimed")
    stored = folder / "docs" / "benchmarks.json"
    whole = Run.read(stored)
    assert [claim.what for claim in whole.claims] == ["quick", "large", "other"]
    assert whole.absent == {"nobody": "cannot be installed"}
    assert whole.left_out == ()


def test_large_rows_may_lack_only_where_the_page_has_none(tmp_path):
    (tmp_path / "docs").mkdir()
    session = Session(tmp_path / "benchmarks")
    session.wanted, session.whole = {"test_a": False, "test_large": True}, True
    session.claim("test_a", row())
    assert not session.complete()  # test_a did not end
    session.ended("test_a", "passed")
    assert session.complete()
    stored = tmp_path / "docs" / "benchmarks.json"
    stored.write_text(run_of(row(large=True)).to_json(), encoding="utf-8")
    assert not session.complete()
    session.ended("test_large", "passed")
    assert session.complete()
    session.ended("test_a", "failed")  # when it is torn down
    assert not session.complete()

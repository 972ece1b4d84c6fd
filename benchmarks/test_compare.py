"""The maps of the docs: the tract table and a file of records, the same for 1, 2 and 4 workers."""

import os
import re
import time
from pathlib import Path

import pytest

import discreet as dc

PAGE = (Path(__file__).parents[1] / "docs" / "masks.md").read_text(encoding="utf-8")
CHARTS = os.environ.get("DISCREET_CHARTS")


def block(after, language="toml"):
    return re.search(rf"```{language}[^\n]*\n(.*?)```", PAGE[PAGE.index(after) :], re.S)[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("maps")
    before = os.getcwd()
    os.chdir(made)
    exec(block("## A masks file", "python"), {})
    for name in ("people.toml", "masks.toml"):
        (made / name).write_text(re.search(rf'title="{name}"\n(.*?)```', PAGE, re.S)[1])
    (made / "tract.toml").write_text(block("## A table"))
    yield made
    os.chdir(before)


@pytest.mark.parametrize(
    ("data", "masks", "changes", "chart"),
    [
        ("people.csv", "masks.toml", ["masks.limit=0.1"], "masks-records"),
        ("example:tract", "tract.toml", ["masks.risk=expected", "masks.limit=0.33"], "masks-tract"),
    ],
)
def test_a_map_is_the_same_for_any_number_of_workers(folder, data, masks, changes, chart):
    options = {"codebook": "people.toml"} if data.endswith(".csv") else {}
    found, took = {}, {}
    for workers in (1, 2, 4):
        start = time.perf_counter()
        found[workers] = dc.compare(
            data, folder / masks, dc.Policy().set(changes), workers=workers, **options
        )
        took[workers] = time.perf_counter() - start
    one = found[1]
    print(f"\n{one}: {', '.join(f'{w} workers {s:.1f} s' for w, s in took.items())}")
    print(one.to_frame().to_string(index=False))
    assert len(one.tried) >= 10
    assert not one.failed
    assert one.verdict is dc.Verdict.PASS
    for other in (found[2], found[4]):
        assert [t.to_json() for t in other.tried] == [t.to_json() for t in one.tried]
        assert other.best == one.best
    if CHARTS:
        one.plot().save(f"{CHARTS}/{chart}.svg")

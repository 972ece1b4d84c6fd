"""The tutorials: each runs from top to bottom, and what its words say is so."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paged import check_tags

ROOT = Path(__file__).parents[1]
NAMES = ("officer", "survey", "microdata", "server", "methodologist")


def hook() -> Any:
    """The part of the site that runs them."""
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / "docs/hooks/tutorials.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tutorials = hook()


class Book(NamedTuple):
    name: str
    cells: list[Any]
    here: dict[str, Any]  # what its cells named


@pytest.fixture(scope="module", params=NAMES)
def book(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Book:
    """A tutorial that was run once, without data that are not shipped."""
    folder, here = tmp_path_factory.mktemp(request.param), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISCREET_DATA", raising=False)
        cells = list(tutorials.run(path_of(request.param), folder, here))
        return Book(request.param, cells, here)


def path_of(name: str) -> Path:
    return tutorials.FOLDER / f"{name}.ipynb"


def code(book: dict[str, Any]) -> Iterator[str]:
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(cell["source"])


def test_there_are_five() -> None:
    assert sorted(path.stem for path in tutorials.FOLDER.glob("*.ipynb")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_kept_without_outputs(name: str) -> None:
    text = path_of(name).read_text(encoding="utf-8")
    found = json.loads(text)
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert [cell["id"] for cell in found["cells"]] == [
        f"{name}-{place:02d}" for place in range(1, len(found["cells"]) + 1)
    ]
    for cell in found["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
    assert text == json.dumps(found, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_short_and_plain_python(name: str) -> None:
    found = json.loads(path_of(name).read_text(encoding="utf-8"))
    assert 8 <= len(found["cells"]) <= 15
    assert found["cells"][0]["source"][0].startswith("# ")
    for source in code(found):
        ast.parse(source)  # no magics, no shell
        assert max(map(len, source.splitlines())) <= 100
        assert "nltcs" not in source
    assert not re.search(r"/(home|root|work|Users)/", path_of(name).read_text(encoding="utf-8"))


def test_every_cell_runs(book: Book) -> None:
    assert len(book.cells) >= 8


def test_what_it_shows_is_a_page(book: Book) -> None:
    shown = [part for ran in book.cells for part in tutorials.shown(ran)]
    outputs = [part for part in shown if part.startswith('<div class="shown">')]
    assert outputs
    for part in outputs:
        check_tags(part.replace("<style scoped>", "<style>"))
        assert "<script" not in part
        assert "http" not in part.lower()
    for ran in book.cells:
        assert not {"\x1b", "\r"} & {*ran.printed, *ran.logged}


def test_what_the_words_say_is_so(book: Book) -> None:
    here = book.here
    if book.name == "officer":
        assert here["found"].verdict == here["later"].verdict == here["judged"].verdict == "FAIL"
        assert here["alone"].verdict == here["instead"].verdict == "PASS"
        assert str(here["fewer"].formula) == "Gender*Income + Race"
        assert {judged.verdict for judged in here["judged"].each} == {"FAIL"}
    elif book.name == "survey":
        assert here["guarded"].verdict == "REVIEW"
        assert sorted(here["coast"]["y"]) == [1, 2]
        assert here["found"].data_published > 0.7
        assert here["found"].risk_taken < 0.2
    elif book.name == "microdata":
        assert here["compared"].verdict == "PASS"
        assert here["compared"].unserved() == ["It serves a doctor."]
        assert here["compared"].to_frame()["verdict"].tolist().count("FAIL") == 3
    elif book.name == "server":
        assert here["monday"] != here["tuesday"]
        assert here["verdict"] == "PASS"
        assert here["statistics"]["refusals"] == 1
        assert not here["thread"].is_alive()
    else:
        assert here["fits"] == 59_400
        assert "proven best" in repr(here["frontier"])
        assert {len(margins) for margins in here["tried"]} == {1, 2, 3}

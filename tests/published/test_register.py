"""Every entry of the register gives its number by the public door, and the page shows them all."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path

import pytest

from register.entry import Entry

PAPERS = {
    "duncan_lambert_1986": "Duncan & Lambert 1986",
    "lambert_1993": "Lambert 1993",
    "zaslavsky_horton_1998": "Zaslavsky & Horton 1998",
    "dobra_erosheva_fienberg_2002": "Dobra, Erosheva & Fienberg 2002",
    "dobra_fienberg_trottini_2003": "Dobra, Fienberg & Trottini 2003",
}
ENTRIES = {name: importlib.import_module(f"register.{name}").ENTRIES for name in PAPERS}
PAGE = Path(__file__).parents[2] / "docs/papers/register.md"
HEAD = """# What the papers have, and what does it

Every numbered example, table and recommendation of the five papers: where it stands, what the paper prints, what discreet gives, and the command or function that gives it. `tests/published/test_register.py` runs every row and writes this page; where the two numbers differ, the paper's own page says which is right and why. `discreet ...` rows are read from the command's `--json`.
"""  # noqa: E501
WRITE = "DISCREET_REGISTER"  # set it, and the page is written


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(
            entry,
            id=f"{name}-{place}",
            marks=[pytest.mark.nltcs] if entry.nltcs else [],
        )
        for name, entries in ENTRIES.items()
        for place, entry in enumerate(entries)
    ],
)
def test_an_entry_gives_its_number(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in entry.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = entry.value()
    assert entry.agrees(found), f"{entry.place}, {entry.about}: {found}, not {entry.right}"


def test_no_entry_goes_through_a_side_door() -> None:
    for entry in (entry for entries in ENTRIES.values() for entry in entries):
        text = f"{entry.given}\n{entry.how}"
        assert not re.search(r"\bimport discreet|\bfrom discreet|\bdiscreet\.\w|\._", text), text


def page() -> str:
    parts = [HEAD]
    for name, title in PAPERS.items():
        file = name.replace("_", "-")
        parts += [
            f"\n## {title}\n",
            f"[The paper]({file}.md)\n",
            "| where | what | printed | discreet | by |",
            "| --- | --- | --- | --- | --- |",
            *(entry.row() for entry in ENTRIES[name]),
        ]
    return "\n".join(parts) + "\n"


def test_the_page_is_what_the_register_says() -> None:
    if WRITE in os.environ:
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), f"set {WRITE}=1 and run this test"

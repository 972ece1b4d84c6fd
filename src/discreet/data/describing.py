"""What a codebook says in words: of the data, and of a variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from discreet.data.settings import only
from discreet.errors import CodebookError

LONGEST = 10_000  # characters of a text
WORDS = ("title", "description", "unit", "map", "map_key")  # of a variable


@dataclass(frozen=True)
class About:
    """The data in words, for those who read tables of them.

    >>> About.of({"universe": "Adults", "notes": "Ages are at the last birthday."}).notes
    ('Ages are at the last birthday.',)
    """

    universe: str | None = None
    notes: tuple[str, ...] = ()
    source: str | None = None
    period: str | None = None
    contact: str | None = None
    licence: str | None = None

    @classmethod
    def of(cls, content: object) -> About:
        known = [field.name for field in fields(cls)]
        only(content, known, "about", CodebookError)
        assert isinstance(content, Mapping)
        said = {k: text(f"{k} of about", v) for k, v in content.items() if k != "notes"}
        return cls(**said, notes=_notes(content.get("notes", ())))


def words_of(name: str, content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A variable in words; `map` becomes the path of the file with its areas."""
    said: dict[str, Any] = {
        key: text(f"{key} of {name!r}", content[key]) for key in WORDS if key in content
    }
    if "map_key" in said and "map" not in said:
        raise CodebookError(
            f"{name!r} has a map_key and no map; name the GeoJSON file with its areas as map."
        )
    return said | ({"map": folder / said["map"]} if "map" in said else {})


def text(what: str, value: object) -> str:
    """Words that can be shown, on one line: not empty, not too long."""
    if not isinstance(value, str) or not value.strip():
        raise CodebookError(f"{what} = {value!r} must be a text.")
    if len(value) > LONGEST:
        raise CodebookError(f"{what} has {len(value):,} characters; shorten it to {LONGEST:,}.")
    return " ".join(value.split())


def _notes(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (text("notes of about", value),)
    if not isinstance(value, list | tuple):
        raise CodebookError(f"notes of about = {value!r} must be a text or a list of texts.")
    return tuple(text("a note of about", note) for note in value)

"""Codes and labels that are told apart: short codes where a format allows only plain letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

LONGEST = 60
SPELLED = {"<": "below ", ">": "above ", "+": " plus", "ß": "ss", "æ": "ae", "Æ": "Ae", "ø": "o",
           "Ø": "O", "œ": "oe", "Œ": "Oe", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"}  # fmt: skip


def codes(labels: Iterable[str]) -> tuple[str, ...]:
    """A code for each label: letters, digits, `_` and `-`; no two alike.

    >>> codes(["Age group", "0 to 9", "Zürich", "東京", "age group", "Age_group"])
    ('Age_group', '0_to_9', 'Zurich', 'C4', 'age_group_5', 'Age_group_6')
    """
    made, taken = list[str](), set[str]()
    for place, label in enumerate(labels, 1):
        code = _plain(label) or f"C{place}"
        while code.casefold() in taken:
            code = f"{code}_{place}"
        taken.add(code.casefold())
        made.append(code)
    return tuple(made)


def apart(labels: Mapping[str, str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Two codes with one label stay two categories, and so do a label and another value.

    >>> apart({"1": "Wood", "2": "Wood", "3": "Wood (2)"})
    {'1': 'Wood (1)', '2': 'Wood (2) (2)', '3': 'Wood (2) (3)'}
    """
    said, others = dict(labels), [text for text in taken if text not in labels]
    while True:
        times = Counter([*said.values(), *others])
        if all(times[text] == 1 for text in said.values()):
            return said
        said = {c: text if times[text] == 1 else f"{text} ({c})" for c, text in said.items()}


def _plain(label: str) -> str:
    spread = unicodedata.normalize("NFKD", label)
    kept = "".join(c for c in spread if not unicodedata.combining(c))
    kept = "".join(SPELLED.get(c, c) for c in kept)
    return re.sub(r"[^A-Za-z0-9-]+", "_", kept).strip("_-")[:LONGEST]

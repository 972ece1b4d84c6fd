"""Short codes for names and categories, where a format allows only plain letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

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


def _plain(label: str) -> str:
    spread = unicodedata.normalize("NFKD", label)
    kept = "".join(c for c in spread if not unicodedata.combining(c))
    kept = "".join(SPELLED.get(c, c) for c in kept)
    return re.sub(r"[^A-Za-z0-9-]+", "_", kept).strip("_-")[:LONGEST]

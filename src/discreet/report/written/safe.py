"""Text that no spreadsheet takes for a formula, and codes where only plain letters are allowed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

SIGNS = "=+-@"
# signs of other scripts that NFKC does not make plain
ALSO = "\u2212\u02d7\u02d6\u2795\u2796\U0001f7f0\ua78a\u30a0\u2e40\u2043"
UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf", "Cn", "Co", "Mn", "Me")
FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
QUOTED = ',;|"\t\r\n'
LONGEST = 60


def no_formula(text: str) -> str:
    """With an apostrophe before whatever begins like a formula.

    >>> no_formula("=1+1"), no_formula(" \\uff1d1"), no_formula("a = b"), no_formula("65+")
    ("'=1+1", "' \\uff1d1", 'a = b', '65+')
    """
    if text.startswith(("\t", "\r", "\n")):
        return f"'{text}"
    for letter in text:
        if unicodedata.category(letter) in UNSEEN or letter in FILLERS:
            continue
        plain = unicodedata.normalize("NFKC", letter)[:1]
        return f"'{text}" if plain in SIGNS or plain in ALSO or letter in ALSO else text
    return text


def csv_line(texts: Iterable[str], figures: Iterable[str] = ()) -> str:
    """A line of CSV (RFC 4180): texts, then figures, which may begin with a minus.

    >>> csv_line(["a;b", "=1"], ["-5"])
    '"a;b",\\'=1,-5\\r\\n'
    """
    fields = [*map(_quoted, map(no_formula, texts)), *map(_quoted, figures)]
    return ",".join(fields) + "\r\n"


def _quoted(field: str) -> str:
    if any(letter in QUOTED for letter in field) or field != field.strip():
        return '"' + field.replace('"', '""') + '"'
    return field


def codes(labels: Iterable[str]) -> tuple[str, ...]:
    """A code for each label: capitals, digits and `_`, no two alike.

    >>> codes(["Age group", "0 to 9", "Zürich", "東京", "age group"])
    ('AGE_GROUP', '0_TO_9', 'ZURICH', 'C4', 'AGE_GROUP_5')
    """
    made: list[str] = []
    for place, label in enumerate(labels, 1):
        spread = unicodedata.normalize("NFKD", label)
        plain = "".join(letter for letter in spread if not unicodedata.combining(letter))
        code = re.sub(r"[^A-Z0-9]+", "_", plain.upper()).strip("_")[:LONGEST] or f"C{place}"
        while code in made:
            code = f"{code}_{place}"
        made.append(code)
    return tuple(made)

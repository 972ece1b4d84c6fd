"""CSV that no spreadsheet takes for a formula, whatever script its sign is from.

A field whose first visible character is =, +, - or @ in any of its forms gets a leading apostrophe:
full-width, small, superscript and subscript forms, and the minus of mathematics, are what programs
and people turn into the plain sign. What cannot be seen, blanks, controls and marks of direction,
does not hide it. A field that begins with a tab or a new line gets one too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import product

SIGNS = "=+-@"
ALSO = {
    "\N{MINUS SIGN}",
    "\N{MODIFIER LETTER MINUS SIGN}",
    "\N{MODIFIER LETTER PLUS SIGN}",
    "\N{HEAVY PLUS SIGN}",
    "\N{HEAVY MINUS SIGN}",
    "\N{HEAVY EQUALS SIGN}",
    "\N{MODIFIER LETTER SHORT EQUALS SIGN}",
    "\N{KATAKANA-HIRAGANA DOUBLE HYPHEN}",
    "\N{DOUBLE HYPHEN}",
    "\N{HYPHEN BULLET}",
}
BREAKING = "\t\r\n"
QUOTED = ',;|"\t\r\n'  # commas here, semicolons and others where a spreadsheet splits at them


def no_formula(text: str) -> str:
    """
    >>> no_formula("=1+1"), no_formula("\\uff1d1"), no_formula("a = b"), no_formula("5")
    ("'=1+1", "'\\uff1d1", 'a = b', '5')
    """
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    if text.startswith(tuple(BREAKING)):
        return True
    for character in text:
        if _is_seen(character):
            plain = unicodedata.normalize("NFKC", character)[:1]
            return plain in SIGNS or plain in ALSO or character in ALSO
    return False


def _is_seen(character: str) -> bool:
    """Not a blank, a control, a mark of direction, or a filler that shows nothing."""
    if unicodedata.category(character) in ("Zs", "Zl", "Zp", "Cc", "Cf", "Cn", "Co", "Mn", "Me"):
        return False
    return character not in "\u115f\u1160\u3164\uffa0\u2800"


def csv_line(fields: Iterable[str | int]) -> str:
    """RFC 4180; a field is quoted wherever it could be split.

    >>> csv_line(["a;b", "=1", 5])
    '"a;b",\\'=1,5\\r\\n'
    """
    return ",".join(csv_field(field) for field in fields) + "\r\n"


def csv_field(field: str | int) -> str:
    if isinstance(field, int):
        return str(field)
    field = no_formula(field)
    if any(character in QUOTED for character in field) or field != field.strip():
        return '"' + field.replace('"', '""') + '"'
    return field


def csv_cells(labels: Sequence[Iterable[str]], counts: Iterable[int], before: str = "") -> str:
    """A line for each cell: its labels, the last running fastest, and its count.

    >>> csv_cells([["a", "=b"], ["c"]], [1, 2])
    "a,c,1\\r\\n'=b,c,2\\r\\n"
    """
    written = [[csv_field(label) for label in given] for given in labels]
    cells = zip(product(*written), counts, strict=True)
    return "".join(f"{before}{','.join(cell)},{n}\r\n" for cell, n in cells)

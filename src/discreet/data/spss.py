"""The dictionary of an SPSS system file, for what ReadStat does not tell: the weight.

PSPP, "System File Format": a header, the variables (2), value labels (3, 4), documents (6),
extensions (7) and the end (999).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

HEADER, LAYOUT, WEIGHT = 176, 64, 76
VARIABLE, LABELS, LABELLED, DOCUMENTS, EXTENSION = 2, 3, 4, 6, 7
LONG_NAMES = 13  # of extensions


def weight_of(path: Path) -> str | None:
    """The name of the variable that a file is weighted by.

    Written by its own bytes in the tests, as no other library sets it.
    """
    with open(path, "rb") as file:
        head = file.read(HEADER)
        order = "<" if struct.unpack_from("<i", head, LAYOUT)[0] in (2, 3) else ">"
        index = struct.unpack_from(f"{order}i", head, WEIGHT)[0]
        return _name(file, order, index) if index > 0 else None


def _name(file: BinaryIO, order: str, index: int) -> str | None:
    def ints(number: int) -> tuple[int, ...]:
        return struct.unpack(f"{order}{number}i", file.read(4 * number))

    place, short, long = 0, b"", {}
    while (kind := ints(1)[0]) in (VARIABLE, LABELS, LABELLED, DOCUMENTS, EXTENSION):
        if kind == VARIABLE:
            place += 1
            _, labelled, missing, *_ = ints(5)
            name = file.read(8).rstrip()
            short = name if place == index else short
            if labelled:
                file.seek(-(-ints(1)[0] // 4) * 4, 1)
            file.seek(8 * abs(missing), 1)
        elif kind == LABELS:
            for _ in range(ints(1)[0]):
                file.seek(8, 1)
                length = file.read(1)[0]
                file.seek(-(-(length + 1) // 8) * 8 - 1, 1)
        elif kind == LABELLED:
            file.seek(4 * ints(1)[0], 1)
        elif kind == DOCUMENTS:
            file.seek(80 * ints(1)[0], 1)
        else:
            about, size, number = ints(3)
            content = file.read(size * number)
            if about == LONG_NAMES:
                long = dict(pair.split(b"=", 1) for pair in content.split(b"\t") if b"=" in pair)
    found = long.get(short, short)
    try:
        return found.decode("utf-8") or None
    except UnicodeDecodeError:
        return found.decode("windows-1252", "replace")

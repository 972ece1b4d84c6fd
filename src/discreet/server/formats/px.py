"""PX files, as PxWeb and PC-Axis read them.

See the PX file format 2013 of Statistics Sweden: keywords, then the numbers with the variables of
the stub in rows and those of the heading in columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from discreet.server.formats.citing import citation, heading
from discreet.server.formats.codes import codes
from discreet.server.showing.catalogue import Published

WIDTH = 240  # characters of a line; the format allows 256
MATRIX = 20  # characters of a name


def px(
    table: Published,
    base: str = "",
    publisher: str = "",
    *,
    stub: Sequence[str] | None = None,
    language: str = "en",
) -> bytes:
    """`stub`: the variables of the rows; without it all but the last."""
    names = list(table.names)
    rows = names[:-1] or names if stub is None else [name for name in stub if name in names]
    columns = [name for name in names if name not in rows]
    shown = dict(zip(names, _shown(table.titles), strict=True))
    about, note = table.dataset.words.about, table.dataset.note
    when = _when(table.at)
    lines = [
        'CHARSET="ANSI"', 'AXIS-VERSION="2013"', 'CODEPAGE="utf-8"', f'LANGUAGE="{language}"',
        f'CREATION-DATE="{when}"', "DECIMALS=0", "SHOWDECIMALS=0",
        f"MATRIX={_text(f'{table.dataset.slug}-{table.entry}'[:MATRIX])}", "AGGREGALLOWED=YES",
        f"SUBJECT-CODE={_text(table.dataset.slug[:MATRIX])}",
        f"SUBJECT-AREA={_text(table.dataset.title)}", f"TITLE={_text(heading(table))}",
        f"CONTENTS={_text(table.dataset.title)}", 'UNITS="number"',
    ]  # fmt: skip
    lines += [f"STUB={_list(shown[name] for name in rows)}"] if rows else []
    lines += [f"HEADING={_list(shown[name] for name in columns)}"] if columns else []
    given = dict(zip(names, table.categories, strict=True))
    for name in (*rows, *columns):
        lines.append(f"VALUES({_text(shown[name])})={_list(_shown(given[name]))}")
    for name in (*rows, *columns):
        lines.append(f"CODES({_text(shown[name])})={_list(codes(given[name]))}")
    lines += [f"ELIMINATION({_text(shown[name])})=YES" for name in (*rows, *columns)]
    lines += [f'LAST-UPDATED="{when}"', f"SOURCE={_text(citation(table, base, publisher))}"]
    lines += [f"CONTACT={_text(about.contact)}"] if about.contact else []
    notes = [*([note] if note else []), *about.notes]
    lines += [f"NOTE={_text(' '.join(notes))}"] if notes else []
    lines.append("DATA=")
    head = "".join(f"{line};\r\n" if line != "DATA=" else f"{line}\r\n" for line in lines)
    return (head + _numbers(table, rows, columns) + ";\r\n").encode()


def _numbers(table: Published, rows: list[str], columns: list[str]) -> str:
    order = [table.names.index(name) for name in (*rows, *columns)]
    width = int(np.prod([table.counts.shape[table.names.index(n)] for n in columns], dtype=int))
    counts = table.counts.transpose(order).reshape(-1, width)
    return "\r\n".join(" ".join(map(str, row)) for row in counts.tolist())


def _shown(labels: Sequence[str]) -> list[str]:
    """Labels as the format allows them; one that would be empty is its code."""
    return [_plain(label) or code for label, code in zip(labels, codes(labels), strict=True)]


def _text(value: str) -> str:
    """In quotes; a long text goes on in the next line."""
    value = _plain(value)
    parts = [value[i : i + WIDTH] for i in range(0, len(value), WIDTH)] or [""]
    return "\r\n".join(f'"{part}"' for part in parts)


def _plain(value: str) -> str:
    """One line without double quotes, which the format cannot hold."""
    kept = "".join(c if c.isprintable() else " " for c in value.replace('"', "'"))
    return " ".join(kept.split())


def _list(values: Iterable[str]) -> str:
    lines, line = list[str](), ""
    for value in values:
        one = f'"{_plain(value)}"'
        if line and len(line) + len(one) > WIDTH:
            lines.append(line)
            line = ""
        line += ("," if line else "") + one
    return ",\r\n".join([*lines, line])


def _when(at: str) -> str:
    try:
        return f"{datetime.fromisoformat(at):%Y%m%d %H:%M}"
    except ValueError:
        return ""

"""Where a table comes from: its permanent address, and how it is cited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import quote, urlencode

from discreet.server.showing.catalogue import Published
from discreet.server.showing.naming import perturbed_data

BIBTEX = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": "\\textbackslash{}",
                       "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"})  # fmt: skip


class Citing(StrEnum):
    """Ways to write a citation."""

    TEXT = "text"
    BIBTEX = "bibtex"
    RIS = "ris"


def permanent(table: Published) -> str:
    """The page that always shows this table, as this entry of the ledger published it.

    A perturbed one has no page, but its data.
    """
    if table.perturbed is not None:
        return permanent_data(table)
    return f"/d/{quote(table.dataset.slug, safe='')}/e/{table.entry}{_query(table)}"


def permanent_data(table: Published) -> str:
    """The same in the API."""
    slug = quote(table.dataset.slug, safe="")
    if table.perturbed is not None:
        return perturbed_data(table.dataset.slug, table.entry, table.names)
    return f"/api/v1/datasets/{slug}/entries/{table.entry}{_query(table)}"


def _query(table: Published) -> str:
    """What is shown of the table that was published; nothing, if it is all of it."""
    part = [("v", name) for name in table.names] if table.part else []
    part += [("where", f"{name}:{category}") for name, category in table.where.items()]
    part += [("level", f"{name}:{level}") for name, level in table.levels.items()]
    return f"?{urlencode(part)}" if part else ""


def citation_data(table: Published, kind: Citing) -> str:
    """Where the citation is, as a file."""
    slug, query = quote(table.dataset.slug, safe=""), _query(table)
    path = f"/api/v1/datasets/{slug}/entries/{table.entry}/citation"
    return f"{path}{query}{'&' if query else '?'}format={kind}"


def citation(table: Published, base: str = "", publisher: str = "") -> str:
    """In words, with the address.

    `base` is the server's address, `publisher` what it is called.
    """
    return f"{cited_words(table, publisher)} {base}{permanent(table)}"


def cited_words(table: Published, publisher: str = "") -> str:
    by = f"{publisher}: " if publisher else ""
    if table.perturbed is not None:
        return (
            f"{by}{heading(table)}. No count of the data: drawn from what was out after entry "
            f"{table.entry} of the ledger {table.dataset.slug}, {table.at[:10]}."
        )
    return (
        f"{by}{heading(table)}. Entry {table.entry} of the ledger {table.dataset.slug}, "
        f"{table.at[:10]}."
    )


def heading(table: Published) -> str:
    """Data set, variables and slice."""
    where = "".join(
        f", {table.dataset.words.title(name)} {category}" for name, category in table.where.items()
    )
    return f"{table.dataset.title}: {' by '.join(table.titles)}{where}"


def source(table: Published, base: str = "", publisher: str = "") -> dict[str, Any]:
    """For programs."""
    return {
        "dataset": table.dataset.slug,
        "entry": table.entry,
        "at": table.at,
        "citation": citation(table, base, publisher),
        "address": base + permanent_data(table),
    }


def cited(table: Published, kind: Citing, base: str = "", publisher: str = "") -> str:
    """A citation as a file."""
    if kind is Citing.TEXT:
        return citation(table, base, publisher) + "\n"
    facts = {
        "title": heading(table),
        "publisher": publisher,
        "year": table.at[:4],
        "date": table.at[:10],
        "url": base + permanent(table),
        "note": f"Entry {table.entry} of the ledger {table.dataset.slug}",
        "licence": table.dataset.words.about.licence or "",
    }
    return _bibtex(table, facts) if kind is Citing.BIBTEX else _ris(facts)


def _bibtex(table: Published, facts: Mapping[str, str]) -> str:
    key = re.sub(r"[^A-Za-z0-9-]", "", f"{table.dataset.slug}-{table.entry}")
    fields = {
        "title": f"{{{facts['title'].translate(BIBTEX)}}}",
        "author": f"{{{facts['publisher'].translate(BIBTEX)}}}" if facts["publisher"] else "",
        "publisher": facts["publisher"].translate(BIBTEX),
        "year": facts["year"],
        "date": facts["date"],
        "url": facts["url"].translate({ord(c): f"%{ord(c):02X}" for c in "{}\\"}),
        "note": facts["note"].translate(BIBTEX),
        "copyright": facts["licence"].translate(BIBTEX),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"


def _ris(facts: Mapping[str, str]) -> str:
    lines = [
        ("TY", "DATA"),
        ("TI", facts["title"]),
        ("AU", facts["publisher"]),
        ("PB", facts["publisher"]),
        ("PY", facts["year"]),
        ("DA", facts["date"].replace("-", "/")),
        ("UR", facts["url"]),
        ("N1", facts["note"]),
        ("C1", facts["licence"]),
        ("ER", ""),
    ]
    return "".join(
        f"{tag}  - {' '.join(value.split())}\r\n" for tag, value in lines if value or tag == "ER"
    )

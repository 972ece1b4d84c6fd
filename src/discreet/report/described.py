"""The page of what the program sees in data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import number, plural
from discreet.report.page import Page, Part, Points, Rows, Say, Section, data_file

if TYPE_CHECKING:
    from discreet.table.described import Described, Seen

SHOWN = 4  # categories of a column
LONGEST = 40  # letters of a list


def described_page(found: Described, *, data: str | Path | None = None) -> Page:
    """What kind of data, what would stop other commands, and each column."""
    people = "" if found.people is None else f", {plural(found.people, 'person', 'people')}"
    size = f"{plural(found.rows, 'row')}{people}, {plural(len(found.columns), 'column')}"
    said = [Say(f"Confidential: counts of {found.name} that are not published.", "quiet")]
    return Page(
        "What is in the data",
        f"{found.name}: {found.kind} ({found.why})",
        [*_stops(found), _columns(found), _guesses(found)],
        size=size,
        said=[Say(size), *said],
        files=data_file(data),
        memory="data in memory",
    )


def _stops(found: Described) -> list[Section]:
    if not found.stops:
        return [Section("What to type", [Say("Nothing stops the other commands.")], bare=True)]
    return [
        Section(
            "What would stop other commands",
            [Points([_sentence(stop.typed) for stop in found.stops])],
        )
    ]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].islower() else text


def _columns(found: Described) -> Section:
    table = Rows(
        "Columns",
        ["column"],
        [[column.name] for column in found.columns],
        ["values", "missing", "categories", "rarest", "use"],
        [
            [
                number(column.size),
                number(column.missing),
                _categories(column),
                ", ".join(f"{c} ({number(n)})" for c, n in column.rarest[:2]),
                column.use,
            ]
            for column in found.columns
        ],
        words=["categories", "rarest", "use"],
        kind="more column",
    )
    return Section("Columns, their categories in order, and the rarest", [table])


def _categories(column: Seen) -> str:
    listed = list(column.counts)
    shown = ", ".join(listed[:SHOWN]) + (", ..." if len(listed) > SHOWN else "")
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 3].rstrip(', ')}..."


def _guesses(found: Described) -> Section:
    stated = [(c.name, c.role) for c in found.columns if c.role != "unstated"]
    guessed = [
        (c.name, f"{c.guess.guess} ({c.guess.why})")
        for c in found.columns
        if c.guess is not None and c.role == "unstated"
    ]
    parts: list[Part] = []
    if stated:
        listed = [f"{name}: {role}" for name, role in stated]
        parts += [Say("Stated in the codebook:", "quiet"), Points(listed)]
    if guessed:
        listed = [f"{name}: {role}" for name, role in guessed]
        parts += [Say("Guesses, which decide nothing.", "quiet"), Points(listed)]
    if not parts:
        parts = [Say("None is stated, and none is guessed by a name.", "quiet")]
    return Section("Roles", parts)

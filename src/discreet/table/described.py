"""What is in a file, before anything is counted for publication: `discreet look`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from discreet.data.codebook import MISSING, Codebook, Missing
from discreet.data.codebookfile import codebook_text
from discreet.data.count import choose_columns, whole_numbers
from discreet.data.encode import encode
from discreet.data.files import write_text
from discreet.data.head import head_of
from discreet.data.reading import How, Opened, Reading
from discreet.data.roles import Guessed, guess_role, nobodies
from discreet.data.source import Source, engine_errors
from discreet.errors import DisclosureError, WrongKind
from discreet.look.result import Paged, Unpublished
from discreet.look.words import plural
from discreet.table.cells import frame
from discreet.table.load import read

MOST_LISTED = 1_000  # categories up to which they are counted one by one
RAREST = 3


@dataclass(frozen=True)
class Seen(Unpublished):
    """One column: its categories in order with their counts, and what it may be for."""

    name: str
    size: int
    missing: int
    counts: Mapping[str, int]
    role: str
    guess: Guessed | None = None
    without: bool = False

    @property
    def listed(self) -> bool:
        """Are the categories counted one by one?"""
        return bool(self.counts)

    @property
    def rarest(self) -> list[tuple[str, int]]:
        """The categories with the fewest people, missing values apart."""
        present = [(c, n) for c, n in self.counts.items() if n and c != MISSING]
        return sorted(present, key=lambda pair: pair[1])[:RAREST]

    @property
    def use(self) -> str:
        """variable, or why it is none."""
        if self.without:
            return "left out"
        if self.guess is not None and not self.guess.guess.classifies:
            return f"{self.guess.guess}, a guess"
        return "variable"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "use": self.use,
            "categories": list(self.counts),
            "size": self.size,
            "missing": self.missing,
            "rarest": [{"category": c, "count": n} for c, n in self.rarest],
            "role": self.role,
            "guess": None if self.guess is None else str(self.guess.guess),
            "why": None if self.guess is None else self.guess.why,
        }


@dataclass(frozen=True)
class Stop:
    """What would stop other commands: the sentence, with arguments and with options."""

    sentence: str
    typed: str


@dataclass(frozen=True)
class Described(Paged):
    """What the program sees in data: their kind, their columns, what would stop other commands.

    Roles are guesses by names and values; nothing is decided by them.

    >>> import discreet as dc
    >>> dc.describe("example:tract")
    Described(tract.csv: cells, 18 rows, 3 columns)
    """

    name: str
    kind: str
    why: str
    rows: int
    people: int | None
    columns: tuple[Seen, ...]
    stops: tuple[Stop, ...]
    count: str | None
    book: Codebook
    stated: frozenset[str] = frozenset()  # columns that a person has spoken of
    sure: bool = True  # is it clear what a row is?

    @property
    def variables(self) -> tuple[Seen, ...]:
        """The columns that people are classified by."""
        return tuple(column for column in self.columns if column.use == "variable")

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a column."""
        rows = [column.to_json() for column in self.columns]
        columns: dict[str, Any] = {key: [row[key] for row in rows] for key in rows[0]}
        columns["categories"] = [", ".join(listed) for listed in columns["categories"]]
        columns["rarest"] = [_rare(column) for column in self.columns]
        columns["guess"] = [guess or "" for guess in columns["guess"]]
        columns["why"] = [why or "" for why in columns["why"]]
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet look --json` prints."""
        return {
            "data": self.name,
            "kind": self.kind,
            "why": self.why,
            "rows": self.rows,
            "people": self.people,
            "count": self.count,
            "columns": [column.to_json() for column in self.columns],
            "stops": [stop.typed for stop in self.stops],
        }

    def codebook(self) -> str:
        """A codebook in TOML to edit; what is only guessed is a comment, and says nothing."""
        return codebook_text(self.name, self.columns, self.book, stated=self.stated, sure=self.sure)

    def write_codebook(self, path: str | Path) -> None:
        """The codebook as a file, whole or not at all."""
        write_text(path, self.codebook())

    def __repr__(self) -> str:
        name = self.name if len(self.name) <= 60 else f"{self.name[:57]}..."
        stops = f", {plural(len(self.stops), 'question')}" if self.stops else ""
        rows = f"{plural(self.rows, 'row')}, {plural(len(self.columns), 'column')}"
        return f"Described({name}: {self.kind}, {rows}{stops})"


def _rare(column: Seen) -> str:
    return ", ".join(f"{category} ({count:,})" for category, count in column.rarest)


def describe(data: object, **how: Unpack[How]) -> Described:
    """What the program sees in DATA; the arguments are those of `load`.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]})
    >>> found = describe(people)
    >>> found, found.columns[0].rarest
    (Described(the frame: records, 3 rows, 2 columns), [('m', 1), ('f', 2)])
    """
    return look(data, Reading.of(how))


def look(data: object, how: Reading) -> Described:
    """What the program sees in DATA, read as `how` says."""
    opened = how.open(data)
    source, stated, count, aside = opened.source, opened.stated, opened.count, opened.without
    how = replace(opened.how, codebook=stated, table=None)
    stops = _stops(opened.raw, how)
    if how.crosstab is not None:
        kind, why = "cross-tab", "it is said so"
    elif count is not None:
        kind, why = "cells", f"{count!r} is their count"
    else:
        kind, why = ("records", "it is said so") if how.records else _kind(opened)
    book, variables = opened.book, how.variables
    left = choose_columns(source, None, book, count)
    if isinstance(variables, tuple):
        left = choose_columns(source, variables, book, count)
    seen, rows, people = _columns(source, left, aside, book, count)
    nobody = [column.name for column in seen if column.use not in ("variable", "left out")]
    nobody = [name for name in nobody if name not in stated.classifying]
    sure = not stops
    if kind == "records" and nobody and len(nobody) < len(seen) and variables is None:
        more = _stops(source, replace(how, without=(*aside, *nobody)))
        stops, sure = (*stops, *(stop for stop in more if stop not in stops)), not more
    shown = source.name.strip("'")
    spoken = frozenset(stated.entries)
    return Described(shown, kind, why, rows, people, seen, stops, count, book, spoken, sure)


def _kind(opened: Opened) -> tuple[str, str]:
    """Records, or what the look before the count takes them for."""
    try:
        opened.check_people()
    except WrongKind as error:
        said = str(error)
        if "cross-tab" in said:
            return "perhaps a cross-tab", "numbers stand behind a column that tells all rows apart"
        if "shares" in said:
            return "perhaps cells with shares", "all rows differ, and there are percentages"
        return "perhaps cells", "all rows differ, and one column looks like their count"
    except DisclosureError:
        return "perhaps cells with shares", "counts and shares stand below one another"
    return "records", "nothing looks like a count or a cross-tab"


def _stops(source: Source, how: Reading) -> tuple[Stop, ...]:
    """What `load` says, in the order in which it is met."""
    try:
        read(source, how)
    except DisclosureError as error:
        return (Stop(str(error), getattr(error, "typed", str(error))),)
    return ()


def _columns(
    source: Source,
    names: Sequence[str],
    aside: Sequence[str],
    book: Codebook,
    count: str | None,
) -> tuple[tuple[Seen, ...], int, int | None]:
    """Each column, the number of rows, and of people if they can be counted."""
    records = source.records
    asked = {f"size_{place}": records[name].nunique() for place, name in enumerate(names)}
    asked |= {f"there_{place}": records[name].count() for place, name in enumerate(names)}
    with engine_errors(source.name):
        sizes = records.aggregate(rows=records.count(), **asked).to_pyarrow().to_pylist()[0]
    rows, people = sizes["rows"], None if count is not None else sizes["rows"]
    head = head_of(source, names)
    nobody = {g.column: g for g in nobodies(source, names)} if count is None else {}
    found = []
    for place, name in enumerate(names):
        size, missing = sizes[f"size_{place}"], rows - sizes[f"there_{place}"]
        counts: dict[str, int] = {}
        if 0 < size <= MOST_LISTED:
            counts = _counted(source, name, book, count)
            missing = counts.get(MISSING, 0)
            size = sum(1 for category in counts if category != MISSING)
            if count is not None and people is None and counts:
                people = sum(counts.values())
        guess = nobody.get(name)
        if guess is None and name in head.rows.column_names:
            guess = guess_role(head, name)
            guess = None if guess is None or not guess.guess.classifies else guess
        role = str(book.entry(name).role)
        found.append(Seen(name, size, missing, counts, role, guess, name in aside))
    return tuple(found), rows, people


def _counted(source: Source, name: str, book: Codebook, count: str | None) -> dict[str, int]:
    """People by category, in order; nothing where the counts cannot be read."""
    records = source.records
    book = Codebook(book.entries, Missing.CATEGORY, book.missing_values)
    try:
        with engine_errors(source.name):
            if count is None:
                number = "n" if name.lower() != "n" else "n_"
                query = records.group_by(name).aggregate(**{number: records.count()})
                cells = query.to_pyarrow()
                amounts = cells.column(1).to_numpy().astype(np.int64)
            else:
                cells = records.select(name, count).to_pyarrow()
                amounts = whole_numbers(cells.column(1), count, source.name)
        order = source.orders.get(name, ())
        coded = encode(name, cells.column(0), book, order, source.name, asking=False)
    except DisclosureError:
        return {}
    sums = np.bincount(coded.codes, amounts, coded.variable.size).astype(np.int64)
    return dict(zip(coded.variable.categories, sums.tolist(), strict=True))

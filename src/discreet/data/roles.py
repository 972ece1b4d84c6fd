"""What a column is for, guessed by its name and its values.

Identifiers, weights, household numbers and remarks classify nobody: taken for variables, every
person is a cell of their own, and what is small and narrow is no longer seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.figures import holds_counts, is_percent, numbers_of
from discreet.data.head import Head, head_of
from discreet.data.kind import check_measures
from discreet.data.source import Source, engine_errors
from discreet.data.telling import (
    COUNTS,
    HOUSEHOLDS,
    IDENTIFIERS,
    IDENTIFYING,
    NO_NUMBER,
    PEOPLE,
    PERHAPS,
    REMARKS,
    SENSITIVE,
    WEIGHTS,
    tokens,
)
from discreet.errors import WrongKind

FEW = 3  # rows, from which a telling name and its values are believed
SEVERAL = 20  # rows, from which values alone are
OWN, MOST_OWN = 0.9, 0.5  # of the values are different: among the first rows, among all
GROUP = 10  # people in a household, on average and at most
GROUPS = 200  # numbers in a row, from which they are of groups, whatever they are called


class Guess(StrEnum):
    """What a column may be for; a guess is never taken for what a person says."""

    IDENTIFIER = "identifier"
    HOUSEHOLD = "household"
    WEIGHT = "weight"
    TEXT = "text"
    FIGURE = "figure"
    IDENTIFYING = "identifying"
    SENSITIVE = "sensitive"
    BOTH = "both"

    @property
    def classifies(self) -> bool:
        """Are people classified by it?"""
        return self in (Guess.IDENTIFYING, Guess.SENSITIVE, Guess.BOTH)


@dataclass(frozen=True)
class Guessed:
    """A guess about a column, and why."""

    column: str
    guess: Guess
    why: str


class Names(list[str]):
    """Columns, as an option and as an argument name them."""

    def __str__(self) -> str:
        return ",".join(self)


def named(names: str | Iterable[str] | None, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns from "A,B" or from a list.

    >>> named("A, B", ["A", "B", "C"]), named("A, B", ["A, B"])
    (('A', 'B'), ('A, B',))
    """
    if names is None:
        return ()
    if isinstance(names, str):
        names = [names] if names in columns else names.split(",")
    return tuple(dict.fromkeys(str(name).strip() for name in names))


def guess_role(head: Head, name: str) -> Guessed | None:
    """What a column may be for, by its name and the first rows."""
    if (nobody := _nobody(head, name)) is not None:
        return nobody
    called = tokens(name)
    identifying, sensitive = bool(called & IDENTIFYING), bool(called & SENSITIVE)
    if not (identifying or sensitive):
        return None
    both = Guess.BOTH if identifying else Guess.SENSITIVE
    return Guessed(name, both if sensitive else Guess.IDENTIFYING, "by its name")


def check_variables(
    source: Source, columns: Sequence[str], *, accepted: Collection[str] = ()
) -> None:
    """Refuse columns that classify nobody, unless a person has spoken of them."""
    found = nobodies(source, [name for name in columns if name not in accepted])
    if found:
        names = {guess.column for guess in found}
        rest = head_of(source, [name for name in columns if name not in names]).rows
        counts = rest.num_columns > 1 and all(map(holds_counts, rest.columns))
        refuse(source.name, found, perhaps_counts=counts)


def check_released(
    source: Source, columns: Sequence[str], *, accepted: Collection[str] = ()
) -> None:
    """Refuse names, numbers of persons and remarks that records would be released with, unless
    somebody has spoken of them."""
    kinds = (Guess.IDENTIFIER, Guess.HOUSEHOLD, Guess.TEXT)
    guesses = nobodies(source, [name for name in columns if name not in accepted])
    if found := [guess for guess in guesses if guess.guess in kinds]:
        raise WrongKind(
            lambda say: (
                f"{_named_so(found)} of {source.name} would be released as "
                f"{'they are' if len(found) > 1 else 'it is'}: say "
                f"{say('without', Names(g.column for g in found))}, or "
                f"{say('variables', Names(['A', 'B']))} with all columns that are to be released."
            )
        )


def nobodies(source: Source, names: Sequence[str]) -> list[Guessed]:
    """The columns of records that classify nobody: 10,000 rows and one query are looked at."""
    if not names:
        return []
    head = head_of(source, names)
    found = [guess for name in head.rows.column_names if (guess := _nobody(head, name))]
    unsure = [guess.column for guess in found if guess.guess is not Guess.WEIGHT]
    if head.every or not unsure:
        return found
    sizes = _sizes(source, unsure)
    return [g for g in found if g.column not in sizes or _holds(g, *sizes[g.column])]


def refuse(where: str, found: Sequence[Guessed], *, perhaps_counts: bool = False) -> None:
    """The sentence, with what to type."""
    listed = _named_so(found)
    some = len(found) > 1
    weight = next((g.column for g in found if g.guess is Guess.WEIGHT), None)
    more = f'; weights = "{weight}" in a codebook says what it is' if weight else ""
    raise WrongKind(
        lambda say: (
            f"{listed} of {where} classif{'y' if some else 'ies'} nobody: say "
            f"{say('without', Names(g.column for g in found))}, or "
            f"{say('variables', Names(['A', 'B']))} with {'them' if some else 'it'} among the "
            f"names if people are classified by {'them' if some else 'it'}"
            + (f", or {say('crosstab', 'NAME')} if the others are counts" if perhaps_counts else "")
            + f"{more}."
        )
    )


@dataclass(frozen=True)
class Figures:
    """Columns of a file of cells that are no variables; `rows` of them only number the rows."""

    names: frozenset[str]
    rows: frozenset[str]


def check_cell_columns(
    source: Source, columns: Sequence[str], *, accepted: Collection[str] = (), named: bool = False
) -> Figures:
    """Columns of a file of cells that are no variables: row numbers, shares, other counts.

    Refuse them, unless they are `accepted` or the variables are `named`; and always a column that
    tells counts from shares.
    """
    head = head_of(source, columns)
    names = head.rows.column_names
    check_measures(head, names)
    found = []
    for name in names:
        others = [other for other in names if other != name]
        if (guess := _beside_count(head, name)) is not None and others and head.differ(others):
            found.append(guess)
    open_ones = [guess for guess in found if guess.column not in accepted]
    if open_ones and not named and len(open_ones) < len(names):
        refuse(source.name, open_ones)
    numbered = frozenset(name for name in names if _numbers_rows(head, name))
    return Figures(frozenset(guess.column for guess in found) | numbered, numbered)


def _numbers_rows(head: Head, name: str) -> bool:
    """1, 2, 3, ... or 0, 1, 2, ...: it tells rows apart and says nothing of them."""
    values = numbers_of(head.rows[name])
    if values is None or len(values) < head.rows.num_rows or len(values) < FEW:
        return False
    return values[0] in (0, 1) and bool((np.diff(values) == 1).all())


@dataclass(frozen=True)
class _Seen:
    """What the first rows have in a column."""

    texts: tuple[str, ...]
    distinct: int
    runs: int
    numbers: NDArray[np.float64] | None

    @property
    def rows(self) -> int:
        return len(self.texts)

    @property
    def own(self) -> float:
        """How many of the values are different."""
        return self.distinct / max(self.rows, 1)


def _seen(head: Head, name: str) -> _Seen:
    column = head.rows[name].drop_null()
    texts = tuple(text for value in column.to_pylist() if (text := str(value).strip()))
    runs = sum(a != b for a, b in pairwise(texts)) + bool(texts)
    return _Seen(texts, len(set(texts)), runs, numbers_of(head.rows[name]))


def _nobody(head: Head, name: str) -> Guessed | None:
    import pyarrow as pa

    kind = head.rows[name].type
    if pa.types.is_temporal(kind) or pa.types.is_boolean(kind):
        return None
    seen, called = _seen(head, name), tokens(name)
    if seen.rows < FEW or seen.distinct < 2:
        return None
    if called & WEIGHTS and _weighs(seen):
        return Guessed(name, Guess.WEIGHT, "by its name and its numbers")
    if why := _household(seen, called):
        return Guessed(name, Guess.HOUSEHOLD, why)
    if seen.numbers is None and _prose(seen, called):
        return Guessed(name, Guess.TEXT, "words, different in most rows")
    if why := _identifier(seen, called):
        return Guessed(name, Guess.IDENTIFIER, why)
    return None


def _weighs(seen: _Seen) -> bool:
    """Positive; some are no whole numbers, or they are many and large."""
    values = seen.numbers
    if values is None or not len(values) or (values <= 0).any():
        return False
    many = seen.distinct >= min(10, seen.rows)
    return bool((values % 1 != 0).any() or (many and np.median(values) >= 10))


def _household(seen: _Seen, called: Collection[str]) -> str | None:
    """Groups of a few rows, under a telling name; or numbered one after another."""
    groups = seen.rows / seen.distinct
    if seen.own >= OWN or groups > GROUP:
        return None
    telling = _tells(called, HOUSEHOLDS)
    if telling and (seen.runs == seen.distinct or seen.distinct >= SEVERAL):
        return "by its name, and it repeats in small groups"
    if set(called) & IDENTIFIERS and groups <= GROUP / 2 and seen.distinct >= SEVERAL:
        return "by its name, and it repeats in small groups"
    values = seen.numbers
    if values is not None and seen.distinct >= GROUPS and len(values) == seen.rows:
        steps = np.diff(values)
        if ((steps == 0) | (steps == 1)).all():
            return "it numbers small groups one after another"
    return None


def _tells(called: Collection[str], kind: Collection[str]) -> bool:
    """Is it called so, and not for something else that households have?"""
    of = set(called)
    return bool(of & set(kind)) and not of & (NO_NUMBER | (IDENTIFYING - HOUSEHOLDS))


def _prose(seen: _Seen, called: Collection[str]) -> bool:
    if seen.own < MOST_OWN:
        return False
    length = float(np.mean([len(text.split()) for text in seen.texts]))
    return (bool(set(called) & REMARKS) and length >= 2) or (seen.rows >= 10 and length >= 5)


def _identifier(seen: _Seen, called: Collection[str]) -> str | None:
    """A value of its own in almost every row."""
    if seen.own < OWN:
        return None
    whole = seen.numbers is None or bool((seen.numbers % 1 == 0).all())
    if whole and _tells(called, IDENTIFIERS | HOUSEHOLDS):
        return "by its name, and almost every row has its own"
    if set(called) & PEOPLE:
        return "by its name, and almost every row has its own"
    if all("@" in text and " " not in text for text in seen.texts):
        return "addresses"
    if seen.rows < SEVERAL:
        return None
    values = seen.numbers
    if values is None:
        figures = sum(bool(re.fullmatch(r"[\d\s.,:/<>=+%$€£-]+", text)) for text in seen.texts)
        return None if 2 * figures > seen.rows else "almost every row has its own"
    if seen.distinct < seen.rows or not whole:
        return None
    if values.max() - values.min() + 1 == len(values):
        return "numbers without a gap, each once"
    digits = {len(text) for text in seen.texts}
    return "long numbers, each once" if len(digits) == 1 and min(digits) >= 6 else None


def _beside_count(head: Head, name: str) -> Guessed | None:
    """In a file of cells, a column that is no variable."""
    seen, called = _seen(head, name), tokens(name)
    if seen.rows < FEW or seen.distinct < 2:
        return None
    plain = name.strip().casefold()
    if is_percent(head.rows[name], name):
        return Guessed(name, Guess.FIGURE, "shares")
    if seen.numbers is None:
        return None
    if plain in COUNTS or plain in PERHAPS:
        return Guessed(name, Guess.FIGURE, "a second count by its name")
    if called & WEIGHTS and _weighs(seen):
        return Guessed(name, Guess.WEIGHT, "by its name and its numbers")
    if seen.distinct == seen.rows and called & IDENTIFIERS:
        return Guessed(name, Guess.IDENTIFIER, "by its name, and every row has its own")
    if (seen.numbers % 1 != 0).any():
        return Guessed(name, Guess.FIGURE, "numbers that are not whole")
    return None


def _sizes(source: Source, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many values, and how many different ones, in all rows: one query."""
    records, asked = source.records, {}
    for place, name in enumerate(names):
        asked[f"rows_{place}"] = records[name].count()
        asked[f"size_{place}"] = records[name].nunique()
    with engine_errors(source.name):
        row: dict[str, Any] = records.aggregate(**asked).to_pyarrow().to_pylist()[0]
    return {n: (row[f"rows_{place}"], row[f"size_{place}"]) for place, n in enumerate(names)}


def _holds(guess: Guessed, rows: int, size: int) -> bool:
    """Does a guess from the first rows hold for all?"""
    if guess.guess is Guess.HOUSEHOLD:
        return rows <= GROUP * size
    return size >= MOST_OWN * rows


CALLED = {
    Guess.IDENTIFIER: "an identifier",
    Guess.HOUSEHOLD: "a household number",
    Guess.WEIGHT: "a weight",
    Guess.TEXT: "free text",
}


def _named_so(found: Sequence[Guessed]) -> str:
    """Columns and what they are taken for."""
    each = [f"{guess.column!r} ({_called(guess)})" for guess in found]
    return " and ".join(part for part in (", ".join(each[:-1]), each[-1]) if part)


def _called(guess: Guessed) -> str:
    if guess.guess is Guess.FIGURE:
        return guess.why
    return f"{CALLED[guess.guess]}: {guess.why}"

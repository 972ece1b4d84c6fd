"""From values to codes: one column, its categories in order, and where it is missing."""

from __future__ import annotations

import decimal
import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import MISSING, Codebook, Entry, Missing, Variable
from discreet.data.frames import label
from discreet.data.order import in_order as natural
from discreet.errors import CodebookError, DataError

ALIKE = 0.85  # of two names of which one may be a slip of the other
MOST_CATEGORIES = 10_000


@dataclass(frozen=True)
class Column:
    """A column of cells: the code of each cell, and whether its value is missing."""

    variable: Variable
    codes: NDArray[np.unsignedinteger[Any]]
    missing: NDArray[np.bool_]


def places(name: str, column: Any) -> tuple[NDArray[np.integer[Any]], list[Any]]:
    """Each row's place in the list of distinct values of an Arrow column."""
    import pyarrow as pa

    try:
        encoded = column.dictionary_encode(null_encoding="encode")
    except pa.ArrowException:
        raise DataError(
            f"column {name} holds {column.type} values, which are no categories; leave it out."
        ) from None
    if encoded.num_chunks == 0:
        return np.zeros(0, np.int32), []
    found = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    return np.concatenate(found), encoded.chunk(encoded.num_chunks - 1).dictionary.to_pylist()


def alike(columns: Iterable[NDArray[np.integer[Any]]], rows: int) -> NDArray[np.int64]:
    """A number for each row, the same where rows have the same codes in all columns."""
    number = np.zeros(rows, np.int64)
    for codes in columns:
        step = int(codes.max(initial=0)) + 1
        distinct, number = np.unique(number * step + codes, return_inverse=True)
        if len(distinct) == rows:
            break
    return number


def encode(
    name: str,
    values: Any,
    codebook: Codebook,
    carried: Sequence[str],
    where: str,
    *,
    most: int | None = MOST_CATEGORIES,
    asking: bool = True,
) -> Column:
    """Codes of one Arrow column; `carried` is the order of categories that its type has.

    `asking`: are labels that may be one category refused?
    """
    index, distinct = places(f"{name!r} of {where}", values)
    if most is not None and len(distinct) > most:
        raise DataError(
            f"column {name!r} of {where} has {len(distinct):,} categories, more than "
            f"{most:,}; group them first (numbers by --band {name}=WIDTH or bands=), or leave the "
            "column out."
        )
    entry = codebook.entry(name)
    closed = bool(entry.labels) and not entry.open
    listed = not entry.open and MISSING in (entry.labels.values() if entry.labels else carried)
    labels = called(name, distinct, codebook, where)
    if asking:
        check_alike(name, labels, codebook, where)
    if closed:
        known = list(dict.fromkeys(entry.labels.values()))
    elif entry.labels:
        known = list(dict.fromkeys(_among(labels, distinct, entry)))
    else:
        carried = [_translate(category, entry, codebook) for category in carried]
        known = list(dict.fromkeys([*carried, *in_order(labels, distinct)]))
    gone = np.array([text == MISSING for text in labels], bool)
    absent = gone[index] if gone.any() else np.zeros(len(index), bool)
    if codebook.missing is Missing.DROP or not (absent.any() or listed):
        known = [category for category in known if category != MISSING]
    elif not listed:
        known = [*(category for category in known if category != MISSING), MISSING]
    if not known:
        raise DataError(
            f"every value of column {name!r} of {where} is missing; leave the column out."
        )
    check_hierarchy(name, known, entry)
    codes_of = {category: code for code, category in enumerate(known)}
    kind = np.min_scalar_type(len(known) - 1)
    codes = np.array([codes_of.get(text, 0) for text in labels], kind)[index]
    said = (entry.role, entry.sensitive, entry.hierarchy, entry.values)
    return Column(Variable(name, tuple(known), *said), codes, absent)


def called(name: str, values: Iterable[Any], codebook: Codebook, where: str) -> list[str]:
    """What values of a column count as; one that a closed list does not name is refused.

    >>> called("Ill", [0, 1, 9], Codebook.of(missing_values=[9]), "the frame")
    ['0', '1', '(missing)']
    """
    entry = codebook.entry(name)
    labels = [_translate(label(value), entry, codebook) for value in values]
    if entry.labels and not entry.open:
        _check_listed(name, labels, entry, where)
    return labels


def check_alike(name: str, labels: Iterable[str], codebook: Codebook, where: str) -> None:
    """Refuse labels that differ only by Unicode form, blanks or case, unless the codebook has both.

    >>> check_alike("Town", ["Ash", "Birch", "ash "], Codebook(), "the frame")
    Traceback (most recent call last):
    discreet.errors.DataError: 'Town' of the frame has 'Ash' and 'ash ', which differ only by \
Unicode form, blanks or case: are they one category? Write them alike, or list both as categories \
of 'Town' in the codebook if they are two.
    """
    listed = {*codebook.entry(name).labels.values()}
    seen: dict[str, str] = {}
    for text in dict.fromkeys(labels):
        first = seen.setdefault(_plain(text), text)
        if first != text and not {first, text} <= listed:
            shown = [
                ascii(one)
                if unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", text)
                else repr(one)
                for one in (first, text)
            ]
            raise DataError(
                f"{name!r} of {where} has {shown[0]} and {shown[1]}, which differ only by Unicode "
                "form, blanks or case: are they one category? Write them alike, or list both as "
                f"categories of {name!r} in the codebook if they are two."
            )


def _plain(text: str) -> str:
    """Without what a reader does not see, and in one case."""
    if text.isascii():
        return " ".join(text.casefold().split())
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    seen = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return " ".join(seen.split())


def in_order(labels: Iterable[str], values: Sequence[Any] = ()) -> list[str]:
    """Text in its natural order; times and whatever has an order by that.

    >>> in_order(["10", "9", "b", "nan", "a", "-1.5"])
    ['-1.5', '9', '10', 'a', 'b', 'nan']
    """
    labels, plain = list(labels), (str, int, float, decimal.Decimal, type(None))
    if all(isinstance(value, plain) for value in values):
        return natural(labels, last=MISSING)
    pairs = [(v, text) for v, text in zip(values, labels, strict=True) if v is not None]
    try:
        return [text for _, text in sorted(pairs)]
    except TypeError:
        return natural(labels, last=MISSING)


def _among(labels: Sequence[str], distinct: Sequence[Any], entry: Entry) -> list[str]:
    """What occurs of an open list, and what it does not name where the codes of that belong."""
    there = {*labels} - {MISSING}
    listed = {code: text for code, text in entry.labels.items() if text in there}
    named = {*listed.values(), MISSING}
    other = {label(v): t for v, t in zip(distinct, labels, strict=True) if t not in named}
    if in_order(listed) != list(listed):
        return [*listed.values(), *in_order(other.values())]
    every = listed | other
    return [every[code] for code in in_order(every)]


def _translate(text: str, entry: Entry, codebook: Codebook) -> str:
    """What a value counts as; a code that the codebook lists is never taken for missing."""
    if text in entry.labels:
        return entry.labels[text]
    return MISSING if not text or text in codebook.missing_values else text


def _check_listed(name: str, labels: list[str], entry: Entry, where: str) -> None:
    strange = set(labels) - set(entry.labels.values()) - {MISSING}
    if strange:
        raise CodebookError(
            f"column {name!r} of {where} has {min(strange)!r}, which the codebook does not list; "
            f"it lists {', '.join(list(entry.labels)[:10])}. Add it there, or correct the data."
        )


def check_hierarchy(name: str, known: Sequence[str], entry: Entry) -> None:
    """A hierarchy names categories, and writes each name in one way.

    A code that is neither a category nor a parent may be one of those that nobody has here; but not
    if a category or a parent that has none above it is written much alike.
    """
    if not entry.hierarchy:
        return
    above = dict(entry.hierarchy.pairs)
    if not above.keys() & {*known}:
        raise CodebookError(
            f"the hierarchy of {name!r} names none of its categories "
            f"{', '.join(known[:10])}; use the labels of the categories as codes."
        )
    parents = dict.fromkeys(above.values())
    seen: dict[str, str] = {}
    for parent in parents:
        if (first := seen.setdefault(_plain(parent), parent)) != parent:
            raise CodebookError(
                f"the hierarchy of {name!r} has the parents {first!a} and {parent!a}, "
                "which differ only by Unicode form, blanks or case; write one of them."
            )
    without = [one for one in dict.fromkeys([*known, *parents]) if one not in above]
    for code in above.keys() - {*known} - parents.keys():
        if near := _near(code, without):
            raise CodebookError(
                f"the hierarchy of {name!r} says what {code!a} lies in, which is no category "
                f"of it, and nothing of {near!a}. If they are one, write them alike; if not, "
                f"leave {code!a} out of the hierarchy."
            )


def _near(code: str, names: Sequence[str]) -> str | None:
    """A name that is written much like a code: alike but for case and blanks, the same number, or
    a letter or so apart, and not by digits, which number things.
    """
    for one in names:
        if _plain(one) == _plain(code) or _number(one) == _number(code):
            return one
    letters = re.sub(r"\d", "", code)
    words = [one for one in names if re.sub(r"\d", "", one) != letters]
    return next(iter(difflib.get_close_matches(code, words, 1, ALIKE)), None)


def _number(text: str) -> object:
    """What a text says as a number; itself if it is none."""
    try:
        return float(text)
    except ValueError:
        return text

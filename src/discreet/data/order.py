"""The natural order of categories that are text: numbers, ranges, dates, numbers within words.

`0-4`, `5-9`, `85+`; `under 5`; `<20k`, `20k to 50k`; `2020 Q3`; `31.12.2020`; `Mar 2020`;
`Grade 9`, `Grade 10`. One form must hold for all labels with digits; words come after them. Where
several could hold, or none, labels stand as text: `01/02/2020` may be January or February.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from discreet.data.values import read_label

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
Key = Callable[[str], Any]  # what to sort by; None for a label that has not this form

_WITHIN = re.compile(r"(?:(?<![\w.)\]])-)?\d+(?:\.\d+)?", re.ASCII)
_ORDINAL = re.compile(r"(?<=#)(?:st|nd|rd|th)\b", re.I)
_TIMES = {"k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "bn": 9, "billion": 9}
_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name[:size]: i for i, name in enumerate(_MONTHS.split(), 1) for size in (3, len(name))}
_MONTH["sept"] = 9
_NAME = rf"(?P<name>{'|'.join(sorted(_MONTH, key=len, reverse=True))})\.?"
_Y, _M, _D = r"(?P<y>[12]\d{3})", r"(?P<m>0?[1-9]|1[0-2])", r"(?P<d>0?[1-9]|[12]\d|3[01])"
_DATES = [
    re.compile(form, re.I | re.ASCII)
    for form in (
        rf"{_Y}[-/.]{_M}[-/.]{_D}(?:[T ](?P<t>\d\d:\d\d(?::\d\d)?))?",
        rf"{_Y}[-/.]{_M}",
        rf"{_Y}-?M(?P<m>0?[1-9]|1[0-2])",
        rf"{_M}[-/.]{_Y}",
        rf"{_Y}[ -]?Q(?P<m>[1-4])",
        rf"Q(?P<m>[1-4])[ /-]?{_Y}",
        rf"{_Y}[ -]?W(?P<m>[0-4]?\d|5[0-3])",
        rf"{_D}\.\s?{_M}\.\s?{_Y}",
        rf"{_D}[ .-]*{_NAME},?[ -]*{_Y}",
        rf"{_NAME} {_D},? {_Y}",
        rf"{_NAME}[ -]{_Y}",
        rf"{_Y}[ -]{_NAME}",
        _NAME,
    )
]
# one that is possible for every label is taken, unless both are
_SLASHED = [re.compile(rf"{form}/{_Y}", re.ASCII) for form in (f"{_D}/{_M}", f"{_M}/{_D}")]


def in_order(labels: Iterable[str], last: str = "") -> list[str]:
    """Labels in their natural order, `last` at the end; the same whatever order they come in.

    >>> in_order(["85+", "5-9", "10-14", "under 5"])
    ['under 5', '5-9', '10-14', '85+']
    >>> in_order(["Grade 10", "Grade 9"]), in_order(["Mar 2020", "Dec 2019"])
    (['Grade 9', 'Grade 10'], ['Dec 2019', 'Mar 2020'])
    >>> in_order(["10", "9", "b", "nan", "a", "-1.5"])
    ['-1.5', '9', '10', 'a', 'b', 'nan']
    """
    every = list(labels)
    words = sorted({label for label in every if not last or label != last})
    key = next(filter(None, (find(words) for find in (_numbers, _dates, _ranges, _within))), _plain)
    found = {label: _ranked(key(label), label) for label in words}
    return sorted(every, key=lambda label: found.get(label, (2, (), label)))


def _ranked(key: Any, label: str) -> tuple[int, Any, str]:
    return (0, key, label) if key is not None else (1, (), label)


def _plain(label: str) -> Any:
    return Decimal(label) if NUMBER.fullmatch(label) else None


def _digits(label: str) -> bool:
    return any(letter.isdigit() for letter in label)


def _holds(words: Sequence[str], key: Key) -> bool:
    """All labels with digits have the form, and there are two."""
    fits = [key(label) is not None for label in words]
    digits = [_digits(label) for label in words]
    return sum(fits) >= 2 and all(fit or not digit for fit, digit in zip(fits, digits, strict=True))


def _numbers(words: Sequence[str]) -> Key | None:
    """Numbers and words, none with both."""
    mixed = any(_digits(label) and _plain(label) is None for label in words)
    return None if mixed or any(map(_month, words)) or _month_first(words) else _plain


def _month_first(words: Sequence[str]) -> bool:
    """03.2020 and 12.2019 are no numbers: none begins with a zero."""
    key = _date(_DATES[3])
    return _holds(words, key) and any(label.startswith("0") for label in words)


def _month(label: str) -> bool:
    return _DATES[-1].fullmatch(label) is not None


def _dates(words: Sequence[str]) -> Key | None:
    for pattern in _DATES:
        key = _date(pattern)
        if _holds(words, key):
            # May is a name too
            return key if pattern is not _DATES[-1] or all(map(_month, words)) else None
    both = [_date(pattern) for pattern in _SLASHED]
    held = [key for key in both if _holds(words, key)]
    return held[0] if len(held) == 1 else None


def _date(pattern: re.Pattern[str]) -> Key:
    def key(label: str) -> tuple[int, int, int, str] | None:
        match = pattern.fullmatch(label)
        if match is None:
            return None
        said = match.groupdict()
        month = _MONTH[said["name"].lower()] if said.get("name") else int(said.get("m") or 0)
        return int(said.get("y") or 0), month, int(said.get("d") or 0), said.get("t") or ""

    return key


def _ranges(words: Sequence[str]) -> Key | None:
    """Ranges and numbers with one unit, or with thousands and millions."""
    read = {label: found for label in words if (found := _range(label)) is not None}
    units = {_singular(unit) for _, unit in read.values()} - {""}
    scales = units & set(_TIMES)
    if units - scales and (scales or len(units) > 1):
        return None
    if scales == {"m"} and any(unit == "" and low for (low, _), unit in read.values()):
        return None  # metres, months or millions

    def key(label: str) -> tuple[Decimal, Decimal] | None:
        if label not in read:
            return None
        (low, high), unit = read[label]
        times = Decimal(10) ** _TIMES.get(_singular(unit), 0)
        return low * times, high * times

    return key if _holds(words, key) else None


def _range(label: str) -> tuple[tuple[Decimal, Decimal], str] | None:
    if NUMBER.fullmatch(label):
        return (Decimal(label), Decimal(label)), ""
    found = read_label(label)
    if found is None:
        return None
    (low, high), unit = found
    return (Decimal(repr(low)), Decimal(repr(high))), unit


def _singular(unit: str) -> str:
    return unit.removesuffix("s") if len(unit) > 2 else unit


def _within(words: Sequence[str]) -> Key | None:
    """Numbers within words; those at the beginning only where all the words are the same."""
    other = [label for label in words if _plain(label) is None and _digits(label)]
    shapes = {_ORDINAL.sub("", _WITHIN.sub("#", label)).casefold() for label in other}
    first = [label for label in other if label[0].isdigit()]
    if not other or (first and (len(shapes) > 1 or any(map(read_label, first)))):
        return None

    def key(label: str) -> tuple[Any, ...] | None:
        if (number := _plain(label)) is not None:
            return ("", number)
        texts, numbers = _WITHIN.split(label), map(Decimal, _WITHIN.findall(label))
        rest = [part for pair in zip(numbers, texts[1:], strict=True) for part in pair]
        return (texts[0] or "", *rest)

    return key

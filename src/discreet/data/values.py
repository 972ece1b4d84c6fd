"""Categories that are numbers: the value, or the range of values, that each stands for.

From a codebook or a file, else from the labels: `17`, `10-19`, `10 to under 20`, `$10,001 to
$25,000`, `up to $10,000`, `30+`. Ranges that leave out one unit between them are joined: `10-19`
before `20-29` is 10 to 20.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.look.words import number

if TYPE_CHECKING:
    from discreet.data.codebook import Variable

Range = tuple[float, float]  # low == high: one value; high is inf: open
LISTED = 10
SCALES = {"k", "m", "bn", "thousand", "million", "millions", "billion", "billions"}

_N = r"[$€£]?\s*(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
_UNIT = r"\s*(%|[^\W\d_]*)"
_FORMS = {  # a form of label: where its number or numbers stand
    "both": re.compile(rf"{_N}{_UNIT}\s*(?:-|\u2013|\bto\b|\bto under\b)\s*{_N}{_UNIT}", re.I),
    "below": re.compile(
        rf"(?:up to|under|below|less than|at most|<=|<|\u2264)\s*{_N}{_UNIT}", re.I
    ),
    "above": re.compile(rf"(?:over|above|more than|at least|>=|>|\u2265)\s*{_N}{_UNIT}", re.I),
    "from": re.compile(rf"{_N}{_UNIT}\s*(?:\+|(?:and|or) (?:over|more|above|older)){_UNIT}", re.I),
    "until": re.compile(rf"{_N}{_UNIT}\s*(?:and|or) (?:under|less|below|younger)", re.I),
    "one": re.compile(rf"{_N}{_UNIT}", re.I),
}


@dataclass(frozen=True)
class Values(Unpublished):
    """The range of numbers of each category, and where they come from.

    >>> import discreet as dc
    >>> estate = dc.load("example:estates").variable("Estate")
    >>> values = dc.uncertainty.Values.of(estate, top=100)
    >>> values
    Values(10-19 is 10 to 20, 20-29 is 20 to 30, 30+ is 30 to 100; from the labels)
    >>> values.ranges["20-29"]
    (20.0, 30.0)
    """

    name: str
    ranges: Mapping[str, Range]
    source: str

    @classmethod
    def of(
        cls,
        variable: Variable,
        given: Mapping[str, Any] | str | Path | None = None,
        *,
        top: float | None = None,
    ) -> Values:
        """Of the categories of a variable: as given, or a file; else the codebook's, else labels'.

        `top` is where the open range ends.
        """
        listed = _listed(given, variable)
        coded = {name: (low, high) for name, low, high in variable.values}
        read = _labelled(variable.categories)
        found: dict[str, Range] = {}
        for category in variable.categories:
            said = listed.get(category) or coded.get(category) or read.get(category)
            if said is None:
                raise DataError(
                    f"{category!r} of {variable.name!r} is a label and no number; give each "
                    "category its value in the codebook (values), by --values FILE or values=, or "
                    "ask for entropy, largest or two-sided."
                )
            found[category] = said
        where = {
            str(given) if isinstance(given, str | Path) else "what is given": bool(listed),
            "the codebook": any(c in coded and c not in listed for c in found),
            "the labels": any(c not in coded and c not in listed for c in found),
        }
        source = " and ".join(text for text, used in where.items() if used)
        return cls(variable.name, found, source)._closed(top)

    @property
    def open(self) -> tuple[str, ...]:
        """The categories without an end."""
        return tuple(name for name, (_, high) in self.ranges.items() if math.isinf(high))

    @property
    def points(self) -> bool:
        """Is every category one number?"""
        return all(low == high for low, high in self.ranges.values())

    def _closed(self, top: float | None) -> Values:
        if top is None:
            return self
        if not self.open:
            raise DataError(f"no range of {self.name!r} is open; leave out its top.")
        if len(self.open) > 1:
            raise DataError(
                f"{' and '.join(map(repr, self.open))} of {self.name!r} are both open; give their "
                "ranges."
            )
        low = self.ranges[self.open[0]][0]
        if not (math.isfinite(top) and top > low):
            raise DataError(f"the top is {top:g}; give a number above {low:g}.")
        return Values(self.name, {**self.ranges, self.open[0]: (low, float(top))}, self.source)

    def __str__(self) -> str:
        said = [_words(name, each) for name, each in list(self.ranges.items())[:LISTED]]
        more = len(self.ranges) - LISTED
        return ", ".join(said) + (f", and {more:,} more" if more > 0 else "")

    def __repr__(self) -> str:
        return f"Values({self}; from {self.source})"


def as_range(said: object, what: str) -> Range:
    """A number, or [low, high]; the high end may be infinite.

    >>> as_range(15, "it"), as_range([30, float("inf")], "it")
    ((15.0, 15.0), (30.0, inf))
    """
    listed: Sequence[Any] = said if isinstance(said, list | tuple) else [said, said]
    if len(listed) == 2 and all(type(x) in (int, float) for x in listed):
        low, high = (float(x) for x in listed)
        if math.isfinite(low) and low <= high:
            return low, high
    raise DataError(f"{what} is {said!r}; give a number, or a range [low, high].")


def read_values(path: str | Path) -> dict[str, Range]:
    """A CSV file of category and value, or of category, low and high; an empty high is open."""
    from discreet.data.smallfiles import check_once, read_csv

    read, found = read_csv(path), dict[str, Range]()
    if (width := len(read.heading)) not in (2, 3):
        raise DataError(
            f"{read.name} has {width} columns; it needs category and value, or category, low and "
            "high."
        )
    check_once((row[0] for _, row in read.lines), read.name)
    for at, row in read.lines:
        ends = [math.inf if i and not text else _float(text) for i, text in enumerate(row[1:])]
        ends = ends * (3 - len(ends)) if len(ends) == 1 else ends
        if any(end is None for end in ends):
            raise DataError(f"{at} has {row[1:]} where numbers are needed.")
        found[row[0]] = as_range(ends, at)
    return found


def read_label(text: str) -> tuple[Range, str] | None:
    """The numbers and the unit in a label, or None.

    >>> read_label("$10,001 to $25,000"), read_label("65+ years"), read_label("blond")
    (((10001.0, 25000.0), ''), ((65.0, inf), 'years'), None)
    """
    for form, pattern in _FORMS.items():
        match = pattern.fullmatch(text.strip())
        if match is None:
            continue
        found = [group or "" for group in match.groups()]
        first = float(found[0].replace(",", ""))
        unit = next((u.lower() for u in reversed(found[1:]) if u and not _digits(u)), "")
        if form == "both":
            second = float(found[2].replace(",", ""))
            return ((first, second), unit) if first <= second else None
        if form in ("below", "until"):
            return ((0.0, first), unit) if first > 0 else None
        return ((first, first if form == "one" else math.inf), unit)
    return None


def _labelled(categories: Sequence[str]) -> dict[str, Range]:
    """What the labels say, if all that are numbers have one unit; thousands go with thousands."""
    read = {c: found for c in categories if (found := read_label(c)) is not None}
    units = {unit for _, unit in read.values()}
    if len(units - {""}) > 1 or (len(units) > 1 and units & SCALES):
        return {}
    return _joined({category: ends for category, (ends, _) in read.items()})


def _joined(ranges: dict[str, Range]) -> dict[str, Range]:
    """Ranges that leave out one unit between them: 10-19, 20-29 and 1-10, 11-20 alike."""
    found = dict(ranges)
    order = sorted((c for c in ranges if _wide(ranges[c])), key=lambda c: ranges[c])
    up = False
    for before, after in pairwise(order):
        (low, high), (start, end) = found[before], ranges[after]
        if start - high != 1 or not start.is_integer():
            continue
        if start % 10 == 1 and high % 10 == 0:
            found[after] = (high, end)
        else:
            found[before], up = (low, start), True
    if up and order and not math.isinf(found[order[-1]][1]) and _alike(ranges, order):
        low, high = found[order[-1]]
        found[order[-1]] = (low, high + 1)
    return found


def _alike(ranges: dict[str, Range], order: list[str]) -> bool:
    """Does the last range end as those before it do, one unit below the next?"""
    return all(ranges[b][0] - ranges[a][1] == 1 for a, b in pairwise(order))


def _wide(ends: Range) -> bool:
    return ends[0] < ends[1]


def _listed(given: Mapping[str, Any] | str | Path | None, variable: Variable) -> dict[str, Range]:
    if given is None:
        return {}
    if isinstance(given, str | Path):
        found = read_values(given)
    elif isinstance(given, Mapping):
        found = {str(c): as_range(said, f"the value of {c!r}") for c, said in given.items()}
    else:
        raise DataError(f"values = {given!r} must map each category to a number or a range.")
    if odd := [name for name in found if name not in variable.categories]:
        raise DataError(
            f"values has {odd[0]!r}, which is no category of {variable.name!r}; it has "
            f"{', '.join(variable.categories[:LISTED])}."
        )
    return found


def _words(name: str, ends: Range) -> str:
    low, high = ends
    if low == high:
        return name if name == number(low) else f"{name} is {number(low)}"
    return f"{name} is {number(low)} " + ("or more" if math.isinf(high) else f"to {number(high)}")


def _float(text: str) -> float | None:
    try:
        found = float(text.replace(",", ""))
    except ValueError:
        return None
    return None if math.isnan(found) else found


def _digits(text: str) -> bool:
    return any(letter.isdigit() for letter in text)

"""What the label of a line means: a category, a group of the hierarchy, the total, or a cut."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from discreet.data.codebook import MISSING, Variable
from discreet.data.frames import label as named
from discreet.data.totals import is_total
from discreet.errors import DataError, near
from discreet.sheets.grouping import Grouping, Line

PLAIN = r"-?\d+(?:\.\d+)?"
CUT = re.compile(rf"under ({PLAIN})|({PLAIN}) to under ({PLAIN})|({PLAIN}) and over")


def cut_at(variable: Variable, cuts: Sequence[object]) -> dict[str, list[str]]:
    """Groups of a variable whose categories are numbers; what is missing stays apart.

    >>> cut_at(Variable("Age", ("17", "18", "50")), [18, 50])
    {'under 18': ['17'], '18 to under 50': ['18'], '50 and over': ['50']}
    """
    points = [c for c in cuts if isinstance(c, int | float) and not isinstance(c, bool)]
    if len(points) < len(cuts) or not cuts or any(a >= b for a, b in pairwise(points)):
        raise DataError(
            f"cuts of {variable.name!r} = {list(cuts)!r} must be numbers that rise, like [18, 50]."
        )
    for category in variable.categories:
        if category != MISSING and not re.fullmatch(PLAIN, category):
            raise DataError(
                f"{variable.name!r} cannot be cut, for its category {category!r} is no number; "
                "name groups of categories."
            )
    ends = [named(float(point)) for point in points]
    names = [f"under {ends[0]}", *(f"{a} to under {b}" for a, b in pairwise(ends))]
    found = {}
    for name in (*names, f"{ends[-1]} and over"):
        codes = _between(variable, name)
        if not codes:
            raise DataError(
                f"no category of {variable.name!r} is {name}; leave out that cut, or move it."
            )
        found[name] = [variable.categories[code] for code in sorted(codes)]
    if MISSING in variable.categories:
        found[MISSING] = [MISSING]
    return found


def line_of(every: Grouping, label: str) -> Line | None:
    """The line that a label names by itself, where every line of its variable is known.

    >>> age = Grouping.of(Variable("Age", ("17", "18", "50")))
    >>> [sorted(line_of(age, name).codes) for name in ("18", "All", "18 and over")]
    [[1], [0, 1, 2], [1, 2]]
    """
    found = every.lines[every.places[label]] if label in every.places else None
    if found is None and is_total(label):
        found = Line(label, frozenset(range(every.variable.size)))
    if found is None and (codes := _between(every.variable, label)):
        found = Line(label, codes, 1)
    return found


def lines_of(variable: Variable, labels: Iterable[str], where: str) -> tuple[Line, ...]:
    """The same for all labels of a table; one that means nothing is refused."""
    every, found = Grouping.of(variable), []
    for label in labels:
        line = line_of(every, label)
        if line is None:
            raise DataError(
                f"{where} has the line {label!r}, which is no category or group of "
                f"{variable.name!r}; {near(label, every.labels)}"
            )
        found.append(line)
    return tuple(found)


def _between(variable: Variable, label: str) -> frozenset[int]:
    """The categories in `18 to under 50`; none if the label is no cut."""
    match = CUT.fullmatch(label)
    if match is None:
        return frozenset()
    below, low, high, above = match.groups()
    least = float(low or above or -math.inf)
    most = float(below or high or math.inf)
    return frozenset(
        code
        for code, category in enumerate(variable.categories)
        if re.fullmatch(PLAIN, category) and least <= float(category) < most
    )

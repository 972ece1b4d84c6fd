"""Which values of a variable a client wants: codes, patterns, and the expressions of PxWebApi 2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from discreet.errors import DisclosureError

Selection = Sequence[str]  # codes, patterns such as A*, or expressions such as top(3)
EXPRESSION = re.compile(r"(top|bottom|range|from|to)\(([^()]*)\)", re.IGNORECASE)


def places(selection: Selection, values: Sequence[str]) -> list[int]:
    """Where the wanted values stand, each once, in the order of the variable.

    >>> places(["top(2)", "d*"], ["a", "b", "c", "d1", "d2"])
    [0, 1, 3, 4]
    >>> places(["range(b,c)", "bottom(1)"], ["a", "b", "c", "d"])
    [1, 2, 3]
    """
    found = {place for one in selection for place in _places(one.strip(), values)}
    if not found:
        raise DisclosureError("a selection names no value; name one, or * for all.")
    return sorted(found)


def _places(one: str, values: Sequence[str]) -> Iterable[int]:
    if one in values:
        return [values.index(one)]
    if (expression := EXPRESSION.fullmatch(one)) is not None:
        return _expressed(expression[1].lower(), expression[2].split(","), values)
    fits = [i for i, v in enumerate(values) if fnmatchcase(v, one.replace("[", "[[]"))]
    if not fits:
        raise DisclosureError(
            f"there is no value {one[:60]!r}; there are {', '.join(values[:10])}"
            f"{', ...' if len(values) > 10 else ''}."
        )
    return fits


def _expressed(word: str, arguments: list[str], values: Sequence[str]) -> Iterable[int]:
    if word in ("top", "bottom"):
        number, offset = (_number(a) for a in [*arguments, "0"][:2])
        every = range(len(values))
        return (
            every[offset : offset + number]
            if word == "top"
            else every[max(0, len(values) - offset - number) : len(values) - offset]
        )
    ends = [_place(argument.strip(), values) for argument in arguments]
    if len(ends) != (2 if word == "range" else 1):
        raise DisclosureError(f"{word}() has {len(ends)} values; range has two, from and to one.")
    first = ends[0] if word in ("range", "from") else 0
    last = ends[-1] if word in ("range", "to") else len(values) - 1
    return range(first, last + 1)


def _number(text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,9}\s*", text):
        raise DisclosureError(f"{text[:20]!r} is no number of values.")
    return int(text)


def _place(code: str, values: Sequence[str]) -> int:
    if code not in values:
        raise DisclosureError(
            f"there is no value {code[:60]!r}; there are {', '.join(values[:10])}."
        )
    return values.index(code)


def from_query(pairs: Iterable[tuple[str, str]], word: str) -> dict[str, list[str]]:
    """`valueCodes[Region]=a,b` of an address, in whatever capitals.

    >>> from_query([("valuecodes[A]", "x,range(1,2)"), ("valueCodes[B]", "*")], "valuecodes")
    {'A': ['x', 'range(1,2)'], 'B': ['*']}
    """
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        name = re.fullmatch(rf"{word}\[(.*)\]", key, re.IGNORECASE)
        if name is not None:
            parts = [part for part in re.split(r",(?![^(]*\))", value) if part.strip()]
            found.setdefault(name[1], []).extend(part.strip() for part in parts)
    return found


def check_known(named: Iterable[str], known: Sequence[str]) -> None:
    """Every variable that is named is one of the table."""
    for name in named:
        if name not in known:
            raise DisclosureError(
                f"the table has no variable {name[:60]!r}; it has {', '.join(known)}."
            )


def without(wanted: Mapping[str, list[str]], name: str) -> dict[str, list[str]]:
    return {code: values for code, values in wanted.items() if code != name}

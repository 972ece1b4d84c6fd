"""Which values of a variable a client wants: codes, patterns, and the expressions of PxWebApi 2."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from discreet.errors import DisclosureError

Selection = Sequence[str]  # codes, patterns such as A*, or expressions such as top(3)
MOST_VARIABLES, MOST_VALUES = 200, 20_000  # that a selection names; values of one variable
MOST_PATTERNS = 50  # of one variable: each is held against all of its values
LONGEST = 200  # characters of a pattern
PARENTHESIS = re.compile(r"[()]")
EXPRESSION = re.compile(r"(top|bottom|range|from|to)\(([^()]*)\)", re.IGNORECASE)


def places(selection: Selection, values: Sequence[str]) -> list[int]:
    """Where the wanted values stand, each once, in the order of the variable.

    >>> places(["top(2)", "d*"], ["a", "b", "c", "d1", "d2"])
    [0, 1, 3, 4]
    >>> places(["range(b,c)", "bottom(1)"], ["a", "b", "c", "d"])
    [1, 2, 3]
    """
    place = {value: i for i, value in enumerate(values)}
    wanted = dict.fromkeys(one.strip() for one in selection)
    many = [one for one in wanted if one not in place]
    found = {place[one] for one in wanted if one in place}
    if len(many) > MOST_PATTERNS:
        raise DisclosureError(
            f"a selection has {len(many):,} patterns and expressions, or values that are not "
            f"there; write {MOST_PATTERNS} at most, and name other values by their codes."
        )
    for one in many:
        found.update(_places(one, values, place))
    if not found:
        raise DisclosureError("a selection names no value; name one, or * for all.")
    return sorted(found)


def _places(one: str, values: Sequence[str], place: Mapping[str, int]) -> Iterable[int]:
    """Of an expression or a pattern."""
    if (expression := EXPRESSION.fullmatch(one)) is not None:
        return _expressed(expression[1].lower(), expression[2].split(","), place)
    if len(one) > LONGEST:
        raise DisclosureError(f"a pattern has {len(one):,} characters; write {LONGEST} at most.")
    fits = [i for i, v in enumerate(values) if fnmatchcase(v, one.replace("[", "[[]"))]
    if not fits:
        raise DisclosureError(f"there is no value {one[:60]!r}; {_there_are(values)}")
    return fits


def _expressed(word: str, arguments: list[str], place: Mapping[str, int]) -> Iterable[int]:
    if word in ("top", "bottom"):
        number, offset = (_number(a) for a in [*arguments, "0"][:2])
        every = range(len(place))
        return (
            every[offset : offset + number]
            if word == "top"
            else every[max(0, len(place) - offset - number) : len(place) - offset]
        )
    if len(arguments) != (2 if word == "range" else 1):
        raise DisclosureError(
            f"{word}() has {len(arguments)} values; range has two, from and to one."
        )
    ends = [_place(argument.strip(), place) for argument in arguments]
    first = ends[0] if word in ("range", "from") else 0
    last = ends[-1] if word in ("range", "to") else len(place) - 1
    return range(first, last + 1)


def _number(text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,9}\s*", text):
        raise DisclosureError(f"{text[:20]!r} is no number of values.")
    return int(text)


def _place(code: str, place: Mapping[str, int]) -> int:
    if code not in place:
        raise DisclosureError(f"there is no value {code[:60]!r}; {_there_are(tuple(place))}")
    return place[code]


def _there_are(values: Sequence[str]) -> str:
    return f"there are {', '.join(values[:10])}{', ...' if len(values) > 10 else ''}."


def from_query(pairs: Iterable[tuple[str, str]], word: str) -> dict[str, list[str]]:
    """`valueCodes[Region]=a,b` of an address, in whatever capitals.

    >>> from_query([("valuecodes[A]", "x,range(1,2)"), ("valueCodes[B]", "*")], "valuecodes")
    {'A': ['x', 'range(1,2)'], 'B': ['*']}
    """
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        name = re.fullmatch(rf"{word}\[(.*)\]", key, re.IGNORECASE)
        if name is not None:
            parts = [part.strip() for part in _parts(value)]
            found.setdefault(name[1], []).extend(part for part in parts if part)
    return found


def _parts(text: str) -> list[str]:
    """A list with commas; those within parentheses do not separate. From the end, in one pass."""
    found, together, inside = list[str](), list[str](), False
    for piece in reversed(text.split(",")):
        if together and not inside:
            found.append(",".join(reversed(together)))
            together = []
        together.append(piece)
        if (parenthesis := PARENTHESIS.search(piece)) is not None:
            inside = parenthesis[0] == ")"
    return [",".join(reversed(together)), *reversed(found)]


def check_known(named: Iterable[str], known: Sequence[str]) -> None:
    """Every variable that is named is one of the table."""
    every = frozenset(known)
    for name in named:
        if name not in every:
            raise DisclosureError(
                f"the table has no variable {name[:60]!r}; it has {', '.join(known)}."
            )


def without(wanted: Mapping[str, list[str]], name: str) -> dict[str, list[str]]:
    return {code: values for code, values in wanted.items() if code != name}

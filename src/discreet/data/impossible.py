"""What the custodian states that nobody can be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from discreet.data.frames import label
from discreet.errors import CodebookError

NONE = "none"
NEXT = re.compile(r",\s*(?=[^,=]+=)")  # a comma within a category stays there


@dataclass(frozen=True)
class Impossible:
    """Combinations of categories, several of a variable for each of them; `find` others too.

    >>> Impossible.of([{"Sex": "male", "Births": ["1", "2"]}]).stated
    ({'Sex': ('male',), 'Births': ('1', '2')},)
    >>> Impossible.of("none").find
    False
    """

    stated: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    find: bool = True

    @classmethod
    def of(cls, given: object) -> Impossible:
        """`"none"`, or a list of mappings from variables to categories."""
        if isinstance(given, Impossible):
            return given
        if given is None:
            return cls()
        if isinstance(given, str) or not isinstance(given, Iterable) or isinstance(given, Mapping):
            listed: list[object] = [given]
        else:
            listed = list(given)
        rest = [each for each in listed if each != NONE]
        return cls(tuple(map(_stated, rest)), len(rest) == len(listed))

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Impossible:
        """Each `none`, or `Age50=<50, Age51=51+`."""
        return cls.of([NONE if text.strip() == NONE else _parsed(text) for text in texts])

    def __add__(self, other: Impossible) -> Impossible:
        return Impossible((*self.stated, *other.stated), self.find and other.find)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for combination in self.stated for name in combination))


def _stated(given: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(given, Mapping) or len(given) < 2:
        raise CodebookError(
            f"impossible = {given!r} must give the categories of two variables or more, as in "
            '{Sex = "male", Pregnant = "yes"}, or be "none".'
        )
    return {str(name): _labels(value) for name, value in given.items()}


def _labels(value: object) -> tuple[str, ...]:
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return tuple(map(label, value))
    return (label(value),)


def _parsed(text: str) -> Mapping[str, str]:
    parts = [part.partition("=") for part in NEXT.split(text)]
    if len(parts) < 2 or not all(name.strip() and says for name, says, _ in parts):
        raise CodebookError(
            f"impossible {text!r} must give the categories of two variables or more, as in "
            '"Sex=male, Pregnant=yes", or be none.'
        )
    if len({name.strip() for name, _, _ in parts}) < len(parts):
        raise CodebookError(f"impossible {text!r} names a variable twice; name it once.")
    return {name.strip(): category.strip() for name, _, category in parts}

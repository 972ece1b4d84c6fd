"""Settings as TOML files and policies say them: what a key may be, and how it is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import Any, NoReturn

from discreet.data.smallfiles import first_twice
from discreet.errors import DataError, DisclosureError, near


class Keys:
    """A table of settings, read key by key; one that it may not have is refused.

    >>> keys = Keys({"keep": 0.9}, {"keep", "seed"}, "[keys.sex]", "in")
    >>> keys.number("keep", most=1), keys.whole("seed", 0)
    (0.9, 0)
    >>> Keys({"kepe": 0.9}, {"keep", "seed"}, "[keys.sex]")
    Traceback (most recent call last):
    discreet.errors.DataError: [keys.sex] has 'kepe', which is not known; did you mean 'keep'?
    """

    def __init__(self, said: Any, known: Collection[str], where: str, link: str = "of") -> None:
        only(said, known, where)
        self.said: Mapping[str, Any] = said
        self.where, self._link = where, link

    def __contains__(self, key: str) -> bool:
        return key in self.said

    def get(self, key: str, default: Any = None) -> Any:
        return self.said.get(key, default)

    def what(self, key: str) -> str:
        """The key and where it stands."""
        return f"{key} {self._link} {self.where}"

    def refuse(self, key: str, need: str) -> NoReturn:
        raise DataError(f"{self.what(key)} is {self.get(key)!r}; {need}.")

    def number(self, key: str, default: object = None, **ends: float) -> float:
        return number(self.get(key, default), self.what(key), **ends)

    def numbers(self, key: str, default: object = None) -> tuple[float, ...]:
        given = self.get(key, default)
        if not isinstance(given, list):
            self.refuse(key, "give a list of numbers")
        return tuple(number(one, f"a number of {self.what(key)}") for one in given)

    def whole(self, key: str, default: int, least: int = 0) -> int:
        given = default if self.get(key) is None else self.get(key)
        if type(given) is not int or given < least:
            self.refuse(key, f"give a whole number from {least} on")
        return given

    def flag(self, key: str, default: bool = False) -> bool:
        given = self.get(key, default)
        if not isinstance(given, bool):
            self.refuse(key, "write true or false")
        return given

    def choice(self, key: str, choices: Collection[str], default: str | None = None) -> str:
        given = self.get(key, default)
        if not isinstance(given, str) or given not in choices:
            self.refuse(key, f"write one of {', '.join(choices)}")
        return given

    def text(self, key: str, need: str) -> str | None:
        given = self.get(key)
        if given is not None and not isinstance(given, str):
            self.refuse(key, need)
        return given

    def texts(self, key: str, default: object = (), of: str = "texts") -> tuple[str, ...]:
        given = self.get(key, default)
        if not isinstance(given, list | tuple) or not all(isinstance(one, str) for one in given):
            self.refuse(key, f"give a list of {of}")
        return tuple(given)

    def listed(self, key: str) -> list[Any]:
        given = self.get(key, [])
        if not isinstance(given, list):
            self.refuse(key, "give a list")
        return given

    def table(self, key: str, need: str = "write it as a table") -> dict[str, Any]:
        """Empty where it is not there."""
        given = self.get(key, {})
        if not isinstance(given, dict):
            self.refuse(key, need)
        return given

    def column(self, key: str = "column") -> str:
        """The name of a column, which must be there."""
        if not isinstance(self.get(key), str):
            raise DataError(f"{self.where} names no column; write {key} = NAME.")
        return str(self.get(key))

    def tables(self, key: str, default: object = None, path: str = "") -> list[tuple[str, Any]]:
        """What [[KEY]] says, one or more if there is no default, each with its place."""
        given, one = self.get(key, default), key.removesuffix("s")
        if not isinstance(given, list) or (not given and given is not default):
            raise DataError(f"{self.where} has no {one}; write a table [[{path}{key}]] for each.")
        return [(f"{one} {place} of {self.where}", said) for place, said in enumerate(given, 1)]


def only(
    content: object,
    known: Collection[str],
    where: str,
    error: type[DisclosureError] = DataError,
) -> None:
    """Refuse what is not known."""
    if not isinstance(content, Mapping):
        raise error(f"{where} must be a table.")
    if odd := sorted(set(content) - set(known)):
        hint = near(odd[0], sorted(known), "it may have", len(known))
        raise error(f"{where} has {odd[0]!r}, which is not known; {hint}")


def number(
    value: object,
    what: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if right and math.isfinite(value) and least <= value <= most and above < value < below:  # type: ignore[arg-type,operator]
        return float(value)  # type: ignore[arg-type]
    ends = [f"from {least:g}" * (least > -math.inf), f"above {above:g}" * (above > -math.inf)]
    ends += [f"up to {most:g}" * (most < math.inf), f"below {below:g}" * (below < math.inf)]
    raise DataError(
        f"{what} is {value!r}; give a number {' '.join(filter(None, ends))}".rstrip() + "."
    )


def check_called_apart(names: Iterable[str], what: str) -> None:
    if (twice := first_twice(names)) is not None:
        raise DataError(f"two {what} are called {twice!r}; give each a name.")


def key(
    default: Any, says: str, *, least: float = 0, most: float | None = None, **more: Any
) -> Any:
    """A key of a policy's section: its default, what it means, and the range of its values."""
    return field(default=default, metadata={"says": says, "least": least, "most": most, **more})


def flattened(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables in tables as `section.key`."""
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            flat |= flattened(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def as_toml(value: Any) -> str:
    """A value as a policy file writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(as_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)

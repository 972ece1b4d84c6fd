"""Options of masks: what kind of value each takes, from its annotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from discreet.errors import OptionError

KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list",
    Sequence: "a list",
    Mapping: "a table of keys",
}


def check_kind(what: str, value: object, annotation: Any) -> None:
    """Refuse a value of another kind than the annotation of an option says.

    >>> check_kind("copies of synthesise", "many", int)
    Traceback (most recent call last):
    discreet.errors.OptionError: copies of synthesise is 'many'; give a whole number.
    """
    union = get_origin(annotation) in (Union, UnionType)
    parts = get_args(annotation) if union else (annotation,)
    kinds = [get_origin(part) or part for part in parts]
    if isinstance(value, bool):
        fits = bool in kinds
    elif value is None:
        fits = NoneType in kinds
    else:
        fits = any(isinstance(value, _classes(kind)) for kind in kinds)
    if not fits:
        said = " or ".join(dict.fromkeys(KINDS[kind] for kind in kinds if kind is not NoneType))
        raise OptionError(f"{what} is {value!r}; give {said}.")


def _classes(kind: Any) -> Any:
    """A whole number is a number, and one name is a list of names."""
    return {float: (int, float), tuple: Sequence}.get(kind, kind)

"""What became of the variables and categories of an older state of the same data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

from discreet.data.settings import only
from discreet.errors import CodebookError
from discreet.look.result import Shown


@dataclass(frozen=True)
class Previous(Shown):
    """Names that are not those of the older state, as the codebook states them.

    `variables`: of a variable its older name, or "" where there was none. `categories`: of a
    category of a variable the older ones that it comes from, none where it is new. `ended` are the
    older variables that are not here, and `ended_categories` those of a variable, by its name here.

    >>> said = {"variables": {"City": "Town"}, "categories": {"City": {"Ash N": "Ash", "Elm": ""}}}
    >>> Previous.of(said).categories
    {'City': {'Ash N': ('Ash',), 'Elm': ()}}
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    ended: tuple[str, ...] = ()
    ended_categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, content: object) -> Previous:
        known = [part.name for part in fields(cls)]
        only(content, known, "previous", CodebookError)
        assert isinstance(content, Mapping)
        variables: dict[str, str] = {}
        for name, older in _table("variables of previous", content.get("variables", {})).items():
            if not isinstance(older, str):
                raise CodebookError(
                    f'{name} = {older!r} in variables of previous must be its older name, or "". '
                    "What was several variables is served as several again."
                )
            variables[name] = older
        merged = _table("categories of previous", content.get("categories", {}))
        gone = _table("ended_categories of previous", content.get("ended_categories", {}))
        return cls(
            variables,
            {
                name: {
                    str(category): _names(f"{category} in categories of previous", older)
                    for category, older in _table(f"{name} in categories of previous", own).items()
                }
                for name, own in merged.items()
            },
            _names("ended of previous", content.get("ended", ())),
            {n: _names(f"{n} in ended_categories of previous", own) for n, own in gone.items()},
        )


def _table(what: str, content: object) -> dict[str, object]:
    if not isinstance(content, Mapping):
        raise CodebookError(f"{what} = {content!r} must be a table.")
    return {str(name): value for name, value in content.items()}


def _names(what: str, given: object) -> tuple[str, ...]:
    """One name, none ("" or an empty list) or several."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Iterable) or not all(isinstance(name, str) for name in listed):
        raise CodebookError(f"{what} = {given!r} must be a name, or a list of names.")
    return tuple(name for name in listed if name)

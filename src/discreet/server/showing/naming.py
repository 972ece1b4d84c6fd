"""Data sets, variables, slices and levels as they stand in addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

from discreet.errors import DisclosureError
from discreet.server.showing.catalogue import Overview


def dataset_address(slug: str) -> str:
    return f"/api/v1/datasets/{quote(slug, safe='')}"


def margin_path(names: Iterable[str]) -> str:
    """Variables as they stand in an address.

    >>> margin_path(["Age group", "A/B", "C"])
    'Age%20group*A%2FB*C'
    """
    return "*".join(quote(name, safe="") for name in names)


def table_address(slug: str, names: Iterable[str]) -> str:
    return f"{dataset_address(slug)}/tables/{margin_path(names)}"


def perturbed_data(slug: str, number: int, names: Iterable[str]) -> str:
    """Where a perturbed table is, that keeps what was out after an entry."""
    return f"{dataset_address(slug)}/perturbed/{number}/{margin_path(names)}"


def chosen(overview: Overview, names: Sequence[str]) -> tuple[str, ...]:
    """The variables in the order of the table; each must be one, and stand once."""
    known, seen = set(overview.names), set[str]()
    for name in names[: len(known) + 1]:
        if name not in known:
            raise DisclosureError(
                f"{overview.slug} has no variable {_short(name)}; it has "
                f"{', '.join(overview.names)}."
            )
        if name in seen:
            raise DisclosureError(f"the variable {_short(name)} is named twice; name it once.")
        seen.add(name)
    return overview.ordered(names)


def read_margin(overview: Overview, text: str) -> tuple[str, ...]:
    """Variables from an address: `Age%20group*Race`, or with the stars percent-encoded too."""
    names = [unquote(part) for part in text.split("*")]
    if not set(names) <= set(overview.names):
        names = unquote(text).split("*")
    return chosen(overview, names)


def read_where(overview: Overview, parts: Iterable[str]) -> dict[str, str]:
    """Categories from `Race:White`, one a variable."""
    where: dict[str, str] = {}
    for part in parts:
        fits = [name for name in overview.names if part.startswith(f"{name}:")]
        if not fits:
            raise DisclosureError(
                f"where = {_short(part)} must be VARIABLE:CATEGORY, with a variable of "
                f"{', '.join(overview.names)}."
            )
        valid = [n for n in fits if part[len(n) + 1 :] in overview.categories(n)]
        name = max(valid or fits, key=len)
        if not valid:
            raise DisclosureError(
                f"{name} has no category {_short(part[len(name) + 1 :])}; it has "
                f"{', '.join(overview.categories(name))}."
            )
        if name in where:
            raise DisclosureError(f"where names {name} twice; name it once.")
        where[name] = part[len(name) + 1 :]
    return where


def read_levels(overview: Overview, parts: Iterable[str]) -> dict[str, int]:
    """How far categories are merged, from `Town:1`, one a variable; 0 is not at all."""
    levels: dict[str, int] = {}
    for part in parts:
        name, _, level = part.rpartition(":")
        if name not in overview.names or not (level.isascii() and level.isdigit()):
            raise DisclosureError(
                f"level = {_short(part)} must be VARIABLE:NUMBER, with a variable of "
                f"{', '.join(overview.names)}."
            )
        if name in levels:
            raise DisclosureError(f"level names {name} twice; name it once.")
        levels[name] = int(level.lstrip("0")[:4] or 0)
    return {name: level for name, level in levels.items() if level}


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")

"""A data set in words: from its codebook into the ledger, and from there to everybody.

    {"universe": ..., "notes": [...], "source": ..., "period": ..., "contact": ..., "licence": ...,
     "variables": {"Town": {"title": ..., "description": ..., "unit": ..., "within": "Region",
                            "levels": [["North", "North", "South"]],
                            "map": {"width": ..., "height": ..., "paths": {"Ash": "M0 0l..."}}}}}

What there is nothing to say about is left out. All of it is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from discreet.data.codebook import Codebook, Entry, Variable
from discreet.data.describing import About
from discreet.server.showing.areas import Areas, read_areas
from discreet.table.table import Table


@dataclass(frozen=True)
class VariableWords:
    """A variable as readers see it.

    `levels`: ever coarser groupings of its categories, each a group for every category; `within`:
    the variable that is a coarser coding of it.
    """

    title: str | None = None
    description: str | None = None
    unit: str | None = None
    within: str | None = None
    levels: tuple[tuple[str, ...], ...] = ()
    map: Areas | None = None


@dataclass(frozen=True)
class Words:
    """What the ledger says of a data set in words."""

    about: About = field(default_factory=About)
    variables: Mapping[str, VariableWords] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, Any] | None) -> Words:
        """From what the ledger keeps."""
        said = said or {}
        about = {key: value for key, value in said.items() if key != "variables"}
        return cls(
            About(**about | {"notes": tuple(about.get("notes", ()))}),
            {name: _read(one) for name, one in said.get("variables", {}).items()},
        )

    def variable(self, name: str) -> VariableWords:
        return self.variables.get(name, VariableWords())

    def title(self, name: str) -> str:
        """What a variable is called on pages.

        >>> Words.of({"variables": {"A": {"title": "Smoker"}}}).title("A")
        'Smoker'
        """
        return self.variable(name).title or name


def describe(codebook: Codebook | str | Path | None, table: Table) -> dict[str, Any] | None:
    """What a codebook says in words of a table, for the ledger; None if it says nothing."""
    if codebook is None:
        return None
    book = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    said: dict[str, Any] = _said(asdict(book.about))
    variables = {
        variable.name: one
        for variable in table.variables
        if (one := _variable(variable, book.entry(variable.name), table.names))
    }
    return said | ({"variables": variables} if variables else {}) or None


def _variable(variable: Variable, entry: Entry, names: tuple[str, ...]) -> dict[str, Any]:
    levels = variable.hierarchy.levels(variable.categories) if variable.hierarchy else ()
    areas = None
    if entry.map is not None:
        areas = read_areas(entry.map, entry.map_key, variable.name, variable.categories)
    return _said(
        {
            "title": entry.title,
            "description": entry.description,
            "unit": entry.unit,
            "within": entry.within if entry.within in names else None,
            "levels": [list(level) for level in levels],
            "map": None if areas is None else areas.to_dict(),
        }
    )


def _read(said: Mapping[str, Any]) -> VariableWords:
    levels = tuple(tuple(level) for level in said.get("levels", ()))
    areas = Areas(**said["map"]) if "map" in said else None
    return VariableWords(**{**said, "levels": levels, "map": areas})


def _said(content: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is empty; tuples as lists, as JSON has them."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in content.items()
        if value
    }

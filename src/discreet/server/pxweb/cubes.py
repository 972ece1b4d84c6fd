"""Tables under the ids and codes that PxWeb's clients use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.server.formats.codes import codes
from discreet.server.pxweb.selecting import Selection, places
from discreet.server.services import Services
from discreet.server.showing.catalogue import NotPublished, Overview, Published

CONTENTS = "ContentsCode"  # what PxWeb calls the variable of what is counted
COUNT = "count"
MOST_CELLS = 1_000_000


def table_id(data: Overview, names: Sequence[str]) -> str:
    """A table's id: the data set, then a code for each variable.

    It can stand in an address as it is.
    """
    known = dict(zip(data.names, variable_codes(data), strict=True))
    return ".".join([data.slug, *(known[name] for name in names)])


def codelist_id(data: Overview, name: str, level: int) -> str:
    """Of a coarser coding of a variable."""
    return f"agg_{table_id(data, [name])}.{level}"


def variable_codes(data: Overview) -> tuple[str, ...]:
    """Of all variables of a data set; none is that of the contents."""
    return codes([CONTENTS, *data.names])[1:]


@dataclass(frozen=True)
class Cube:
    """A published table with its codes."""

    table: Published

    @property
    def codes(self) -> tuple[str, ...]:
        known = dict(zip(self.data.names, variable_codes(self.data), strict=True))
        return tuple(known[name] for name in self.table.names)

    @property
    def data(self) -> Overview:
        return self.table.dataset

    @property
    def values(self) -> tuple[tuple[str, ...], ...]:
        """The codes of the categories of each variable."""
        return tuple(
            tuple(code for code, label in zip(codes(whole), whole, strict=True) if label in shown)
            for whole, shown in zip(self._whole(), map(set, self.table.categories), strict=True)
        )

    def _whole(self) -> list[tuple[str, ...]]:
        """All categories, also where some were picked: a code does not depend on the others."""
        found = []
        for name in self.table.names:
            level = self.table.levels.get(name)
            whole = (
                self.data.categories(name)
                if level is None
                else tuple(dict.fromkeys(self.data.grouping(name, level)))
            )
            found.append(whole)
        return found

    @property
    def title(self) -> str:
        return f"{self.data.title}: {' by '.join(self.table.titles)}"

    @property
    def id(self) -> str:
        return table_id(self.data, self.table.names)


def cube_of(services: Services, id: str) -> Cube:
    """The table of an id; it must be out."""
    slug, *parts = id.removesuffix(".px").split(".")
    return cube(services, slug, parts)


def cube(services: Services, slug: str, parts: Sequence[str]) -> Cube:
    data = services.catalogue.dataset(slug)
    known = dict(zip(variable_codes(data), data.names, strict=True))
    names = [known[part] for part in parts if part in known]
    if not parts or len(names) < len(set(parts)):
        raise NotPublished(f"there is no table {'.'.join([slug, *parts])[:200]}.")
    return Cube(services.catalogue.published(slug, names))


def level_of(services: Services, id: str) -> tuple[Overview, str, int]:
    """The data set, the variable and the level of a code list."""
    parts = id.removeprefix("agg_").split(".")
    if len(parts) == 3 and id.startswith("agg_") and parts[2].isascii() and parts[2].isdigit():
        data = services.catalogue.dataset(parts[0])
        known = dict(zip(variable_codes(data), data.names, strict=True))
        level = int(parts[2][:4])
        if parts[1] in known and 1 <= level <= len(data.words.variable(known[parts[1]]).levels):
            return data, known[parts[1]], level
    raise NotPublished(f"there is no code list {id[:200]!r}.")


def selected(cube: Cube, wanted: Mapping[str, Selection], levels: Mapping[str, int]) -> Cube:
    """Some values of some variables; a variable that is not named is summed over.

    `levels`: variables by a coarser coding.
    """
    merged = Cube(cube.table.merged(levels))
    picked = {
        name: places(selection, values)
        for name, code, values in zip(merged.table.names, merged.codes, merged.values, strict=True)
        if (selection := wanted.get(code)) is not None
    }
    kept = [name for name in merged.table.names if name in picked or name in levels]
    return Cube(_summed(merged.table.picked(picked), kept))


def _summed(table: Published, kept: Sequence[str]) -> Published:
    rest = tuple(axis for axis, name in enumerate(table.names) if name not in kept)
    return replace(table, names=tuple(kept), counts=table.counts.sum(rest), part=bool(rest))

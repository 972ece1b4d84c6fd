"""Where a table stands: under its variables, or under the entry of the ledger that published it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from discreet.server.showing.catalogue import Published
from discreet.server.showing.naming import margin_path

Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class Place:
    """`entry`: the number of the entry, and the variables of its table."""

    slug: str
    entry: tuple[int, tuple[str, ...]] | None = None

    def page(self, names: Sequence[str], where: Mapping[str, str], more: Pairs = ()) -> str:
        """The address of the page.

        >>> Place("czech").page(["A", "Age group"], {"B": "yes"})
        '/d/czech/t/A*Age%20group?where=B%3Ayes'
        >>> Place("czech", (4, ("A", "B"))).page(["A"], {"B": "yes"}, [("show", "row")])
        '/d/czech/e/4?where=B%3Ayes&show=row'
        """
        return self._at(f"/d/{quote(self.slug, safe='')}", names, where, more, "t", "e")

    def data(self, names: Sequence[str], where: Mapping[str, str], more: Pairs = ()) -> str:
        """Its twin in the API."""
        api = f"/api/v1/datasets/{quote(self.slug, safe='')}"
        return self._at(api, names, where, more, "tables", "entries")

    def _at(
        self,
        base: str,
        names: Sequence[str],
        where: Mapping[str, str],
        more: Pairs,
        margins: str,
        entries: str,
    ) -> str:
        query = [("where", f"{name}:{category}") for name, category in where.items()]
        if self.entry is None:
            path = f"{base}/{margins}/{margin_path(names)}"
        else:
            number, whole = self.entry
            path = f"{base}/{entries}/{number}"
            if set(whole) != {*names, *where}:
                query = [*(("v", name) for name in names), *query]
        query = [*more, *query] if self.entry is None and margins == "tables" else [*query, *more]
        return path + (f"?{urlencode(query)}" if query else "")


def levels_of(table: Published) -> list[tuple[str, str]]:
    return [("level", f"{name}:{level}") for name, level in table.levels.items()]

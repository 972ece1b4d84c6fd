"""Hierarchies of categories: each code and the parent it can be merged into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.data.smallfiles import read_csv
from discreet.errors import CodebookError
from discreet.look.result import Shown


@dataclass(frozen=True)
class Hierarchy(Shown):
    """A forest over categories, as (code, parent) pairs.

    >>> tree = Hierarchy.of({"Black": "Other", "Chinese": "Other"})
    >>> tree.levels(("White", "Black", "Chinese"))
    (('White', 'Other', 'Other'),)
    """

    pairs: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        parents = dict(self.pairs)
        if len(parents) < len(self.pairs):
            codes = [code for code, _ in self.pairs]
            twice = next(code for code in codes if codes.count(code) > 1)
            raise CodebookError(f"the hierarchy gives {twice!r} two parents; keep one of them.")
        for code in parents:
            seen = {code}
            while code in parents:
                code = parents[code]
                if code in seen:
                    raise CodebookError(
                        f"the hierarchy goes round in a circle at {code!r}; cut it there."
                    )
                seen.add(code)

    @classmethod
    def of(cls, parents: Mapping[str, str] | Iterable[tuple[str, str]]) -> Hierarchy:
        pairs = parents.items() if isinstance(parents, Mapping) else parents
        try:
            return cls(tuple((str(code), str(parent)) for code, parent in pairs))
        except (TypeError, ValueError):
            raise CodebookError(
                f"a hierarchy maps each code to its parent, not {parents!r}."
            ) from None

    @classmethod
    def read(cls, path: str | Path) -> Hierarchy:
        """A CSV file with the columns code and parent."""
        found = read_csv(path, "the hierarchy ", CodebookError)
        if {"code", "parent"} - set(found.heading):
            raise CodebookError(f"{found.name} needs the columns code and parent.")
        return cls.of([(row["code"], row["parent"]) for _, row in found.rows() if row["parent"]])

    def of_codes(self, named: Iterable[tuple[str, str]]) -> Hierarchy:
        """The same for codes, each beside the category that it stands for.

        >>> Hierarchy.of({"lung": "cancer", "skin": "cancer"}).of_codes([("1", "lung")])
        Hierarchy(pairs=(('1', 'cancer'),))
        """
        above, named = dict(self.pairs), list(named)
        groups = {*above.values()}
        if odd := sorted(code for code, text in named if code != text and code in groups):
            raise CodebookError(
                f"{odd[0]!r} is a code and a group of the hierarchy; name the group otherwise."
            )
        own = [(code, above[text]) for code, text in named if text in above]
        between = [(code, parent) for code, parent in self.pairs if code in groups]
        return Hierarchy.of(list(dict.fromkeys([*between, *own])))

    def levels(self, categories: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        """Ever coarser groupings of `categories`, finest first, down to two groups."""
        parents = dict(self.pairs)
        found: list[tuple[str, ...]] = []
        current = tuple(categories)
        while True:
            coarser = tuple(parents.get(code, code) for code in current)
            if coarser == current or len(set(coarser)) < 2:
                return tuple(found)
            if len(set(coarser)) < len(set(current)):
                found.append(coarser)
            current = coarser

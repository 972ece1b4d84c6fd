"""Other codings of a variable: coarser ones that it lies within, finer ones within it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discreet.server.showing.catalogue import Overview


@dataclass(frozen=True)
class Coding:
    """The table with one variable replaced by another coding of it."""

    names: tuple[str, ...]
    instead_of: str
    by: str
    coarser: bool


def other_codings(
    data: Overview, out: Sequence[Sequence[str]], names: Sequence[str]
) -> list[Coding]:
    """Those of the table over `names` that are out, too."""
    found = []
    for name in names:
        for other, coarser in _others(data, name):
            replaced = data.ordered([other, *(n for n in names if n != name)])
            is_new = other not in names
            if is_new and any(set(replaced) <= set(margin) for margin in out):
                found.append(Coding(replaced, name, other, coarser))
    return found


def _others(data: Overview, name: str) -> Iterator[tuple[str, bool]]:
    """Coarser codings, the finest first; then finer ones."""
    seen, outer = {name}, data.words.variable(name).within
    while outer is not None and outer not in seen:
        yield outer, True
        seen.add(outer)
        outer = data.words.variable(outer).within
    for other in data.names:
        if _lies_within(data, other, name) and other not in seen:
            yield other, False


def _lies_within(data: Overview, inner: str, outer: str) -> bool:
    seen = {inner}
    while (found := data.words.variable(inner).within) is not None and found not in seen:
        if found == outer:
            return True
        seen.add(found)
        inner = found
    return False

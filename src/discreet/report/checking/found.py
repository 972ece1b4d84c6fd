"""What a published file says: cells of tables, and whatever else is in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.decision.law.verdict import Verdict

Labels = tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """What is wrong, where, and how grave that is.

    `kind` is one of `KINDS`; `cell` has its lines by variable.
    """

    kind: str
    verdict: Verdict
    text: str
    file: str = ""
    table: str = ""
    cell: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "verdict": str(self.verdict), "cell": dict(self.cell)}


KINDS = {
    "file": "a file that is missing, changed or not in the manifest",
    "content": "something in a file that is no cell of its table",
    "leak": "a cell that is hidden in one place and shown in another",
    "contradiction": "a cell with two values",
    "data": "a printed cell that the data do not have",
    "sums": "a hidden cell that follows from printed ones",
    "trial": "a table drawn from a seed that was given",
    "not judged": "what could not be compared",
}


@dataclass(frozen=True)
class Spec:
    """A table as its manifest describes it."""

    name: str
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Spec:
        shown = said["variables"]
        lines = tuple(tuple(line["label"] for line in one["lines"]) for one in shown)
        return cls(said["name"], tuple(one["name"] for one in shown), lines)


@dataclass
class Found:
    """Texts by table and cell; `extras` are sentences on what is no cell.

    `aside` are rows of text that stand somewhere else, hidden or not: they are searched for what
    was to be hidden. `marked` are cells that a file calls confidential and shows all the same.
    """

    cells: dict[str, list[tuple[Labels, str]]] = field(default_factory=dict)
    extras: list[str] = field(default_factory=list)
    aside: list[tuple[str, list[str]]] = field(default_factory=list)
    marked: set[tuple[str, Labels]] = field(default_factory=set)

    def add(self, table: str, labels: Iterable[str], text: str) -> None:
        self.cells.setdefault(table, []).append((tuple(labels), text))

    def put_aside(self, what: str, rows: Iterable[Sequence[object]]) -> None:
        self.aside += [(what, [str(one).strip() for one in row if str(one)]) for row in rows]

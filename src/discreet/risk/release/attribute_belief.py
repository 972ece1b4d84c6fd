"""Attribute disclosure by belief: how probable it is that a group has a sensitive category."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.effort import Seconds
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.weighted_tables import judge
from discreet.release.release import Release
from discreet.risk.release.groups import candidates
from discreet.risk.release.nature import Nature
from discreet.table.cells import Cells
from discreet.table.levels import with_levels
from discreet.table.table import Table
from discreet.table.words import spoken


@dataclass(frozen=True)
class BelievedAttribute:
    """A group, a category that its members have in truth, and how probable an intruder finds it."""

    group: dict[str, str]
    who: str
    size: int
    variable: str
    category: str
    probability: float
    standard_error: float

    def __str__(self) -> str:
        return (
            f"that the {self.size:,} in {self.who} have {self.variable} {self.category} has "
            f"probability {self.probability:.3f}"
        )


def believed_attributes(
    table: Table,
    release: Release,
    weights: CellWeights,
    *,
    share: float = 0.95,
    order: int = 4,
    limit: int = 20_000,
    draws: int = 10_000,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> tuple[BelievedAttribute, ...]:
    """Groups by up to `order` identifying variables in which a category has the share in truth.

    The probability that it has, given the release, over all tables that fit or over draws; most
    probable first. In a table without anybody in the group, the group has no category.

    >>> table = Table.of([[9, 0], [5, 4]], Town=["A", "B"], Ill=["no", "yes"])
    >>> believed_attributes(table, Release.margins(table, "Town + Ill"), CellWeights.uniform())[0]
    BelievedAttribute(group={'Town': 'A'}, ..., probability=0.2..., standard_error=0.0)
    """
    leveled = with_levels(table, table.names)
    having = list(_having(leveled, share, order))
    if not having:
        return ()
    if leveled is not table:
        table, release = leveled, release.with_levels(leveled)
    base = {variable.name: variable.base for variable in table.variables}
    known = judge(
        release, lambda _: True, table.all(), weights=weights, limit=limit, draws=draws,
        effort=effort, seconds=seconds, seed=seed,
    )  # fmt: skip
    found = []
    for cells, sizes in having:
        variable = cells.names[-1]
        whose = Cells(cells.variables[:-1], cells.codes[:, :-1], sizes)
        people, members = (
            Below.of(known.cells.names, known.cells.codes, some).sums(known.counts)
            for some in (whose, cells)
        )
        has = (people > 0) & (members >= share * people - 1e-9)
        for row in range(len(cells)):
            label = cells.label(row)
            category = label.pop(variable)
            chance, error = dataclasses.replace(known, holds=has[:, row]).probability()
            label = {base[name]: category for name, category in label.items()}
            who, size = spoken(label, table.variables) or "the whole table", int(sizes[row])
            of = base[variable]
            found.append(BelievedAttribute(label, who, size, of, category, chance, error))
    return tuple(sorted(found, key=lambda b: (-b.probability, len(b.group), -b.size)))


def _having(
    table: Table, share: float, order: int
) -> Iterator[tuple[Cells, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Cells (g, c) where the group has the category in truth, and the groups' sizes."""
    nature = Nature.of(table)
    for names in groups(table, order):
        sizes = table.margin(names)
        for variable in table.variables:
            if not variable.sensitive_codes or table.axes.repeats([*names, variable.name]):
                continue
            true = table.margin([*names, variable.name])
            cells = candidates(nature, true, sizes, variable.sensitive_codes, share, False)
            if len(cells):
                yield cells, sizes.lookup(cells.codes[:, :-1])


def groups(table: Table, order: int) -> Iterator[tuple[str, ...]]:
    """Sets of up to `order` identifying variables, smallest first: the empty one is everybody."""
    names = table.axes.names_of(table.axes.identifying)
    for size in range(min(order, len(names)) + 1):
        for chosen in combinations(names, size):
            if not table.axes.repeats(chosen):
                yield chosen

"""Attribute disclosure by belief: how probable it is that a group has a sensitive category."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.intruder.candidates import judge
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.risk.attribute import candidates
from discreet.table.cells import Cells
from discreet.table.lattice import bits, closure
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
    seconds: float = 60.0,
    seed: int = 0,
) -> tuple[BelievedAttribute, ...]:
    """Groups of released margins, up to `order` variables, in which a category has the share.

    The probability that it has, given the release, over all tables that fit or over draws; most
    probable first.

    >>> table = Table.of([[9, 0], [5, 4]], Town=["A", "B"], Ill=["no", "yes"])
    >>> believed_attributes(table, Release.margins(table, "Town + Ill"), CellWeights.uniform())[0]
    BelievedAttribute(group={'Town': 'A'}, ..., probability=0.2..., standard_error=0.0)
    """
    groups = list(_groups(table, release, share, order))
    if not groups:
        return ()
    known = judge(
        release, lambda _: True, table.all(), weights=weights, limit=limit, draws=draws,
        seconds=seconds, seed=seed,
    )  # fmt: skip
    found = []
    for cells, sizes in groups:
        variable = cells.names[-1]
        codes = known.cells.project(cells.names)
        for row in range(len(cells)):
            member = (codes == cells.codes[row]).all(1)
            has = known.counts[:, member].sum(1) >= share * sizes[row] - 1e-9
            label = cells.label(row)
            category = label.pop(variable)
            chance = min(1.0, float(known.mass[has].sum()))
            error = 0.0 if known.exact else (chance * (1 - chance) / draws) ** 0.5
            who, size = spoken(label, table.variables), int(sizes[row])
            found.append(BelievedAttribute(label, who, size, variable, category, chance, error))
    return tuple(sorted(found, key=lambda b: (-b.probability, len(b.group), -b.size)))


def _groups(
    table: Table, release: Release, share: float, order: int
) -> Iterator[tuple[Cells, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Cells (g, c) where the group has the category in truth, and the groups' sizes."""
    identifying = sum(1 << p for p, v in enumerate(table.variables) if v.role.identifies)
    sets = closure({margin & identifying for margin in release.formula.sets} - {0})
    for group in sorted(sets, key=lambda s: (s.bit_count(), s)):
        if group.bit_count() > order:
            continue
        names = [table.names[place] for place in bits(group)]
        sizes = table.margin(names)
        for variable in table.variables:
            if not variable.sensitive_codes or variable.name in names:
                continue
            true = table.margin([*names, variable.name])
            cells = candidates(true, sizes, variable.sensitive_codes, share, False)
            if len(cells):
                yield cells, sizes.lookup(cells.codes[:, :-1])

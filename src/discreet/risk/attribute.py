"""Attribute disclosure: what a release tells of every member of a group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.intruder.bounds.bounder import Bounder
from discreet.table.cells import Cells
from discreet.table.lattice import bits, closure
from discreet.table.table import Table
from discreet.table.words import spoken


@dataclass(frozen=True)
class Disclosure:
    """A group whose members are known to have, or not to have, a sensitive category."""

    group: dict[str, str]
    who: str
    size: int
    variable: str
    category: str
    lower: int
    upper: int

    @property
    def excluded(self) -> bool:
        return self.upper == 0

    def __str__(self) -> str:
        category = f"{self.variable} {self.category}"
        if self.excluded:
            return f"none of the {self.size:,} in {self.who} has {category}"
        if self.size == 1:
            return f"the only one in {self.who} has {category}"
        some = "all" if self.lower == self.size else f"at least {self.lower:,}"
        return f"{some} of the {self.size:,} in {self.who} have {category}"


@dataclass(frozen=True)
class AttributeRisk:
    """The disclosures found, whether groups were left out, and whether all bounds are tight."""

    disclosures: tuple[Disclosure, ...]
    unchecked: int
    sharp: bool


def attribute_risk(
    table: Table, bounder: Bounder, *, share: float = 0.95, exclusion: bool = True, order: int = 4
) -> AttributeRisk:
    """Groups in released margins whose members' sensitive category follows from the bounds.

    A group g is a cell of a released margin over identifying variables; c a category of a
    sensitive variable outside it. Disclosed if lower(g, c) >= share * n(g), or ruled out if
    upper(g, c) = 0. Only cells where the true counts allow it are bounded. Groups by more than
    `order` variables are only checked inside the released margins, where all is known exactly.
    """
    release, found, sharp, unchecked = bounder.release, [], True, 0
    index = {name: place for place, name in enumerate(release.names)}
    ruled_out: set[tuple[frozenset[tuple[str, str]], str, str]] = set()
    for names in _groups(table, bounder):
        for variable in table.variables:
            if not variable.sensitive_codes or variable.name in names:
                continue
            joint = (*names, variable.name)
            direct = release.formula.contains(joint)
            if len(names) > order and not direct:
                unchecked += 1
                continue
            true = table.margin(joint)
            sizes = table.margin(names)
            cells = candidates(true, sizes, variable.sensitive_codes, share, exclusion)
            if not len(cells):
                continue
            bounds = bounder.bounds(cells)
            group = sizes.lookup(cells.codes[:, :-1])
            for row in range(len(cells)):
                lower, upper, size = int(bounds.lower[row]), int(bounds.upper[row]), int(group[row])
                hit = lower >= share * size - 1e-9 or (exclusion and upper == 0)
                if not hit:
                    sharp = sharp and bool(bounds.attained[row])
                    continue
                label = cells.label(row)
                category = label.pop(variable.name)
                members = frozenset(label.items())
                if upper == 0:
                    # a larger group that is ruled out already says it
                    if any((members - {m}, variable.name, category) in ruled_out for m in members):
                        ruled_out.add((members, variable.name, category))
                        continue
                    ruled_out.add((members, variable.name, category))
                who = spoken(label, table.variables)
                found.append(Disclosure(label, who, size, variable.name, category, lower, upper))
    found.sort(key=lambda d: (d.excluded, len(d.group), -d.size, [index[n] for n in d.group]))
    return AttributeRisk(tuple(found), unchecked, sharp)


def _groups(table: Table, bounder: Bounder) -> Iterator[tuple[str, ...]]:
    """The released margins over identifying variables, small ones first."""
    identifying = sum(1 << p for p, v in enumerate(table.variables) if v.role.identifies)
    sets = {margin & identifying for margin in bounder.release.formula.sets} - {0}
    for group in sorted(closure(sets), key=lambda s: (s.bit_count(), s)):
        yield tuple(table.names[place] for place in bits(group))


def candidates(
    true: Table, sizes: Table, sensitive: tuple[int, ...], share: float, exclusion: bool
) -> Cells:
    """Cells (g, c) that the true counts allow to be disclosed: bounds can only be weaker."""
    repeated = np.repeat(sizes.codes, len(sensitive), axis=0)
    codes = np.column_stack([repeated, np.tile(np.array(sensitive), len(sizes))])
    counts = true.lookup(codes)
    group = np.repeat(sizes.counts, len(sensitive))
    chosen = counts >= share * group - 1e-9
    if exclusion:
        chosen |= counts == 0
    return Cells(true.variables, codes[chosen].astype(true.codes.dtype), counts[chosen])

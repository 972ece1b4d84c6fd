"""Attribute disclosure: what a release tells of every member of a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.result import Rung
from discreet.intruder.bounds.shares import known_absent, known_shares
from discreet.intruder.witness.seen import Seen
from discreet.risk.release.groups import asked
from discreet.table.cells import Cells
from discreet.table.table import Table
from discreet.table.words import spoken

MOST_PROVEN = 2_500  # kinds of groups; of more, outer bounds alone are looked at


@dataclass(frozen=True)
class Disclosure:
    """A group whose members are known to have, or not to have, a sensitive category.

    `lower` and `upper` are the counts that fit; `counted`: the size of the group is public.
    """

    group: dict[str, str]
    who: str
    size: int
    variable: str
    category: str
    lower: int
    upper: int
    counted: bool = True

    @property
    def excluded(self) -> bool:
        return self.upper == 0

    def __str__(self) -> str:
        category = f"{self.variable} {self.category}"
        if self.excluded:
            return f"none of the {self.size:,} in {self.who} has {category}"
        if self.size == 1:
            return f"the only one in {self.who} has {category}"
        if not self.counted:
            return f"nearly all of the {self.size:,} in {self.who} are known to have {category}"
        some = "all" if self.lower == self.size else f"at least {self.lower:,}"
        return f"{some} of the {self.size:,} in {self.who} have {category}"


@dataclass(frozen=True)
class AttributeRisk:
    """The disclosures found, how many groups were left out, and what shows that all else is not."""

    disclosures: tuple[Disclosure, ...]
    unchecked: int
    rung: Rung


def attribute_risk(
    table: Table,
    bounder: Bounder,
    *,
    share: float = 0.95,
    exclusion: bool = True,
    order: int = 4,
    seen: Seen | None = None,
) -> AttributeRisk:
    """Groups whose members' sensitive category follows from the bounds.

    A group g is everybody with some categories of up to `order` identifying variables, or everybody
    at all; c a category of a sensitive variable outside it. Disclosed if n(g, c) >= share * n(g) in
    every table that fits, or ruled out if upper(g, c) = 0; not where that cannot be otherwise. Only
    cells where the true counts allow it are bounded, and by outer bounds if the kinds of groups are
    many. Groups by more variables are checked inside the released margins, where all is known
    exactly. What a table shows that was `seen` to fit needs no bounds.
    """
    release, found = bounder.release, list[Disclosure]()
    whole = fitted = True
    index = table.axes.place
    base = {variable.name: variable.base for variable in table.variables}
    ruled_out: set[tuple[frozenset[tuple[str, str]], str, str]] = set()
    kinds, among, number, unchecked = asked(
        table, release, share=share, exclusion=exclusion, order=order, seen=seen
    )
    for kind in kinds:
        names, variable, cells, size = kind
        if kind.direct(release):
            lower = upper = cells.counts
            known = cells.counts >= share * size - 1e-9
            settled = fits = np.ones(len(cells), bool)
        elif number > MOST_PROVEN:
            group = Cells(cells.variables[:-1], cells.codes[:, :-1], size)
            lower, upper = bounder.outer(cells)
            known = lower >= share * bounder.outer(group)[1] - 1e-9
            settled = fits = np.zeros(len(cells), bool)
        else:
            known, settled, fits = np.zeros((3, len(cells)), bool)
            shared = np.flatnonzero(cells.counts >= share * size - 1e-9)
            known[shared], settled[shared], fits[shared] = known_shares(
                bounder, cells.take(shared), share, among, seen
            )
            empty = np.flatnonzero(cells.counts == 0)
            absent, settled[empty], fits[empty] = known_absent(
                bounder, cells.take(empty), among, seen
            )
            lower, upper = np.zeros(len(cells), np.int64), np.ones(len(cells), np.int64)
            upper[empty[absent]] = 0
            told = np.flatnonzero(known)  # of the others no interval is said
            bounds = bounder.bounds(cells.take(told), among=among)
            lower[told], upper[told] = bounds.lower, bounds.upper
        gone = (upper == 0) & exclusion
        whole = whole and bool((known | gone | settled).all())
        fitted = fitted and bool((known | gone | settled | fits).all())
        counted = not names or release.formula.contains(names)
        for row in np.flatnonzero(known | gone).tolist():
            label = cells.label(row)
            category = label.pop(variable.name)
            members = frozenset(label.items())
            if upper[row] == 0:
                ruled_out.add((members, variable.name, category))
                # a larger group that is ruled out already says it
                if any((members - {m}, variable.name, category) in ruled_out for m in members):
                    continue
            label = {base[name]: category for name, category in label.items()}
            who = spoken(label, table.variables) or "the whole table"
            ends = int(lower[row]), int(upper[row])
            of = variable.base
            found.append(Disclosure(label, who, int(size[row]), of, category, *ends, counted))
    found = list({(d.who, d.variable, d.category): d for d in reversed(found)}.values())
    found.sort(key=lambda d: (d.excluded, len(d.group), -d.size, [index[n] for n in d.group]))
    rung = Rung.INTEGER if whole else Rung.LINEAR if fitted else Rung.OUTER
    return AttributeRisk(tuple(found), unchecked, rung)


def disclosed(
    table: Table, bounder: Bounder, seen: Seen, *, share: float, exclusion: bool, order: int
) -> AttributeRisk | None:
    """The same, without a list of disclosures; None at the first of them."""
    release, whole, fitted = bounder.release, True, True
    kinds, among, number, unchecked = asked(
        table, release, share=share, exclusion=exclusion, order=order, seen=seen
    )
    if number > MOST_PROVEN:
        found = attribute_risk(
            table, bounder, share=share, exclusion=exclusion, order=order, seen=seen
        )
        return None if found.disclosures else found
    if any(kind.direct(release) for kind in kinds):
        return None
    for _, _, cells, size in kinds:
        shared = cells.take(np.flatnonzero(cells.counts >= share * size - 1e-9))
        settled = [known_shares(bounder, shared, share, among, seen, first=True)]
        if exclusion and not settled[0][0].any():
            empty = cells.take(np.flatnonzero(cells.counts == 0))
            settled.append(known_absent(bounder, empty, among, seen, first=True))
        if any(known.any() for known, *_ in settled):
            return None
        whole = whole and all(bool(sure.all()) for _, sure, _ in settled)
        fitted = fitted and all(bool((sure | fits).all()) for _, sure, fits in settled)
    rung = Rung.INTEGER if whole else Rung.LINEAR if fitted else Rung.OUTER
    return AttributeRisk((), unchecked, rung)

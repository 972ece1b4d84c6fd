"""Those who stayed in several vintages, in a table that the columns of all are read from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from discreet.data.codebook import Variable
from discreet.data.variable import Role
from discreet.decision.answering.relation import Group, Relation
from discreet.decision.answering.trial import PROOF
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict, worst
from discreet.table.formula import Formula
from discreet.table.keys import keys
from discreet.table.lattice import bits, maximal
from discreet.table.table import Table

NOBODY = "nobody"


class Member(NamedTuple):
    """A vintage, the margins that are out of it, and its relation to each member, itself too."""

    table: Table
    out: Sets
    relations: Sequence[Relation]


class Whole(NamedTuple):
    """Those who stayed, in the columns of one vintage and of others: of each the name here."""

    table: Table
    place: int
    columns: Sequence[dict[str, str]]


class Stayed:
    """Who stayed: of each cell of a vintage as many as all other vintages have there.

    Whoever knows who came and who went knows the margins that are out of any vintage for those who
    stayed, too. They are looked at in the tables of the vintages that have all columns of which
    something is out, each as finely as it is out; coarser columns are read from finer ones. The
    policy holds for the columns of every vintage. Which cells may be shown is judged where they
    are published, not here. The first of the `members` is the new vintage.
    """

    who = "those who stayed"

    def __init__(self, members: Iterable[Member], policy: Policy) -> None:
        self.members = tuple(members)
        shown = dataclasses.replace(policy.published, least=0, zeros=False, tables="")
        given = {**policy.given, "published": shown, "small": policy.small}
        self.policy = of_some(dataclasses.replace(policy, given=given))
        self._known: dict[Sets, Verdict] = {}

    def verdict(self, out: Iterable[int]) -> Verdict:
        members = self._with(out)
        if not any(members[0].out):
            return Verdict.PASS
        if members[0].out not in self._known:
            self._known[members[0].out] = worst(
                (Verdict.PASS, *(self._judge(whole, members) for whole in _wholes(members)))
            )
        return self._known[members[0].out]

    def joined(self, out: Iterable[int]) -> bool:
        """Does the table of some vintage have all of which something is out?"""
        members = self._with(out)
        return any(_has_all(place, members) for place in range(len(members)))

    def _with(self, out: Iterable[int]) -> tuple[Member, ...]:
        new, *others = self.members
        return new._replace(out=maximal(out)), *others

    def _judge(self, whole: Whole, members: Sequence[Member]) -> Verdict:
        """By the roles that the columns of each vintage have, as far as it has no own table."""
        names, margins = whole.table.names, set[int]()
        for member, columns in zip(members, whole.columns, strict=True):
            for margin in member.out:
                spoken = [columns[member.table.names[place]] for place in bits(margin)]
                margins.add(sum(1 << names.index(name) for name in {*spoken}))
        formula = Formula(names, maximal(margins))
        return worst(
            decide(
                _guarding(whole.table, members[k], columns), formula, self.policy, named=False
            ).verdict
            for k, columns in enumerate(whole.columns)
            if k == whole.place or not _has_all(k, members)
        )


class Unjoined:
    """Vintages with variables that no table has together: what they tell of one another."""

    who = "the same people in variables that no vintage has together"

    def __init__(self, stayed: Stayed) -> None:
        self.stayed = stayed

    def verdict(self, out: Iterable[int]) -> Verdict:
        out = tuple(out)
        return Verdict.PASS if not any(out) or self.stayed.joined(out) else Verdict.REVIEW


def of_some(policy: Policy) -> Policy:
    """For some of the people: a model of the population is one of the whole table."""
    sample = dataclasses.replace(policy.sample, check=False)
    policy = dataclasses.replace(policy, given={**policy.given, "sample": sample})
    return policy.effort(witness_effort=min(policy.bounds.witness_effort, PROOF))


def _wholes(members: Sequence[Member]) -> Iterator[Whole]:
    """Those who stayed in every table that has all columns of which something is out.

    Who of a cell over the common variables stayed, no table says: those of its small cells, or
    those of its large ones.
    """
    for place in range(len(members)):
        if not _has_all(place, members):
            continue
        judged: list[Table] = []
        for small in (True, False):
            table = members[place].table
            for other, relation in zip(members, members[place].relations, strict=True):
                if other is not members[place]:
                    table = _capped(table, relation, other.table, small)
            if table.total and table not in judged:
                judged.append(table)
                yield _with_columns(table, place, members)


def _spoken(member: Member) -> set[str]:
    """The variables of which something is out."""
    return {member.table.names[place] for margin in member.out for place in bits(margin)}


def _readable(relation: Relation, table: Table) -> dict[str, tuple[str, Group]]:
    """Of variables there: the one here that tells them, and their category for each of it."""
    found = {}
    for name, (there, pairs) in relation.variables.items():
        of = {c: sorted(pairs.get(c, ())) for c in table.variable(name).categories}
        if all(len(others) <= 1 for others in of.values()):
            found[there] = name, {c: others[0] if others else NOBODY for c, others in of.items()}
    return found


def _has_all(place: int, members: Sequence[Member]) -> bool:
    base = members[place]
    return all(
        k == place or _spoken(member) <= {*_readable(base.relations[k], base.table)}
        for k, member in enumerate(members)
    )


def _with_columns(table: Table, place: int, members: Sequence[Member]) -> Whole:
    """A table with the coarser columns of the other vintages, as far as they are needed."""
    columns: list[dict[str, str]] = []
    for k, member in enumerate(members):
        if k == place:
            columns.append({name: name for name in member.table.names})
            continue
        own: dict[str, str] = {}
        for there, (name, group_of) in _readable(
            members[place].relations[k], members[place].table
        ).items():
            if there not in _spoken(member) and _has_all(k, members):
                continue
            if len({*group_of.values()}) == len(group_of):
                own[there] = name
                continue
            own[there] = f"{there} ({k})"
            while own[there] in table.names:
                own[there] += "*"
            table = table.beside(name, own[there], group_of)
        columns.append(own)
    return Whole(table, place, columns)


def _guarding(table: Table, member: Member, columns: dict[str, str]) -> Table:
    """Only the columns of one vintage identify, or are sensitive, as they are there."""
    there = {here: name for name, here in columns.items()}
    variables = [
        _as_there(v, member.table.variable(there[v.name]))
        if v.name in there
        else dataclasses.replace(v, role=Role.NEITHER, sensitive=())
        for v in table.variables
    ]
    return dataclasses.replace(table, variables=tuple(variables))


def _as_there(here: Variable, there: Variable) -> Variable:
    """With the role that a variable has in another vintage; its sensitive categories by name."""
    if here.role is there.role and here.sensitive == there.sensitive:
        return here
    named = tuple(category for category in there.sensitive if category in here.categories)
    if len(named) < len(there.sensitive):
        named = ()  # under other names: all of them
    return dataclasses.replace(here, role=there.role, sensitive=named)


def _capped(whole: Table, relation: Relation, other: Table, small: bool) -> Table:
    """Of each cell over common variables no more people than another table has. Where some go, the
    `small` cells stay, or the large ones.
    """
    if not relation.variables:
        return whole
    theirs = other.margin([there for there, _ in relation.variables.values()])
    mine, other_codes, sizes = [], [], []
    for place, (name, (there, _)) in enumerate(relation.variables.items()):
        categories = whole.variable(name).categories, other.variable(there).categories
        here_groups, there_groups = relation.groups(name, *categories)
        labels = list(dict.fromkeys([*there_groups.values(), *here_groups.values()]))
        at = {label: code for code, label in enumerate(labels)}
        own = np.array([at[here_groups[category]] for category in categories[0]])
        others = np.array([at[there_groups[category]] for category in categories[1]])
        mine.append(own[whole.codes[:, whole.axes.place[name]]])
        other_codes.append(others[theirs.codes[:, place]])
        sizes.append(len(labels))
    there_keys = keys(np.column_stack(other_codes), sizes).tolist()
    there_counts: dict[int, int] = {}
    for key, count in zip(there_keys, theirs.counts.tolist(), strict=True):
        there_counts[key] = there_counts.get(key, 0) + count
    cell, place_of = np.unique(keys(np.column_stack(mine), sizes), return_inverse=True)
    most = np.array([there_counts.get(one, 0) for one in cell.tolist()])
    excess = np.bincount(place_of, whole.counts, len(cell)).astype(np.int64) - most
    order = np.lexsort((-whole.counts if small else whole.counts, place_of))
    counts, place_of = whole.counts[order], place_of[order]
    before = np.cumsum(counts) - counts
    first = np.r_[True, place_of[1:] != place_of[:-1]]
    before -= np.maximum.accumulate(np.where(first, before, 0))
    left = counts - np.clip(excess[place_of] - before, 0, counts)
    return Table.from_cells(
        whole.variables,
        whole.codes[order][left > 0],
        left[left > 0],
        impossible=whole.impossible,
        codings=whole.codings,
        nestings=whole.nestings,
    )

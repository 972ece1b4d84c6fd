"""A new vintage of the data, judged together with what is out of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np

from discreet.arrays import Ints
from discreet.data.codebook import Variable
from discreet.decision.answering.relation import Axes, Group, Relation, by_names
from discreet.decision.answering.stayed import Member, Stayed, Unjoined, of_some
from discreet.decision.answering.trial import Trial
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict, worst
from discreet.errors import PolicyError
from discreet.release.release import Known, Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.impossible import Combination
from discreet.table.lattice import bits, maximal
from discreet.table.table import Table

Names = tuple[str, ...]


class Vintage(NamedTuple):
    """A table, what is out of it, and how the new table's variables relate to its own.

    `others` are the relations of its variables to those of further vintages, by their `number`.
    `named`: once more, by names alone, whatever was said.
    """

    table: Table
    out: Sets
    relation: Relation | None = None  # by names
    number: int = 0
    others: Mapping[int, Relation] = {}
    named: bool = False


class Judge(Protocol):
    """What all that is out tells of some people, when these margins are out of the new vintage."""

    who: str

    def verdict(self, out: Iterable[int]) -> Verdict: ...


class Changes:
    """Who came and who went between two vintages, as tables of their own.

        came = max(new - old, 0),  went = max(old - new, 0),  cell by cell

    over the variables that both have, in the finest coding that both have. A margin that is out of
    both tells came - went; of a register that only grows, came. That both are judged as if each
    were told is more than an intruder sees, and errs on the safe side. Nobody came to a
    cell that the new vintage shows to be empty, or went from one of the old; nor more than it has
    there, where these are few. Somebody who left while another came to the same cell is no change.
    """

    who = "those who came or went"

    def __init__(self, new: Table, old: Table, old_out: Sets, policy: Policy) -> None:
        self.common = _common(new, old)
        variables = tuple(map(_either, (new.variable(name) for name in self.common),
                              (old.variable(name) for name in self.common)))  # fmt: skip
        now, then = (_over(table, variables) for table in (new, old))
        codes = np.unique(np.concatenate([now.codes, then.codes]), axis=0)
        more = now.lookup(codes) - then.lookup(codes)
        sides = [(side, table) for side, table in ((more, now), (-more, then)) if (side > 0).any()]
        self.parts = tuple(
            Table.from_cells(
                variables,
                codes[side > 0],
                side[side > 0],
                impossible=table.impossible,
                codings=table.codings,
            )
            for side, table in sides
        )
        self._now, self._wholes = now, [table for _, table in sides]
        self.names, self.old_out = new.names, tuple(self._shared_names(old.names, old_out))
        self.policy = of_some(policy)
        self._known: dict[Sets, Verdict] = {}

    def _shared_names(self, names: Sequence[str], sets: Iterable[int]) -> Iterator[int]:
        """Margins of a vintage as sets of the common variables."""
        for margin in sets:
            held = {names[place] for place in bits(margin)}
            yield sum(1 << place for place, name in enumerate(self.common) if name in held)

    def shared(self, out: Iterable[int]) -> Sets:
        """The margins that are out of both, when these are out of the new vintage."""
        mine = list(self._shared_names(self.names, out))
        both = maximal(new & old for new in mine for old in self.old_out)
        return tuple(s for s in both if s)

    def verdict(self, out: Iterable[int]) -> Verdict:
        mine = maximal(self._shared_names(self.names, out))
        if not (shared := self.shared(out)) or not self.parts:
            return Verdict.PASS
        if mine not in self._known:
            self._known[mine] = worst(
                decide(
                    part,
                    self._among(part, shared, whole, mine),
                    self.policy,
                    named=False,
                ).verdict
                for part, whole in zip(self.parts, self._wholes, strict=True)
            )
        return self._known[mine]

    def _among(self, part: Table, shared: Sets, whole: Table, mine: Sets) -> Release:
        """Margins of some people of a table, who are no more in small cells than these have."""
        release, known = Release.margins(part, Formula(part.names, shared)), []
        for margin in mine if whole is self._now else self.old_out:
            cells = whole.margin(whole.axes.names_of(margin)).all()
            most = np.full(len(cells), max(self.policy.small.width, 1))
            for other in shared:
                if names := part.axes.names_of(margin & other):
                    most = np.minimum(most, part.margin(names).lookup(cells.project(names)))
            for place in np.flatnonzero(cells.counts < most).tolist():
                own = zip(cells.variables, cells.codes[place].tolist(), strict=True)
                cell = tuple((variable.name, variable.categories[code]) for variable, code in own)
                known.append(Known(cell, 0, int(cells.counts[place]), "among the others"))
        return dataclasses.replace(release, known=(*release.known, *known))


def judges(new: Table, others: Iterable[Vintage], policy: Policy) -> tuple[Judge, ...]:
    """Of those who came or went, between a vintage and each other one; of those who stayed."""
    vintages = [Vintage(*other) for other in others]
    found: list[Judge] = []
    for vintage in vintages:
        pair = _Pair(new, vintage)
        found.append(Changes(pair.now, pair.then, vintage.out, policy))
        if (alike := _as_if_renamed(pair.now, pair.then)) is not None:
            found.append(Changes(*alike, vintage.out, policy))
    told = [vintage for vintage in vintages if any(vintage.out)]
    stated = [one for one in told if not one.named]
    for group in [*([one] for one in told), *([stated] if len(stated) > 1 else [])]:
        stayed = Stayed(_members(new, group), policy)
        found.append(stayed)
        if not group[0].named:
            found.append(Unjoined(stayed))
    return tuple(found)


def _members(new: Table, group: Sequence[Vintage]) -> Iterator[Member]:
    """A new vintage and others, with the relation of each to each."""
    to_others = [one.relation or by_names(_axes(new), _axes(one.table)) for one in group]
    yield Member(new, (), [by_names(_axes(new), _axes(new)), *to_others])
    for one, relation in zip(group, to_others, strict=True):
        among = [
            one.others.get(other.number) or by_names(_axes(one.table), _axes(other.table))
            for other in group
        ]
        yield Member(one.table, one.out, [relation.reversed(), *among])


class _Pair:
    """A new vintage and an old one, with the names of the new one, and in a coding of both."""

    def __init__(self, new: Table, vintage: Vintage) -> None:
        old = vintage.table
        relation = vintage.relation or by_names(_axes(new), _axes(old))
        if not relation.variables:
            raise PolicyError(
                f"the new vintage has the variables {', '.join(new.names)}, the old one "
                f"{', '.join(old.names)}, and none in common; a vintage is of the same people."
            )
        here = {older: name for name, (older, _) in relation.variables.items()}
        taken = {*new.names}
        then = _renamed(
            old, {n: here.get(n) or (f"{n} (before)" if n in taken else n) for n in old.names}
        )
        groups: dict[str, Group] = {}  # of the new categories
        older: dict[str, Group] = {}
        for name in relation.variables:
            groups[name], older[name] = relation.groups(
                name, new.variable(name).categories, then.variable(name).categories
            )
        self.now, self.then = _merged(new, groups), _merged(then, older)


def _axes(table: Table) -> Axes:
    return {variable.name: variable.categories for variable in table.variables}


def _merged(table: Table, groups: Mapping[str, Group]) -> Table:
    for name, group_of in groups.items():
        if any(category != group for category, group in group_of.items()):
            table = table.merge(name, group_of)
    return table


def _renamed(table: Table, names: Mapping[str, str]) -> Table:
    if all(name == own for name, own in names.items()):
        return table

    def said(combinations: Iterable[Combination]) -> tuple[Combination, ...]:
        return tuple(sorted(tuple((names[n], c) for n, c in one) for one in combinations))

    return dataclasses.replace(
        table,
        variables=tuple(dataclasses.replace(v, name=names[v.name]) for v in table.variables),
        impossible=said(table.impossible),
        codings=tuple(
            dataclasses.replace(
                coding,
                names=(names[coding.names[0]], names[coding.names[1]]),
                combinations=said(coding.combinations),
            )
            for coding in table.codings
        ),
        nestings=tuple((names[inner], names[outer]) for inner, outer in table.nestings),
    )


def _as_if_renamed(new: Table, old: Table) -> tuple[Table, Table] | None:
    """Both as if categories that only one of them has people in were other names of the same: for
    then nobody came or went with a new name. None where no variable has such in both.
    """
    found = False
    for name in _common(new, old):
        mine, theirs = _peopled(new, name), _peopled(old, name)
        apart = sorted(mine ^ theirs)
        if mine <= theirs or theirs <= mine:
            continue
        found = True
        new, old = (
            table.merge(name, {c: apart[0] for c in table.variable(name).categories if c in apart})
            for table in (new, old)
        )
    return (new, old) if found else None


def _peopled(table: Table, name: str) -> set[str]:
    """The categories that somebody has."""
    margin = table.margin([name])
    categories = table.variable(name).categories
    return {categories[code] for code in margin.codes[margin.counts > 0, 0]}


class VintageTrial:
    """The verdict of another trial on the new vintage, or a worse one on what all tell together."""

    def __init__(self, own: Trial, judges: Sequence[Judge]) -> None:
        self.own, self.judges = own, tuple(judges)
        self.out: Sets = own.out

    def verdict(self, margins: Sequence[int]) -> Verdict:
        found = Verdict.PASS
        for each in self.judges:
            found = worst([found, each.verdict([*self.out, *margins])])
            if found is Verdict.FAIL:
                return found
        return worst([self.own.verdict(margins), found])

    def rejects(self, margin: int) -> bool:
        return self.own.rejects(margin)

    def take(self, margins: Iterable[int]) -> None:
        self.own.take(margins)
        self.out = self.own.out

    @contextmanager
    def supposing(self, margins: Iterable[int]) -> Iterator[int | None]:
        before = self.out
        with self.own.supposing(margins) as narrowest:
            self.out = self.own.out
            try:
                yield narrowest
            finally:
                self.out = before

    def widths(self) -> tuple[Cells, Ints]:
        return self.own.widths()


def _common(new: Table, old: Table) -> tuple[str, ...]:
    return tuple(name for name in new.names if name in old.names)


def _either(now: Variable, then: Variable) -> Variable:
    """With the categories of both: what one vintage does not have is a zero of it."""
    return dataclasses.replace(
        now, categories=tuple(dict.fromkeys((*now.categories, *then.categories)))
    )


def _over(table: Table, variables: Sequence[Variable]) -> Table:
    """The margin over variables that have all its categories, and perhaps more."""
    margin = table.margin([v.name for v in variables])
    codes = margin.codes.copy()
    for place, (own, wanted) in enumerate(zip(margin.variables, variables, strict=True)):
        codes[:, place] = np.array([wanted.code(c) for c in own.categories])[codes[:, place]]
    return Table.from_cells(
        variables, codes, margin.counts, impossible=margin.impossible, codings=margin.codings
    )

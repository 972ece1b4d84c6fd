"""Random sheets for the law, and what enumeration of all tables that fit them says.

The oracle shares no code with the program: lines are read from their labels, categories that no
line divides are taken together, and every table of whole numbers that fits is listed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.data.codebook import Role
from discreet.data.hierarchy import Hierarchy
from discreet.decision.law.policy import Policy
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet
from discreet.table.table import Table

SHAPES = ((2, 2), (3, 2), (4, 2), (3, 3), (4, 3), (2, 2, 2), (3, 2, 2), (4, 2, 2))
ROLES = (Role.BOTH, Role.IDENTIFYING, Role.SENSITIVE, Role.NEITHER, Role.UNSTATED)
MOST_TABLES = 4_000
CLOSE = 1e-9


@dataclass(frozen=True)
class SheetsCase:
    """A table, its sheets, the groups that labels stand for, and a policy."""

    table: Table
    array: np.ndarray
    sheets: tuple[Sheet, ...]
    groups: dict[str, dict[str, frozenset[int]]]
    policy: Policy

    @property
    def records(self):
        return Records.of_table(self.table)

    def codes(self, grouping: Grouping, label: str) -> frozenset[int]:
        """What a label says, by the categories and the groups that were made up."""
        variable = self.table.variable(grouping.name)
        if label in variable.categories:
            return frozenset([variable.categories.index(label)])
        if label == "Total":
            return frozenset(range(variable.size))
        return self.groups[grouping.name][label]

    def said(self) -> str:
        """To repeat it."""
        lines = [f"array = np.array({self.array.tolist()})"]
        for v in self.table.variables:
            lines.append(f"{v.name}: {v.role}, sensitive {v.sensitive}, {v.hierarchy}")
        lines.append(f"impossible: {[dict(c) for c in self.table.impossible]}")
        for sheet in self.sheets:
            axes = [
                {x: sorted(self.codes(g, x)) for x in g.labels}
                for g in (*sheet.groupings, *sheet.where)
            ]
            names = [g.name for g in sheet.groupings]
            lines.append(f"{sheet.name}: {names} where {[g.name for g in sheet.where]}: {axes}")
        policy = self.policy
        rules = [policy.small, policy.published, policy.attribute, policy.categories]
        return "\n".join([*lines, *map(str, rules)])


def random_case(rng, *, sheets=None, whole=False):
    """A case whose tables can be listed; `whole`: no filters, every line has its total."""
    while True:
        shape = SHAPES[rng.integers(len(SHAPES))]
        people = int(rng.integers(5, 41 if len(shape) < 3 else 21))
        shares = rng.dirichlet(np.full(int(np.prod(shape)), rng.choice([0.3, 1.0, 4.0, 20.0])))
        array = rng.multinomial(people, shares).reshape(shape)
        table, groups = _variables(rng, array)
        if rng.random() < 0.2:
            table = _impossible(rng, table)
        number = sheets or int(rng.integers(1, 4))
        shown = tuple(_sheet(rng, table, groups, str(i + 1), whole) for i in range(number))
        case = SheetsCase(table, array, shown, groups, _policy(rng, table))
        if World(case, shown).tables is not None:
            return case


def _variables(rng, array):
    names = {
        chr(65 + a): [f"{chr(97 + a)}{c}" for c in range(n)] for a, n in enumerate(array.shape)
    }
    table = Table.of(array, **names)
    variables, groups = [], {}
    for variable in table.variables:
        role = ROLES[rng.choice(5, p=[0.25, 0.35, 0.2, 0.05, 0.15])]
        sensitive, tree = (), None
        if role in (Role.BOTH, Role.SENSITIVE) and rng.random() < 0.4:
            many = int(rng.integers(1, variable.size))
            sensitive = tuple(variable.categories[:many])
        own = {}
        if variable.size > 2 and rng.random() < 0.5:
            first = int(rng.integers(0, variable.size - 1))
            label = f"{variable.name} group"
            tree = Hierarchy.of(dict.fromkeys(variable.categories[first : first + 2], label))
            own[label] = frozenset((first, first + 1))
        groups[variable.name] = own
        variables.append(
            dataclasses.replace(variable, role=role, sensitive=sensitive, hierarchy=tree)
        )
    return dataclasses.replace(table, variables=tuple(variables)), groups


def _impossible(rng, table):
    """One or two empty pairs of categories."""
    a, b = sorted(rng.choice(len(table.names), 2, replace=False))
    pair = table.margin([table.names[a], table.names[b]])
    empty = np.argwhere(pair.dense() == 0)
    rng.shuffle(empty)
    first, second = pair.variables
    return table.excluding(
        {first.name: first.categories[i], second.name: second.categories[j]}
        for i, j in empty[: rng.integers(1, 3)]
    )


def _grouping(rng, variable, groups, whole):
    total = whole or rng.random() < 0.9
    draw = rng.random()
    if variable.size > 2 and draw < 0.3:
        kind = int(rng.integers(3))
        cut = 1 + int(rng.integers(variable.size - 1))
        codes = range(variable.size)
        if kind < 2:  # a partition in two
            made = {f"to {cut}": codes[:cut], f"from {cut}": codes[cut:]}
        else:  # two groups that overlap, or leave somebody out
            made = {f"first {cut}": codes[:cut], f"not {cut}": [c for c in codes if c != cut]}
        groups[variable.name] |= {label: frozenset(own) for label, own in made.items()}
        chosen = {label: [variable.categories[c] for c in own] for label, own in made.items()}
        return Grouping.cut(variable, chosen, total=total)
    if variable.hierarchy and draw < 0.5:
        return Grouping.of(variable, levels=1 + int(total), total=total)
    found = Grouping.of(variable, total=total)
    if not whole and len(found) > 2 and draw > 0.92:
        gone = found.labels[1 + int(rng.integers(len(found) - 1))]
        found = found.keep(label for label in found.labels if label != gone)
    return found


def _sheet(rng, table, groups, name, whole):
    order = list(rng.permutation(len(table.names)))
    wide = int(rng.choice([1, 2, 3], p=[0.35, 0.5, 0.15]))
    shown = [table.variables[i] for i in order[: min(wide, len(order))]]
    where = []
    rest = [table.variables[i] for i in order[len(shown) :]]
    if rest and not whole and rng.random() < 0.2:
        variable = rest[0]
        codes = sorted(rng.choice(variable.size, int(rng.integers(1, variable.size)), False))
        kept = [variable.categories[c] for c in codes]
        groups[variable.name][" + ".join(kept)] = frozenset(int(c) for c in codes)
        where.append(Grouping.only(variable, kept))
    lines = tuple(_grouping(rng, variable, groups, whole) for variable in shown)
    return Sheet(name, lines, where=tuple(where))


def _policy(rng, table):
    keys = {
        "small.most": int(rng.choice([1, 2, 3], p=[0.5, 0.3, 0.2])),
        "small.width": int(rng.choice([0, 1, 2, 3], p=[0.2, 0.3, 0.25, 0.25])),
        "attribute.check": bool(rng.random() < 0.6),
        "attribute.share": float(rng.choice([0.7, 0.95, 1.0])),
        "attribute.exclusion": bool(rng.random() < 0.3),
        "attribute.order": int(rng.integers(1, 5)),
        "published.least": int(rng.choice([0, 0, 0, 2, 3])),
        "published.zeros": bool(rng.random() < 0.15),
        "bounds.witness_seconds": 0.0,
    }
    if rng.random() < 0.15:
        variable = table.variables[rng.integers(len(table.variables))]
        many = int(rng.integers(1, 3))
        keys["categories.hidden"] = "; ".join(
            f"{variable.name}={c}" for c in variable.categories[:many]
        )
    return Policy.of(keys)


def suppressed(case, shown):
    """What an intruder makes of sheets with gaps: 1 or more, but where a rule may hide a zero."""
    empty = {
        _key(case, sheet, place)
        for sheet in case.sheets
        for place in np.ndindex(sheet.shape)
        if _zero(case, sheet, place)
    }
    found = {}
    for sheet, values in shown:
        least = np.ones(sheet.shape)
        for place in np.ndindex(sheet.shape):
            least[place] = 0 if _key(case, sheet, place) in empty else 1
        gaps = np.isnan(values)
        found[sheet.name] = np.where(gaps, least, values), np.where(gaps, np.inf, values)
    return found


def _key(case, sheet, place):
    """Whom a cell counts."""
    lines = [(g, g.labels[at]) for g, at in zip(sheet.groupings, place, strict=True)]
    codes = [(g, case.codes(g, label)) for g, label in lines]
    codes += [(g, case.codes(g, g.labels[0])) for g in sheet.where]
    return frozenset((g.name, own) for g, own in codes if len(own) < g.variable.size)


def _zero(case, sheet, place):
    """May a zero be hidden here: by its own rule, or as a category that nobody in a group has?"""
    policy = case.policy
    if policy.published.zeros:
        return True
    if not (policy.attribute.check and policy.attribute.exclusion):
        return False
    lines = [case.codes(g, g.labels[at]) for g, at in zip(sheet.groupings, place, strict=True)]
    total = [len(own) == g.variable.size for g, own in zip(sheet.groupings, lines, strict=True)]
    for axis, grouping in enumerate(sheet.groupings):
        variable = grouping.variable
        others = all(
            total[i] or g.variable.role.identifies
            for i, g in enumerate(sheet.groupings)
            if i != axis
        )
        sensitive = lines[axis] <= set(variable.sensitive_codes) and not total[axis]
        if sensitive and others and "Total" in grouping.labels:
            return True
    return False


def rounded(case, masked):
    """What rounds to what is printed, as the mask says."""
    found = {}
    for sheet, rows in zip(masked.system.sheets, masked.system.places, strict=True):
        if sheet in case.sheets:
            found[sheet.name] = masked.printed.lower[rows], masked.printed.upper[rows]
    return found


# What enumeration says


def fitting(rows, low, high, shut):
    """Every table of whole numbers with low <= rows @ table <= high; None if too many.

    Cell by cell, all tables so far side by side, with the sums so far of each row.
    """
    many, cells = rows.shape
    bounded = rows[np.isfinite(high)].any(0) | shut
    if not bounded.all():
        return None
    last = [int(np.flatnonzero(row).max(initial=0)) for row in rows]
    sums = np.zeros((1, many), np.int64)
    found = np.zeros((1, 0), np.int16)
    high = np.where(np.isfinite(high), high, 1 << 40).astype(np.int64)
    for at in range(cells):
        own = np.flatnonzero(rows[:, at])
        most = np.zeros(len(sums), np.int64) if shut[at] else (high[own] - sums[:, own]).min(1)
        source = np.repeat(np.arange(len(sums)), most + 1)
        if len(source) > 60 * MOST_TABLES:
            return None
        value = np.arange(len(source)) - np.repeat(np.cumsum(most + 1) - most - 1, most + 1)
        sums = sums[source]
        sums[:, own] += value[:, None]
        ended = [r for r in own if last[r] == at]
        kept = (sums[:, ended] >= low[ended]).all(1)
        sums, found = sums[kept], np.column_stack([found[source], value.astype(np.int16)])[kept]
    return found.astype(np.int64) if len(found) <= MOST_TABLES else None


class World:
    """What somebody sees of some sheets, and all tables that he cannot tell apart.

    `ranges` has low and high of a sheet's cells by name; a sheet that is not there is printed as
    it is.
    """

    def __init__(self, case, sheets, ranges=None, *, count=True):
        self.case, self.sheets = case, tuple(sheets)
        self.variables = case.table.variables
        self.atoms = [self._atoms(v) for v in self.variables]
        self.shape = tuple(int(a.max()) + 1 for a in self.atoms)
        self.truth = self._together(case.array, np.add)
        self.shut = ~self._together(self._possible(), np.logical_or)
        self.cells = [
            (
                sheet,
                dict(zip((g.name for g in (*sheet.groupings, *sheet.where)), labels, strict=True)),
            )
            for sheet in self.sheets
            for labels in product(*(g.labels for g in (*sheet.groupings, *sheet.where)))
        ]
        self.lines = [self._codes(sheet, labels) for sheet, labels in self.cells]
        self.rows = np.array([self.mask(line).ravel() for line in self.lines])
        self.values = self.rows @ self.truth.ravel()
        low, high = self.values.astype(float), self.values.astype(float)
        if ranges:
            at = 0
            for sheet in self.sheets:
                if sheet.name in ranges:
                    own = slice(at, at + sheet.cells)
                    low[own], high[own] = (np.ravel(end) for end in ranges[sheet.name])
                at += sheet.cells
        self.low, self.high, self.tables = low, high, None
        if count:
            self.tables = fitting(self.rows, np.ceil(low - CLOSE), high, self.shut.ravel())

    def _atoms(self, variable):
        seen = {}
        sets = [
            self.case.codes(g, label)
            for sheet in self.sheets
            for g in (*sheet.groupings, *sheet.where)
            if g.name == variable.name
            for label in g.labels
        ]
        return np.array(
            [
                seen.setdefault(tuple(code in own for own in sets), len(seen))
                for code in range(variable.size)
            ]
        )

    def _together(self, array, add):
        for axis, atoms in enumerate(self.atoms):
            parts = [
                add.reduce(np.take(array, np.flatnonzero(atoms == a), axis), axis)
                for a in range(int(atoms.max()) + 1)
            ]
            array = np.stack(parts, axis)
        return array

    def _possible(self):
        found = np.ones(self.case.array.shape, bool)
        for combination in self.case.table.impossible:
            place = [slice(None)] * found.ndim
            for name, category in combination:
                axis = self.case.table.names.index(name)
                place[axis] = self.variables[axis].categories.index(category)
            found[tuple(place)] = False
        return found

    def _codes(self, sheet, labels):
        own = {g.name: g for g in (*sheet.groupings, *sheet.where)}
        return {name: self.case.codes(own[name], label) for name, label in labels.items()}

    def mask(self, line):
        """The atoms' cells of a line, categories by variable."""
        found = np.ones(self.shape, bool)
        for axis, variable in enumerate(self.variables):
            if variable.name not in line:
                continue
            inside = np.zeros(self.shape[axis], bool)
            inside[self.atoms[axis][sorted(line[variable.name])]] = True
            found &= inside.reshape([-1 if a == axis else 1 for a in range(found.ndim)])
        return found

    @property
    def shown(self):
        return self.low == self.high

    def broken(self):
        """The rules that are broken."""
        policy = self.case.policy
        rules = {
            "published": self._published(),
            "follows": self._follows(),
            "hidden": self._hidden(),
            "small": self._small(),
            "attribute": policy.attribute.check and self._attribute(),
        }
        return [rule for rule, broken in rules.items() if broken]

    def _low(self):
        """Printed cells that are too small."""
        rule = self.case.policy.published
        low = (self.values > 0) & (self.values < rule.least)
        if rule.zeros:
            possible = (self.rows & ~self.shut.ravel()).any(1)
            low |= (self.values == 0) & possible
        return low

    def _published(self):
        return bool((self._low() & self.shown).any())

    def _follows(self):
        """A cell that must be hidden keeps the width."""
        return self._narrow(self.rows[self._low()])

    def _narrow(self, rows):
        sums = self.tables @ rows.T.astype(np.int64)
        width = sums.max(0, initial=0) - sums.min(0, initial=1 << 40)
        return bool((width < self.case.policy.small.width).any()) if len(rows) else False

    def _hidden(self):
        wanted = {}
        for entry in filter(None, self.case.policy.categories.hidden.split("; ")):
            name, category = entry.split("=")
            code = self.case.table.variable(name).categories.index(category)
            wanted.setdefault(name, set()).add(code)
        for line, value, shown in zip(self.lines, self.values, self.shown, strict=True):
            told = any(codes <= wanted.get(name, set()) for name, codes in line.items())
            if told and shown and value > 0:
                return True
        return False

    def _identifying(self):
        return [a for a, v in enumerate(self.variables) if v.role.identifies]

    def _named(self, line):
        """The variables that a line divides."""
        return [
            a for a, v in enumerate(self.variables) if v.name in line and len(line[v.name]) < v.size
        ]

    def _small(self):
        """Joint cells of all that identifies, and printed cells of nothing else."""
        axes, rows = self._identifying(), []
        used = {v for sheet in self.sheets for v in (g.name for g in sheet.groupings)}
        used |= {g.name for sheet in self.sheets for g in sheet.where}
        if [a for a in axes if self.variables[a].name in used]:
            for cell in product(*(range(self.shape[a]) for a in axes)):
                mask = np.zeros(self.shape, bool)
                at = dict(zip(axes, cell, strict=True))
                mask[tuple(at.get(a, slice(None)) for a in range(mask.ndim))] = True
                rows.append(mask.ravel())
        for line, row in zip(self.lines, self.rows, strict=True):
            if all(a in axes for a in self._named(line)) and self._named(line):
                rows.append(row)
        rows = np.array(rows, bool).reshape(-1, self.truth.size)
        true = rows @ self.truth.ravel()
        return self._narrow(rows[(true >= 1) & (true <= self.case.policy.small.most)])

    def _attribute(self):
        rule, identifying = self.case.policy.attribute, self._identifying()
        for place, variable in enumerate(self.variables):
            codes = set(variable.sensitive_codes)
            classes = [
                a
                for a in range(self.shape[place])
                if set(np.flatnonzero(self.atoms[place] == a).tolist()) <= codes
            ]
            if not classes or self.shape[place] < 2:
                continue
            for group in self._groups(place, identifying, rule.order):
                if self._told(group, place, classes, rule):
                    return True
        return False

    def _groups(self, place, identifying, order):
        """By atoms of some variables, and by printed lines beside the variable."""
        rest = [a for a in identifying if a != place]
        for d in range(min(order, len(rest)) + 1):
            for axes in combinations(rest, d):
                for cell in product(*(range(self.shape[a]) for a in axes)):
                    mask = np.zeros(self.shape, bool)
                    at = dict(zip(axes, cell, strict=True))
                    mask[tuple(at.get(a, slice(None)) for a in range(mask.ndim))] = True
                    yield mask
        for (sheet, _), line, row in zip(self.cells, self.lines, self.rows, strict=True):
            if self.variables[place].name in {g.name for g in sheet.groupings}:
                named = self._named(line)
                if place not in named and all(a in identifying for a in named):
                    yield row.reshape(self.shape)

    def _told(self, group, place, classes, rule):
        if not self.truth[group].sum():
            return False
        size = self.tables @ group.ravel()
        axis = np.indices(self.shape)[place]
        open_ = [bool((group & (axis == a) & ~self.shut).any()) for a in range(self.shape[place])]
        for a in classes:
            if not open_[a] or sum(open_) == 1:
                continue
            count = self.tables @ (group & (axis == a)).ravel()
            if rule.exclusion and not count.any():
                return True
            some = size > 0
            if (count[some] >= rule.share * size[some] - CLOSE).all():
                return True
        return False

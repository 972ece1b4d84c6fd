"""Random cases for the law, and what enumeration of all integer tables says to them.

The oracle shares no code with the program: it lists the tables that fit and looks at them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import combinations, product
from math import lgamma

import numpy as np

from discreet.data.codebook import Role
from discreet.data.hierarchy import Hierarchy
from discreet.decision.law.policy import Policy
from discreet.table.table import Table

SHAPES = ((2, 2), (3, 2), (3, 3), (4, 2), (2, 2, 2), (2, 2, 3), (2, 2, 2, 2))
ROLES = (Role.BOTH, Role.IDENTIFYING, Role.SENSITIVE, Role.NEITHER, Role.UNSTATED)
MOST_TABLES = 5_000
CLOSE = 1e-9


@dataclass(frozen=True)
class LawCase:
    """A table, a release by axes, a policy, and combinations that cannot occur."""

    table: Table
    array: np.ndarray
    margins: tuple[tuple[int, ...], ...]
    policy: Policy

    @property
    def formula(self):
        return [[self.table.names[a] for a in axes] for axes in self.margins]

    @property
    def sets(self):
        return tuple(sum(1 << a for a in axes) for axes in self.margins)


def random_case(rng, *, plain=False):
    """A case whose tables can be listed; `plain`: no rule that takes long to judge."""
    while True:
        shape = SHAPES[rng.integers(len(SHAPES))]
        people = int(rng.integers(1, 13 if len(shape) > 2 else 25))
        shares = rng.dirichlet(np.full(int(np.prod(shape)), rng.choice([0.2, 0.6, 3.0])))
        array = rng.multinomial(people, shares).reshape(shape)
        table = random_roles(rng, array)
        if rng.random() < 0.3:
            table = random_levels(rng, table)
        if rng.random() < 0.2:
            table = random_zeros(rng, table)
        margins = random_margins(rng, len(shape))
        if listed(array, margins, table) is not None:
            return LawCase(table, array, margins, random_policy(rng, table, plain))


def listed(array, margins, table):
    """Every table of whole numbers that fits; None if they are too many.

    Cell by cell, all tables so far side by side, with what is left of each margin.
    """
    margins = list(margins) or [()]
    cells = list(np.ndindex(array.shape))
    keys, left = {}, []
    for axes in margins:
        shown = array.sum(tuple(a for a in range(array.ndim) if a not in axes))
        for cell in np.ndindex(np.shape(shown)):
            keys[axes, cell] = len(left)
            left.append(np.asarray(shown)[cell])
    places = [[keys[axes, tuple(cell[a] for a in axes)] for axes in margins] for cell in cells]
    last = {place: at for at, row in enumerate(places) for place in row}
    state = np.array([left])
    found = np.zeros((1, 0), int)
    for at, (cell, row) in enumerate(zip(cells, places, strict=True)):
        most = state[:, row].min(1)
        if impossible(table, dict(enumerate(cell))):
            most = np.zeros_like(most)
        source = np.repeat(np.arange(len(state)), most + 1)
        value = np.arange(len(source)) - np.repeat(np.cumsum(most + 1) - most - 1, most + 1)
        state = state[source]
        state[:, row] -= value[:, None]
        ended = [place for place in row if last[place] == at]
        kept = (state[:, ended] == 0).all(1)
        state, found = state[kept], np.column_stack([found[source], value])[kept]
        if len(found) > 20 * MOST_TABLES:
            return None
    return found.reshape(-1, *array.shape) if len(found) <= MOST_TABLES else None


def random_roles(rng, array):
    names = {
        chr(65 + a): [f"{chr(97 + a)}{c}" for c in range(n)] for a, n in enumerate(array.shape)
    }
    table = Table.of(array, **names)
    variables = []
    for variable in table.variables:
        role = ROLES[rng.choice(5, p=[0.3, 0.3, 0.15, 0.05, 0.2])]
        chosen = ()
        if role in (Role.BOTH, Role.SENSITIVE) and rng.random() < 0.3:
            chosen = (variable.categories[rng.integers(variable.size)],)
        variables.append(dataclasses.replace(variable, role=role, sensitive=chosen))
    return dataclasses.replace(table, variables=tuple(variables))


def random_levels(rng, table):
    """Categories of variables with more than two are merged, one after the other."""
    variables = []
    for variable in table.variables:
        order = rng.permutation(variable.size)
        left = [variable.categories[c] for c in order[: variable.size - 1]]
        parents = {}
        while len(left) > 1:
            one, other, *left = left
            parents[one] = parents[other] = f"{one}/{other}"
            left = [f"{one}/{other}", *left]
        tree = Hierarchy.of(parents) if parents else None
        variables.append(dataclasses.replace(variable, hierarchy=tree))
    return dataclasses.replace(table, variables=tuple(variables))


def random_zeros(rng, table):
    """One or two empty pairs of categories are called impossible."""
    a, b = sorted(rng.choice(len(table.names), 2, replace=False))
    pair = table.margin([table.names[a], table.names[b]])
    empty = np.argwhere(pair.dense() == 0)
    rng.shuffle(empty)
    first, second = pair.variables
    return table.excluding(
        {first.name: first.categories[i], second.name: second.categories[j]}
        for i, j in empty[: rng.integers(1, 3)]
    )


def random_margins(rng, axes):
    subsets = [s for n in range(1, axes + 1) for s in combinations(range(axes), n)]
    weights = np.array([1.0 if len(s) < axes else 0.2 for s in subsets])
    number = min(len(subsets), int(rng.integers(1, 5)))
    chosen = rng.choice(len(subsets), number, replace=False, p=weights / weights.sum())
    return tuple(subsets[i] for i in sorted(chosen))


def random_policy(rng, table, plain=False):
    def some(p, value):
        return value if rng.random() < p else None

    names = table.names
    target = int(rng.integers(len(names)))
    rest = [n for a, n in enumerate(names) if a != target]
    group = list(rng.choice(rest, int(rng.integers(0, len(rest) + 1)), replace=False))
    keys = {
        "small.most": int(rng.integers(1, 4)),
        "small.width": int(rng.integers(0, 5)),
        "attribute.check": bool(rng.random() < 0.6),
        "attribute.share": float(rng.choice([0.5, 0.7, 0.95, 1.0])),
        "attribute.exclusion": bool(rng.random() < 0.7),
        "attribute.order": int(rng.integers(1, 5)),
        "published.least": int(rng.choice([0, 0, 2, 3, 5])),
        "published.zeros": bool(rng.random() < 0.15),
        "bounds.proof": str(rng.choice(["outer", "linear", "integer"], p=[0.3, 0.15, 0.55])),
        "bounds.witness_seconds": 0.0,
        "bounds.method": str(rng.choice(["auto", "shuttle", "integer"], p=[0.75, 0.15, 0.1])),
        "closeness.share": some(0.15, float(rng.choice([0.3, 1.0]))),
    }
    if not plain:
        keys |= {
            "tables.least": some(0.15, int(rng.choice([2, 5, 30]))),
            "belief.most": some(0.15, float(rng.choice([0.5, 0.9]))),
            "knowledge.target": some(0.2, names[target]),
        }
        if keys["knowledge.target"]:
            keys |= {
                "knowledge.group": "*".join(group),
                "knowledge.limit": float(rng.choice([0.1, 0.3, 0.6])),
                "knowledge.uncertainty": str(rng.choice(["largest", "entropy"])),
            }
    return Policy.of({key: value for key, value in keys.items() if value is not None})


# What enumeration says


def broken(case: LawCase) -> list[str]:
    """The rules of the policy that the release breaks, by all integer tables that fit it."""
    tables = fitting(case)
    policy = case.policy
    found = []
    for name, asked, breaks in (
        ("small counts", True, _small),
        ("published cells", policy.published.asked, _published),
        ("attribute disclosure", policy.attribute.check, _attribute),
        ("closeness", policy.closeness.share > 0, _closeness),
        ("number of tables", policy.tables.least > 0, _number),
        ("beliefs", policy.belief.asked, _belief),
        ("knowledge", bool(policy.knowledge.target), _knowledge),
    ):
        if asked and breaks(case, tables):
            found.append(name)
    return found


def fitting(case: LawCase):
    return listed(case.array, case.margins, case.table)


def _sums(tables, axes):
    rest = tuple(1 + a for a in range(tables.ndim - 1) if a not in axes)
    return tables.sum(rest)


def _identifying(case):
    return [a for a, v in enumerate(case.table.variables) if v.role.identifies]


def _small(case, tables):
    axes = _identifying(case)
    if not axes:
        return False
    sums, true = _sums(tables, axes), _sums(case.array[None], axes)[0]
    small = (true >= 1) & (true <= case.policy.small.most)
    width = sums.max(0) - sums.min(0)
    return bool((small & (width < case.policy.small.width)).any())


def _published(case, tables):
    rule = case.policy.published
    top = [m for m in case.margins if not any(set(m) < set(o) for o in case.margins)]
    for axes in top:
        shown = _sums(case.array[None], axes)[0]
        if ((shown > 0) & (shown < rule.least)).any():
            return True
        if rule.zeros and any(
            shown[cell] == 0 and not impossible(case.table, dict(zip(axes, cell, strict=True)))
            for cell in np.ndindex(shown.shape)
        ):
            return True
    return False


def impossible(table, cell):
    """Does a cell, axis to code, hold an impossible combination?"""
    if not table.impossible:
        return False
    named = {table.names[a]: table.variables[a].categories[code] for a, code in cell.items()}
    return any(
        all(named.get(name) == category for name, category in combination)
        for combination in table.impossible
    )


def nobody(table, cell):
    """Is all of a cell, axis to codes, impossible, by what is stated and what follows from it?"""
    codes = [cell.get(a, range(v.size)) for a, v in enumerate(table.variables)]
    return bool(table.impossible) and all(
        impossible(table, dict(enumerate(one))) for one in product(*codes)
    )


def _attribute(case, tables):
    rule, variables = case.policy.attribute, case.table.variables
    identifying = _identifying(case)
    for d in range(len(identifying) + 1):
        for group in combinations(identifying, d):
            for place, variable in enumerate(variables):
                joint = (*group, place)
                if place in group or not variable.sensitive_codes:
                    continue
                if d > rule.order and not any(set(joint) <= set(m) for m in case.margins):
                    continue
                if any(
                    _told(case, tables, dict(zip(group, lines, strict=True)), place, own, rule)
                    for *lines, own in product(*(_lines(variables[a]) for a in joint))
                ):
                    return True
    return False


def _lines(variable):
    """The categories, as codes, and what a hierarchy makes of them, level by level."""
    parents = dict(variable.hierarchy.pairs) if variable.hierarchy else {}
    names, found = list(variable.categories), []
    while len(set(names)) > 1 or not found:
        found.append([[c for c, n in enumerate(names) if n == one] for one in dict.fromkeys(names)])
        coarser = [parents.get(name, name) for name in names]
        if coarser == names:
            break
        names = coarser
    return found


def _told(case, tables, group, place, lines, rule):
    """Does the share of one of the lines of a variable follow for somebody's group?"""
    sensitive = {*case.table.variables[place].sensitive_codes}
    for codes in product(*group.values()):
        at = dict(zip(group, codes, strict=True))
        size = _count(tables, at)
        if _count(case.array[None], at)[0] == 0:
            continue
        out = [nobody(case.table, at | {place: line}) for line in lines]
        for line, gone in zip(lines, out, strict=True):
            if gone or sum(out) == len(lines) - 1 or not {*line} <= sensitive:
                continue
            count = _count(tables, at | {place: line})
            if rule.exclusion and not count.any():
                return True
            some = size > 0
            if (count[some] >= rule.share * size[some] - CLOSE).all():
                return True
    return False


def _count(tables, at):
    """How many people of each table have some of the codes at each axis."""
    for axis, codes in at.items():
        tables = tables.take(codes, axis + 1)
    return tables.reshape(len(tables), -1).sum(1)


def _closeness(case, tables):
    axes = _identifying(case)
    sums, true = _sums(tables, axes), _sums(case.array[None], axes)[0]
    some = true > 0
    far = np.maximum(sums.max(0) - true, true - sums.min(0))
    return bool((far[some] / true[some] < case.policy.closeness.share).any())


def _number(case, tables):
    return len(tables) < case.policy.tables.least


def _belief(case, tables):
    """Saturated model: the weight of a table is prod Gamma(n + a) / n!."""
    axes, prior = _identifying(case), case.policy.belief.prior
    if not axes:
        return False
    most = int(tables.max())
    log = np.array([lgamma(n + prior) - lgamma(n + 1) for n in range(most + 1)])
    weight = log[tables].reshape(len(tables), -1).sum(1)
    mass = np.exp(weight - weight.max())
    mass /= mass.sum()
    sums, true = _sums(tables, axes), _sums(case.array[None], axes)[0]
    for cell in np.argwhere((true >= 1) & (true <= case.policy.small.most)):
        same = sums[(slice(None), *cell)] == true[tuple(cell)]
        if mass[same].sum() >= case.policy.belief.most - CLOSE:
            return True
    return False


def _knowledge(case, tables):
    rule, names = case.policy.knowledge, case.table.names
    target = names.index(rule.target)
    group = [names.index(n) for n in rule.group.split("*")] if rule.group else []
    told = {a for m in case.margins for a in m}
    told |= {names.index(n) for c in case.table.impossible for n, _ in c}
    if target not in told:
        return False
    expected = _smoothest(case)
    for cell in np.ndindex(*(case.array.shape[a] for a in group)):
        at = dict(zip(group, cell, strict=True))
        where = tuple(at.get(a, slice(None)) for a in range(case.array.ndim))
        if case.array[where].sum() == 0:
            continue
        line = np.array(
            [
                expected[tuple(c if a == target else w for a, w in enumerate(where))].sum()
                for c in range(case.array.shape[target])
            ]
        )
        p = line / line.sum()
        left = (
            1 - p.max() if rule.uncertainty == "largest" else -(p[p > 0] * np.log(p[p > 0])).sum()
        )
        if left < rule.limit - 1e-6:
            return True
    return False


def _smoothest(case):
    """Proportional fitting, plainly."""
    fitted = np.ones(case.array.shape)
    for cell in np.ndindex(case.array.shape):
        if impossible(case.table, dict(enumerate(cell))):
            fitted[cell] = 0.0
    for _ in range(3_000):
        before = fitted.copy()
        for axes in case.margins:
            rest = tuple(a for a in range(case.array.ndim) if a not in axes)
            now, want = fitted.sum(rest, keepdims=True), case.array.sum(rest, keepdims=True)
            fitted = fitted * np.divide(want, now, out=np.zeros_like(now), where=now > 0)
        if np.abs(fitted - before).max() < 1e-13:
            break
    return fitted

"""Combinations of categories that nobody can have, and what is left of them in other tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations as pairs_of

import numpy as np

from discreet.arrays import Bools
from discreet.data.codebook import Variable
from discreet.data.frames import label
from discreet.errors import DataError
from discreet.table.keys import Codes, lookup

Combination = tuple[tuple[str, str], ...]
Groups = dict[tuple[str, ...], list[Combination]]

MOST = 1_000_000  # combinations of one table
MOST_THROUGH = 20_000  # combinations that follow for the variables that stay
MOST_PAIR = 1 << 24  # pairs of categories of two variables


def spelled(combination: Combination) -> str:
    """`Age50=<50, Age51=51+`."""
    return ", ".join(f"{name}={category}" for name, category in combination)


def combinations(variables: Sequence[Variable], stated: Iterable[Mapping[str, object]]) -> Groups:
    """What is stated, in the order of the axes; a list of categories means each of them."""
    found: set[Combination] = set()
    axes = {variable.name: variable for variable in variables}
    for wanted in stated:
        if not isinstance(wanted, Mapping):
            raise DataError(
                f"an impossible combination is {wanted!r}; give a category for each variable, as "
                'in {Age = "under 15", Married = "yes"}.'
            )
        if lost := [name for name in wanted if name not in axes]:
            raise DataError(
                f"an impossible combination names {lost[0]!r}, which is no variable of the table; "
                f"it has {', '.join(list(axes)[:10])}."
            )
        if len(wanted) < 2:
            raise DataError(
                f"the impossible combination {dict(wanted)!r} is of one variable; name two at "
                "least, and leave a category that nobody has out of the codebook."
            )
        spread: list[Combination] = [()]
        for name in (name for name in axes if name in wanted):
            chosen = _categories(axes[name], wanted[name])
            spread = [(*before, (name, category)) for before in spread for category in chosen]
            if len(spread) + len(found) > MOST:
                raise DataError(
                    f"more than {MOST:,} combinations are called impossible; group the categories "
                    f"of {name!r} first."
                )
        found.update(spread)
    return by_names(sorted(found))


def _categories(variable: Variable, given: object) -> list[str]:
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    chosen = list(given) if several else [given]  # type: ignore[call-overload]
    return [variable.categories[variable.code(label(category))] for category in chosen]


def by_names(impossible: Iterable[Combination]) -> Groups:
    """The combinations by their variables."""
    groups: Groups = {}
    for combination in impossible:
        groups.setdefault(tuple(name for name, _ in combination), []).append(combination)
    return groups


def codes_of(variables: Sequence[Variable], group: Sequence[Combination]) -> Codes:
    """The codes of combinations of the given variables, one a row."""
    places = [{text: code for code, text in enumerate(v.categories)} for v in variables]
    rows = [[place[text] for place, (_, text) in zip(places, c, strict=True)] for c in group]
    kind = np.min_scalar_type(max((v.size for v in variables), default=1) - 1)
    return np.array(rows, kind).reshape(len(group), len(variables))


def over(groups: Groups, names: Sequence[str]) -> tuple[Combination, ...]:
    """Those of the given variables alone, in their order."""
    place = {name: axis for axis, name in enumerate(names)}
    kept: list[Combination] = []
    for about, group in groups.items():
        if any(name not in place for name in about):
            continue
        order = sorted(range(len(about)), key=lambda i: place[about[i]])
        same = order == list(range(len(about)))
        kept += group if same else [tuple(c[i] for i in order) for c in group]
    return tuple(sorted(kept))


def within(groups: Groups, slice: Mapping[str, str]) -> tuple[Combination, ...]:
    """Those that can still be met in a slice, without the variables that it holds.

    What is left of one variable is a category without people, which every margin shows.
    """
    kept: set[Combination] = set()
    for about, group in groups.items():
        held = [i for i, name in enumerate(about) if name in slice]
        free = [i for i, name in enumerate(about) if name not in slice]
        if len(free) > 1:
            kept.update(
                tuple(c[i] for i in free)
                for c in group
                if all(c[i][1] == slice[c[i][0]] for i in held)
            )
    return tuple(sorted(kept))


def grouped(
    impossible: Iterable[Combination], name: str, group_of: Mapping[str, str]
) -> tuple[Combination, ...]:
    """A group is impossible with what all its categories are impossible with."""
    parts: dict[str, set[str]] = {}
    for category, group in group_of.items():
        parts.setdefault(group, set()).add(category)
    kept: set[Combination] = set()
    seen: dict[tuple[Combination, Combination, str], set[str]] = {}
    for combination in impossible:
        place = next((i for i, (n, _) in enumerate(combination) if n == name), None)
        if place is None:
            kept.add(combination)
            continue
        category = combination[place][1]
        rest = combination[:place], combination[place + 1 :], group_of[category]
        seen.setdefault(rest, set()).add(category)
    for (before, after, group), categories in seen.items():
        if categories == parts[group]:
            kept.add((*before, (name, group), *after))
    return tuple(sorted(kept))


def holds(groups: Groups, variables: Sequence[Variable], codes: Codes) -> Bools:
    """Which cells hold an impossible combination."""
    names = [variable.name for variable in variables]
    found = np.zeros(len(codes), bool)
    for combined, group in groups.items():
        if set(combined) <= set(names):
            places = [names.index(name) for name in combined]
            axes = [variables[place] for place in places]
            listed = codes_of(axes, group)
            listed = listed[np.lexsort(listed.T[::-1])]
            found |= lookup(listed, [axis.size for axis in axes], codes[:, places]) >= 0
    return found


def possible_with(name: str, variables: Sequence[Variable], groups: Groups) -> dict[str, Bools]:
    """Which categories of each variable somebody with each category of `name` can have.

    A row a category of `name`. By pairs of variables: Town within Region within Country, too.
    """
    sizes = {variable.name: variable.size for variable in variables}
    found = {other: np.ones((sizes[name], size), bool) for other, size in sizes.items()}
    found[name] = np.eye(sizes[name], dtype=bool)
    by_name = {variable.name: variable for variable in variables}
    ways: list[tuple[str, str, Bools]] = []
    for pair, group in groups.items():
        if len(pair) == 2:
            can = np.ones([sizes[each] for each in pair], bool)
            can[tuple(codes_of([by_name[each] for each in pair], group).T)] = False
            ways += [(*pair, can), (*pair[::-1], can.T)]
    left = -1
    while left != (left := sum(int(can.sum()) for can in found.values())):
        for one, other, can in ways:
            found[other] &= found[one] @ can
    return found


@dataclass(frozen=True, eq=False)
class Ties:
    """What stated pairs say of other pairs, through variables that are left out.

    If nobody of Age 50+ is in Age50 <50, nor of Age -50 in Age51 51+, nobody is in both of these,
    whether Age is in the table or not.
    """

    variables: Mapping[str, Variable]
    groups: Groups
    _known: dict[tuple[str, ...], tuple[Combination, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, variables: Sequence[Variable], impossible: Iterable[Combination]) -> Ties:
        axes = {variable.name: variable for variable in variables}
        groups = by_names(c for c in impossible if len(c) == 2)
        small = {n: g for n, g in groups.items() if math.prod(axes[m].size for m in n) <= MOST_PAIR}
        return cls(axes, small)

    def through(self, names: Sequence[str]) -> tuple[Combination, ...]:
        """Further pairs of `names` that nobody can have, through the others."""
        tied = {name for pair in self.groups for name in pair}
        kept = tuple(name for name in names if name in tied)
        if len(kept) == len(tied) or len(kept) < 2:
            return ()
        if kept not in self._known:
            self._known[kept] = over(by_names(self._found({*kept})), kept)
        return self._known[kept]

    def _found(self, kept: Collection[str]) -> Iterator[Combination]:
        """One variable after the other goes: who can have a and b has some category of it."""
        can = {pair: self._can(pair) for pair in self.groups if not {*pair} <= {*kept}}
        for gone in self.variables:
            if gone in kept:
                continue
            beside = {
                pair[pair[0] == gone]: can.pop(pair) if pair[1] == gone else can.pop(pair).T
                for pair in [*can]
                if gone in pair
            }
            for one, other in pairs_of(sorted(beside, key=[*self.variables].index), 2):
                if beside[one].shape[0] * beside[other].shape[0] <= MOST_PAIR:
                    joint = beside[one].astype(np.float32) @ beside[other].T.astype(np.float32) > 0
                    can[one, other] = joint & can.get((one, other), True)
        cannot = {pair: ~found & self._can(pair) for pair, found in can.items()}  # and is news
        left = MOST_THROUGH
        for (one, other), news in sorted(cannot.items(), key=lambda each: int(each[1].sum())):
            left -= int(news.sum())
            if left < 0:
                return
            first, second = self.variables[one].categories, self.variables[other].categories
            yield from (((one, first[i]), (other, second[j])) for i, j in np.argwhere(news))

    def _can(self, pair: tuple[str, ...]) -> Bools:
        """Which of their pairs are not stated to be impossible."""
        axes = [self.variables[name] for name in pair]
        found = np.ones([axis.size for axis in axes], bool)
        found[tuple(codes_of(axes, self.groups.get(pair, ())).T)] = False
        return found

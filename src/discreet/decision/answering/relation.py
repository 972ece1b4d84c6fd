"""Which variables and categories of two vintages are the same, wholly or in part."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from discreet.data.previous import Previous
from discreet.errors import LedgerError
from discreet.look.words import listed

Axes = Mapping[str, Sequence[str]]  # the categories of each variable
Pairs = Mapping[str, frozenset[str]]  # categories there that people of one here may have had
Group = dict[str, str]  # of each category
NAMED = 5


@dataclass(frozen=True)
class Relation:
    """Of a variable here: its name there, and where people of each of its categories may be."""

    variables: Mapping[str, tuple[str, Pairs]]

    def reversed(self) -> Relation:
        """The same, seen from there."""
        found: dict[str, tuple[str, Pairs]] = {}
        for here, (there, pairs) in self.variables.items():
            back: dict[str, frozenset[str]] = {}
            for own, others in pairs.items():
                for other in others:
                    back[other] = back.get(other, frozenset()) | {own}
            found[there] = here, back
        return Relation(found)

    def then(self, other: Relation) -> Relation:
        """From here to what `other` relates its own to."""
        found: dict[str, tuple[str, Pairs]] = {}
        for here, (middle, pairs) in self.variables.items():
            if middle in other.variables:
                there, further = other.variables[middle]
                found[here] = (
                    there,
                    {
                        own: frozenset[str]().union(*(further.get(one, ()) for one in between))
                        for own, between in pairs.items()
                    },
                )
        return Relation(found)

    def groups(self, name: str, here: Sequence[str], there: Sequence[str]) -> tuple[Group, Group]:
        """The finest common coding of a variable: the group of each category here, and there."""
        _, pairs = self.variables[name]
        group = {("here", category): {("here", category)} for category in here}
        group |= {("there", category): {("there", category)} for category in there}
        for own, others in pairs.items():
            for other in others:
                one, two = group.get(("here", own)), group.get(("there", other))
                if one is not None and two is not None and one is not two:
                    one |= two
                    group |= dict.fromkeys(two, one)
        label = {place: _label(members) for place, members in group.items()}
        return {c: label["here", c] for c in here}, {c: label["there", c] for c in there}


def _label(members: Iterable[tuple[str, str]]) -> str:
    """A category alone keeps its name where it is here; what is there alone says so."""
    own = sorted(category for side, category in members if side == "here")
    older = sorted(category for side, category in members if side == "there")
    if not own:
        return f"{older[0]} (before)"
    return own[0] if len(own) == 1 and len(older) <= 1 else " | ".join(own)


def alike(text: str) -> str:
    """Names that differ by Unicode form, blanks or case are one.

    >>> alike(" Ash  North ") == alike("ash north")
    True
    """
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def by_names(here: Axes, there: Axes) -> Relation:
    """Variables and categories of one name are the same."""
    place = {alike(name): name for name in there}
    return Relation(
        {
            name: (place[alike(name)], _same(own, there[place[alike(name)]]))
            for name, own in here.items()
            if alike(name) in place
        }
    )


def _same(here: Iterable[str], there: Iterable[str]) -> Pairs:
    found: dict[str, frozenset[str]] = {}
    for category in there:
        found[alike(category)] = found.get(alike(category), frozenset()) | {category}
    return {category: found.get(alike(category), frozenset()) for category in here}


def relate(here: Axes, there: Axes, said: Previous) -> Relation:
    """By what the codebook says of the older vintage, else by names; all else is asked about.

    Which categories the new data have, and which not, is said to nobody before they are opened.
    """
    _check_names(here, there, said)
    plain = {name: older for name, (older, _) in by_names(here, there).variables.items()}
    names = {name: said.variables.get(name, plain.get(name, "")) for name in here}
    _check_one_each(names)
    fresh = [name for name in here if not names[name] and name not in said.variables]
    lost = [name for name in there if name not in {*names.values(), *said.ended}]
    changed: list[str] = []
    found: dict[str, tuple[str, Pairs]] = {}
    for name, older in names.items():
        if not older:
            continue
        told = said.categories.get(name, {})
        pairs = {**_same(here[name], there[older]), **{c: frozenset(o) for c, o in told.items()}}
        found[name] = older, pairs
        known = frozenset[str]().union(*pairs.values(), said.ended_categories.get(name, ()))
        fresh_ones = any(not pairs[c] and c not in told for c in here[name])
        if fresh_ones or not known.issuperset(there[older]):
            changed.append(name)
    asked = [f"what {listed(fresh, NAMED)} was in the older vintage"] if fresh else []
    asked += [f"what became of its {listed(lost, NAMED)}"] if lost else []
    asked += [f"what became of the categories of {listed(changed, NAMED)}"] if changed else []
    if asked:
        shown = " (`discreet look` of both data shows them)" if changed else ""
        raise LedgerError(
            f"it is not said {', nor '.join(asked)}{shown}. Say it in the codebook under "
            '[previous]: variables = { NEW = "OLD" }, categories.NEW = { "NEW ONE" = "OLD ONE" }, '
            'with "" for what is new; ended and ended_categories for what is there no more.'
        )
    return Relation(found)


def _check_one_each(names: Mapping[str, str]) -> None:
    """A variable that became several ties these to each other, which no table of them says."""
    for older in {*names.values()} - {""}:
        several = [name for name, own in names.items() if own == older]
        if len(several) > 1:
            raise LedgerError(
                f"the variable {older!r} became {listed(several, NAMED)}, and a variable can "
                "become one only: serve one variable of their combinations, as it was."
            )


def _check_names(here: Axes, there: Axes, said: Previous) -> None:
    """What the codebook names must be there."""
    for name, older in said.variables.items():
        _check("variables", name, here, "these data")
        if older:
            _check("variables", older, there, "the older vintage")
    for name in said.ended:
        _check("ended", name, there, "the older vintage")
    for key, told in (
        ("categories", said.categories),
        ("ended_categories", {n: {"": c} for n, c in said.ended_categories.items()}),
    ):
        for name, own in told.items():
            _check(key, name, here, "these data")
            older = said.variables.get(name) or by_names(here, there).variables.get(name, ("",))[0]
            for category, others in own.items():
                if category:
                    _check(f"{key} of {name}", category, here[name], "these data")
                for other in others:
                    _check(f"{key} of {name}", other, there.get(older, ()), "the older vintage")


def _check(where: str, name: str, known: Collection[str], whose: str) -> None:
    if name not in known:
        raise LedgerError(
            f"{where} of [previous] in the codebook has {name!r}, and {whose} have no such name."
        )

"""Variables and categories that a policy names, looked up in the table that is judged.

A policy serves many data sets, so that a variable may be missing; a misspelt one must not switch
a rule off. What was set for this run is for this table, and has to be there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.categories import hidden_categories
from discreet.decision.law.rules.published import least_by_margin
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import PolicyError, alike
from discreet.table.table import Table

NAME = "names in the policy"
ALIKE = 0.75  # as alike as Sex and Sexe


class Missing(NamedTuple):
    """A name that the table does not have: where it stands, what it is, one much like it, and
    whether the data have it.
    """

    key: str
    said: str
    near: str | None
    category: bool = False
    unread: bool = False

    def __str__(self) -> str:
        if self.unread:
            return (
                f"{self.key} names {self.said}, which the data have and no table needs; read it, "
                f"too, by also=[{self.said}]."
            )
        hint = f"; did you mean {self.near!r}?" if self.near else "."
        return f"{self.key} names {self.said}, which neither the data nor the codebook have{hint}"

    @property
    def doubtful(self) -> bool:
        return self.category or self.unread or self.near is not None


def names_in_doubt(
    policy: Policy, table: Table, unread: Collection[str] = ()
) -> tuple[Reason, ...]:
    """REVIEW for a category that is not there, for a name much like one that is, or not read.

    An error for what was set for this run. `unread` are columns of the data that the table lacks.
    """
    found = [*_missing(policy, table, unread)]
    if wrong := [one for one in found if one.key in policy.changed]:
        raise PolicyError(f"{wrong[0]}{_there(table, wrong[0])}")
    if not (texts := [str(one) for one in found if one.doubtful]):
        return ()
    return (Reason(NAME, Verdict.REVIEW, f"{' '.join(texts)} Correct it, or take it out."),)


def absent(policy: Policy, table: Table, unread: Collection[str] = ()) -> Iterator[str]:
    """For the assumptions: what is about other data, as it seems."""
    for one in _missing(policy, table, unread):
        if not one.doubtful:
            yield f"{one.key} names {one.said}, which is not in these data."


def _missing(policy: Policy, table: Table, unread: Collection[str]) -> Iterator[Missing]:
    for margin in least_by_margin(policy.published.tables):
        for name in margin:
            if name not in table.names and name not in unread:
                yield Missing("published.tables", repr(name), alike(name, table.names, ALIKE))
    for name, categories in hidden_categories(policy).items():
        if name in unread:
            yield Missing("categories.hidden", repr(name), None, unread=True)
            continue
        if name not in table.names:
            yield Missing("categories.hidden", repr(name), alike(name, table.names, ALIKE))
            continue
        known = table.variable(name).categories
        for category in sorted(categories.difference(known)):
            near = alike(category, known, ALIKE)
            yield Missing("categories.hidden", f"{category!r} of {name!r}", near, category=True)


def _there(table: Table, wrong: Missing) -> str:
    return (
        ""
        if wrong.near or wrong.category or wrong.unread
        else f" The table has {', '.join(table.names[:10])}."
    )

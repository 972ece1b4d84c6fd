"""Variables and categories that a policy names, looked up in the table that is judged.

A policy serves many data sets, so that a variable may be missing; a misspelt one must not switch
a rule off. What was set for this run is for this table, and has to be there.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.categories import hidden_categories
from discreet.decision.law.rules.published import least_by_margin
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import PolicyError
from discreet.table.table import Table

NAME = "names in the policy"
ALIKE = 0.75  # as alike as Sex and Sexe


class Missing(NamedTuple):
    """A name that the table does not have: where it stands, what it is, and one much like it."""

    key: str
    said: str
    near: str | None
    category: bool = False

    def __str__(self) -> str:
        hint = f"; did you mean {self.near!r}?" if self.near else "."
        return f"{self.key} names {self.said}, which neither the data nor the codebook have{hint}"


def missing(policy: Policy, table: Table) -> tuple[Missing, ...]:
    """What the policy names and the table does not have; an error if it was set for this run."""
    found = tuple(_missing(policy, table))
    if wrong := [one for one in found if one.key in policy.changed]:
        raise PolicyError(f"{wrong[0]}{_there(table, wrong[0])}")
    return found


def names_in_doubt(policy: Policy, table: Table) -> tuple[Reason, ...]:
    """REVIEW for a category that is not there, and for a name much like one that is."""
    texts = [str(one) for one in missing(policy, table) if one.category or one.near]
    if not texts:
        return ()
    return (Reason(NAME, Verdict.REVIEW, f"{' '.join(texts)} Correct it, or take it out."),)


def absent(policy: Policy, table: Table) -> Iterator[str]:
    """For the assumptions: what is about other data, as it seems."""
    for one in missing(policy, table):
        if not (one.category or one.near):
            yield f"{one.key} names {one.said}, which is not in these data."


def _missing(policy: Policy, table: Table) -> Iterator[Missing]:
    for margin in least_by_margin(policy.published.tables):
        for name in margin:
            if name not in table.names:
                yield Missing("published.tables", repr(name), _near(name, table.names))
    for name, categories in hidden_categories(policy).items():
        if name not in table.names:
            yield Missing("categories.hidden", repr(name), _near(name, table.names))
            continue
        known = table.variable(name).categories
        for category in sorted(categories.difference(known)):
            near = _near(category, known)
            yield Missing("categories.hidden", f"{category!r} of {name!r}", near, category=True)


def _near(name: str, names: Iterable[str]) -> str | None:
    """The name that is much like it, whatever the capitals."""
    by_text = {each.casefold(): each for each in names}
    close = difflib.get_close_matches(name.casefold(), by_text, 1, ALIKE)
    return by_text[close[0]] if close else None


def _there(table: Table, wrong: Missing) -> str:
    return "" if wrong.near or wrong.category else f" The table has {', '.join(table.names[:10])}."

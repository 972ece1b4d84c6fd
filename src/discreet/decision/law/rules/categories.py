"""Hidden categories: no published table has a line of its own for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Bools
from discreet.decision.law.case import Case
from discreet.decision.law.findings import MOST_NAMED
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule, always
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import PolicyError
from discreet.look.words import plural
from discreet.sheets.listed import bare, split
from discreet.table.cells import Cells
from discreet.table.impossible import possible_with
from discreet.table.notation import quoted
from discreet.table.table import Table
from discreet.table.words import spoken

NAME = "hidden categories"


@dataclass(frozen=True)
class Categories:
    """Categories that may not be shown, however many people have them."""

    hidden: str = key("", "no published line may be of these alone: `Sex=unknown; Town=Z`")


def hidden_categories(policy: Policy) -> Mapping[str, frozenset[str]]:
    """`Sex=unknown; Town=Z` by variable."""
    found: dict[str, frozenset[str]] = {}
    for entry in filter(None, split(policy.categories.hidden, ";")):
        name, equals, category = map(bare, entry.partition("="))
        if not equals or not name or not category:
            raise PolicyError(f"categories.hidden has {entry!r}; write VARIABLE=CATEGORY.")
        found[name] = found.get(name, frozenset()) | {category}
    return found


def judge(case: Case) -> Reason:
    """Nobody is shown in a line of hidden categories alone."""
    found = tuple(
        row
        for name, shown in visible(case.policy, case.table)
        for cells in (*(t.nonzero() for t in case.release.tables), *case.release.single_cells)
        for row in _shown(cells, name, shown)
    )
    if not found:
        return Reason(NAME, Verdict.PASS, "no published table has a line of a hidden category.")
    first = found[0]
    more = f"; {plural(len(found) - 1, 'more cell')} like it" if len(found) > 1 else ""
    text = f"{first['table']} shows {spoken(first['cell'], case.table.variables)}{more}."
    return Reason(NAME, Verdict.FAIL, text, found[:MOST_NAMED])


def visible(policy: Policy, table: Table) -> Iterator[tuple[str, dict[str, Bools]]]:
    """Of each variable with hidden categories: which categories of every variable somebody with
    each of its other categories can have. Those that nobody has show nobody beside the hidden ones.
    """
    for name, categories in hidden_categories(policy).items():
        if name not in table.names:
            continue
        shown = np.array([c not in categories for c in table.variable(name).categories])
        shown &= table.margin([name]).dense() > 0
        possible = possible_with(name, table.variables, table.ruled_out)
        yield name, {other: can[shown] for other, can in possible.items()}


def _shown(cells: Cells, name: str, visible: Mapping[str, Bools]) -> Iterator[dict[str, Any]]:
    """The cells in which everybody has a hidden category of a variable."""
    others = np.ones((len(visible[name]), len(cells.counts)), bool)
    for place, variable in enumerate(cells.variables):
        others &= visible[variable.name][:, cells.codes[:, place]]
    for row in np.flatnonzero(~others.any(0) & (cells.counts > 0)):
        yield {
            "table": "*".join(map(quoted, cells.names)),
            "cell": cells.label(int(row)),
            "count": int(cells.counts[row]),
        }


def promises(policy: Policy) -> Iterable[str]:
    yield f"No table has a line of {policy.categories.hidden.strip(' ;')}."


RULE = Rule(
    NAME,
    judge,
    section="categories",
    keys=Categories,
    asked=lambda policy: bool(policy.categories.hidden),
    monotone=always,
    promises=promises,
    light=True,
    place=25,
)

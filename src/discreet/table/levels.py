"""The levels of hierarchies as variables, beside those whose categories they merge.

Whoever has a table can add its categories up along a hierarchy that everybody knows. So a coarser
category can be told of somebody, too: if 50 have lung cancer, 49 skin cancer, and nobody anything
else, all have cancer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator

from discreet.data.codebook import Role, Variable
from discreet.table.table import Table

Groups = tuple[str, ...]  # of each category


def with_levels(table: Table, names: Container[str]) -> Table:
    """The table with the levels of some of its variables beside them.

    >>> from discreet.data.codebook import Codebook
    >>> from discreet.table.load import load
    >>> book = Codebook.of({"Diag": {"hierarchy": {"lung": "cancer", "skin": "cancer"}}})
    >>> table = load({"Diag": ["lung", "skin", "flu"], "n": [5, 4, 9]}, count="n", codebook=book)
    >>> with_levels(table, ["Diag"])
    Table(Diag 3 x Diag (level 1) 2: 18 in 3 of 6 cells)
    """
    for variable in table.variables:
        if variable.name in names:
            for level, groups in levels(variable):
                group_of = dict(zip(variable.categories, groups, strict=True))
                table = table.beside(variable.name, level.name, group_of)
                table = dataclasses.replace(table, variables=(*table.variables[:-1], level))
    return table


def levels(variable: Variable) -> Iterator[tuple[Variable, Groups]]:
    """Each level as a variable, and the group of each category.

    Sensitive are the groups of sensitive categories alone that no finer level has.
    """
    if variable.hierarchy is None or variable.level_of is not None:
        return
    sensitive = {variable.categories[code] for code in variable.sensitive_codes}
    known = {frozenset({category}) for category in variable.categories}
    for number, groups in enumerate(variable.hierarchy.levels(variable.categories), 1):
        members = {group: frozenset[str]() for group in groups}
        for category, group in zip(variable.categories, groups, strict=True):
            members[group] |= {category}
        telling = tuple(g for g, own in members.items() if own <= sensitive and own not in known)
        known |= {*members.values()}
        role = variable.role
        if role.is_sensitive and not telling:
            role = Role.IDENTIFYING if role.identifies else Role.NEITHER
        level = Variable(
            f"{variable.name} (level {number})", tuple(members), role, telling,
            level_of=variable.name,
        )  # fmt: skip
        yield level, groups

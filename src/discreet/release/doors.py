"""What functions of a release and of a table take in each other's place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar, cast

from discreet.errors import DataError
from discreet.release.release import Release
from discreet.table.formula import Formula, as_formula
from discreet.table.impossible import spelled
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table

F = TypeVar("F", bound=Callable[..., Any])


def told_of(table: Table, given: Release | str | Formula | Iterable[Iterable[str]]) -> Release:
    """The named margins of a table, or a release of it with all that it tells."""
    if not isinstance(given, Release) or not (given.known or given.ceiling is not None):
        return Release.margins(table, given)  # type: ignore[arg-type]  # a release has a formula
    check_of(table, given)
    return given.excluding(table)


def check_of(table: Table, release: Release) -> None:
    """A release of another table cannot be judged by this one."""
    if release.variables != table.variables:
        raise DataError(
            f"the release has the variables {', '.join(release.names)}, the table "
            f"{', '.join(table.names)}, or their categories differ; release margins of this table."
        )
    for margin in release.tables:
        if margin != table.margin(margin.names):
            raise DataError(
                f"the release's {'*'.join(margin.names)} is not that of the table; release margins "
                "of this table."
            )


def margins_alone(
    table: Table, given: Release | str | Formula | Iterable[Iterable[str]]
) -> Formula:
    """The formula of margins; a release that tells more of the table cannot be one."""
    if isinstance(given, Release):
        stated = set(map(frozenset, table.supposing().impossible))
        others = [k for k in given.known if k.upper == 0 and frozenset(k.cell) not in stated]
        if others and not given.beside:
            raise DataError(
                f"margins are taken here, and the release also says that nobody can have "
                f"{spelled(others[0].cell)}, which the table does not; use decide(table, release), "
                "or say it of the table, as table.excluding."
            )
    return as_formula(given, table.names)  # type: ignore[arg-type]  # a release has a formula


def of_release(function: F) -> F:
    """A function of a release: a table and a formula will do, with what was found known too."""
    name = getattr(function, "__name__", "this")

    @wraps(function)
    def door(given: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(given, Table):
            if not rest:
                raise DataError(
                    f"{name} asks about a release: say what is released of the table, as in "
                    f'{name}(table, "A*B + C").'
                )
            formula, *rest = rest  # type: ignore[assignment]
            given = told_of(given.supposing(), formula)
        elif not isinstance(given, Release):
            raise DataError(
                f"{name} asks about a release, or a table and a formula, not about "
                f"{type(given).__name__}; begin with load, or Release.margins."
            )
        return function(given, *rest, **options)

    return cast(F, door)


def of_table(function: F) -> F:
    """A function of a table: a release does not have it."""
    return _of(function, (Table,))


def of_any_table(function: F) -> F:
    """A function of a table in memory or on disk."""
    return _of(function, (Table, StoredTable))


def _of(function: F, kinds: tuple[type, ...]) -> F:
    name = getattr(function, "__name__", "this")

    @wraps(function)
    def door(given: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(given, StoredTable) and StoredTable not in kinds:
            raise DataError(
                f"{name} needs the table in memory, and this one is on disk; give a margin of it, "
                "or all of it if it fits, as stored.loaded()."
            )
        if not isinstance(given, kinds):
            raise DataError(
                f"{name} needs the table itself, not {type(given).__name__}: which counts are "
                "small, only the custodian knows. Give the table first."
            )
        return function(given, *rest, **options)

    return cast(F, door)

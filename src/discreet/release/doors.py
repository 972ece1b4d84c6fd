"""What functions of a release and of a table take in each other's place."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from discreet.errors import DataError
from discreet.release.release import Release
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table

F = TypeVar("F", bound=Callable[..., Any])


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
            given = Release.margins(given.supposing(), formula)
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

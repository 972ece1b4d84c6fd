"""Folders of cells that are too large to load: what commands do with them where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from discreet.decision.frontier.decomposable_result import DecomposableFrontier
    from discreet.table.stored_table import StoredTable

# what a search on disk takes
ON_DISK = ("beta", "small", "first", "max_order", "seed", "effort", "seconds")


def left_on_disk(data: str, **how: Any) -> StoredTable | None:
    """DATA, if it is a folder of cells that does not fit in memory, and all of it is asked for."""
    from discreet.data.stored import is_stored
    from discreet.table.stored_table import StoredTable

    if not is_stored(data) or any(how.values()):
        return None
    found = StoredTable.open(data)
    if found.fits:
        return None
    for coding in found.codings:
        if not coding.denied:
            click.echo(f"discreet: {coding}", err=True)
    return found


def frontier_on_disk(table: StoredTable, *, method: str, **options: Any) -> DecomposableFrontier:
    """The decomposable release of a table on disk; whatever else is asked is refused."""
    from discreet.decision.frontier.decomposable import decomposable_frontier
    from discreet.errors import DataError

    other = [name for name, value in options.items() if name not in ON_DISK and value]
    if method != "decomposable" or other or options.get("first") == "fit":
        named = f"--{other[0].replace('_', '-')}" if other else "this search"
        raise DataError(
            f"{named} needs the table in memory, where it does not fit; say --method decomposable "
            "with --beta alone, or name some of its variables with --variables."
        )
    given = {name: options[name] for name in ON_DISK if options.get(name) is not None}
    if "beta" not in given:
        raise DataError("a table on disk is searched by widths alone; give --beta, as in --beta 3.")
    return decomposable_frontier(table, restarts=2, **given)

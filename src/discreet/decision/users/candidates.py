"""The releases to choose from: formulas, a file of them, nothing, and frontiers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from discreet.data.smallfiles import read_text, read_toml
from discreet.errors import DataError
from discreet.release.release import Release
from discreet.table.table import Table

NOTHING = "nothing"


def nothing_released(table: Table) -> Release:
    """Only how many people there are, and what is impossible: users know these before.

    >>> from discreet.table.load import load
    >>> nothing_released(load("example:tract"))
    Release(: 742 people, 0 of 7 margins)
    """
    return Release(table.variables, (table.margin(()),)).excluding(table)


def candidates(
    table: Table,
    formulas: Iterable[str] = (),
    *,
    file: str | Path | None = None,
    nothing: bool = False,
    frontiers: Iterable[int] = (),
) -> dict[str, Release]:
    """Releases by name.

    `file` has a formula a line, or is TOML: names with formulas. `frontiers` are the widths that
    small counts keep in a large release (`frontier`).

    >>> from discreet.table.load import load
    >>> found = candidates(load("example:tract"), ["Race*Income + Gender"], nothing=True)
    >>> list(found)
    ['nothing', 'Race*Income + Gender']
    """
    found: dict[str, Release] = {}

    def add(name: str, release: Release) -> None:
        if name in found:
            raise DataError(f"two releases are called {name!r}; name each once.")
        found[name] = release

    if nothing:
        add(NOTHING, nothing_released(table))
    for formula in formulas:
        release = Release.margins(table, formula)
        add(str(release.formula), release)
    for name, formula in _read(file) if file else ():
        release = Release.margins(table, formula)
        add(name or str(release.formula), release)
    for beta in frontiers:
        from discreet.decision.frontier.frontier import frontier

        add(f"frontier {beta}", Release.margins(table, frontier(table, beta=beta).formula))
    if not found:
        raise DataError("there is no release to choose; name at least one.")
    return found


def _read(file: str | Path) -> list[tuple[str, str]]:
    """Names, or none, with formulas."""
    if Path(file).suffix.lower() == ".toml":
        content = read_toml(file)
        if wrong := [name for name, formula in content.items() if not isinstance(formula, str)]:
            raise DataError(f"{wrong[0]!r} of {str(file)!r} is no formula; write NAME = 'A*B + C'.")
        return list(content.items())
    lines = (line.strip() for line in read_text(file).splitlines())
    return [("", line) for line in lines if line and not line.startswith("#")]

"""What a user of a release wants to know: a cell, the whole table, or any function of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError
from discreet.intruder.belief.atoms import gathered
from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.whole_table import Held, Model, TableBelief
from discreet.look.result import Unpublished
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.table import Table
from discreet.table.words import brief


@dataclass(frozen=True, eq=False)
class Target(Unpublished):
    """A quantity, what a user believes about it given a release, and what the agency knows of it.

    `truth` is its value, or the agency's own belief where the agency does not know it.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> target = dc.users.cell_targets(table, table.small())[0]
    >>> target, target.truth
    (Target(Male, Chinese, up to $10,000), 1)
    >>> target.believe(dc.Release.margins(table, "Race*Income + Income*Gender"))
    Belief(2 values: most probable 1 with 0.5006, mean 0.5006, exact)
    """

    name: str
    believe: Callable[[Any], Held]
    truth: Any

    def __repr__(self) -> str:
        return f"Target({self.name})"


def cell_targets(
    table: Table, cells: Cells | None = None, model: Model | str = "saturated"
) -> tuple[Target, ...]:
    """The count of each cell, of the table or of a margin; by default of all cells.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> cell_targets(table, table.small())[0]
    Target(Male, Chinese, up to $10,000)
    """
    asked = table.all() if cells is None else cells
    latest: list[tuple[Any, Posterior]] = []  # the targets of a release share its beliefs
    held = _model(model)

    def believed(release: Release, row: int) -> Belief:
        if not latest or latest[0][0] is not release:
            latest[:] = [(release, held.cells(release, asked))]
        return latest[0][1][row]

    return tuple(
        Target(
            brief(asked.label(row)),
            partial(believed, row=row),
            int(count),
        )
        for row, count in enumerate(table.margin(asked.names).lookup(asked.codes))
    )


def table_target(table: Table, model: Model | str = "saturated") -> Target:
    """The whole table as a target, under a `Model` or its name.

    >>> import discreet as dc
    >>> table = dc.load("example:blond")
    >>> target = dc.users.table_target(table, "uniform")
    >>> belief = target.believe(dc.Release.margins(table, "Hair + Income"))
    >>> len(belief.tables), round(belief.probability(target.truth), 4)
    (35, 0.0286)
    """
    held = _model(model)

    def believed(release: Release) -> TableBelief:
        _check(table, release)
        return TableBelief(release, held)

    return Target("the whole table", believed, table.dense())


def function_target(
    table: Table,
    name: str,
    function: Callable[[Ints], Any],
    model: Model | str = "saturated",
) -> Target:
    """A number or label that follows from the table, an array of counts: by listing all that fit.

    >>> from discreet.table.load import load
    >>> table = load("example:blond")
    >>> blonds = function_target(table, "rich blonds", lambda t: t[2, 0], "uniform")
    >>> blonds.believe(Release.margins(table, "Hair + Income")), blonds.truth
    (Belief(5 values: most probable 4 with 0.2571, mean 2.286, exact), 4)
    """
    held = _model(model)

    def believed(release: Release) -> Belief:
        _check(table, release)
        found = TableBelief(release, held)
        values = np.asarray([function(each) for each in found.tables])
        return Belief.discrete(*gathered(values, found.mass))

    truth = function(table.dense())
    return Target(name, believed, truth.item() if isinstance(truth, np.generic) else truth)


def margin_target(
    table: Table,
    name: str,
    names: Sequence[str],
    function: Callable[[Ints], Any],
    model: Model | str = "saturated",
) -> Target:
    """The same of a margin, an array over `names`: known where the margin is released.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> women = margin_target(table, "Black women", ["Gender", "Race"], lambda t: t[1, 1])
    >>> women.truth, women.believe(Release.margins(table, "Gender*Race"))
    (21, Belief(1 value: most probable 21 with 1.0000, mean 21, exact))
    """
    places = table.axes.places(names)
    others = tuple(place for place in range(len(table.names)) if place not in places)
    order = np.argsort(np.argsort(places))

    def summed(counts: Ints) -> Any:
        return function(counts.sum(others).transpose(order))

    listed = function_target(table, name, summed, model)

    def believed(release: Release) -> Held:
        _check(table, release)
        if release.formula.contains(names):
            value = function(release.table(names).dense())
            return Belief.discrete([value], [1.0])
        return listed.believe(release)

    return Target(name, believed, listed.truth)


def _model(model: Model | str) -> Model:
    return model if isinstance(model, Model) else Model(model)


def _check(table: Table, release: Release) -> None:
    sizes = release.axes.sizes
    if (table.names, table.shape) != (release.names, sizes):
        raise DataError(
            f"the table is over {', '.join(table.names)} {table.shape}, the release over "
            f"{', '.join(release.names)} {sizes}; release margins of this table, or write a Target."
        )

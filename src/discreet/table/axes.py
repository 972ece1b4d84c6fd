"""The named axes of a table, and sets of them as bits: bit p is axis p."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.look.result import Shown
from discreet.table.lattice import bits


@dataclass(frozen=True)
class Axes(Shown):
    """Names and sizes of variables in order; where each stands; sets of them to names and back.

    >>> axes = Axes((Variable("Sex", ("f", "m")), Variable("Age", ("0", "1", "2"))))
    >>> axes.sizes, axes.cells, axes.set_of(["Age"]), axes.names_of(0b11)
    ((2, 3), 6, 2, ('Sex', 'Age'))
    """

    variables: tuple[Variable, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(variable.size for variable in self.variables)

    @property
    def cells(self) -> int:
        """How many cells a table over these axes has, zeros included."""
        return math.prod(self.sizes)

    @cached_property
    def place(self) -> dict[str, int]:
        """Where each name stands."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def identifying(self) -> int:
        """The axes that tell who somebody is."""
        return sum(1 << p for p, v in enumerate(self.variables) if v.role.identifies)

    def repeats(self, names: Iterable[str]) -> bool:
        """Is a variable there twice, itself or by its levels?"""
        bases = [self.variables[place].base for place in self.places(names)]
        return len({*bases}) < len(bases)

    def places(self, names: Iterable[str]) -> list[int]:
        """Where the names stand, in their order.

        >>> Axes((Variable("Sex", ("f", "m")),)).places(["Sex", "Town"])
        Traceback (most recent call last):
        discreet.errors.DataError: the table has no variable 'Town'; it has Sex.
        """
        try:
            return [self.place[name] for name in names]
        except KeyError as missing:
            known = ", ".join(self.names[:10])
            raise DataError(
                f"the table has no variable {missing.args[0]!r}; it has {known}."
            ) from None

    def set_of(self, names: Iterable[str]) -> int:
        return sum({1 << place for place in self.places(names)})

    def names_of(self, margin: int) -> tuple[str, ...]:
        return tuple(self.names[place] for place in bits(margin))

    def sizes_of(self, margin: int) -> tuple[int, ...]:
        return tuple(self.sizes[place] for place in bits(margin))

    def within(self, margin: int, others: Axes) -> int:
        """A set of these axes as a set of others that hold them too."""
        return margin if others.names == self.names else others.set_of(self.names_of(margin))


class OverAxes:
    """What has variables, and so axes."""

    variables: tuple[Variable, ...]

    @cached_property
    def axes(self) -> Axes:
        return Axes(self.variables)

    @property
    def names(self) -> tuple[str, ...]:
        return self.axes.names

    @property
    def shape(self) -> tuple[int, ...]:
        return self.axes.sizes

"""A table to be printed: what is shown of which variables, of whom, and of what."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from typing import Any

from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.look.words import both
from discreet.sheets.grouping import Grouping

OPTIONS = ("least", "decimals")


class Status(StrEnum):
    """Whether a sheet is asked about, or public already; a watched one is never printed.

    >>> [str(one) for one in Status]
    ['wanted', 'out', 'watched']
    """

    WANTED = "wanted"
    OUT = "out"
    WATCHED = "watched"


@dataclass(frozen=True)
class Measure:
    """What a sheet counts or adds up.

    `value` is the column that is summed, none for counts; `weight` that of sampling weights;
    `holding` says who owns a contributor: contributions of one owner are one. `shadow` is judged
    in place of the value, and `request` marks who asked to be protected.

    >>> print(Measure("Turnover", weight="Weight"))
    sum of Turnover, weighted by Weight
    """

    value: str | None = None
    weight: str | None = None
    holding: str | None = None
    shadow: str | None = None
    request: str | None = None

    def __post_init__(self) -> None:
        if self.value is None and (self.shadow or self.request):
            raise DataError("a shadow variable and requests are for sums; name a value.")

    @property
    def printed(self) -> tuple[str | None, str | None]:
        """What is printed, whoever is behind it."""
        return self.value, self.weight

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that hold numbers."""
        return tuple(c for c in (self.value, self.weight, self.shadow) if c)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it needs."""
        return (*self.numbers, *(c for c in (self.holding, self.request) if c))

    def __str__(self) -> str:
        said = f"sum of {self.value}" if self.value else "count"
        return f"{said}, weighted by {self.weight}" if self.weight else said


COUNT = Measure()


@dataclass(frozen=True, eq=False)
class Sheet(Unpublished):
    """Lines of some variables crossed; `where` keeps those of other variables.

    >>> from discreet.data.codebook import Variable
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B"))
    >>> Sheet("1", (Grouping.of(sex), Grouping.of(town)))
    Sheet(1: Sex 3 x Town 3, count)
    """

    name: str
    groupings: tuple[Grouping, ...]
    measure: Measure = COUNT
    where: tuple[Grouping, ...] = ()
    title: str = ""
    status: Status = Status.WANTED
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [grouping.name for grouping in (*self.groupings, *self.where)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(f"table {self.name!r} has {twice[0]!r} twice; name it once.")
        if any(len(grouping) != 1 for grouping in self.where):
            raise DataError(f"a filter of table {self.name!r} has several lines; merge them.")
        if strange := [name for name in self.options if name not in OPTIONS]:
            raise DataError(
                f"table {self.name!r} has an option {strange[0]!r}; there are {both(OPTIONS)}."
            )
        if type(self.least) is not int or self.least < 0:
            raise DataError(
                f"table {self.name!r} has least = {self.least!r}; give a whole number from 0 on."
            )

    @property
    def least(self) -> Any:
        """People or contributors that it asks for in each cell, beyond what the policy asks."""
        return self.options.get("least", 0)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(grouping.name for grouping in self.groupings)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(grouping) for grouping in self.groupings)

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    def labels(self) -> Iterator[tuple[str, ...]]:
        """Of every cell, in row-major order."""
        return product(*(grouping.labels for grouping in self.groupings))

    def label(self, cell: int) -> dict[str, str]:
        """`{"Sex": "f", "Town": "Total"}`."""
        found: dict[str, str] = {}
        for grouping in reversed(self.groupings):
            cell, line = divmod(cell, len(grouping))
            found[grouping.name] = grouping.labels[line]
        return dict(reversed(found.items()))

    def __repr__(self) -> str:
        axes = " x ".join(f"{g.name} {len(g)}" for g in self.groupings) or "total"
        kept = "".join(f", {g.name}={g.labels[0]}" for g in self.where)
        return f"Sheet({self.name}: {axes}, {self.measure}{kept})"

"""How data are read: one value that every command and door makes, and one way to open a source.

Whatever takes data says by a `Reading` what they are, opens them by it, and gets the same questions
where they look like something else: cells or a cross-tab taken for people, totals, percentages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, TypedDict

from discreet.data.bands import check_cells_unbanded, merged
from discreet.data.checkpoint import Checkpoint
from discreet.data.codebook import Codebook
from discreet.data.count import check_column, choose_columns
from discreet.data.crosstab import as_cells
from discreet.data.examples import PREFIX, find_example
from discreet.data.impossible import Impossible
from discreet.data.inhand import in_hand
from discreet.data.kind import check_records
from discreet.data.labelled import check_weight
from discreet.data.roles import named, nobodies
from discreet.data.source import Source
from discreet.data.sources import open_source
from discreet.data.totals import Totals
from discreet.errors import DataError, WrongKind, near
from discreet.look.result import Shown


class How(TypedDict, total=False):
    """The arguments of a door that takes data, such as `load`: the fields of a `Reading`."""

    count: str | None
    codebook: Codebook | str | Path | None
    table: str | None
    variables: str | Iterable[str] | None
    records: bool
    crosstab: str | None
    totals: str | None
    impossible: object
    without: str | Iterable[str] | None
    bands: Mapping[str, object] | Iterable[str] | None
    checkpoint: Checkpoint | str | Path | None


# what doors take that give people, or cells
PEOPLE = ("codebook", "table", "records", "totals", "without", "bands")
CELLS = ("codebook", "table", "totals", "without", "count", "crosstab", "variables", "impossible")


@dataclass(frozen=True)
class Reading(Shown):
    """How data are read, as a person says it; what is not said is looked for, and asked.

    >>> Reading.of({"count": "n", "totals": "drop"}).count
    'n'
    """

    count: str | None = None
    codebook: Codebook | str | Path | None = None
    table: str | None = None
    variables: str | tuple[str, ...] | None = None
    records: bool = False
    crosstab: str | None = None
    totals: str | None = None
    impossible: Impossible = field(default_factory=Impossible)
    without: str | tuple[str, ...] | None = None
    bands: Mapping[str, object] | tuple[str, ...] | None = None
    checkpoint: Checkpoint | str | Path | None = None

    def __post_init__(self) -> None:
        Totals.named(self.totals)
        pairs = [("count", self.count), ("crosstab", self.crosstab)]
        said = [(name, value) for name, value in pairs if value is not None]
        if self.records and said:
            raise WrongKind(
                lambda say: (
                    f"{say('records', True)} says that each row is a person, {say(*said[0])} that "
                    "it is not; say one."
                )
            )
        if len(said) > 1:
            raise WrongKind(
                lambda say: (
                    f"{say(*said[0])} is for cells and {say(*said[1])} for a cross-tab; say one."
                )
            )
        if self.checkpoint is not None and said:
            raise DataError("a checkpoint is for records that are counted; leave it out.")

    @classmethod
    def of(cls, given: Mapping[str, Any], takes: Collection[str] = ()) -> Self:
        """The arguments of a door; an unknown one, or one that the door does not take, is refused.

        >>> Reading.of({"cuont": "n"})
        Traceback (most recent call last):
        discreet.errors.DataError: nothing is read by 'cuont'; did you mean 'count'?
        """
        known = [*takes] or [one.name for one in fields(cls)]
        if odd := [name for name in given if name not in known]:
            raise DataError(f"nothing is read by {odd[0]!r}; {near(odd[0], known)}")
        made = dict(given)
        made["impossible"] = Impossible.of(made.get("impossible"))
        for name in ("variables", "without", "bands"):
            value = made.get(name)
            if value is not None and not isinstance(value, str | Mapping):
                made[name] = tuple(value)
        return cls(**made)

    @classmethod
    def typed(cls, options: Mapping[str, Any]) -> Self:
        """The options of a command, with texts as they are typed."""
        made = dict(options)
        made["impossible"] = Impossible.parse(made.get("impossible") or ())
        if made.get("variables"):
            made["variables"] = tuple(name.strip() for name in made["variables"].split(","))
        else:
            made["variables"] = None
        return cls.of(made)

    def beside(self, *names: str) -> list[str]:
        """What is said beside `names`."""
        usual = type(self)()
        every = [one.name for one in fields(self) if one.name not in names]
        said = {name: getattr(self, name) for name in every}
        return [n for n, v in said.items() if v not in (None, (), "") and v != getattr(usual, n)]

    def check_only(self, *names: str, why: str) -> None:
        """Refuse what is said beside `names`, which nothing would read."""
        if odd := self.beside(*names):
            value = getattr(self, odd[0])
            shown = value if isinstance(value, str | bool) else "..."
            raise WrongKind(lambda say: f"{say(odd[0], shown)} {why}; leave it out.")

    def open(self, data: object, *, aside: Collection[str] = ()) -> Opened:
        """The source, what its documentation and the codebook say of it, and whether it is cells.

        `aside` are columns whose use is known, such as values that are added up: neither counts nor
        variables.
        """
        how = self
        if isinstance(data, str) and data.startswith(PREFIX):
            how, data = how._of_example(data)
        handed = in_hand(data, count=how.count, crosstab=how.crosstab)
        opened = open_source(handed.data, table=how.table)
        count = handed.count if handed.count is not None else opened.count
        if count is not None:
            if how.records:
                raise DataError("the data in hand count people by cell; leave out records.")
            how = replace(how, count=count, crosstab=None)
        stated, source = books(how.codebook, opened)
        without = named(how.without, source.columns)
        for name in without:
            check_column(source, name)
        count, raw = how.count, source
        if how.crosstab is not None:
            asked = how.variables if isinstance(how.variables, tuple) else ()
            known = {*stated.entries, *asked}
            source, count = as_cells(left_out(source, without), how.crosstab, known=known)
            without = ()
        if count is not None and how.bands:
            raise DataError("bands are for records; group the cells before, or leave bands out.")
        stated = merged(stated, how.bands, source)
        book = stated.over(source.codebook)
        book.check_columns(source.columns)
        if count is not None:
            check_column(source, count)
            check_cells_unbanded(book)
        return Opened(source, book, stated, count, without, tuple(aside), how, raw)

    def _of_example(self, name: str) -> tuple[Reading, object]:
        """An example knows its count and its codebook."""
        if self.count or self.table:
            raise DataError(f"{name} needs no count column and no table name; leave them out.")
        if self.records or self.crosstab or self.totals:
            raise DataError(f"{name} needs no records, crosstab or totals; leave them out.")
        example = find_example(name)
        book = self.codebook if self.codebook is not None else example.codebook
        return replace(self, count=example.count, codebook=book), example.path


@dataclass(frozen=True)
class Opened:
    """A source that is open: `count` names the column of counts if its rows are cells.

    `stated` is what a person says of the columns, `book` with what the source says of itself.
    `without` classify nobody; the use of those `aside` is known.
    """

    source: Source
    book: Codebook
    stated: Codebook
    count: str | None
    without: tuple[str, ...]
    aside: tuple[str, ...]
    how: Reading
    raw: Source  # as it lies there, before a cross-tab becomes cells

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that people can be classified by, those left out among them."""
        every = choose_columns(self.source, None, self.book, self.count)
        return tuple(name for name in every if name not in self.aside)

    def check_people(self, known: Collection[str] = ()) -> None:
        """Refuse cells and cross-tabs, unless a person says that each row is one.

        Columns that are `known` are no counts; those left out can still be one.
        """
        if self.count is not None:
            raise DataError(
                f"{self.name} counts people by cell, in {self.count!r}, and here each row must be "
                "a person; give the records, or read them with load."
            )
        if self.how.records:
            return
        aside = {*self.aside, *(one.column for one in nobodies(self.source, self.without))}
        weights = self.book.weights
        if self.stated.weights:
            aside.add(self.stated.weights)
        elif weights not in (*self.without, *self.aside):
            check_weight(self.source)
        check_records(self.source, known={*self.stated.classifying, *known}, aside=aside)


def books(codebook: Codebook | str | Path | None, source: Source) -> tuple[Codebook, Source]:
    """What a person states, and the source with what its documentation says of it."""
    stated = the_codebook(codebook)
    if not stated.documents:
        return stated, source
    book = stated.fitted(source.columns).over(source.codebook)
    return Codebook(), replace(source, codebook=book)


def the_codebook(codebook: Codebook | str | Path | None) -> Codebook:
    if codebook is None:
        return Codebook()
    return codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)


def left_out(source: Source, names: Collection[str]) -> Source:
    """A source without some of its columns."""
    if not names:
        return source
    if len(names) == len(source.columns):
        raise DataError(f"no column of {source.name} is left; leave out fewer.")
    return replace(source, records=source.records.drop(*names))

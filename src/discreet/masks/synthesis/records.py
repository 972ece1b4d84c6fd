"""Synthetic records: files of categories, drawn from a model of their table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.data.codebook import Variable
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.kinds import together
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import Mask, MaskedFile, listed, others_changed
from discreet.masks.synthesis.geometric import checked
from discreet.masks.synthesis.given import conditional
from discreet.masks.synthesis.graphical import AveragedCells, graphical
from discreet.masks.synthesis.private import private_table
from discreet.masks.synthesis.synthesise import Synthetic, predicted, synthesise
from discreet.models.cellmodel import CellModel
from discreet.models.decomposed import LogLinearCells
from discreet.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("graphical", "averaged", "formula", "latent", "membership")
MOST_VALUES = 30  # different numbers, up to here they are taken for codes
MOST_CELLS = 1 << 22
MOST_CHANCES = 1_000_000  # of what an intruder weighs
DRAWS = 10  # of a model without a mean in closed form
UNSURE = 0.01  # that a value is any, if the mean is of a few draws
MISSING = "(missing)"
COPY = "copy"


@dataclass(frozen=True)
class Synthesise(Mask):
    """Records drawn from a model: all columns, or only `columns` given those of `given`.

    `model` is graphical (the decomposable one chosen by its posterior), averaged (over those by
    their posterior), latent (`classes`), membership (`profiles`) or formula (a log-linear one).
    With several `copies` they stand below each other, and the column `copy` numbers them.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "ill": ["no", "no", "yes", "no"] * 10})
    >>> file = RecordFile(people)
    >>> Synthesise().apply(file, np.random.default_rng(1))
    MaskedFile(synthesise: 40 records, no column masked)
    """

    model: str = "graphical"
    columns: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    formula: str = ""
    classes: int = 5
    profiles: int = 3
    copies: int = 1

    name: ClassVar[str] = "synthesise"
    promise: ClassVar[str] = (
        "No record that is wholly synthetic belongs to anybody; columns that are not replaced stay."
    )

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise OptionError(f"there is no model {self.model!r}; choose {', '.join(MODELS)}.")
        if (self.model == "formula") != bool(self.formula):
            raise OptionError(
                f"the model is {self.model!r} and the formula {self.formula!r}; give a formula "
                "with the model 'formula', and with no other."
            )
        if self.copies < 1:
            raise OptionError(f"{self.copies} copies are asked for; give at least 1.")

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        columns, given = _columns(file, self.columns, self.given)
        whole = len(columns) == len(file.data.columns)
        if not whole and self.copies > 1:
            raise DataError(
                f"{self.copies} copies of a partly synthetic file would repeat what is kept; make "
                "1 copy, or replace all columns."
            )
        table, codes = coded(file, (*columns, *given))
        made = synthesise(
            table, lambda t: self._fit(t, rng), variables=columns, copies=self.copies, rng=rng
        )
        options = {k: v for k, v in self.options.items() if v not in ((), "")}
        if whole:
            data = _stacked(file, [_people(copy, rng) for copy in made.tables], table)
            said = (*made.said, _NOBODY)
            return _masked(data, options, said, np.full(len(data), -1, np.int64), {})
        data = _replaced(file, made, table, codes, columns, given, rng)
        keys, apart = _known(file, made, codes, len(columns), rng)
        said = (
            *made.said,
            "The other columns are those of real people: what they give away stays; the replaced "
            "ones are weighed by what the model says of them, to who has the file.",
            *apart,
        )
        return _masked(data, options, said, np.arange(len(file)), keys)

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        columns, _ = _columns(file, self.columns, self.given)
        wrong = []
        if len(columns) == len(file.data.columns):
            if (masked.rows != -1).any():
                wrong.append("a synthetic record is said to be somebody's.")
            if len(masked) != self.copies * len(file):
                wrong.append(f"{len(masked)} records instead of {self.copies * len(file)}.")
        else:
            wrong += others_changed(file, masked, columns, "not synthetic")
        return wrong + _unknown(file, masked, columns)

    def _fit(self, table: Table, rng: np.random.Generator) -> CellModel:
        if self.model == "graphical":
            return graphical(table, rng=rng)
        if self.model == "averaged":
            return AveragedCells.fit(table, rng=rng)
        if self.model == "formula":
            return LogLinearCells.fit(table, self.formula)
        if self.model == "latent":
            from discreet.models.latent import LatentClasses

            return LatentClasses.fit(table, self.classes, rng=rng)
        from discreet.models.membership import GradeOfMembership

        return GradeOfMembership.fit(table, self.profiles, rng=rng)


@dataclass(frozen=True)
class PrivateRecords(Mask):
    """Records drawn from margins with differentially private noise, all columns.

    `margins` is a formula, by default all pairs of columns, that share `epsilon`. The noise comes
    from the generator, to compare masks, and is not for release: `private_table` without one draws
    OpenDP's, which no seed repeats.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": ["f", "m"] * 20, "ill": ["no", "no", "yes", "no"] * 10})
    >>> file = RecordFile(people)
    >>> PrivateRecords(epsilon=2).apply(file, np.random.default_rng(1)).said[0]
    '1 margin with two-sided geometric noise, epsilon 2 in all; noise of the same law from a seed:
        for comparison, not for release.'
    """

    epsilon: float = 1.0
    margins: str = ""

    name: ClassVar[str] = "private"
    promise: ClassVar[str] = "No record belongs to anybody; every category is one of the file's."

    def __post_init__(self) -> None:
        checked(self.epsilon)

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        columns, _ = _columns(file, (), ())
        table, _ = coded(file, columns)
        pairs: list[tuple[str, ...]] = [*combinations(columns, 2)]
        margins = self.margins or pairs or [columns]
        made = private_table(table, self.epsilon, margins=margins, rng=rng)
        data = _stacked(file, [_people(made.draw(rng), rng)], table)
        many = f"{len(made.margins)} margin{'s' * (len(made.margins) > 1)}"
        said = (
            f"{many} with two-sided geometric noise, epsilon {self.epsilon:g} in all; "
            f"{made.source}.",
            "The categories of the columns are taken as known to all.",
            _NOBODY,
        )
        rows = np.full(len(data), -1, np.int64)
        options = {k: v for k, v in self.options.items() if v != ""}
        return MaskedFile(data, rows, {}, {}, self.name, options, said)

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        columns, _ = _columns(file, (), ())
        wrong = ["a record is said to be somebody's."] if (masked.rows != -1).any() else []
        return wrong + _unknown(file, masked, columns)


_NOBODY = (
    "A synthetic record belongs to nobody; but it counts as a link where it repeats a rare "
    "combination of the keys more often than chance does."
)


def coded(file: RecordFile, columns: Sequence[str]) -> tuple[Table, Ints]:
    """The table of some columns and each record's codes; a missing value is a category."""
    variables, codes = [], []
    for name in columns:
        _refuse_numbers(file, name)
        found, names = file.codes(name)
        if (found < 0).any():
            found, names = np.where(found < 0, len(names), found), [*names, MISSING]
        variables.append(Variable(name, tuple(names)))
        codes.append(found)
    cells = math.prod(variable.size for variable in variables)
    if cells > MOST_CELLS:
        raise DataError(
            f"the columns have {cells:,} combinations, and the model looks at each; the most is "
            f"{MOST_CELLS:,}. Group categories, or replace fewer columns."
        )
    rows = np.stack(codes, 1)
    small = rows.astype(np.min_scalar_type(max(v.size for v in variables)))
    return Table.from_cells(variables, small, np.ones(len(rows), np.int64)), rows


def _refuse_numbers(file: RecordFile, name: str) -> None:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    column = file.data[name]
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        return
    values = column.dropna().unique()
    if len(values) > MOST_VALUES or (values % 1 != 0).any():
        raise DataError(
            f"{name!r} has {len(values):,} different numbers, and models are of categories; cut "
            "it into classes first."
        )


def _columns(
    file: RecordFile, columns: Sequence[str], given: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns to replace, and those to model them by."""
    special = [name for name in (file.household, file.weight) if name is not None]
    every = tuple(map(str, file.data.columns))
    if not columns:
        if given:
            raise OptionError(
                f"given is {given!r} but no column to replace is named; name columns."
            )
        if special:
            raise DataError(
                f"a synthetic person has no {special[0]!r}; replace some columns of real records, "
                "or take a file without it."
            )
        return every, ()
    named, by = listed(columns, "columns"), listed(given, "given") if given else ()
    file.check(*named, *by)
    if both := sorted(set(named) & {*by, *special}):
        raise OptionError(f"{both[0]!r} is to be replaced and to be kept; name it once.")
    return tuple(name for name in every if name in named), by


def _people(table: Table, rng: np.random.Generator) -> Ints:
    """The codes of everybody in a table, in random order."""
    rows = np.repeat(np.arange(len(table)), table.counts)
    rng.shuffle(rows)
    return np.asarray(table.codes[rows], np.int64)


def _values(file: RecordFile, variable: Variable, codes: Ints) -> Any:
    """Categories as they stand in the file, of its own type."""
    import pandas as pd

    column = file.data[variable.name]
    first = column.groupby(file.labels(variable.name)).first()
    found = [
        None if c == MISSING and c not in first.index else first[c] for c in variable.categories
    ]
    return pd.Series([found[code] for code in codes], dtype=column.dtype, name=variable.name)


def _stacked(file: RecordFile, copies: Sequence[Ints], table: Table) -> pd.DataFrame:
    import pandas as pd

    codes = np.concatenate(copies)
    data = pd.DataFrame(
        {v.name: _values(file, v, codes[:, place]) for place, v in enumerate(table.variables)}
    )
    if len(copies) > 1:
        if COPY in data.columns:
            raise DataError(f"the file has a column {COPY!r}, which numbers copies; rename it.")
        data[COPY] = np.repeat(np.arange(1, len(copies) + 1), [len(c) for c in copies])
    return data


def _replaced(
    file: RecordFile, made: Synthetic, table: Table, codes: Ints,
    columns: Sequence[str], given: Sequence[str], rng: np.random.Generator,
) -> pd.DataFrame:  # fmt: skip
    """Each record with new values, dealt out among those with the same values of `given`."""
    drawn = _people(made.tables[0], rng)
    k = len(columns)
    order, ranked = (np.lexsort(rows[:, k:].T) if given else np.arange(len(rows))
                     for rows in (codes, drawn))  # fmt: skip
    new = np.empty((len(codes), k), np.int64)
    new[order] = drawn[ranked, :k]
    data = file.data.reset_index(drop=True)
    fresh = {
        name: _values(file, table.variables[place], new[:, place])
        for place, name in enumerate(columns)
    }
    return data.assign(**fresh)


def _known(
    file: RecordFile, made: Synthetic, codes: Ints, many: int, rng: np.random.Generator
) -> tuple[dict[str, Key], tuple[str, ...]]:
    """What who has the file knows of the first `many` columns: P[new | given] of the model.

    Old values do not matter but by the model, and one that fits too well makes them again.
    """
    table = made.tables[0]
    given, of = np.unique(codes[:, many:], axis=0, return_inverse=True)
    cells = np.concatenate([np.zeros((len(given), many), np.int64), given], 1)
    rows = conditional(predicted(made.model, DRAWS, rng), cells, list(range(many)), table.shape)
    if not hasattr(made.model, "predictive"):
        rows = (1 - UNSURE) * rows + UNSURE / rows.shape[1]
    names = [_combined(table.variables[many:], one, place) for place, one in enumerate(given)]
    seen, replaced = np.array(names, object)[of.ravel()], table.variables[:many]
    if rows.size <= MOST_CHANCES:
        key = _key(file, replaced, dict(zip(names, rows, strict=True)), seen)
        return {key.name: key}, ()
    keys = {}
    for place, variable in enumerate(replaced):
        others = tuple(1 + axis for axis in range(many) if axis != place)
        alone = rows.reshape(len(rows), *table.shape[:many]).sum(others)
        if alone.size > MOST_CHANCES:
            raise DataError(
                f"{variable.name!r} has {alone.size:,} probabilities given the other columns, and "
                f"an intruder weighs each; the most is {MOST_CHANCES:,}. Group categories, or give "
                "fewer columns."
            )
        by_name = dict(zip(names, alone, strict=True))
        keys[variable.name] = _key(file, [variable], by_name, seen)
    return keys, ("Links weigh the replaced columns one by one, which is approximate.",)


def _key(
    file: RecordFile, variables: Sequence[Variable], rows: dict[str, Floats],
    seen: NDArray[np.object_],
) -> Key:  # fmt: skip
    """The columns together. One that has missing values goes with itself, so that they have a
    label, as others do.
    """
    names, shown = [], []
    for variable in variables:
        gaps = (file.labels(variable.name) == "").any()
        names.append(variable.name)
        shown.append(["" if gaps and c == MISSING else c for c in variable.categories])
    columns = [np.array(column, object) for column in zip(*product(*shown), strict=True)]
    if len(columns) == 1 and columns[0][-1] == "":
        names, columns = names * 2, columns * 2
    labels = together(columns)
    matrix = {
        one: {label: float(p) for label, p in zip(labels, row, strict=True) if p > 0}
        for one, row in rows.items()
    }
    return Key(names[0], Kind.SWAPPED, matrix=matrix, joint=tuple(names[1:]), seen=seen)


def _combined(variables: Sequence[Variable], codes: Ints, place: int) -> str:
    """A combination of values in words, and its number."""
    named = [f"{v.name}={v.categories[c]}" for v, c in zip(variables, codes, strict=True)]
    return f"{', '.join(named) or 'anybody'} # {place}"


def _masked(
    data: pd.DataFrame, options: dict[str, Any], said: tuple[str, ...], rows: Ints,
    keys: dict[str, Key],
) -> MaskedFile:  # fmt: skip
    return MaskedFile(data, rows, keys, {}, Synthesise.name, options, said)


def _unknown(file: RecordFile, masked: MaskedFile, columns: Sequence[str]) -> list[str]:
    released = RecordFile(masked.data)
    return [
        f"{name!r} has a category that the file has not."
        for name in columns
        if set(released.labels(name)) - set(file.labels(name))
    ]

"""What a column of a file shows of each of its records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.data.standing import standing
from discreet.decision.compare.sensitive import are_numbers, is_number, tenths
from discreet.intruder.linkage.kinds import plainly
from discreet.masks.records.file import Labels, RecordFile

TEXTS = 30  # different texts from which their order is looked at


@dataclass(frozen=True, eq=False)
class Column:
    """What a column shows of each source record: a code of every label, that of blanks too, and
    numbers if they are many and as they were; its classes, -1 for blanks, if others tell it; its
    `order`, that of numbers, dates or texts, where values are many.
    """

    name: str
    labels: Labels
    codes: Ints
    classes: Ints
    numbers: Floats | None
    plain: Floats | None
    order: Floats | None

    @classmethod
    def true(cls, file: RecordFile, name: str) -> Column:
        return cls.of(file, name, file.labels(name))

    @classmethod
    def of(cls, file: RecordFile, name: str, labels: Labels) -> Column:
        import pandas as pd

        codes = pd.factorize(plainly(labels))[0]
        classes = np.where(labels == "", -1, codes)
        plain = file.numbers(name) if are_numbers(file, name) else None
        if plain is not None:
            plain = np.where(np.isinf(plain), np.nan, plain)
        if plain is not None and (labels != file.labels(name)).any():
            plain = None
        numbers = plain if is_number(file, name) else None
        if numbers is not None:
            classes = tenths(numbers, numbers)
        order = numbers if plain is None else plain
        if order is None and codes.max(initial=0) >= TEXTS:
            place = standing(labels)
            order = np.array([place.get(one, np.nan) for one in labels])
        return cls(name, labels, codes, classes, numbers, plain, order)

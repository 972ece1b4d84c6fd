"""Who lives together, and which households look alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError
from discreet.masks.records.file import RecordFile
from discreet.table.keys import grouped


@dataclass(frozen=True, eq=False)
class Households:
    """The household of each record, and the first record of each household.

    Without a column of households each record is one, and so is who misses it.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"home": ["x", "y", "x", None], "sex": list("fmmf")})
    >>> homes = Households.of(RecordFile(people, household="home"))
    >>> homes.home, homes.first
    (array([0, 1, 0, 2]), array([0, 1, 3]))
    """

    home: Ints
    first: Ints

    @classmethod
    def of(cls, file: RecordFile) -> Households:
        if file.household is None:
            return cls(np.arange(len(file)), np.arange(len(file)))
        import pandas as pd

        labels = file.labels(file.household)
        alone = np.array([f"\0{row}" for row in range(len(file))], object)
        codes = np.asarray(pd.factorize(np.where(labels == "", alone, labels))[0], np.int64)
        return cls(codes, np.unique(codes, return_index=True)[1])

    def __len__(self) -> int:
        return len(self.first)

    def constant(self, codes: Ints) -> bool:
        """Whether all members of each household have the same code."""
        return bool((codes == codes[self.first][self.home]).all())

    def one_each(self, codes: Ints, name: str) -> None:
        """Refuse a column in which members of a household differ."""
        if not self.constant(codes):
            row = int(np.argmax(codes != codes[self.first][self.home]))
            raise DataError(
                f"row {row + 1} has another {name!r} than the first of its household; a household "
                "lives in one place."
            )

    def classes(self, codes: Ints) -> Ints:
        """Households whose members have the same codes, each as often, share a class."""
        order = np.lexsort((codes, self.home))
        sizes = np.bincount(self.home)
        starts = np.cumsum(sizes) - sizes
        found, next_class = np.zeros(len(self), np.int64), 0
        for size in np.unique(sizes):
            homes = np.flatnonzero(sizes == size)
            members = codes[order[starts[homes][:, None] + np.arange(size)]]
            _, of = np.unique(members, axis=0, return_inverse=True)
            found[homes] = next_class + of.ravel()
            next_class = int(found[homes].max()) + 1
        return found


def codes_of(file: RecordFile, names: Sequence[str]) -> Ints:
    """One code for each combination of values; a missing value is one."""
    codes = [file.codes(name)[0] + 1 for name in names]
    return grouped(np.array(codes))[0] if codes else np.zeros(len(file), np.int64)

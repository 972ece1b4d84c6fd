"""Special uniques: records that few of the keys are enough to single out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.uniques.classes import KeyClasses, key_classes
from discreet.table.cells import Cells
from discreet.table.keys import keys as cell_keys
from discreet.table.table import Table

MOST_SETS = 100_000


@dataclass(frozen=True, eq=False)
class SpecialUniques(Result):
    """Minimal sample uniques and their scores (Elliot, Manning & Ford 2002).

    A set of keys is a minimal sample unique of a record if no other record agrees with it on the
    set, and on every smaller part of the set another does. One of size s, of K keys with sets up
    to M searched, scores

        product of (K - i) for i = s, ..., min(M, K - 1)

    and a record the sum over its sets. `cells` are the sample uniques, `sets` how many minimal
    ones each has by size (1 to M), `shares` what each key has in the score of all records: a set's
    score goes to each of its keys. A missing value is a category of its own.

    `match` is the probability that a unique match is right, pi n1 / (pi n1 + 2 (1 - pi) n2) with
    n1 uniques, n2 pairs and pi the share sampled (DIS; Skinner & Elliot 2002). DIS-SUDA gives each
    record its own, the odds being in proportion to a power of its score s (Elliot & Manning 2003,
    as programmed for the IHSN and in sdcMicro's suda2):

        dis = 1 / (1 + (1 / match - 1) / (s^Q mean(1 / s^Q))),   Q = 1 + (8 - K) / 20

    (0 at least) with the mean over records that have a score, so that the mean of their 1/dis is
    1/match; 0 for others.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": [*"ffmm"], "Age": [30, 40, 30, 50], "Job": [*"xxxy"]})
    >>> found = dc.anonymity.special_uniques(people, "Sex,Age,Job")
    >>> found.scores, found.special, found.by_size
    (array([1., 2., 2., 4.]), 4, {1: 3, 2: 3, 3: 0})
    """

    cells: Cells
    largest: int
    sets: Ints
    scores: Floats
    shares: dict[str, float]
    match: float = 1.0
    first: Ints | None = None

    @property
    def special(self) -> int:
        """Records with a minimal sample unique of at most M keys."""
        return int((self.scores > 0).sum())

    @property
    def by_size(self) -> dict[int, int]:
        """Minimal sample uniques of each size."""
        return dict(enumerate(self.sets.sum(axis=0).tolist(), 1))

    @property
    def smallest(self) -> Ints:
        """The size of each record's smallest set; 0 if it has none up to M."""
        return np.where(self.sets.any(axis=1), (self.sets > 0).argmax(axis=1) + 1, 0)

    @property
    def dis(self) -> Floats:
        """The DIS-SUDA score of each record, a probability."""
        scored = self.scores > 0
        exponent = max(0.0, 1 + (8 - len(self.cells.names)) / 20)
        power = np.where(scored, self.scores, 1.0) ** exponent
        mean = float((1 / power[scored]).mean()) if scored.any() else 1.0
        odds = power * mean * self.match
        return np.where(scored, odds / (odds + (1 - self.match)), 0.0)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        most = f", highest score {self.scores.max():,.0f}" if len(self) else ""
        return (
            f"SpecialUniques({self.special:,} of {plural(len(self), 'sample unique')} with up to "
            f"{self.largest} of {len(self.cells.names)} keys{most})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a sample unique: its scores, its smallest set, how many sets."""
        extra: dict[str, Any] = {
            "score": self.scores, "dis": self.dis, "smallest": self.smallest,
            "sets": self.sets.sum(axis=1),
        }  # fmt: skip
        if self.first is not None:
            extra["row"] = self.first
        return self.cells.to_frame(kind, count="records", **extra)

    def to_json(self) -> dict[str, Any]:
        return {
            "largest": self.largest, "special": self.special,
            "sets": {str(size): n for size, n in self.by_size.items()},
            "highest": float(self.scores.max(initial=0.0)), "match": self.match,
            "highest_dis": float(self.dis.max(initial=0.0)), "shares": self.shares,
        }  # fmt: skip


def special_uniques(
    data: object,
    keys: str | Iterable[str],
    *,
    largest: int = 3,
    fraction: float = 1.0,
    **options: Any,
) -> SpecialUniques:
    """Minimal sample uniques of up to `largest` keys; options are those of `key_classes`.

    `fraction` of the population is sampled.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": [*"ffmm"], "Age": [30, 40, 30, 50], "Job": [*"xxxy"]})
    >>> special_uniques(people, "Sex,Age,Job").to_frame()[["score", "smallest", "sets"]]
       score  smallest  sets
    0    1.0         2     1
    1    2.0         1     1
    2    2.0         2     2
    3    4.0         1     2
    """
    return special_of(key_classes(data, keys, **options), largest=largest, fraction=fraction)


def special_of(classes: KeyClasses, *, largest: int = 3, fraction: float = 1.0) -> SpecialUniques:
    if largest < 1:
        raise DataError(f"the largest set has {largest} keys; give a number from 1 on.")
    table, number = classes.table, len(classes.keys)
    largest = min(largest, number)
    searched = sum(math.comb(number, size) for size in range(1, largest + 1))
    if searched > MOST_SETS:
        raise DataError(
            f"{number} keys have {searched:,} sets of up to {largest}, more than {MOST_SETS:,}; "
            "search smaller sets, or name fewer keys."
        )
    rows = np.flatnonzero(table.counts == 1)
    sets = np.zeros((len(rows), largest), np.int64)
    credit = np.zeros(number)
    below: dict[tuple[int, ...], NDArray[np.bool_]] = {(): np.zeros(len(rows), bool)}
    for size in range(1, largest + 1):
        worth = score(size, number, largest)
        known = {}
        for places in itertools.combinations(range(number), size):
            parts = [below[p] for p in itertools.combinations(places, size - 1)]
            before = np.logical_or.reduce(parts)
            # a set with a unique part is unique; only the others are counted
            minimal = np.zeros(len(rows), bool)
            open_ = np.flatnonzero(~before)
            if len(open_):
                minimal[open_] = _alone(table, places, rows[open_])
            sets[:, size - 1] += minimal
            credit[list(places)] += worth * int(minimal.sum())
            known[places] = before | minimal
        below = known
    worths = np.array([score(size, number, largest) for size in range(1, largest + 1)])
    scores = sets @ worths
    total = float(scores.sum())
    shares = {
        name: float(found / total) if total else 0.0
        for name, found in zip(classes.keys, credit, strict=True)
    }
    first = None if classes.first is None else classes.first[rows]
    cells, match = table.nonzero().take(rows), right_match(table.counts, fraction)
    return SpecialUniques(cells, largest, sets, scores, shares, match, first)


def right_match(counts: Ints, fraction: float) -> float:
    """The probability that a match with a sample unique is right; 1 if all are sampled.

    >>> right_match(np.array([1, 1, 2, 3]), 0.1)  # .1 2 / (.1 2 + 2 .9 1)
    0.1
    """
    if not 0 < fraction <= 1:
        raise DataError(f"fraction is {fraction!r}; give a number above 0 and at most 1.")
    seen, pairs = fraction * int((counts == 1).sum()), int((counts == 2).sum())
    return seen / (seen + 2 * (1 - fraction) * pairs) if seen else 0.0


def score(size: int, number: int, largest: int) -> float:
    """What a minimal sample unique of `size` of `number` keys adds.

    >>> [score(size, 4, 3) for size in (1, 2, 3)]
    [6.0, 2.0, 1.0]
    """
    return float(math.prod(number - i for i in range(size, min(largest, number - 1) + 1)))


def _alone(table: Table, places: Sequence[int], rows: Ints) -> NDArray[np.bool_]:
    """Whether nobody else agrees with the rows, counts of 1, on the keys at `places`."""
    sizes = [table.shape[p] for p in places]
    key = cell_keys(table.codes[:, list(places)], sizes)
    if (cells := math.prod(sizes)) <= max(4 * len(table), 1 << 16):
        return np.asarray(np.bincount(key, table.counts, minlength=cells)[key[rows]] == 1)
    # rows are counts of 1: alone if no other cell has the key
    distinct, times = np.unique(key, return_counts=True)
    return np.asarray(times[np.searchsorted(distinct, key[rows])] == 1)

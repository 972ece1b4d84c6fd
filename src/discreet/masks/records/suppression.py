"""Local suppression: values blanked until enough records look alike."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import Mask, MaskedFile, amount, listed
from discreet.risk.uniques.classes import agreeing
from discreet.table.keys import grouped

MOST = 16  # columns, of which all sets may be blanked
BLANK = -1


@dataclass(frozen=True)
class Suppress(Mask):
    """Blanks in `columns`, so that each record looks like `k` at least.

    Combinations of values are treated, all records of one alike: the set of columns that is tried
    first and brings a combination to k is blanked. Sets are tried by how many columns they have,
    the column with the most values first; with `priorities`, which names columns in the order in
    which they may be blanked, a later one only where all earlier ones are not enough.

    `missing`: "own" counts a blank as a value of its own, "any" as agreeing with every value. A
    file that is k-anonymous by "own" is so by "any": the careful one is taken unless told
    otherwise. `all_subsets_of` = m asks for k records in every m of the columns, not in all at
    once. Counts are of records, not weighted; a value that is missing already is a blank.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"sex": list("ffmmf"), "town": list("aabbb")})
    >>> masked = Suppress(("sex", "town"), k=2).apply(
    ...     RecordFile(people), np.random.default_rng(1))
    >>> masked.said
    ('3 values are blanked: sex 3, town 0.',)
    >>> masked.data["sex"].fillna("?").tolist()
    ['f', 'f', '?', '?', '?']
    """

    name: ClassVar[str] = "blank"
    promise: ClassVar[str] = (
        "at least k records agree in the columns, and each value is as it was or missing"
    )

    columns: str | Sequence[str]
    k: int = 3
    priorities: str | Sequence[str] = ()
    missing: str = "own"
    all_subsets_of: int | None = None

    def __post_init__(self) -> None:
        names = listed(self.columns, "columns of blank")
        if len(names) > MOST:
            raise DataError(f"blank has {len(names)} columns; name {MOST} at most.")
        if not isinstance(self.k, int) or amount(self.k, "k", least=1) < 1:
            raise OptionError(f"k is {self.k!r}; give a whole number from 1 on.")
        if self.missing not in ("own", "any"):
            raise DataError(f"missing is {self.missing!r}; choose own or any.")
        if self.priorities:
            order = listed(self.priorities, "priorities of suppress")
            if sorted(order) != sorted(names):
                raise DataError(
                    f"priorities are {', '.join(order)}; name each of the columns once."
                )
        m = self.all_subsets_of
        if m is not None and (not isinstance(m, int) or not 1 <= m <= len(names)):
            raise OptionError(
                f"all_subsets_of is {m!r}; give a whole number from 1 to {len(names)}."
            )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        names = listed(self.columns, "columns of blank")
        file.check(*names)
        self.check_columns(file, names)
        if len(file) < self.k:
            raise DataError(f"the file has {len(file):,} records, fewer than k = {self.k}.")
        columns = [file.codes(name)[0] for name in names]
        table = np.array(columns)
        of, first = grouped(table + 1)
        codes = table[:, first].T
        gone = (self._blanked(names, codes, np.bincount(of)) != codes)[of]
        data: dict[str, Any] = {}
        keys: dict[str, Key] = {}
        for place, name in enumerate(names):
            if gone[:, place].any():
                seen = np.where(gone[:, place], "", file.labels(name)).astype(object)
                keys[name] = Key(name, Kind.SHARED, seen=seen)
                data[name] = file.data[name].mask(gone[:, place])
        blanks = gone.sum(0)
        told = ", ".join(f"{name} {many:,}" for name, many in zip(names, blanks, strict=True))
        said = [f"{int(blanks.sum()):,} values are blanked: {told}."]
        return self.changed(file, data, keys, said)

    def _blanked(self, names: tuple[str, ...], codes: Ints, counts: Ints) -> Ints:
        """What the combinations become."""
        many = len(names)
        if self.priorities:
            order = [names.index(n) for n in listed(self.priorities, "priorities of suppress")]
        else:
            order = sorted(range(many), key=lambda c: (-int(codes[:, c].max()), c))
        size = self.all_subsets_of or many
        parts = [list(part) for part in itertools.combinations(range(many), size)]
        strictly = bool(self.priorities)
        codes = codes.copy()
        while True:
            before = codes.copy()
            for part in parts:
                sets = _sets([c for c in order if c in part], strictly=strictly)
                fixed = _own if self.missing == "own" else _any
                fixed(codes, counts, part, sets, self.k, strictly)
            if size == many or (codes == before).all():
                return codes

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        from discreet.risk.uniques.anonymity import k_anonymity

        names = listed(self.columns, "columns of blank")
        found = []
        for name in file.data.columns:
            was = file.labels(name)
            now = RecordFile(masked.data).labels(name)
            if not ((now == was) | ((now == "") & (name in names))).all():
                found.append(f"{name!r} has values that are new.")
        for part in itertools.combinations(names, self.all_subsets_of or len(names)):
            shown = masked.data[list(part)]
            alike = shown.value_counts(dropna=False)
            fewest = int(alike.min())
            if self.missing == "any" and len(alike) > 1:
                fewest = k_anonymity(shown, list(part), missing="any", records=True).k
            if fewest < self.k:
                found.append(f"only {fewest} records agree in {', '.join(part)}.")
        return found


def _sets(order: list[int], *, strictly: bool) -> list[list[int]]:
    """Sets of columns in the order in which they are tried."""
    masks = range(1, 1 << len(order))
    listed_masks = masks if strictly else sorted(masks, key=lambda m: (m.bit_count(), m))
    return [[c for i, c in enumerate(order) if m >> i & 1] for m in listed_masks]


def _own(
    codes: Ints, counts: Ints, part: list[int], sets: list[list[int]], k: int, strictly: bool
) -> None:
    """Blanks are a value: combinations below k join where a set of blanks makes k of them."""
    _, totals = _sizes(codes[:, part], counts)
    short = np.flatnonzero(totals < k)
    for chosen in sets:
        if not len(short):
            return
        tried = codes.copy()
        tried[short[:, None], chosen] = BLANK
        _, totals = _sizes(tried[:, part], counts)
        enough = totals[short] >= k
        codes[short[enough]] = tried[short[enough]]
        short = short[~enough]
    while len(short):  # fewer than k are left
        chosen, joined = _cheapest(codes, counts, part, sets, short[0], k, strictly)
        codes[np.append(joined, short[0])[:, None], chosen] = BLANK
        _, totals = _sizes(codes[:, part], counts)
        short = np.flatnonzero(totals < k)


def _cheapest(
    codes: Ints,
    counts: Ints,
    part: list[int],
    sets: list[list[int]],
    row: int,
    k: int,
    strictly: bool,
) -> tuple[list[int], Ints]:
    """The blanks and the combination of k or more that a lonely one joins.

    The first set that has one where columns are `strictly` in order, else the fewest values.
    """
    best: tuple[int, list[int], Ints] | None = None
    of, totals = _sizes(codes[:, part], counts)
    for chosen in sets:
        rest = [c for c in part if c not in chosen]
        near = np.flatnonzero((totals >= k) & (codes[:, rest] == codes[row, rest]).all(1))
        if len(near):
            least = near[np.argmin(totals[near])]
            cost = 0 if strictly else len(chosen) * int(totals[least])
            if best is None or cost < best[0]:
                best = cost, chosen, np.flatnonzero(of == of[least])
    if best is None:  # nothing has k: all is blanked
        return part, np.arange(len(codes))
    return best[1:]


def _any(
    codes: Ints, counts: Ints, part: list[int], sets: list[list[int]], k: int, strictly: bool
) -> None:
    """Blanks agree with every value: what has k records that agree keeps them."""
    short = np.flatnonzero(agreeing(codes[:, part], codes[:, part], counts) < k)
    for chosen in sets:
        if not len(short):
            return
        tried = codes.copy()
        tried[short[:, None], chosen] = BLANK
        enough = agreeing(tried[short][:, part], codes[:, part], counts) >= k
        codes[short[enough]] = tried[short[enough]]
        short = np.flatnonzero(agreeing(codes[:, part], codes[:, part], counts) < k)


def _sizes(codes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The group of each combination, and the records that share it."""
    of, _ = grouped(codes.T + 1)
    return of, np.bincount(of, counts).astype(np.int64)[of]

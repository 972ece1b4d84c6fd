"""What users of peers expect: k-anonymity, l-diversity, t-closeness."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.data.classes import frame_sizes
from discreet.data.source import Source
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import number, plural
from discreet.risk.uniques.classes import (
    KeyClasses,
    MissingKey,
    by_class,
    key_classes,
    key_names,
    meetings,
)
from discreet.table.cells import frame
from discreet.table.table import Table

AT_ONCE = 1 << 22  # numbers of a dense block
BANDS = (1, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class KAnonymity(Result):
    """How many records look alike: k is the smallest class (Samarati & Sweeney 1998).

    `sizes` are the sizes that occur, `classes` and `records` how many have each.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f"], "Age": [30, 30, 30]})
    >>> found = dc.anonymity.k_anonymity(people, "Sex,Age")
    >>> found.k, found.uniques, found.below(3)
    (1, 1, 3)
    """

    keys: tuple[str, ...]
    sizes: Ints
    classes: Ints
    records: Ints

    @classmethod
    def of(cls, classes: KeyClasses) -> KAnonymity:
        sizes, place = np.unique(classes.frequency, return_inverse=True)
        people = np.bincount(place, classes.table.counts).astype(np.int64)
        return cls(classes.keys, sizes, np.bincount(place), people)

    @property
    def k(self) -> int:
        """The size of the smallest class."""
        return int(self.sizes[0])

    @property
    def total(self) -> int:
        return int(self.records.sum())

    @property
    def uniques(self) -> int:
        """Records that are alone in their class."""
        return self.below(2)

    def below(self, k: int) -> int:
        """Records in classes smaller than k."""
        return int(self.records[self.sizes < k].sum())

    def bands(self) -> list[tuple[int, int | None, int, int]]:
        """Sizes from, to (None: no end), classes, records; bands that nobody is in left out."""
        found: list[tuple[int, int | None, int, int]] = []
        for low, high in zip(BANDS, (*BANDS[1:], None), strict=True):
            inside = (self.sizes >= low) & (self.sizes < (high or np.inf))
            if inside.any():
                classes, people = int(self.classes[inside].sum()), int(self.records[inside].sum())
                found.append((low, None if high is None else high - 1, classes, people))
        return found

    def __repr__(self) -> str:
        return (
            f"KAnonymity({self.k}: {self.total:,} records in {int(self.classes.sum()):,} classes "
            f"of {', '.join(self.keys)}, {plural(self.uniques, 'unique')})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a size of class."""
        columns = {"size": self.sizes, "classes": self.classes, "records": self.records}
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        bands = [
            {"from": low, "to": high, "classes": classes, "records": people}
            for low, high, classes, people in self.bands()
        ]
        below = {str(k): self.below(k) for k in (2, 3, 5, 10)}
        return {
            "k": self.k, "uniques": self.uniques, "classes": int(self.classes.sum()),
            "below": below, "sizes": bands,
        }  # fmt: skip

    def plot(self, **options: Any) -> Any:
        """Bars: the share of records in classes of each size."""
        from discreet.look.bars import share_chart

        rows = [(band_name(low, high), people, self.total) for low, high, _, people in self.bands()]
        title = f"{number(self.uniques)} of {plural(self.total, 'record')} are unique"
        words = {"title": title, "axis": "Records", "key": "Records by how many look alike."}
        return share_chart(rows, **(words | options))


def band_name(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def k_anonymity(data: object, keys: str | Iterable[str], **options: Any) -> KAnonymity:
    """Count the classes of the keys; options are those of `key_classes`.

    >>> import pandas as pd
    >>> k_anonymity(pd.DataFrame({"Sex": ["f", "m", "f"], "Age": [30, 30, 30]}), "Sex,Age")
    KAnonymity(1: 3 records in 2 classes of Sex, Age, 1 unique)
    """
    if not options and not isinstance(data, str | Path | Source | Table):
        names = key_names(keys)
        times = None if hasattr(data, "get_backend") else frame_sizes(data, names)
        if times is not None and times[1:].sum() > 1:
            sizes = np.flatnonzero(times[1:]) + 1
            return KAnonymity(tuple(names), sizes, times[sizes], sizes * times[sizes])
    return KAnonymity.of(key_classes(data, keys, **options))


@dataclass(frozen=True, eq=False)
class Diversity(Result):
    """The sensitive values in each class, and how far they are from those of all records.

    A class with counts r1 >= r2 >= ... of its sensitive values is (Machanavajjhala et al. 2007)

        distinct l-diverse            l values occur
        entropy l-diverse             exp(entropy of the shares) >= l
        recursive (c, l)-diverse      r1 < c (r_l + r_(l+1) + ...)

    and t-close (Li, Li & Venkatasubramanian 2007) if the earth mover's distance of its shares p
    from those of all records, q, is at most t:

        equal     sum |p - q| / 2
        ordered   sum over i of |sum over j <= i of (p - q)_j| / (m - 1)

    A missing sensitive value is a value. Values are ordered as the table has them. Where missing
    keys match anything, a class has the values of all records that agree with it: `alike` counts
    these, `table` its own.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f", "m"], "Ill": ["no", "no", "yes", "no"]})
    >>> found = dc.anonymity.diversity(people, "Sex", "Ill")
    >>> found.distinct, found.disclosed
    (array([2, 1]), 2)
    """

    table: Table
    alike: Table
    sensitive: str
    distinct: Ints
    entropy: Floats
    equal: Floats
    ordered: Floats

    @property
    def records(self) -> Ints:
        """Of each class."""
        return np.add.reduceat(self.table.counts, by_class(self.table)[1])

    def ratio(self, l: int) -> Floats:  # noqa: E741 the paper's letter
        """r1 / (r_l + ...) of each class: it is recursive (c, l)-diverse for every c above."""
        if l < 1:
            raise DataError(f"l is {l}; give a number of values from 1 on.")
        place, starts = by_class(self.alike)
        counts = self.alike.counts[np.lexsort((-self.alike.counts, place))]
        tail = np.where(np.arange(len(counts)) - starts[place] >= l - 1, counts, 0)
        rest = np.add.reduceat(tail, starts)
        with np.errstate(divide="ignore"):
            return np.asarray(counts[starts] / rest)

    def recursive(self, c: float, l: int) -> NDArray[np.bool_]:  # noqa: E741
        """Which classes are recursive (c, l)-diverse."""
        return self.ratio(l) < c

    @property
    def disclosed(self) -> int:
        """Records in classes with one value only: who finds the class knows it."""
        return int(self.records[self.distinct == 1].sum())

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers, so that their order means something."""
        from discreet.data.codebook import MISSING
        from discreet.data.order import NUMBER

        categories = self.table.variables[-1].categories
        return all(NUMBER.fullmatch(c) for c in categories if c != MISSING)

    def __repr__(self) -> str:
        return (
            f"Diversity({self.sensitive} in {len(self.distinct):,} classes: at least "
            f"{plural(int(self.distinct.min()), 'value')}, entropy l "
            f"{np.exp(self.entropy.min()):.3g}, t {self.equal.max():.3g} equal, "
            f"{self.ordered.max():.3g} ordered)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a class, in the order of the table."""
        keys = self.table.names[:-1]
        columns = {
            "records": self.records, "distinct": self.distinct, "entropy_l": np.exp(self.entropy),
            "t_equal": self.equal, "t_ordered": self.ordered,
        }  # fmt: skip
        labelled = self.table.margin(keys).nonzero()
        return labelled.to_frame(kind, count="records", **{k: columns[k] for k in [*columns][1:]})

    def to_json(self, *, c: float = 3.0, l: int = 2) -> dict[str, Any]:  # noqa: E741
        short = ~self.recursive(c, l)
        return {
            "sensitive": self.sensitive, "distinct_l": int(self.distinct.min()),
            "entropy_l": float(np.exp(self.entropy.min())),
            "recursive": {"c": c, "l": l, "classes": int(short.sum()),
                          "records": int(self.records[short].sum())},
            "t": {"equal": float(self.equal.max()), "ordered": float(self.ordered.max())},
            "disclosed": self.disclosed,
        }  # fmt: skip


def diversity(data: object, keys: str | Iterable[str], sensitive: str, **options: Any) -> Diversity:
    """The l-diversity and t-closeness of a sensitive column in the classes of the keys.

    Options are those of `key_classes`. Where missing keys match anything, a record has the values
    of all records that agree with it.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f", "m"], "Ill": ["no", "no", "yes", "no"]})
    >>> diversity(people, "Sex", "Ill")
    Diversity(Ill in 2 classes: at least 1 value, entropy l 1, t 0.25 equal, 0.25 ordered)
    """
    names = key_names(keys)
    if sensitive in names:
        raise DataError(f"{sensitive!r} is a key and cannot be sensitive too; name it once.")
    rule = MissingKey.named(options.pop("missing", MissingKey.OWN))
    return diversity_of(key_classes(data, [*names, sensitive], **options).table, missing=rule)


def diversity_of(table: Table, *, missing: MissingKey = MissingKey.OWN) -> Diversity:
    """Of a table whose last variable is the sensitive one."""
    m = table.shape[-1]
    whole = np.bincount(table.codes[:, -1], table.counts, minlength=m) / table.total
    alike = _alike(table) if missing is MissingKey.ANY else table
    place, starts = by_class(alike)
    sizes = np.add.reduceat(alike.counts, starts)
    share = alike.counts / sizes[place]
    entropy = np.add.reduceat(-share * np.log(share), starts)
    codes = alike.codes[:, -1].astype(np.int64)
    equal, ordered = np.empty(len(starts)), np.empty(len(starts))
    step = max(1, AT_ONCE // m)
    for low in range(0, len(starts), step):
        high = min(low + step, len(starts))
        begin = starts[low]
        end = starts[high] if high < len(starts) else len(codes)
        apart = np.zeros((high - low, m))
        apart[place[begin:end] - low, codes[begin:end]] = share[begin:end]
        apart -= whole
        equal[low:high] = np.abs(apart).sum(axis=1) / 2
        ordered[low:high] = np.abs(np.cumsum(apart, axis=1)).sum(axis=1) / max(m - 1, 1)
    return Diversity(
        table, alike, table.names[-1], np.diff(np.append(starts, len(codes))),
        np.maximum(entropy, 0.0), equal, ordered,
    )  # fmt: skip


def _alike(table: Table) -> Table:
    """The sensitive values of all records that agree with a class, missing keys with anything."""
    from scipy.sparse import csr_array

    keys = KeyClasses(table.margin(table.names[:-1]), MissingKey.ANY)
    if not (keys.codes < 0).any():
        return table
    size = (len(keys), table.shape[-1])
    values = csr_array((table.counts, (by_class(table)[0], table.codes[:, -1])), size)
    found = csr_array(size, dtype=np.int64)
    for rows, others, place, at in meetings(keys.codes, keys.codes):
        ones = np.ones(len(others), np.int64)
        sums = csr_array((ones, (place, np.arange(len(others))))) @ values[others]
        mine = csr_array((np.ones(len(rows), np.int64), (rows, at)), (len(keys), sums.shape[0]))
        found = found + mine @ sums
    found.sort_indices()
    codes = np.repeat(keys.table.codes, np.diff(found.indptr), axis=0)
    return dataclasses.replace(
        table,
        codes=np.column_stack([codes, found.indices]).astype(table.codes.dtype),
        counts=found.data,
    )

"""Whether columns are blank, as columns of their own.

A question that only some were asked is blank for all others: that it is tells who they are, though
no answer does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Ints
from discreet.decision.compare.column import Column
from discreet.decision.compare.sensitive import is_fixed
from discreet.intruder.linkage.kinds import together
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile


@dataclass(frozen=True, eq=False)
class Blanks:
    """The files with such columns, and what each shows: one for all that are blank in the same
    records, and before them one of all together that no mask changes. `of` says of which columns
    each is, and `parts` which others follow from it.
    """

    file: RecordFile
    masked: MaskedFile
    columns: Mapping[str, Column]
    of: Mapping[str, Collection[str]]
    parts: Mapping[str, Collection[str]]


def with_blanks(
    file: RecordFile, masked: MaskedFile, columns: Mapping[str, Column], aside: Collection[str]
) -> Blanks:
    """Whether columns are blank, by what they show, but for those that are left aside.

    >>> import pandas as pd
    >>> import discreet as dc
    >>> file = RecordFile(pd.DataFrame({"job": ["a", None, "b"], "pay": [None, 3, 2]}))
    >>> whole = dc.files.Sample(share=1.0).apply(file, np.random.default_rng(1))
    >>> columns = {name: Column.true(file, name) for name in ("job", "pay")}
    >>> list(with_blanks(file, whole, columns, ()).columns)
    ['which columns are blank', 'whether job is blank', 'whether pay is blank']
    """
    ways: dict[bytes, list[str]] = {}
    truth: dict[str, Labels] = {}
    seen: dict[str, Labels] = {}
    for name in (one for one in columns if one not in aside):
        blank = [one.labels == "" for one in (known(file, masked, columns[name]), columns[name])]
        if 0 < blank[0].sum() < len(file):
            ways.setdefault(np.concatenate(blank).tobytes(), []).append(name)
    of: dict[str, Collection[str]] = {}
    for names in ways.values():
        made = unused(f"whether {several(names)} {_are(names)} blank", {*file.data.columns, *of})
        of[made], shown = names, columns[names[0]]
        truth[made], seen[made] = (_said(one) for one in (known(file, masked, shown), shown))
    changed = {name for key in masked.keys.values() for name in (key.name, *key.joint)}
    left = [made for made, names in of.items() if not changed.issuperset(names)]
    of = {made: of[made] for made in (*left, *(one for one in of if one not in left))}
    parts: dict[str, Collection[str]] = {made: (made,) for made in of}
    if len(left) > 1:
        made = unused("which columns are blank", {*file.data.columns, *of})
        truth[made] = seen[made] = together([truth[one] for one in left])
        of = {made: [name for one in left for name in of[one]], **of}
        parts[made] = (made, *left)
    rows = masked.rows
    laws = {made: law(made, truth[made], seen[made], rows)
            for made in of if (truth[made] != seen[made]).any()}  # fmt: skip
    released = masked.data.assign(**{made: seen[made][rows] for made in of})
    file = replace(file, data=file.data.assign(**truth))
    return Blanks(
        file,
        replace(masked, data=released, keys={**masked.keys, **laws}),
        {made: Column.of(file, made, seen[made]) for made in of},
        of,
        parts,
    )


def known(file: RecordFile, masked: MaskedFile, shown: Column) -> Column:
    """What who knows a column's true value expects to see of it."""
    return shown if is_fixed(masked, shown.name) else Column.true(file, shown.name)


def law(name: str, true: Labels, seen: Labels, rows: Ints | None = None) -> Key:
    """A key that is shown as often as its true values and what is seen meet in some rows; a value
    that is in none of these stays.
    """
    import pandas as pd

    some = slice(None) if rows is None else rows
    often = pd.crosstab(true[some], seen[some], normalize="index").to_dict("index")
    matrix = {one: often.get(one, {one: 1.0}) for one in sorted({*true})}
    return Key(name, Kind.CATEGORY, matrix=matrix)


def unused(name: str, taken: Collection[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "'"
    return name


def several(names: Iterable[str]) -> str:
    """Some names, the first three of many."""
    first = [*names]
    return " and ".join(first[:3]) + " and others" * (len(first) > 3)


def _are(names: Collection[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _said(column: Column) -> Labels:
    return np.where(column.labels == "", "blank", "given").astype(object)

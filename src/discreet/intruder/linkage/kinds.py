"""What each kind of key makes of the values in the source."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Bools, Floats
from discreet.data.frames import label
from discreet.errors import DataError
from discreet.intruder.linkage.matches import Matches, match
from discreet.intruder.linkage.model import Key, Kind
from discreet.intruder.linkage.records import Records, numbers, texts

Labels = NDArray[np.object_]
MATCHED = (Kind.EXACT, Kind.INTERVAL, Kind.TOPCODE, Kind.SUPPRESSED, Kind.SHARED)


def never(key: Key, sources: int) -> Bools:
    """Source records that are known not to be released."""
    if key.seen is None:
        return np.zeros(sources, bool)
    if len(key.seen) != sources:
        raise DataError(
            f"what became of {key.name!r} is said of {len(key.seen):,} records, but the source has "
            f"{sources:,}; give one entry for each."
        )
    return np.array([one is None for one in key.seen], bool)


def source_numbers(records: Records, key: Key) -> Floats:
    """The numbers that the mask started from, nan if missing."""
    if key.seen is None:
        name = key.center or key.name
        return numbers(records.source[name], name, records.names[0])
    never(key, records.sources)
    return _as_numbers(key.seen, key.name)


def source_labels(records: Records, key: Key) -> Labels:
    """The labels that the mask started from, "" if missing."""
    if key.seen is not None:
        never(key, records.sources)
        return _as_labels(key.seen)
    return _joint(records.source, key)


def released_labels(records: Records, key: Key) -> Labels:
    return _joint(records.released, key)


def _joint(table: dict[str, Any], key: Key) -> Labels:
    return together([texts(table[name]) for name in (key.name, *key.joint)])


def together(columns: Sequence[Labels]) -> Labels:
    """Labels of several columns as one, the same only where all are the same: a bar within one is
    doubled.

    >>> together([np.array(["a", "a | b"], object), np.array(["b | c", "c"], object)]).tolist()
    ['a | b || c', 'a || b | c']
    """
    if len(columns) == 1:
        return columns[0]
    doubled = [[str(one).replace("|", "||") for one in column] for column in columns]
    return np.array([" | ".join(parts) for parts in zip(*doubled, strict=True)], object)


def matched(records: Records, key: Key) -> Matches:
    """A key that is what it became, and equal or not."""
    nobody = never(key, records.sources)
    released = released_labels(records, key)
    if key.kind in (Kind.EXACT, Kind.SUPPRESSED):
        source = source_labels(records, key)
        if not set(released) <= {"", *source}:
            source, released = plainly(source), plainly(released)
    elif key.kind is Kind.SHARED:
        if key.seen is None:
            raise DataError(
                f"the shared key {key.name!r} does not say what became of each source record; give "
                "`seen`."
            )
        source, released = plainly(source_labels(records, key)), plainly(released)
    else:
        source = plainly(image(key, source_numbers(records, key)))
        released = _folded(key, plainly(released))
    return match(
        key.name,
        source,
        released,
        never=nobody,
        suppressed=key.suppressed,
        known_missing=key.kind is Kind.SHARED,
    )


def mixed_up(records: Records, key: Key, *, alike: bool, strangers: bool = False) -> Matches:
    """A label that stays with probability `keep`."""
    nobody = never(key, records.sources)
    source, released = source_labels(records, key), released_labels(records, key)
    return match(
        key.name,
        source,
        released,
        never=nobody,
        suppressed=key.suppressed,
        keep=key.keep,
        alike=alike,
        known_missing=_keeps(key, source[~nobody], released, strangers),
    )


def presence(
    records: Records, key: Key, source: Labels, released: Labels, *, strangers: bool = False
) -> Matches:
    """Whether a key is missing, beside what else is said of it."""
    nobody = never(key, records.sources)
    return match(
        key.name,
        _there(source),
        _there(released),
        never=nobody,
        suppressed=key.suppressed,
        by=source,
        bare=True,
        known_missing=_keeps(key, source[~nobody], released, strangers),
    )


def _keeps(key: Key, source: Labels, released: Labels, strangers: bool) -> bool:
    """Whether missing values are kept as said, and not more are missing than can be."""
    lacking, lacked = int((source == "").sum()), int((released == "").sum())
    enough = lacked <= lacking or key.suppressed != 0 or (strangers and lacking > 0)
    return key.missing == "kept" and enough


def _there(labels: Labels) -> Labels:
    return np.where(labels == "", "", "there").astype(object)


def image(key: Key, values: ArrayLike | Any = None) -> Labels:
    """What a key that leaves nothing to chance makes of source values: labels, "" if missing.

    If it says what became of each record, that is where it starts.

    >>> age = Key("age", Kind.INTERVAL, cuts=(18.0, 65.0), labels=("young", "grown", "old"))
    >>> image(age, [17, 18, 80, None])
    array(['young', 'grown', 'old', ''], dtype=object)
    """
    if not settled(key):
        raise DataError(f"what becomes of {key.name!r} ({key.kind}) is left to chance.")
    given: Any = key.seen if key.seen is not None else values
    if given is None:
        raise DataError(
            f"give the source values of {key.name!r}: what it becomes follows from them."
        )
    given = np.array(given, dtype=object)
    made = _IMAGES.get(key.kind)
    found = _as_labels(given) if made is None else made(key, given)
    if key.seen is not None:
        found[[one is None for one in key.seen]] = None
    return found


def settled(key: Key) -> bool:
    """Whether what becomes of a value is a matter of fact, and not of chance."""
    if key.suppressed != 0:
        return False
    if key.kind is Kind.CATEGORY or key.kind is Kind.SWAPPED:
        if key.matrix is None:
            return key.kind is Kind.CATEGORY and key.keep == 1
        return all(sum(p > 0 for p in row.values()) == 1 for row in key.matrix.values())
    return key.kind in MATCHED


def _interval(key: Key, values: Labels) -> Labels:
    if len(key.labels) != len(key.cuts) + 1:
        raise DataError(
            f"{key.name!r} has {len(key.cuts)} cuts and {len(key.labels)} labels; give one more "
            "label than cuts."
        )
    found = _as_numbers(values, key.name)
    names = np.array([*key.labels, ""], object)
    place = np.searchsorted(np.array(key.cuts), found, side="right")
    return names[np.where(np.isnan(found), len(key.labels), place)]


def _topcode(key: Key, values: Labels) -> Labels:
    found = _as_numbers(values, key.name)
    labels = _as_labels(found)
    for threshold, beyond, code in _ends(key):
        if threshold is not None:
            labels[beyond(found, threshold)] = code
    return labels


def _folded(key: Key, released: Labels) -> Labels:
    """Released values; without labels, all beyond a threshold are one."""
    if key.kind is not Kind.TOPCODE or key.labels:
        return released
    import pandas as pd

    found = pd.to_numeric(pd.Series(released, dtype=object), errors="coerce").to_numpy(np.float64)
    released = released.copy()
    for threshold, beyond, code in _ends(key):
        if threshold is not None:
            released[beyond(found, threshold)] = code
    return released


def _ends(key: Key) -> list[tuple[float | None, Callable[[Floats, float], Bools], str]]:
    """Both thresholds, what lies beyond them, and its code."""
    if key.low is None and key.high is None:
        raise DataError(f"the topcode key {key.name!r} has no low and no high; give one.")
    if not key.labels:
        return [
            (key.low, np.less_equal, label(key.low)),
            (key.high, np.greater_equal, label(key.high)),
        ]
    if len(key.labels) != 2:
        raise DataError(
            f"{key.name!r} has {len(key.labels)} labels; give two, for below low and above high."
        )
    return [(key.low, np.less, key.labels[0]), (key.high, np.greater, key.labels[1])]


def _recoded(key: Key, values: Labels) -> Labels:
    labels = _as_labels(values)
    if key.matrix is None:
        return labels
    to = {y: max(row, key=lambda x: row[x]) for y, row in key.matrix.items()} | {"": ""}
    if odd := sorted(set(labels) - set(to)):
        raise DataError(f"the matrix of {key.name!r} has no row for {odd[0]!r}.")
    return np.array([to[one] for one in labels], object)


_IMAGES: dict[Kind, Callable[[Key, Labels], Labels]] = {
    Kind.INTERVAL: _interval,
    Kind.TOPCODE: _topcode,
    Kind.CATEGORY: _recoded,
    Kind.SWAPPED: _recoded,
}


def _as_labels(values: Any) -> Labels:
    import pandas as pd

    codes, found = pd.factorize(np.asarray(values, object), use_na_sentinel=True)
    names = np.array([*(label(_python(value)) for value in found), ""], object)
    return np.asarray(names[codes])


def _as_numbers(values: Any, name: str) -> Floats:
    import pandas as pd

    series = pd.Series(np.asarray(values, object), dtype=object)
    found = pd.to_numeric(series, errors="coerce").to_numpy(np.float64)
    odd = np.isnan(found) & (_as_labels(values) != "")
    if odd.any():
        raise DataError(
            f"{name!r} became {series[int(np.argmax(odd))]!r} somewhere, where a number is needed."
        )
    return np.array(found)


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def plainly(labels: Labels) -> Labels:
    """Numbers that are written differently become alike: 31, 31.0 and 3.1e1."""
    import pandas as pd

    codes, found = pd.factorize(labels)
    return np.asarray(np.array([_plain(str(one)) for one in found], object)[codes])


def _plain(text: str) -> str:
    try:
        return str(int(text)) if "_" not in text else text
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return label(number) if math.isfinite(number) and "_" not in text else text

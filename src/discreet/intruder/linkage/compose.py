"""One column masked twice: the key that says both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NoReturn

import numpy as np

from discreet.errors import DataError
from discreet.intruder.linkage.kinds import _as_labels, image, settled
from discreet.intruder.linkage.model import Key, Kind
from discreet.intruder.linkage.reading import TYPED

Matrix = Mapping[str, Mapping[str, float]]
NOISY = (Kind.NORMAL, Kind.LOGNORMAL)
CODED = (Kind.CATEGORY, Kind.SWAPPED)


def compose(first: Key, second: Key, values: Any = None) -> Key:
    """How a column varies that was masked by `first`, then by `second`.

    `values` are those of the source: needed where what the first makes of them is not said by it,
    and the second leaves more to chance. What a second key says it `seen` of each record is taken
    as known, even if the first left it to chance: the careful side.

    >>> a, b = Key("age", Kind.NORMAL, spread=(3.0,)), Key("age", Kind.NORMAL, spread=(4.0,))
    >>> compose(a, b).spread
    (5.0,)
    >>> top = Key("age", Kind.TOPCODE, high=80.0, labels=("", "80"))
    >>> compose(top, a, [30, 85]).seen
    array(['30', '80'], dtype=object)
    """
    made = _composed(first, second, values)
    steps = (second,) if second.seen is not None else (first, second)
    said = [key.missing for key in steps if key.kind in TYPED]
    kept = made.kind in TYPED and all(one == "kept" for one in said)
    missing = "kept" if kept else "any"
    return made if made.missing == missing else replace(made, missing=missing)


def _composed(first: Key, second: Key, values: Any) -> Key:
    if first.name != second.name:
        raise DataError(f"{first.name!r} and {second.name!r} are two columns; compose keys of one.")
    if Kind.UNKNOWN in (first.kind, second.kind):
        return Key(first.name, Kind.UNKNOWN)
    if first.joint != second.joint and Kind.EXACT not in (first.kind, second.kind):
        _refuse(first, second)
    if second.kind in (Kind.EXACT, Kind.SUPPRESSED) and second.seen is None:
        return _thinned(first, second, values)
    if _nothing(first) or second.seen is not None:
        return second
    if _nothing(second):
        return first
    if any(key.personal or key.center for key in (first, second)):
        _refuse(first, second)
    if first.kind is Kind.CATEGORY and second.kind is Kind.CATEGORY:
        return _recoded(first, second, values)
    if first.kind in CODED and first.matrix is not None and settled(second):
        return _relabelled(first, second)
    if settled(first):
        return _after_fact(first, second, values)
    if first.kind is second.kind and first.kind in NOISY:
        return _noise(first, second)
    if first.kind is Kind.EXACT or first.kind is Kind.SUPPRESSED:
        return replace(second, seen=first.seen, suppressed=_missing(first, second))
    _refuse(first, second)


def _nothing(key: Key) -> bool:
    """Whether it releases a column as it is."""
    plain = key.kind is Kind.CATEGORY and key.keep == 1 and key.matrix is None
    return (plain or key.kind is Kind.EXACT) and key.seen is None and key.suppressed == 0


def _after_fact(first: Key, second: Key, values: Any) -> Key:
    """What the first makes of each record is where the second starts."""
    if first.kind is Kind.INTERVAL and first.seen is None and settled(second):
        labels = image(second, list(first.labels))
        return replace(first, labels=tuple(str(one) for one in labels))
    if first.seen is None and values is None:
        raise DataError(
            f"{first.name!r} is masked as {first.kind} and then as {second.kind}: give the source "
            "values, from which the first of them follows."
        )
    if second.joint:
        _refuse(first, second)
    seen = image(first, values)
    if not settled(second):
        return replace(second, seen=seen)
    final = image(replace(second, seen=seen))
    return Key(first.name, Kind.SHARED, seen=final)


def _thinned(first: Key, second: Key, values: Any) -> Key:
    """The second only suppresses, or does nothing."""
    if second.suppressed == 0:
        return first
    if first.joint:
        _refuse(first, second)
    if not isinstance(second.suppressed, Mapping):
        return replace(first, suppressed=_missing(first, second))
    if first.kind in (Kind.EXACT, Kind.SUPPRESSED):
        if not isinstance(first.suppressed, Mapping) or set(first.suppressed) == set(
            second.suppressed
        ):
            return replace(second, seen=first.seen, suppressed=_missing(first, second))
    elif settled(first):
        return _after_fact(first, second, values)
    _refuse(first, second)


def _missing(first: Key, second: Key) -> float | dict[str, float]:
    """1 - (1 - a) (1 - b), also by category of the one that tells categories apart."""
    a, b = first.suppressed, second.suppressed
    if b == 0:
        return dict(a) if isinstance(a, Mapping) else a
    if isinstance(a, Mapping):
        same = first.kind in (Kind.EXACT, Kind.SUPPRESSED) and isinstance(b, Mapping)
        if isinstance(b, Mapping) and not same:
            _refuse(first, second)
        return {y: 1 - (1 - p) * (1 - _of(b, y)) for y, p in a.items()}
    if isinstance(b, Mapping):
        return {y: 1 - (1 - a) * (1 - p) for y, p in b.items()}
    return b if a == 0 else 1 - (1 - a) * (1 - b)


def _of(suppressed: float | Mapping[str, float], category: str) -> float:
    return suppressed[category] if isinstance(suppressed, Mapping) else suppressed


def _recoded(first: Key, second: Key, values: Any) -> Key:
    """Matrix after matrix."""
    rows = _matrix(first, second.matrix, values)
    if isinstance(second.suppressed, Mapping):
        _refuse(first, second)
    reached = {x for row in rows.values() for x in row}
    then: Matrix
    if second.matrix is None:
        then = _kept(second.keep, sorted(reached))
    else:
        then = second.matrix
        if odd := sorted(reached - set(then)):
            raise DataError(
                f"{first.name!r} can become {odd[0]!r}, of which the second matrix has no row."
            )
    return replace(
        first,
        keep=1.0,
        matrix={y: _step(row, then) for y, row in rows.items()},
        suppressed=_missing(first, second),
    )


def _matrix(key: Key, then: Matrix | None, values: Any) -> Matrix:
    """A key's own matrix, or the one by which a category of those stays with `keep`."""
    if key.matrix is not None:
        return key.matrix
    if then is not None:
        return _kept(key.keep, sorted(then))
    given = key.seen if key.seen is not None else values
    if given is None:
        raise DataError(
            f"{key.name!r} stays a category with probability {key.keep:g}, twice, but its "
            "categories are not said; give a matrix, or the source values."
        )
    return _kept(key.keep, sorted(set(_as_labels(given)) - {""}))


def _kept(keep: float, names: list[str]) -> dict[str, dict[str, float]]:
    if len(names) == 1:
        return {names[0]: {names[0]: 1.0}}
    other = (1 - keep) / max(len(names) - 1, 1)
    found = {y: {x: keep if x == y else other for x in names} for y in names}
    return {y: {x: p for x, p in row.items() if p > 0} for y, row in found.items()}


def _step(row: Mapping[str, float], then: Matrix) -> dict[str, float]:
    found: dict[str, float] = {}
    for middle, p in row.items():
        for x, q in then[middle].items() if p > 0 else ():
            found[x] = found.get(x, 0.0) + p * q
    return found


def _relabelled(first: Key, second: Key) -> Key:
    """What is released of a matrix gets other names."""
    assert first.matrix is not None
    named = sorted({x for row in first.matrix.values() for x in row})
    to = dict(zip(named, image(second, named), strict=True))
    then = {x: {str(to[x]): 1.0} for x in named}
    return replace(first, matrix={y: _step(row, then) for y, row in first.matrix.items()})


def _noise(first: Key, second: Key) -> Key:
    """Variances add, also of every pair of a mixture; an estimated spread is that of both."""
    missing = _missing(first, second)
    if first.spread is None or second.spread is None:
        return replace(first, spread=None, weights=(1.0,), suppressed=missing)
    pairs = list(
        product(
            zip(first.spread, first.weights, strict=True),
            zip(second.spread, second.weights, strict=True),
        )
    )
    spread = tuple(float(np.hypot(a, b)) for (a, _), (b, _) in pairs)
    weights = tuple(p * q for (_, p), (_, q) in pairs)
    return replace(first, spread=spread, weights=weights, suppressed=missing)


def _refuse(first: Key, second: Key) -> NoReturn:
    raise DataError(
        f"{first.name!r} is masked as {first.kind} and then as {second.kind}, of which no key says "
        "both; mask in the other order, or leave one out."
    )

"""Keys: a secret number for each record; a cell's key is their sum modulo 1.

Keys are 64-bit numbers, read as fractions of 2^64: their sums wrap around, so that the same people
have exactly the same key in every table, in whatever order they are added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.sheets.system import System

Keys = NDArray[np.uint64]
SHORTEST = 16


def record_keys(secret: str | bytes, records: int | Iterable[object]) -> Keys:
    """A uniform key for each record: a keyed hash (BLAKE2b) of its number, or of what names it.

    >>> as_fractions(record_keys("sixteen letters!", ["anna", "bert", "anna"])).round(4).tolist()
    [0.9947, 0.7006, 0.9947]
    """
    names: Iterable[object] = range(records) if isinstance(records, int) else records
    base = hashlib.blake2b(key=_bytes(secret), digest_size=8, person=b"record keys")
    found = []
    for name in names:
        own = base.copy()
        own.update(str(name).encode())
        found.append(own.digest())
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)


def fingerprint(secret: str | bytes) -> str:
    """Says which secret was used, and nothing of it."""
    return hashlib.blake2b(key=_bytes(secret), digest_size=8, person=b"fingerprint").hexdigest()


def _bytes(secret: str | bytes) -> bytes:
    found = secret.encode() if isinstance(secret, str) else secret
    if len(found) < SHORTEST:
        raise DataError(
            f"the secret has {len(found)} letters and could be guessed; take {SHORTEST} or more."
        )
    return hashlib.sha256(found).digest()


def from_fractions(keys: ArrayLike) -> Keys:
    """A column of keys in [0, 1) that an office has already."""
    given = np.asarray(keys, np.float64)
    if given.size and not (given.min() >= 0 and given.max() < 1):
        raise DataError(f"a key is {given.max():g}; keys lie in [0, 1).")
    return (given * 2.0**53).astype(np.uint64) << np.uint64(11)


def as_fractions(keys: Keys) -> Floats:
    """In [0, 1)."""
    return (keys >> np.uint64(11)) / 2.0**53


def empty_keys(system: System, secret: str | bytes) -> Keys:
    """Keys of printed cells by what they are called, the same in every table: for empty cells."""
    names = []
    for row in range(system.cells):
        sheet, cell = system.home(row)
        lines = list(np.unravel_index(cell, sheet.shape)) + [0] * len(sheet.where)
        own = []
        for grouping, line in zip((*sheet.groupings, *sheet.where), lines, strict=True):
            codes = sorted(grouping.lines[int(line)].codes)
            if len(codes) < grouping.variable.size:
                own.append((grouping.name, [grouping.variable.categories[c] for c in codes]))
        names.append(sorted(own))
    return record_keys(secret, map(str, names))


def row_keys(system: System, codes: Mapping[str, NDArray[Any]], keys: Keys) -> Keys:
    """The key of every printed cell from those of the records, by their codes.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> codes = {"Sex": np.array([0, 1, 1]), "Town": np.array([0, 0, 2])}
    >>> found = row_keys(system, codes, record_keys("sixteen letters!", 3))
    >>> as_fractions(found).round(3)[system.places[0]].tolist()
    [[0.54, 0.913, 0.0, 0.627], [0.947, 0.947, 0.0, 0.0], [0.593, 0.965, 0.0, 0.627]]
    """
    fine = system.fine(codes, keys)
    along = np.concatenate([np.zeros(1, np.uint64), np.cumsum(fine[system.sums.indices])])
    return np.asarray(along[system.sums.indptr[1:]] - along[system.sums.indptr[:-1]], np.uint64)

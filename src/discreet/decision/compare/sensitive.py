"""Sensitive columns of a masked file: what is true, and what each released record says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.kinds import image, settled
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Sensitive
from discreet.risk.linkage.inference import prior_shares, record_beliefs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TENTHS = 10
FEW = 30  # different values of a column that is taken as categories, whatever they are


def sensitive_column(file: RecordFile, masked: MaskedFile, name: str) -> Sensitive:
    """Numbers in tenths of the true file, categories as they are, or as coarse as they became.

    What chance has changed is believed by Bayes where the mask is a matrix, else at face value.
    """
    released = RecordFile(masked.data)
    if is_number(file, name) and is_number(released, name):
        true = file.numbers(name)
        cuts = np.unique(np.nanquantile(true, np.arange(1, TENTHS) / TENTHS))
        truth, seen = (_cut(values, cuts) for values in (true, released.numbers(name)))
        return _at_face_value(name, truth, seen, len(cuts) + 1)
    key = masked.keys.get(name)
    labels, shown = became(file, masked, name), released.labels(name)
    if key is None or settled(key) or key.kind is not Kind.CATEGORY or key.matrix is None:
        names = sorted({*labels, *shown} - {""})
        return _at_face_value(name, _places(labels, names), _places(shown, names), len(names))
    names = sorted({*labels} - {""})
    outcomes = sorted({*shown} - {""} | {b for row in key.matrix.values() for b in row})
    table = np.array([[key.matrix[a].get(b, 0.0) for b in outcomes] for a in names])
    seen = _places(shown, outcomes)
    counts = np.bincount(seen[seen >= 0], minlength=len(outcomes)).astype(np.float64)
    prior = prior_shares(counts, table)
    believed = np.tile(prior, (len(seen), 1))
    believed[seen >= 0] = record_beliefs(seen[seen >= 0], table, prior[None])
    return Sensitive(name, _places(labels, names), believed, prior)


def became(file: RecordFile, masked: MaskedFile, name: str) -> Labels:
    """What the mask makes of each source value, where that is no matter of chance."""
    key = masked.keys.get(name)
    if key is None or not settled(key):
        return file.labels(name)
    return np.array([one or "" for one in image(key, file.labels(name))], object)


def is_number(file: RecordFile, name: str) -> bool:
    """Is it a column of numbers, and not of a few codes?"""
    try:
        values = file.numbers(name)
    except DataError:
        return False
    return len(np.unique(values[~np.isnan(values)])) > FEW


def _places(labels: Labels, names: list[str]) -> Ints:
    place = {one: code for code, one in enumerate(names)}
    return np.array([place.get(one, -1) for one in labels], np.int64)


def _at_face_value(name: str, truth: Ints, seen: Ints, size: int) -> Sensitive:
    """What is released is believed; what is missing is as frequent as elsewhere."""
    counts = np.bincount(seen[seen >= 0], minlength=size).astype(np.float64)
    prior = (counts + 1 / size) / (counts.sum() + 1)
    believed = np.tile(prior, (len(seen), 1))
    believed[seen >= 0] = np.eye(size)[seen[seen >= 0]]
    return Sensitive(name, truth, believed, prior)


def _cut(values: Floats, cuts: Floats) -> Ints:
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))

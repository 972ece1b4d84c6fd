"""Categories as codes, with tables of misclassification."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.kinds import released_labels, source_labels
from discreet.intruder.linkage.model import Key
from discreet.intruder.linkage.records import Records


def tables_of(types: int, found: list[Floats]) -> Floats:
    """One array of tables, types x keys x categories x categories, the smaller ones filled up."""
    rows, columns = (max((table.shape[k] for table in found), default=1) for k in (1, 2))
    tables = np.zeros((types, len(found), rows, columns))
    for v, table in enumerate(found):
        tables[:, v, : table.shape[1], : table.shape[2]] = table
    return tables


def codes_of(records: Records, keys: list[Key]) -> tuple[Ints, Ints, Floats, int]:
    """Codes of both columns, P[released x | source y] by type, and the number of outcomes x."""
    import pandas as pd

    name = keys[0].name
    source, released = source_labels(records, keys[0]), released_labels(records, keys[0])
    codes, found = pd.factorize(np.concatenate([source, released]))
    names = [str(label) for label in found]
    here, there = codes[: records.sources], codes[records.sources :]
    shared = any(names[c] for c in set(np.unique(here)) & set(np.unique(there)))
    matrices = [key.matrix for key in keys if key.matrix is not None]
    if not matrices and not shared and (released != "").any():
        raise DataError(
            f"{name!r} has no category in common in {records.names[0]} and "
            f"{records.names[1]}; code both files alike."
        )
    reached = [b for matrix in matrices for row in matrix.values() for b in row]
    shown = set(released) if len(matrices) == len(keys) else set(names)
    named = list(dict.fromkeys([*(one for one in names if one and one in shown), *reached]))
    size = len(named)
    only_here = [one for one in names if one and one not in shown and one not in set(reached)]
    rows = [*named, "", *only_here]  # labels that nothing becomes come last
    place = {label: c for c, label in enumerate(rows)}
    order = np.array([place[label] for label in names], np.int64)
    here, there = order[here], order[there]
    present = sorted(set(here.tolist()) - {size})
    times = np.bincount(there, minlength=size + 1)[:size]
    tables = np.zeros((len(keys), len(rows), size + 1))
    for key, table in zip(keys, tables, strict=True):
        _misclassified(key, rows, present, records.names[0], table[:, :size])
        table[size, :size] = times / max(times.sum(), 1)  # not known: as frequent as released
        table[:, size] = 1.0  # missing in the release: as likely for everybody
    return np.asarray(here), np.asarray(there), tables, size


def _misclassified(
    key: Key, rows: list[str], present: list[int], where: str, table: Floats
) -> None:
    """P[released x | source y] of the categories."""
    size = table.shape[1]
    if key.matrix is None:
        table[:size] = (1 - key.keep) / max(size - 1, 1)
        np.fill_diagonal(table[:size], key.keep if size > 1 else 1.0)
        return
    place = {label: c for c, label in enumerate(rows)}
    for y in present:
        if rows[y] not in key.matrix:
            raise DataError(
                f"the matrix of {key.name!r} has no row for {rows[y]!r}, which {where} has."
            )
        for label, chance in key.matrix[rows[y]].items():
            table[y, place[label]] = chance

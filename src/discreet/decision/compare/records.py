"""One mask of a file of records: made, attacked by who knows it, and weighed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.decision.compare.plan import Candidate, Plan
from discreet.decision.compare.tried import Tried
from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.chain import chained, shuffled
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Disclosed, Sensitive, disclosed, statements
from discreet.risk.linkage.identification import identify
from discreet.risk.linkage.inference import prior_shares, record_beliefs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TENTHS = 10
FEW = 30  # different values of a column that is taken as categories, whatever they are


def make_file(file: RecordFile, candidate: Candidate, seed: int) -> MaskedFile:
    """The masked file of a candidate, in random order: the same for the same seed."""
    rng = candidate.rng(seed)
    return shuffled(chained(candidate.steps).apply(file, rng), rng)


def try_file(file: RecordFile, candidate: Candidate, plan: Plan, act: float) -> Tried:
    """What a mask of a file risks and is worth."""
    from discreet.utility.summary import worth

    masked = make_file(file, candidate, plan.seed)
    found = attack(file, masked, plan, act)
    aside = {file.household, file.weight}
    columns = [name for name in file.data.columns if name not in aside]
    numbers = [name for name in columns if _is_number(file, name)]
    within = _within(file, masked)
    true, seen = _as_numbers(file, numbers), _as_numbers(RecordFile(masked.data), numbers)

    def score(names: list[str]) -> float:
        categories = [name for name in names if name not in numbers]
        some = [name for name in names if name in numbers]
        coarse = {name: within[name] for name in names if name in within}
        options: dict[str, Any] = {"weight": file.weight, "within": coarse}
        return float(worth(true, seen, categories=categories, numbers=some, **options).score)

    return Tried(
        candidate.name,
        candidate.method,
        found.to_json(),
        score(columns),
        {user.name: score(list(user.columns)) for user in plan.readers},
        None,
        True,
        found.pruned,
        (*masked.said, *_trust(found)),
        len(masked),
    )


def _trust(found: Disclosed) -> list[str]:
    """How far link probabilities are to be trusted."""
    said = []
    if found.exact < 1:
        some = f"exact for {found.exact:.0%} of the records, else " if found.exact else ""
        said.append(f"Link probabilities are {some}approximate.")
    if found.pruned:
        said.append(f"Pruning may have left out {found.pruned:.2%} of the true links.")
    return said


def _as_numbers(file: RecordFile, numbers: list[str]) -> Any:
    """The frame with numbers as such, where they still are numbers."""
    from contextlib import suppress

    found = {}
    for name in numbers:
        with suppress(DataError):
            found[name] = file.numbers(name)
    return file.data.assign(**found)


def attack(file: RecordFile, masked: MaskedFile, plan: Plan, act: float) -> Disclosed:
    """What an intruder finds who knows the keys of everybody in the file, and the mask."""
    if not plan.keys:
        raise DataError("the intruder knows no column; name the keys that can be known of people.")
    file.check(*plan.keys, *plan.sensitive)
    columns = [_sensitive(file, masked, name) for name in plan.sensitive if name not in plan.keys]
    if (masked.rows < 0).all():
        return _of_nobody(file, masked, plan, columns, act)
    intruder = masked.intruder(plan.keys)
    if all(key.kind is Kind.UNKNOWN for key in intruder.keys):
        return _of_nobody(file, masked, plan, columns, act)
    people = masked.linked_with(file, plan.keys)
    return disclosed(identify(people, intruder, act=act), columns)


def _of_nobody(
    file: RecordFile, masked: MaskedFile, plan: Plan, columns: list[Sensitive], act: float
) -> Disclosed:
    """Records whose keys are synthetic belong to nobody: no link is right, but values may be.

    The intruder believes of a target what the synthetic records with the target's keys have, after
    one record more that is as all of them together.
    """
    import pandas as pd

    released = RecordFile(masked.data)
    both = [np.concatenate([file.labels(k), released.labels(k)]) for k in plan.keys]
    codes = pd.MultiIndex.from_arrays(both).factorize()[0]
    mine, theirs = codes[: len(file)], codes[len(file) :]
    told, stated = {}, {}
    for column in columns:
        inside = np.zeros((int(codes.max()) + 1, len(column.prior)))
        np.add.at(inside, theirs, column.believed)
        beliefs = inside[mine] + column.prior
        beliefs /= beliefs.sum(1, keepdims=True)
        told[column.name], stated[column.name] = statements(beliefs, column, act)
    nobody = np.zeros(len(file))
    return Disclosed(nobody, nobody > 0, nobody, told, stated)


def _sensitive(file: RecordFile, masked: MaskedFile, name: str) -> Sensitive:
    """A column in categories, numbers in tenths of the true file; a masked category by Bayes."""
    released = RecordFile(masked.data)
    if _is_number(file, name):
        true = file.numbers(name)
        cuts = np.unique(np.nanquantile(true, np.arange(1, TENTHS) / TENTHS))
        truth, seen = (_cut(values, cuts) for values in (true, released.numbers(name)))
        return _at_face_value(name, truth, seen, len(cuts) + 1)
    key = masked.keys.get(name)
    labels, shown = file.labels(name), released.labels(name)
    names = sorted(({*labels, *shown} if key is None else {*labels}) - {""})
    place = {one: code for code, one in enumerate(names)}
    truth = np.array([place.get(one, -1) for one in labels], np.int64)
    if key is None or key.kind is not Kind.CATEGORY or key.matrix is None:
        seen = np.array([place.get(one, -1) for one in shown], np.int64)
        return _at_face_value(name, truth, seen, len(names))
    outcomes = sorted({*shown} - {""} | {b for row in key.matrix.values() for b in row})
    table = np.array([[key.matrix[a].get(b, 0.0) for b in outcomes] for a in names])
    seen = np.array([outcomes.index(one) if one else -1 for one in shown], np.int64)
    counts = np.bincount(seen[seen >= 0], minlength=len(outcomes)).astype(np.float64)
    prior = prior_shares(counts, table)
    believed = np.tile(prior, (len(seen), 1))
    believed[seen >= 0] = record_beliefs(seen[seen >= 0], table, prior[None])
    return Sensitive(name, truth, believed, prior)


def _at_face_value(name: str, truth: Ints, seen: Ints, size: int) -> Sensitive:
    """What is released is believed; what is missing is as frequent as elsewhere."""
    counts = np.bincount(seen[seen >= 0], minlength=size).astype(np.float64)
    prior = (counts + 1 / size) / (counts.sum() + 1)
    believed = np.tile(prior, (len(seen), 1))
    believed[seen >= 0] = np.eye(size)[seen[seen >= 0]]
    return Sensitive(name, truth, believed, prior)


def _cut(values: Floats, cuts: Floats) -> Ints:
    return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))


def _is_number(file: RecordFile, name: str) -> bool:
    """Is it a column of numbers, and not of a few codes?"""
    try:
        values = file.numbers(name)
    except DataError:
        return False
    return len(np.unique(values[~np.isnan(values)])) > FEW


def _within(file: RecordFile, masked: MaskedFile) -> dict[str, Any]:
    """What each coarse value may be, for a user who spreads it evenly: the values that have it."""
    import pandas as pd

    if (masked.rows < 0).any():
        return {}
    found: dict[str, Any] = {}
    released = RecordFile(masked.data)
    for name in masked.keys:
        if name not in file.data.columns:
            continue
        was, now = file.labels(name)[masked.rows], released.labels(name)
        numbers = file.numbers(name)[masked.rows] if _is_number(file, name) else None
        if numbers is not None and _is_number(released, name):
            continue
        known = set(file.labels(name))
        fine: dict[str, Any] = {"": ()} if "" not in known else {}
        for text in sorted(set(now) - known - {""}):
            mine = now == text
            if numbers is None:
                fine[text] = tuple(sorted(set(was[mine]) - {""}))
            else:
                low, high = float(np.nanmin(numbers[mine])), float(np.nanmax(numbers[mine]))
                fine[text] = pd.Interval(low, high, closed="both")
        found[name] = fine
    return found

"""Values that tell a class of a masked column, though others do not: of one column, or of two.

A drug that only the ill are given; two numbers of which the sign of the product says who is ill.
Records with the same values, or the nearest ones in rank, are looked at: where all or nearly all
have one class, and more of them than chance explains, each of them is told by the others. What
either of two columns tells by itself is not told by both. All columns of few values are looked at
together, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.decision.compare.column import TEXTS, Column

LOOKED = 20_000  # records by which values are looked at
CLOSE_BY = 5_000  # records among which the nearest are looked for
WORK = 10_000_000  # records, of all pairs of columns together
NEIGHBOURS = 30  # most neighbours that have to be alike
CHANCE = 0.01  # that any value of a column looks as if it told
SOME = 0.01  # share of the records from which values count
NEARLY = 0.9


@dataclass(frozen=True, eq=False)
class SomeTold:
    """The class that each record is told to have, -1 if none is, and by which columns."""

    classes: Ints
    by: str

    @property
    def share(self) -> float:
        return float((self.classes >= 0).mean())


def pairs_looked_at(records: int) -> int:
    """How many pairs of columns are looked at, at most."""
    return WORK // min(records, LOOKED)


def some_told(
    truth: Ints, free: Sequence[Column], beside: Sequence[Column], alone: Sequence[Column] = ()
) -> SomeTold | None:
    """What values of the `free` columns tell of classes, alone or with one of those `beside`; and
    what others tell that are looked at `alone`.

    >>> import pandas as pd
    >>> from discreet.masks.records.file import RecordFile
    >>> file = RecordFile(pd.DataFrame({"drug": ["v"] * 40 + ["w"] * 40}))
    >>> some_told(np.array([1] * 40 + [0, 1] * 20), [Column.true(file, "drug")], []).share
    0.5
    """
    found, by = np.full(len(truth), -1), dict[str, float]()
    pairs = [
        (a, b) for a in free for b in beside if a is not b and (b not in free or a.name < b.name)
    ][: pairs_looked_at(len(truth))]
    every = tuple(one for one in free if one.codes.max(initial=0) < TEXTS)
    for looks in ([(one,) for one in (*free, *alone)], pairs, [every] if len(every) > 2 else []):
        for columns in looks:
            many = 1 if looks is not pairs else len(pairs)
            told = _told(truth, columns, many)
            if (told >= 0).mean() > SOME:
                name = " and ".join(one.name for one in columns)
                if more := float(((told >= 0) & (found < 0)).mean()):
                    by[name] = more
                found = np.where(found < 0, told, found)
    if not by:
        return None
    most = sorted(by, key=lambda name: -by[name])
    return SomeTold(found, ", ".join(most[:3]) + " and others" * (len(most) > 3))


def _told(truth: Ints, columns: Sequence[Column], looks: int) -> Ints:
    """The class of each record that some columns tell, -1 if none."""
    found = _by_cell(truth, columns, looks)
    if any(one.codes.max(initial=0) >= TEXTS for one in columns):
        near = _by_neighbours(truth, columns, looks)
        found = np.where(found < 0, near, found)
    return found


def _some(records: Ints, most: int) -> Ints:
    """At most so many of some records, evenly."""
    at = np.linspace(0, len(records) - 1, min(len(records), most)).astype(np.int64)
    return np.asarray(records[at])


def _by_cell(truth: Ints, columns: Sequence[Column], looks: int) -> Ints:
    """By records with the same values."""
    codes = columns[0].codes
    for one in columns[1:]:
        codes = np.unique(codes, return_inverse=True)[1]
        codes = codes * (int(one.codes.max(initial=0)) + 1) + one.codes
    cells, cell = np.unique(codes, return_inverse=True)
    some = _some(np.flatnonzero(truth >= 0), LOOKED)
    if not len(some):
        return np.full(len(truth), -1)
    size = int(truth.max()) + 1
    pairs, counts = np.unique(cell[some] * size + truth[some], return_counts=True)
    of, kind = np.divmod(pairs, size)
    many = np.bincount(of, counts, len(cells))
    order = np.lexsort((counts, of))
    last = order[np.r_[np.diff(of[order]) > 0, True]]  # the most frequent class of each cell
    here, best, most = of[last], kind[last], counts[last]
    base = (np.bincount(truth[some], minlength=size) / len(some))[best]
    if len(columns) > 1:
        first = np.zeros(len(cells), np.int64)
        first[cell[some]] = some  # somebody who is there
        for one in columns:
            base = np.maximum(base, _share_with(one.codes[first[here]], best, one, truth, some))
    sure = _sure(many[here], most, base, len(here) * looks)
    told = np.full(len(cells), -1)
    told[here[sure]] = best[sure]
    rest = _together(many[here], most, best, base, counts, many[of], kind, looks)
    told[here[rest]] = best[rest]
    return np.asarray(told[cell])


def _together(
    many: Floats, most: Ints, best: Ints, base: Floats,
    counts: Ints, of_many: Floats | Ints, kind: Ints, looks: int,
) -> NDArray[np.bool_]:  # fmt: skip
    """Cells of few records that tell a class together: where all others of a cell have it, so has
    each record. `counts` are those of a `kind` in cells of `of_many` records.
    """
    found = np.zeros(len(many), bool)
    for one in np.unique(best):
        for least in (1, 2, 4, 8):  # others in a cell
            pure = (best == one) & (most == many) & (many > least)
            wrong = int(((kind == one) & (of_many - counts == 1) & (counts >= least)).sum())
            if not pure.any():
                break
            right = float(most[pure].sum())
            usual = np.array([(base[pure] * most[pure]).sum() / right])
            apart = right - pure.sum()  # of each cell one record speaks for the others
            enough = _sure(np.array([apart]), np.array([apart]), usual, 4 * looks)[0]
            share = right / (right + wrong)
            if enough and share - usual[0] >= NEARLY * (1 - usual[0]):
                found |= pure
                break
    return found


def _share_with(codes: Ints, classes: Ints, one: Column, truth: Ints, some: Ints) -> Floats:
    """How many of those with a value of one column have a class."""
    size = int(truth.max()) + 1
    known, counts = np.unique(one.codes[some] * size + truth[some], return_counts=True)
    asked = codes * size + classes
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    right = np.where(known[place] == asked, counts[place], 0)
    return np.asarray(
        right / np.bincount(one.codes[some], minlength=int(one.codes.max()) + 1)[codes]
    )


def _sure(many: Floats, right: Floats, base: Floats, looks: int) -> NDArray[np.bool_]:
    """Do all or nearly all have a class, without themselves, and more than chance explains?"""
    base = np.clip(base, 1e-12, 1)
    others = (right - 1) / np.maximum(many - 1, 1)
    found = many * np.log(base) < np.log(CHANCE / max(looks, 1))
    return np.asarray(found & (base < 1) & (others - base >= NEARLY * (1 - base)))


def _by_neighbours(truth: Ints, columns: Sequence[Column], looks: int) -> Ints:
    """By the nearest records in rank, of which as many are alike as chance has not."""
    from scipy.spatial import KDTree

    found = np.full(len(truth), -1)
    orders = [_order(one) for one in columns]
    kept = [order for order in orders if order is not None]
    if len(kept) < len(columns):
        return found
    there = np.flatnonzero(~np.isnan(np.stack(kept)).any(0))
    some = _some(there[truth[there] >= 0], CLOSE_BY)
    if len(some) < NEIGHBOURS:
        return found
    ranks = np.stack([_ranks(order, some) for order in kept], 1)
    own = truth[some]
    share = np.bincount(truth[truth >= 0]) / (truth >= 0).sum()
    alike = np.ceil(np.log(CHANCE) / np.log(np.clip(share, 1e-12, 1 - 1e-12)))
    alike = np.clip(alike, 2, NEIGHBOURS).astype(np.int64)
    tree, most = KDTree(ranks[some]), min(int(alike.max()), len(some) - 1)
    near = _without_self(tree.query(ranks[some], k=most + 1)[1], np.arange(len(some)))
    guess = _agreed(own[near], alike)
    for kind in np.unique(guess[guess >= 0]):
        mine = np.flatnonzero(guess == kind)
        right = own[mine] == kind
        base = np.full(len(mine), share[kind])
        if len(columns) > 1:
            for axis in range(len(columns)):
                base = np.maximum(base, _near_in_one(ranks[some][:, axis], own == kind, mine))
        one = np.array([base.mean()])
        if not _sure(np.array([len(mine)]), np.array([right.sum()]), one, len(some) * looks)[0]:
            guess[mine] = -1
    if not (guess >= 0).any():
        return found
    found[some] = guess
    rest = there[~np.isin(there, some)]
    if len(rest):
        found[rest] = _agreed(own[tree.query(ranks[rest], k=most)[1]], alike)
        found[rest] = np.where(np.isin(found[rest], guess[guess >= 0]), found[rest], -1)
    return found


def _order(one: Column) -> Floats | None:
    """Where a column's values stand; those of a few categories apart from each other."""
    if one.order is not None:
        return one.order
    return one.codes.astype(np.float64) if one.codes.max(initial=0) < TEXTS else None


def _ranks(order: Floats, some: Ints) -> Floats:
    """Ranks among some records, from 0 to 1; equal values stand together."""
    known = np.sort(order[some])
    low, high = (np.searchsorted(known, order, side) for side in ("left", "right"))
    return np.asarray((low + high) / (2 * len(known)))


def _without_self(near: Ints, own: Ints) -> Ints:
    """Neighbours but for the record itself, or for the last if it is not among them."""
    itself = near == own[:, None]
    itself[~itself.any(1), -1] = True
    return np.asarray(near[~itself].reshape(len(near), -1))


def _agreed(classes: Ints, alike: Ints) -> Ints:
    """The class that so many neighbours have, the nearest first; else -1."""
    first = classes[:, 0]
    run = np.cumprod(classes == first[:, None], axis=1).sum(1)
    return np.asarray(np.where(run >= np.minimum(alike[first], classes.shape[1]), first, -1))


def _near_in_one(ranks: Floats, right: NDArray[np.bool_], mine: Ints) -> Floats:
    """How many of the nearest in one column alone have a class."""
    order = np.argsort(ranks, kind="stable")
    sums = np.r_[0, np.cumsum(right[order])]
    known = ranks[order]
    low = np.searchsorted(known, ranks[mine], "left")
    high = np.searchsorted(known, ranks[mine], "right")
    short = np.maximum(NEIGHBOURS - (high - low), 0)
    low = np.maximum(low - (short + 1) // 2, 0)
    high = np.minimum(high + (short + 1) // 2, len(known))
    return np.asarray((sums[high] - sums[low]) / (high - low))


def representatives(classes: Ints, values: NDArray[np.generic]) -> Iterator[object]:
    """A value that somebody has of each class: the middle one."""
    for kind in range(int(classes.max(initial=-1)) + 1):
        own = np.sort(values[classes == kind])
        yield own[len(own) // 2] if len(own) else None

"""Weights of swaps, which are tied to one another, for who weighs each record by itself.

A record goes to a block as near as v with a known chance; there, all places of records that look
like it are alike. Only ratios matter in a group that looks alike, so its weight for block b is

    f(b) ~ chance(v) / places(v) * people(b),   v the levels of geography shared with b

and few sorts of records are left. Equation (1) of Lambert 1993 takes moves to be independent but
for that every record has one place. Swaps come in pairs, so in a small group it would say too
little of moving. Moves are weighed more there, until the equation says as often as it happens that
a record stays: in each bin of records with groups of like size, blocks and chance to stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.intruder.linkage.kinds import together
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import Records
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.households import codes_of
from discreet.masks.records.mask import MaskedFile

FINE = 0.02  # logarithms that are told apart
MOST = 1500  # sorts of records
LARGE = 300  # records that look alike: each is on its own
SAMPLE = 2000  # records of whole groups, of which bins are learnt
ROUNDS = 6
STEP = 0.6
CLOSE = 0.01
SEED = 20


@dataclass(frozen=True, eq=False)
class Tied:
    """Records in groups that look alike but for the block.

    `chances`: that a record stays within 0, 1, ... levels of its block and no more; the last is
    that it stays. `logs` are those of chance by place, `bins`
    those of records to be weighed alike, `learnt` who is in the groups that these are learnt of.
    """

    file: RecordFile
    blocks: tuple[str, ...]
    like: tuple[str, ...]
    own: Ints
    near: Ints
    labels: Labels
    open_to: NDArray[np.bool_]
    chances: Floats
    logs: Floats
    group: Ints
    bins: Ints
    learnt: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        file: RecordFile,
        blocks: tuple[str, ...],
        like: tuple[str, ...],
        chances: Floats,
        *,
        whole: bool = True,
    ) -> Tied:
        nested = [codes_of(file, blocks[:level]) for level in range(len(blocks) + 1)]
        own, first = nested[-1], np.unique(nested[-1], return_index=True)[1]
        near = sum((c[first][:, None] == c[first]).astype(np.int64) for c in nested[1:])
        parts = [file.labels(name)[first] for name in blocks]
        labels = together(parts)
        open_to = np.all([part != "" for part in parts], axis=0)  # who misses a block stays
        group = codes_of(file, like)
        cells = [codes_of(file, [*like, *blocks[:level]]) for level in range(len(blocks) + 1)]
        within = np.column_stack([np.bincount(c)[c] for c in cells])
        places = within - np.column_stack([within[:, 1:], np.zeros(len(file), np.int64)])
        logs = np.full(chances.shape, -np.inf)
        there = chances > 0
        logs[there] = np.log(chances[there] / np.maximum(places[there], 1))
        stays, size = chances[:, -1], within[:, 0]
        free = (stays > 0) & (stays < 1) & (size <= LARGE)
        parts = [np.rint(2 * np.log2(size)), np.minimum(within[:, -1], 4), np.rint(10 * stays)]
        bins = np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1].ravel()
        bins = np.where(free, bins, -1)
        learnt = free & (within[:, -1] < size)
        if not whole:  # all must be able to stay, for the source to stand for the release
            learnt &= (np.bincount(group, stays == 0) == 0)[group]
        return cls(
            file,
            blocks,
            like,
            own,
            np.asarray(near),
            labels,
            open_to,
            chances,
            logs,
            group,
            bins,
            learnt,
        )

    def key(self) -> Key:
        """What an intruder knows: weights for which the equation gives the chances to stay."""
        many = int(self.bins.max()) + 1
        scale, rows = np.zeros(max(many, 1)), self._sample()
        if len(rows):
            part = replace(self.file, data=self.file.data.iloc[rows])
            names = (*self.blocks, *self.like)
            records = MaskedFile(part.data, np.arange(len(part))).linked_with(part, names)
            used = rows[self.bins[rows] >= 0]
            learnt = np.bincount(self.bins[used], minlength=many)
            wanted = _odds(np.bincount(self.bins[used], self.chances[used, -1], many), learnt)
            chosen = np.isin(rows, used)
            for _ in range(ROUNDS):
                said = self._said(records, rows, self._weighed(rows, scale))[chosen]
                found = _odds(np.bincount(self.bins[used], said, many), learnt)
                if (np.abs(wanted - found) @ learnt) < CLOSE * learnt.sum():
                    break
                scale = np.clip(scale + STEP * (wanted - found), -5, 10)
            scale = np.where(learnt > 0, scale, (scale @ learnt) / learnt.sum())
        return self._weighed(np.arange(len(self.bins)), scale)

    def _sample(self) -> Ints:
        """Rows of whole groups, drawn with a seed that all may know."""
        groups = np.unique(self.group[self.learnt])
        order = np.random.default_rng(SEED).permutation(groups)
        chosen = order[np.cumsum(np.bincount(self.group)[order]) <= SAMPLE]
        return np.flatnonzero(np.isin(self.group, chosen))

    def _weighed(self, rows: Ints, scale: Floats) -> Key:
        """The key of these records, moves of each bin weighed by exp(scale)."""
        logs = self.logs[rows].copy()
        more = np.where(self.bins[rows] >= 0, scale[self.bins[rows]], 0.0)
        logs[:, :-1] += more[:, None]
        logs -= logs.max(axis=1, keepdims=True)
        step = FINE
        while True:
            whole = np.where(np.isinf(logs), 1, np.rint(logs / step))
            sorts = np.column_stack([self.own[rows], whole]).astype(np.int64)
            found, of = np.unique(sorts, axis=0, return_inverse=True)
            if len(found) <= MOST or step > 2:
                break
            step *= 2
        people = np.bincount(self.own).astype(np.float64)
        names, matrix = [], {}
        for place, (block, *levels) in enumerate(found.tolist()):
            each = np.where(np.array(levels) > 0, 0.0, np.exp(step * np.array(levels)))
            weights = each[self.near[block]] * people
            weights[~self.open_to & (np.arange(len(weights)) != block)] = 0.0
            weights /= weights.sum()
            label = str(self.labels[block])
            names.append(f"{label} # {place}" if label else "")
            row = {str(self.labels[b]): float(weights[b]) for b in np.flatnonzero(weights)}
            if label:
                matrix[names[-1]] = row
        first, *joint = self.blocks
        seen = np.array(names, object)[of.ravel()]
        return Key(first, Kind.SWAPPED, matrix=matrix, joint=tuple(joint), seen=seen)

    def _said(self, records: Records, rows: Ints, key: Key) -> Floats:
        """How probably each record is in its own block, as the equation says.

        Where counts of blocks by what looks alike are kept, it is the same with any release, and
        the source stands for it.
        """
        from discreet.intruder.linkage.links import link

        keys = (key, *(Key(name, Kind.EXACT) for name in self.like))
        links, block = link(records, Intruder(keys)), self.own[rows]
        of = np.repeat(np.arange(len(links.source.first)), np.diff(links.starts))
        home = block[links.released.first[links.places]] == block[links.source.first[of]]
        each = links.chances * links.released.times[links.places] * home
        return np.asarray(np.bincount(of, each, len(links.source.first))[links.source.of])


def _odds(stay: NDArray[np.generic], many: Ints) -> Floats:
    """Log odds of moving."""
    share = np.clip(np.asarray(stay, np.float64) / np.maximum(many, 1), 1e-6, 1 - 1e-6)
    return np.asarray(np.log((1 - share) / share))

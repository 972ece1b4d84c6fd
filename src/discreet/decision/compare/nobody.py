"""Records that belong to nobody: what they repeat of people all the same.

A synthetic record that shows a rare combination of the keys says that somebody has it: such
combinations are the replicated uniques of Raab, Nowok & Dibben (2024). Some would be shown of
nobody, too. How many is seen from combinations that nobody has and that are as probable by a tree
of pairs of keys (Chow & Liu 1968), fitted without the person. If they are shown as often, the file
says nothing of who has one; what people's combinations are shown more often counts as links. Where
hardly any combination is left that nobody has, those that too many have to be linked are compared,
too: whatever says more of the two counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.decision.compare.sensitive import became
from discreet.intruder.linkage.kinds import plainly
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Disclosed, Sensitive, by_any, statements
from discreet.risk.linkage.identification import SLACK

CUTS = np.geomspace(1e-4, 10, 31)  # people expected in a combination: alike between two of them
DRAWN = 20  # combinations for each person, of which those that nobody has are compared
LEAST, MOST = 20_000, 200_000
SURE = 2.0  # standard errors


def of_nobody(
    file: RecordFile,
    masked: MaskedFile,
    keys: Sequence[str],
    columns: Sequence[Sensitive],
    act: float,
) -> Disclosed:
    """Whose combination of keys is shown, and what the records with it have.

    The intruder takes the file at face value, several copies for their mean: he links a target to
    the records with the target's keys if these stand for so few people that he acts. Values he
    believes as often as these records have them, or as all have if there are none.

    >>> import pandas as pd
    >>> from discreet.masks.synthesis.records import Synthesise
    >>> file = RecordFile(pd.DataFrame({"town": list("abcdefgh"), "job": list("stuvwxyz")}))
    >>> same = Synthesise(model="formula", formula="town*job", copies=20)
    >>> made = same.apply(file, np.random.default_rng(1))
    >>> of_nobody(file, made, ["town", "job"], [], 0.5).identified > 0.9
    True
    """
    import pandas as pd

    released = RecordFile(masked.data)
    codes = [_codes(became(file, masked, key), released.labels(key)) for key in keys]
    both = pd.MultiIndex.from_arrays([np.concatenate(pair) for pair in codes]).factorize()[0]
    mine, theirs = both[: len(file)], both[len(file) :]
    told, stated = {}, {}
    for column in columns:
        by_either = [statements(_beliefs(mine, theirs, one), one, act) for one in column.known]
        told[column.name], stated[column.name] = by_any(by_either)
    size = int(max(mine.max(), theirs.max())) + 1
    alike = np.bincount(mine, minlength=size)[mine]
    tree = _Tree.of(np.stack([mine for mine, _ in codes], 1))
    empty = tree.of_nobody(np.random.default_rng(0))
    each = len(file) / len(masked)  # people that a released record stands for
    few = np.floor(np.bincount(theirs, minlength=size)[mine] * each + 0.5)
    shown = _many(np.stack([theirs for _, theirs in codes], 1), empty)
    linked, beside = (
        (many >= 1) & (many * (act - SLACK) <= 1) for many in (few, np.floor(shown * each + 0.5))
    )
    alone, chance = tree.alone, _by_chance(tree.alone / each, each, act)
    nobodies = tree.expected(empty)
    over, error = _excess(alone, linked, chance, nobodies, beside)
    rare = alike * (act - SLACK) <= 1
    often = np.flatnonzero(~rare)[np.unique(mine[~rare], return_index=True)[1]]  # one of each
    more, its = _excess(
        alone[rare], linked[rare], chance[rare],
        np.concatenate([nobodies, alone[often]]), np.concatenate([beside, linked[often]]),
    )  # fmt: skip
    error[rare] = np.where(more > over[rare], its, error[rare])
    over[rare] = np.maximum(over[rare], more)
    right = linked / alike * over
    return Disclosed(
        right, linked, (few >= 1) / alike * over, told, stated, error=float((error / alike).mean())
    )


def _codes(source: Labels, released: Labels) -> tuple[Ints, Ints]:
    """Labels of both files as numbers, the same for the same label."""
    import pandas as pd

    codes = pd.factorize(plainly(np.concatenate([source, released])))[0]
    return codes[: len(source)], codes[len(source) :]


def _beliefs(mine: Ints, theirs: Ints, column: Sensitive) -> Floats:
    size = int(max(mine.max(), theirs.max())) + 1
    inside = np.zeros((size, len(column.prior)))
    np.add.at(inside, theirs, column.believed)
    total = inside.sum(1, keepdims=True)
    found = np.where(total > 0, inside / np.where(total > 0, total, 1), column.prior)
    return np.asarray(found[mine])


@dataclass(frozen=True, eq=False)
class _Tree:
    """A tree of pairs of keys, by the counts of the true records `rows`.

    n p(x) = prod over edges of n(x_a, x_b) / prod over parents of n(x_a)

    `alone` are the people that all others let one expect in each record's combination.
    """

    rows: Ints
    edges: tuple[tuple[int, int], ...]  # parent and child, from the first key on

    @classmethod
    def of(cls, rows: Ints) -> _Tree:
        people, keys = rows.shape
        single = [np.bincount(code)[code] for code in rows.T]
        gains = {}
        for b in range(keys):
            for a in range(b):
                shared = _many(rows[:, [a, b]], rows[:, [a, b]])
                gain = np.log(shared * people / (single[a] * single[b])).mean()
                gains[a, b] = gains[b, a] = float(gain)
        edges: list[tuple[int, int]] = []
        inside = [0] if keys else []
        while len(inside) < keys:
            open_ones = [(a, b) for a in inside for b in range(keys) if b not in inside]
            best = max(open_ones, key=lambda edge: gains[edge])
            edges.append(best)
            inside.append(best[1])
        return cls(rows, tuple(edges))

    @property
    def alone(self) -> Floats:
        return self.expected(self.rows, less=1)

    def expected(self, cells: Ints, *, less: int = 0) -> Floats:
        """People in each combination, where each count is so much less."""
        found = np.asarray(_many(self.rows[:, [0]], cells[:, [0]]) - less, np.float64)
        for a, b in self.edges:
            above = _many(self.rows[:, [a]], cells[:, [a]]) - less
            both = _many(self.rows[:, [a, b]], cells[:, [a, b]]) - less
            found = found * both / np.maximum(above, 1)
        return np.maximum(found, 0)

    def of_nobody(self, rng: np.random.Generator) -> Ints:
        """Different combinations by this tree that nobody has."""
        many = min(max(DRAWN * len(self.rows), LEAST), MOST)
        cells = np.zeros((many, self.rows.shape[1]), np.int64)
        cells[:, 0] = rng.choice(self.rows[:, 0], many)
        for a, b in self.edges:
            order = np.argsort(self.rows[:, a], kind="stable")
            above = self.rows[order, a]
            low, high = (np.searchsorted(above, cells[:, a], side) for side in ("left", "right"))
            cells[:, b] = self.rows[order[rng.integers(low, high)], b]
        cells = np.unique(cells, axis=0)
        return np.asarray(cells[_many(self.rows, cells) == 0])


def _many(rows: Ints, cells: Ints) -> Ints:
    """How many of the rows each combination has."""
    import pandas as pd

    both = np.concatenate([rows, cells])
    code = pd.MultiIndex.from_arrays(list(both.T)).factorize()[0]
    counts = np.bincount(code[: len(rows)], minlength=int(code.max()) + 1)
    return np.asarray(counts[code[len(rows) :]])


def _by_chance(mean: Floats, each: float, act: float) -> Floats:
    """That a combination with a mean of so many records is linked, if these are independent."""
    from scipy.stats import poisson

    least, few = np.ceil(0.5 / each), np.floor(1 / max(act - SLACK, SLACK))
    most = np.ceil((few + 0.5) / each) - 1
    return np.asarray(poisson.cdf(most, mean) - poisson.cdf(least - 1, mean))


def _excess(
    expected: Floats, linked: Bools, chance: Floats, beside: Floats, shown: Bools
) -> tuple[Floats, Floats]:
    """Of rare people, and of other combinations that are as probable: the share of the links of the
    first that the second do not explain. `chance` counts as one more of the second. What lies
    within chance is no such share, but the other number: how much higher the share of links may be.
    """
    group, other = (np.searchsorted(CUTS, one) for one in (expected, beside))
    size = len(CUTS) + 1
    people, cells = np.bincount(group, minlength=size), np.bincount(other, minlength=size)
    ours = np.bincount(group, linked, size) / np.maximum(people, 1)
    alone = np.bincount(group, chance, size) / np.maximum(people, 1)
    theirs = (np.bincount(other, shown, size) + alone) / (cells + 1)
    spread = ours * (1 - ours) / np.maximum(people, 1) + theirs * (1 - theirs) / (cells + 1)
    slack = SURE * np.sqrt(spread)
    more = ours - theirs
    over = np.divide(more, ours, out=np.zeros(size), where=(ours > 0) & (more > slack))
    usual = (np.bincount(other, shown, size) + alone + 1) / (cells + 3)  # of few nothing is sure
    spread = ours * (1 - ours) / np.maximum(people, 1) + usual * (1 - usual) / (cells + 1)
    wide = np.maximum(SURE * np.sqrt(spread), slack)
    open_part = np.where(more > slack, wide, np.maximum(more, 0) + wide)
    return over[group], np.minimum(open_part, ours)[group]

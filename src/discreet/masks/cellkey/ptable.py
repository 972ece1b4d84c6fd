"""Perturbation tables: with which probability a count i is shown as j.

Of all distributions with mean i and variance V on i-D..i+D without 1..js and without negatives,
that of greatest entropy (Marley & Leaver 2011; Giessing 2016), as R's ptable makes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError, OptionError, SolverError
from discreet.look.result import Shown
from discreet.masks.cellkey.entropy import greatest_entropy

Strings = NDArray[np.str_]
LEAST = 1e-8  # of a probability, and the places to which intervals are rounded
LESS, TRIES = 0.05, 20  # pstay falls in such steps until the variance is met


@dataclass(frozen=True, eq=False)
class PTable(Shown):
    """Rows i, j, p, noise v = j - i, and the keys [lower, upper) that give it; `kind` of a table.

    Counts above the largest i have its noise.

    >>> table = count_ptable(2, 0.9)
    >>> table.p[table.i == 1].round(4).tolist()
    [0.3625, 0.3625, 0.1875, 0.0875]
    """

    i: Floats
    j: Floats
    p: Floats
    v: Floats
    lower: Floats
    upper: Floats
    kind: Strings
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in np.unique(self.kind):
            if (np.diff(self.i[self.kind == kind]) < 0).any():
                raise DataError("the rows of a perturbation table stand by i; sort them.")
            for i in np.unique(self.i[self.kind == kind]):
                row = (self.i == i) & (self.kind == kind)
                lower, upper = self.lower[row], self.upper[row]
                whole = abs(float(self.p[row].sum()) - 1) < 1e-6
                chained = np.abs(lower[1:] - upper[:-1]).max(initial=0) < 1e-6
                if not (whole and chained and abs(lower[0]) < 1e-6 and abs(upper[-1] - 1) < 1e-6):
                    raise DataError(
                        f"the probabilities of i = {i:g} add up to {self.p[row].sum():g} or their "
                        "intervals leave gaps; correct the perturbation table."
                    )

    @property
    def largest(self) -> float:
        return float(self.i.max())

    @property
    def reach(self) -> float:
        """The largest noise."""
        return float(np.abs(self.v).max())

    @property
    def ordered(self) -> bool:
        """Do noises rise with the key? Then keys that are sums give more away."""
        within = (self.i[1:] == self.i[:-1]) & (self.kind[1:] == self.kind[:-1])
        return bool((np.diff(self.v)[within] >= 0).all())

    @property
    def moves_zeros(self) -> bool:
        return bool((self.v[self.i == 0] != 0).any())

    def only(self, kind: str) -> PTable:
        """The rows of one kind."""
        chosen = self.kind == kind
        if not chosen.any():
            known = ", ".join(np.unique(self.kind))
            raise DataError(f"there is no perturbation table {kind!r}; there are {known}.")
        return PTable(
            self.i[chosen],
            self.j[chosen],
            self.p[chosen],
            self.v[chosen],
            self.lower[chosen],
            self.upper[chosen],
            self.kind[chosen],
            self.parameters,
        )

    def noise(self, counts: ArrayLike, keys: ArrayLike) -> Floats:
        """What is added to a count whose key is in [0, 1).

        >>> count_ptable(2, 0.9).noise([1, 1, 2, 70, 0], [0.1, 0.95, 0.5, 0.96, 0.3]).tolist()
        [-1.0, 2.0, 0.0, 2.0, 0.0]
        """
        at, key = np.minimum(np.asarray(counts, float), self.largest), np.asarray(keys, float)
        found = np.full(at.shape, np.nan)
        for i in np.unique(at):
            row = np.flatnonzero(self.i == i)
            if not len(row):
                raise DataError(f"the perturbation table has no row for {i:g}; complete it.")
            same = at == i
            place = np.searchsorted(self.upper[row], key[same], side="right")
            found[same] = self.v[row[np.minimum(place, len(row) - 1)]]
        return found

    def shuffled(self, threshold: float, rng: np.random.Generator) -> PTable:
        """The same probabilities, cut into pieces of at most `threshold` in random order.

        Noises of neighbouring keys then tell nothing of each other.
        """
        if not 0 < threshold <= 1:
            raise DataError(f"the threshold is {threshold:g}; it lies in (0, 1].")
        pieces: list[tuple[float, float, float, float, str]] = []
        for kind, i in dict.fromkeys(zip(self.kind.tolist(), self.i.tolist(), strict=True)):
            row = np.flatnonzero((self.i == i) & (self.kind == kind))
            cut = []
            for k in row:
                left = float(self.p[k])
                while left > threshold and len(row) > 1:
                    cut.append((i, self.j[k], threshold, self.v[k], kind))
                    left -= threshold
                cut.append((i, self.j[k], left, self.v[k], kind))
            pieces += [cut[k] for k in rng.permutation(len(cut))]
        i_, j_, p_, v_, kind_ = map(np.array, zip(*pieces, strict=True))
        return _table(i_, j_, p_, v_, kind_, {**self.parameters, "threshold": threshold})

    def __repr__(self) -> str:
        said = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"PTable(i to {self.largest:g}{', ' * bool(said)}{said})"


Each = Sequence[float] | float | None


def count_ptable(
    D: int,
    V: float,
    *,
    js: int = 0,
    pstay: Each = None,
    optim: Sequence[int] | int = 1,
    mono: Sequence[bool] | bool = True,
) -> PTable:
    """`create_cnt_ptable` of R's ptable 1.0.0.

    A vector gives each i = 1, 2, ... its own. `pstay` is the least probability that i stays; it is
    lowered by .05 until the variance is met. `mono`: up to i, a farther j is not likelier. The
    variance is at most V, and V if that is possible; with `optim` 4 it is V or an error.

    >>> table = count_ptable(2, 0.9)
    >>> table
    PTable(i to 2, D 2, V 0.9, js 0, pstay None, optim 1, mono True)
    >>> table.p[table.i == 1].round(4).tolist()
    [0.3625, 0.3625, 0.1875, 0.0875]
    """
    _positive(D=D, V=V)
    if js < 0:
        raise OptionError(f"js is {js}; it is 0, or the largest small count that is never shown.")
    rows = D if js == 0 else D + js + 1
    parameters = {"D": D, "V": V, "js": js, "pstay": pstay, "optim": optim, "mono": mono}
    return _rows(range(1, rows + 1), D, V, 1, js, (pstay, optim, mono), "all", parameters)


def amount_ptable(
    D: int,
    V: float,
    *,
    icat: Sequence[int],
    step: int = 2,
    optim: Sequence[int] | int = 1,
    mono: Sequence[bool] | bool = True,
    kind: str = "all",
) -> PTable:
    """`create_num_ptable` of R's ptable 1.0.0: noises in steps of 1/step for the classes `icat`."""
    _positive(D=D, V=V, step=step)
    classes = sorted(set(icat))
    if not {1, D} <= set(classes) or classes[-1] > D or D * step >= 50:
        raise DataError(
            f"icat is {classes} and step {step} for D = {D}; icat begins at 1 and ends at D, "
            "and D times step is below 50."
        )
    parameters = {"D": D, "V": V, "icat": classes, "step": step, "optim": optim, "mono": mono}
    return _rows(classes, D, V, step, 0, (None, optim, mono), kind, parameters)


def _positive(**given: float) -> None:
    for name, value in given.items():
        if not value > 0:
            raise OptionError(f"{name} is {value}; it is above 0.")


def _each(name: str, value: Each, rows: int) -> list[float | None]:
    if value is None or isinstance(value, int | float):
        return [value] * rows
    found: list[float | None] = list(value)
    if len(found) != rows:
        raise DataError(f"{name} has {len(found)} values; give one, or {rows}.")
    return found


def _rows(
    classes: Sequence[int],
    D: int,
    V: float,
    step: int,
    js: int,
    vectors: tuple[Each, Each, Each],
    kind: str,
    parameters: Mapping[str, object],
) -> PTable:
    own = [
        _each(name, vector, len(classes))
        for name, vector in zip(("pstay", "optim", "mono"), vectors, strict=True)
    ]
    found: list[tuple[Floats, Floats, Floats]] = [(np.zeros(1), np.zeros(1), np.ones(1))]
    for i, stay, optim, mono in zip(classes, *own, strict=True):
        j = np.arange(max(i - D, 0) * step, (i + D) * step + 1) / step
        j = j[(j == 0) | (j > js)] if js else j
        if optim not in (1, 2, 3, 4):
            raise OptionError(f"optim is {optim}; it is 1 to 4.")
        if stay is not None and not 0 < stay < 1:
            raise OptionError(f"pstay is {stay}; it is a probability between 0 and 1.")
        start = 0.0 if stay is None else stay
        try:
            p = _row(j - i, V, start, exact=optim == 4, mono=bool(mono))
        except SolverError:
            raise SolverError(
                f"no noise of i = {i} has variance {V:g} with D = {D} and js = {js}; "
                "change V, or let mono be False."
            ) from None
        found.append((np.full(len(j), float(i)), j, p))
    i_, j_, p_ = (np.concatenate(part) for part in zip(*found, strict=True))
    return _table(i_, j_, p_, j_ - i_, np.full(len(i_), kind), parameters)


def _row(v: Floats, V: float, stay: float, *, exact: bool, mono: bool) -> Floats:
    zero = np.flatnonzero(v == 0)
    for _ in range(TRIES):
        least = np.full(len(v), LEAST)
        if len(zero):
            least[zero] = max(LEAST, stay)
        p = _distribution(v, V, least, exact=exact, mono=mono)
        if not len(zero) or stay <= LEAST or round(float(p @ v**2), 3) == round(V, 3):
            break
        stay = round(stay - LESS, 10)
    return p


def _distribution(v: Floats, V: float, least: Floats, *, exact: bool, mono: bool) -> Floats:
    size, square = len(v), v**2
    equal, to = [np.ones(size), v], [1.0, 0.0]
    below, than = list(-np.eye(size)), list(-least)
    if exact:
        equal, to = [*equal, square], [*to, V]
    else:
        below, than = [*below, square], [*than, V]
    zero = np.flatnonzero(v == 0)
    for k in range(int(zero[0]) if mono and len(zero) else 0):
        rises = np.zeros(size)
        rises[k], rises[k + 1] = 1.0, -1.0
        below.append(rises)
        than.append(0.0)
    return greatest_entropy(np.array(equal), np.array(to), np.array(below), np.array(than))


def _table(
    i: Floats, j: Floats, p: Floats, v: Floats, kind: Strings, parameters: Mapping[str, object]
) -> PTable:
    """Intervals of keys to eight places; a probability is the length of its interval."""
    upper = np.empty(len(i))
    begins = np.flatnonzero(np.concatenate([[True], (i[1:] != i[:-1]) | (kind[1:] != kind[:-1])]))
    ends = np.append(begins[1:], len(i))
    for first, last in zip(begins, ends, strict=True):
        upper[first:last] = np.round(np.cumsum(p[first:last]), 8)
        upper[last - 1] = 1.0
    lower = np.concatenate([[0.0], upper[:-1]])
    lower[begins] = 0.0
    return PTable(i, j, np.round(upper - lower, 8), v, lower, upper, kind, parameters)

"""What an intruder may believe of a person when categories are merged or left out.

Not one prior but a class of them (Duncan & Lambert 1986, section 6): the beliefs that its priors
lead to are a polytope, and so are those of all their mixtures, because the belief under a mixture
is an average of the beliefs under its parts. Its corners:

    merged      splits w / sum(w) of a merged count: w at the ends of the weights' bounds, for
                w -> w / sum(w) takes corners to corners
    suppressed  shares p of what is left out, at the ends of theirs; the rest as it is published
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.predictive.priors import Counts
from discreet.look.result import Shown
from discreet.look.words import both
from discreet.risk.uncertainty.shares import shown

MOST_CORNERS = 20_000
CLOSE = 1e-12


@dataclass(frozen=True)
class Priors(Shown):
    """A class of priors: all, or those with bounds on shares or on Dirichlet weights.

    With the priors, every mixture of them is in it.

    >>> import discreet as dc
    >>> print(dc.uncertainty.Priors.shares({"flu": (0.1, 0.4)}))
    every prior that gives flu 10% to 40%
    >>> print(dc.uncertainty.Priors.parse("weights:flu=1:3,cold=2"))
    every Dirichlet prior with a weight of flu from 1 to 3 and cold of 2
    """

    kind: str = "any"
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def shares(cls, bounds: Mapping[str, tuple[float, float]]) -> Priors:
        """Of what is not named, any share; weights are free."""
        return cls("shares", _checked(bounds, 1.0, "share"))

    @classmethod
    def weights(cls, bounds: Mapping[str, tuple[float, float]]) -> Priors:
        return cls("weights", _checked(bounds, math.inf, "weight"))

    @classmethod
    def parse(cls, text: str) -> Priors:
        """`any`; `a=0.1:0.4,b=0.2`, shares; `weights:a=1:3,b=2`."""
        if text.strip() == "any":
            return cls()
        by_weight = text.startswith("weights:")
        bounds = {}
        for part in text.removeprefix("weights:").split(","):
            name, equals, ends = part.rpartition("=")
            low, _, high = ends.partition(":")
            try:
                bounds[name.strip()] = (float(low), float(high or low))
            except ValueError:
                equals = ""
            if not equals or not name.strip():
                raise DataError(
                    f"{part!r} is no bound; write any, CATEGORY=LOW:HIGH,... for shares, or "
                    "weights:CATEGORY=LOW:HIGH,..."
                )
        return cls.weights(bounds) if by_weight else cls.shares(bounds)

    def __str__(self) -> str:
        if self.kind == "any":
            return "every prior"
        if self.kind == "shares":
            ends = [f"{n} {_ends(shown(a), shown(b), '')}" for n, (a, b) in self.bounds.items()]
            return f"every prior that gives {both(ends)}"
        ends = [f"{n} {_ends(f'{a:g}', f'{b:g}', 'of ')}" for n, (a, b) in self.bounds.items()]
        return f"every Dirichlet prior with a weight of {both(ends)}"

    def sides(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """The bounds of the named categories, from and to."""
        if self.kind == "weights" and (lost := [n for n in names if n not in self.bounds]):
            raise DataError(f"the weight of {lost[0]!r} has no bounds; give it some.")
        ends = [self.bounds.get(name, (0.0, 1.0)) for name in names]
        return np.array([a for a, _ in ends]), np.array([b for _, b in ends])


@dataclass(frozen=True, eq=False)
class Reach:
    """Beliefs over the categories: all averages of the corners.

    `outer`: some of them may be beyond the class. `hidden` are the categories that are merged or
    left out, together, and what share of the belief each group of them has; None if it is open.
    """

    categories: tuple[str, ...]
    corners: Floats
    hidden: tuple[tuple[tuple[str, ...], float | None], ...]
    outer: bool = False


def merged_reach(counts: Counts, members: Mapping[str, Iterable[str]], priors: Priors) -> Reach:
    """`counts` are those of the table before merging.

    >>> counts = {"a": 3, "b": 2, "c": 5}
    >>> merged_reach(counts, {"a or b": ["a", "b"]}, Priors()).corners.tolist()
    [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    """
    categories = tuple(map(str, counts))
    _check_bounded(priors, categories)
    n = np.array([counts[name] for name in counts], np.float64)
    r = n / n.sum()
    blocks = [_places(categories, names) for names in members.values()]
    merged = [place for block in blocks for place in block]
    if len(merged) != len(set(merged)):
        twice = next(i for i in merged if merged.count(i) > 1)
        raise DataError(f"{categories[twice]!r} is merged twice; put it into one category.")
    spread = []
    for block in blocks:
        splits = _splits([categories[i] for i in block], categories, priors)
        spread.append(splits if r[block].sum() > 0 else splits[:1])
    if math.prod(len(splits) for splits in spread) > MOST_CORNERS:
        raise _too_many()
    corners = []
    for chosen in product(*spread):
        x = r.copy()
        for block, split in zip(blocks, chosen, strict=True):
            x[block] = r[block].sum() * split
        corners.append(x)
    hidden = tuple((tuple(categories[i] for i in block), float(r[block].sum())) for block in blocks)
    several = sum(len(splits) > 1 for splits in spread) > 1
    return Reach(categories, np.array(corners), hidden, priors.kind == "shares" and several)


def suppressed_reach(counts: Counts, out: Iterable[str], priors: Priors) -> Reach:
    """`counts` are those of the whole table; its total is not known.

    >>> suppressed_reach({"a": 5, "b": 4, "c": 1}, ["a"], Priors()).corners.tolist()
    [[0.0, 0.8, 0.2], [1.0, 0.0, 0.0]]
    """
    categories = tuple(map(str, counts))
    _check_bounded(priors, categories)
    block = _places(categories, out)
    rest = [i for i in range(len(categories)) if i not in block]
    n = np.array([counts[name] for name in counts], np.float64)
    names = tuple(categories[i] for i in block)
    if not n[rest].sum() > 0:  # nobody is elsewhere
        return merged_reach(counts, {"": names}, priors)
    p = _hidden_shares(names, [categories[i] for i in rest], priors)
    corners = np.zeros((len(p), len(categories)))
    corners[:, block] = p
    corners[:, rest] = (1 - p.sum(1))[:, None] * n[rest] / n[rest].sum()
    return Reach(categories, corners, ((names, None),))


def _splits(names: Sequence[str], categories: Sequence[str], priors: Priors) -> Floats:
    """The corners of w / sum(w) over the members of a merged category."""
    if priors.kind == "any":
        return np.eye(len(names))
    low, high = priors.sides(names)
    least, most = 0.0, math.inf
    if priors.kind == "shares":
        least, most = _left_for([n for n in categories if n not in names], priors)
    corners = _corners(low, high, least, most)
    held = corners[corners.sum(1) > 0]
    if not len(held):
        raise DataError(f"the class has no prior with a probability for {both(list(names))}.")
    return _distinct(held / held.sum(1)[:, None])


def _hidden_shares(names: Sequence[str], others: Sequence[str], priors: Priors) -> Floats:
    """The corners of the shares of what is left out."""
    if priors.kind == "any":
        return np.vstack([np.zeros(len(names)), np.eye(len(names))])
    low, high = priors.sides(names)
    if priors.kind == "shares":
        return _corners(low, high, *_left_for(others, priors))
    more = [ends.sum() for ends in priors.sides(others)]
    weights = _corners(np.append(low, more[0]), np.append(high, more[1]), 0.0, math.inf)
    held = weights[weights.sum(1) > 0]
    if not len(held):
        raise DataError("every weight of the class is 0; give some prior a weight above 0.")
    return _distinct((held / held.sum(1)[:, None])[:, :-1])


def _left_for(others: Sequence[str], priors: Priors) -> tuple[float, float]:
    """What bounds on the shares of the others leave, together."""
    low, high = priors.sides(others)
    return max(0.0, 1 - float(high.sum())), min(1.0, 1 - float(low.sum()))


def _corners(low: Floats, high: Floats, least: float, most: float) -> Floats:
    """Of {low <= q <= high, least <= sum(q) <= most}."""
    k = len(low)
    free = int((low < high).sum())
    if (k + 1) * 2**free > MOST_CORNERS:
        raise _too_many()
    ends = [(a,) if a == b else (a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    found = [q for q in product(*ends) if least - CLOSE <= sum(q) <= most + CLOSE]
    for place in range(k):
        for q in product(*ends[:place], (0.0,), *ends[place + 1 :]):
            for level in {least, most} - {math.inf}:
                value = level - sum(q)
                if low[place] < value < high[place]:
                    found.append((*q[:place], value, *q[place + 1 :]))
    if not found:
        raise DataError("no prior has such shares: they cannot sum to 1; widen the bounds.")
    return _distinct(np.array(found))


def _distinct(corners: Floats) -> Floats:
    return corners[np.sort(np.unique(corners.round(12), axis=0, return_index=True)[1])]


def _places(categories: Sequence[str], names: Iterable[str]) -> list[int]:
    chosen = [str(name) for name in names]
    if strange := [name for name in chosen if name not in categories]:
        raise DataError(
            f"the table has no category {strange[0]!r}; it has {', '.join(categories[:10])}."
        )
    if len(set(chosen)) < len(chosen) or not chosen:
        raise DataError(f"{', '.join(chosen) or 'nothing'}: name each category once, and some.")
    return [categories.index(name) for name in chosen]


def _check_bounded(priors: Priors, categories: Sequence[str]) -> None:
    if strange := [name for name in priors.bounds if name not in categories]:
        raise DataError(
            f"the priors have bounds for {strange[0]!r}, which is no category; there are "
            f"{', '.join(categories[:10])}."
        )


def _checked(
    bounds: Mapping[str, tuple[float, float]], most: float, what: str
) -> Mapping[str, tuple[float, float]]:
    found = {}
    for name, (low, high) in bounds.items():
        if not (0 <= low <= high <= most and math.isfinite(high)):
            top = f" to {most:g}" if math.isfinite(most) else " on"
            raise DataError(
                f"the {what} of {name!r} is from {low:g} to {high:g}; give two numbers from 0{top},"
                " the smaller first."
            )
        found[str(name)] = (float(low), float(high))
    return MappingProxyType(found)


def _ends(low: str, high: str, alone: str) -> str:
    if low == high:
        return f"{alone}{low}"
    return f"{'from ' if alone else ''}{low} to {high}"


def _too_many() -> DataError:
    return DataError(
        f"the class of priors has more than {MOST_CORNERS:,} corners; merge fewer categories, or "
        "bound fewer."
    )

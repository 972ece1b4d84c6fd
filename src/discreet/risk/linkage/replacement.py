"""Equation (1) against sampling with replacement (Lambert 1993, section 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.intruder.linkage.blocking import Candidates, find_candidates
from discreet.intruder.linkage.links import Links, given_present
from discreet.intruder.linkage.model import Intruder
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.linkage.identification import SLACK, Identification, Perceived
from discreet.table.cells import frame


@dataclass(frozen=True, eq=False)
class Replacement(Result):
    """How far the approximation is from equation (1), of the same file and intruder.

    `mean` and `largest` difference of a link probability, over pairs that can be one person's;
    `changed`: respondents whose most probable link is another record.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"age": [46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, records=True)
    >>> found = dc.linkage.with_replacement(dc.identify(records, intruder), intruder)
    >>> found
    Replacement(2 released records: largest difference 0.1805)
    >>> round(found.equation.average, 3), round(found.approximate.average, 3)
    (0.659, 0.539)
    """

    mean: float
    largest: float
    changed: int
    equation: Perceived
    approximate: Perceived
    exact: float
    perceived: Floats
    released: int

    def __repr__(self) -> str:
        many = plural(self.released, "released record")
        return f"Replacement({many}: largest difference {self.largest:.4f})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a way to count: the risks of the file."""
        both = (self.equation, self.approximate)
        columns: dict[str, Any] = {"links": ["equation (1)", "with replacement"]}
        for name in ("pessimistic", "average", "total", "above"):
            columns[name] = [getattr(one, name) for one in both]
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "mean": self.mean,
            "largest": self.largest,
            "best_links_changed": self.changed,
            "exact": self.exact,
            "equation": _risks(self.equation),
            "approximate": _risks(self.approximate),
        }


def _risks(seen: Perceived) -> dict[str, Any]:
    names = ("pessimistic", "average", "total", "above")
    return {name: getattr(seen, name) for name in names}


def with_replacement(found: Identification, intruder: Intruder) -> Replacement:
    """What the approximation of section 5 makes of the links that were found.

        p_ji ~ s_ji prod over k != i of (1 - s_jk),    s_ji = f_j(x_i) / sum over j of f_j(x_i)

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people, masked = pd.DataFrame({"age": [31, 47]}), pd.DataFrame({"age": [33]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 9}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, records=True)
    >>> dc.linkage.with_replacement(dc.identify(records, intruder), intruder).largest  # one record
    0.0
    """
    pruned = find_candidates(found.data, lose=intruder.lose, top=intruder.top)
    links = found.links
    near = _approximate(pruned, links, intruder.population or len(found.linked))
    if intruder.present:
        near = given_present(near)
    away = np.abs(near.chances - links.chances)
    rows = np.repeat(links.source.times, np.diff(links.starts))
    copies = (rows * links.released.times[links.places]).astype(np.float64)
    return Replacement(
        float(away @ copies / max(copies.sum(), 1)),
        float(away.max(initial=0.0)),
        int((_other(links, near)).sum()),
        found.perceived,
        _perceived(near.perceived, found.act),
        links.exact,
        near.perceived,
        len(links.released.of),
    )


def _approximate(pruned: Candidates, links: Links, population: int) -> Links:
    """The same candidates, by shares of each released record's weight."""
    sizes = np.diff(pruned.starts)
    column = np.repeat(np.arange(len(sizes)), sizes)
    sources = int(pruned.source.times.sum())
    inside = np.bincount(column, pruned.weights * pruned.source.times[pruned.places], len(sizes))
    whole = (inside + pruned.dropped) * (population / sources) / (1 - pruned.bound)
    share = np.minimum(pruned.weights / whole[column], 1.0)
    times = pruned.released.times[column].astype(np.float64)
    many = len(pruned.source.first)
    sure = share >= 1
    left = np.log1p(-np.where(sure, 0.0, share))
    total = np.bincount(pruned.places, times * left, many)[pruned.places]
    held = np.bincount(pruned.places, times * sure, many)[pruned.places]
    chances = np.where(held - sure > 0, 0.0, share * np.exp(total - left))
    order = np.argsort(pruned.places, kind="stable")  # within a place by released record
    return replace(links, chances=chances[order])


def _other(links: Links, near: Links) -> NDArray[np.bool_]:
    """Whose best record by the one is not among the best by the other."""
    sources = np.flatnonzero((links.best >= 0) & (near.best >= 0))
    found = np.zeros(len(links.best), bool)
    held = near.pairs(sources, links.best[sources])
    found[sources] = held < near.perceived[sources] * (1 - 1e-9)
    return found


def _perceived(p: Floats, act: float) -> Perceived:
    above = int((p >= act - SLACK).sum())
    return Perceived(float(p.max()), float(p.mean()), float(p.sum()), above, len(p))

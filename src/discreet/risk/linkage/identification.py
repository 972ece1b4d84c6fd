"""Perceived and true identification (Lambert 1993, sections 3 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.encode import Encoded, encode
from discreet.intruder.linkage.links import Links, link_encoded
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.reasons import reasons
from discreet.intruder.linkage.records import Records
from discreet.look.result import Paged, Unpublished
from discreet.look.words import plural
from discreet.table.cells import frame

BINS = 10
SLACK = 5e-5  # balanced probabilities are right to 1e-5: what may be as high as asked, is


@dataclass(frozen=True)
class Perceived(Unpublished):
    """Risk of perceived identification of a file; a person's is the most probable link."""

    pessimistic: float
    average: float
    total: float
    above: int
    respondents: int


@dataclass(frozen=True)
class TrueIdentification(Unpublished):
    """Correct links: all best links, and those that the intruder acts on.

    A best link that ties with k - 1 others is right with probability 1 / k. `weighted` counts each
    correct link that is acted on by its probability.
    """

    best: float
    acted: float
    wrong: float
    weighted: float
    released: int
    respondents: int

    @property
    def risk(self) -> float:
        """Share of released records that are correctly identified."""
        return self.acted / self.released


@dataclass(frozen=True, eq=False)
class Identification(Paged):
    """What the intruder believes of every source record, and how often that is right.

    `rough`: where links are not exact, the same by a rougher approximation; how far both lie apart
    is about how far the result may be off.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 49, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> found = dc.identify(dc.linkage.read_records(people, masked, intruder, id="id"), intruder)
    >>> found
    Identification(3 respondents of 3 linked at 0.5 or more)
    >>> round(found.perceived.average, 3), found.true.risk
    (0.936, 1.0)
    """

    links: Links
    data: Encoded
    act: float
    linked: NDArray[np.bool_]
    parents: Ints | None
    rough: Identification | None = None

    def __repr__(self) -> str:
        some = plural(int(self.linked.sum()), "respondent")
        return f"Identification({some} of {len(self.linked):,} linked at {self.act:g} or more)"

    @property
    def perceived(self) -> Perceived:
        p = self.links.perceived
        above = int((p >= self.act - SLACK).sum())
        return Perceived(float(p.max()), float(p.mean()), float(p.sum()), above, len(p))

    @property
    def correct(self) -> Floats:
        """Probability that the best link of each source record is right: 0, 1, or 1 / ties."""
        if self.parents is None:
            raise DataError("which links are true is not known; name the id column of both files.")
        there = np.flatnonzero(self.parents >= 0)
        parents = self.parents[there]
        right = np.zeros(len(self.linked))
        chance, best = self.links.pairs(parents, there), self.links.perceived[parents]
        hit = (chance > 0) & (chance >= best * (1 - 1e-9))
        right[parents[hit]] = 1 / self.links.ties[parents[hit]]
        return right

    @property
    def true(self) -> TrueIdentification:
        right, p = self.correct, self.links.perceived
        acted = float(right[self.linked].sum())
        return TrueIdentification(
            float(right.sum()),
            acted,
            float(self.linked.sum()) - acted,
            float((right * p)[self.linked].sum()),
            len(self.links.released.of),
            len(p),
        )

    @property
    def error(self) -> float:
        """About how far the expected number of perceived links may be off."""
        if self.rough is None:
            return 0.0
        return float(np.abs(self.links.perceived - self.rough.links.perceived).sum())

    @property
    def distribution(self) -> list[tuple[float, float, int]]:
        """How many respondents have a perceived risk in each tenth."""
        counts, edges = np.histogram(self.links.perceived, BINS, (0, 1))
        return [
            (float(a), float(b), int(n)) for a, b, n in zip(edges, edges[1:], counts, strict=False)
        ]

    @property
    def reliability(self) -> list[tuple[int, float, float]]:
        """Best links by tenth of their probability: how many, their mean, the share right."""
        p, right = self.links.perceived, self.correct
        there = p > 0
        tenth = np.minimum((p[there] * BINS).astype(np.int64), BINS - 1)
        many = np.bincount(tenth, minlength=BINS)
        stated, held = (np.bincount(tenth, v[there], BINS) for v in (p, right))
        return [
            (int(n), float(a / n), float(b / n))
            for n, a, b in zip(many, stated, held, strict=True)
            if n
        ]

    def plot(self, **options: Any) -> Any:
        """Bars: respondents by their most probable link."""
        from discreet.look.linkcharts import risk_chart

        return risk_chart(self.distribution, act=self.act, above=self.perceived.above, **options)

    def plot_reliability(self, **options: Any) -> Any:
        """How often best links are right, against what is stated of them."""
        from discreet.look.linkcharts import reliability_chart

        return reliability_chart(self.reliability, **options)

    def most_exposed(self, most: int = 20) -> list[dict[str, Any]]:
        """Rows of the source and of the released file, by risk, with the keys that tell."""
        p = self.links.perceived
        some = np.argpartition(-p, min(most, len(p)) - 1)[:most]
        right = None if self.parents is None else self.correct
        found: list[dict[str, Any]] = []
        for j in some[np.lexsort([some, -p[some]])].tolist():
            i = int(self.links.best[j])
            if i < 0:
                break
            row: dict[str, Any] = {"row": j + 1, "released_row": i + 1, "probability": float(p[j])}
            row["true"] = None if right is None else bool(right[j] >= 1)
            row["because"] = reasons(self.data, j, i)
            found.append(row)
        return found

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a source record."""
        columns: dict[str, Any] = {
            "perceived": self.links.perceived,
            "released_row": self.links.best + 1,
            "not_released": self.links.null,
            "linked": self.linked,
        }
        if self.parents is not None:
            columns["correct"] = self.correct
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        seen, links = self.perceived, self.links
        true = None
        if self.parents is not None:
            t = self.true
            true = {
                "correct_best_links": t.best,
                "correct": t.acted,
                "wrong": t.wrong,
                "weighted": t.weighted,
                "risk": t.risk,
                "risk_of_respondents": t.acted / t.respondents,
            }
        return {
            "act": self.act,
            "perceived": {
                "pessimistic": seen.pessimistic,
                "average": seen.average,
                "total": seen.total,
                "above": seen.above,
                "linked": int(self.linked.sum()),
                "respondents": seen.respondents,
                "released": len(links.released.of),
                "distribution": [{"from": a, "to": b, "n": n} for a, b, n in self.distribution],
                "most_exposed": self.most_exposed(),
                "exact": links.exact,
                "error": links.error,
                "total_error": self.error,
                "pruned_expected": links.lost,
                "pruned_at_most": links.lost_at_most,
            },
            "true": true,
        }


def identify(records: Records, intruder: Intruder, *, act: float | None = None) -> Identification:
    """Link every respondent whose best link is at least `act` probable: 0.5, with losses 0.

    With losses, also only if a link is expected to cost no more than none:
    wrong (1 - p) <= missed (1 - p_null).

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 64]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> dc.identify(records, intruder)
    Identification(3 respondents of 3 linked at 0.5 or more)
    """
    if act is None:
        act = 0.5 if intruder.wrong is None else 0.0
    if not 0 <= act <= 1:
        raise DataError(f"act is {act:g}; give a probability from 0 to 1.")
    data = encode(records, intruder)
    links = link_encoded(data, intruder)
    found = Identification(links, data, act, _linked(links, intruder, act), records.parents)
    rough = links.by_messages
    if rough is None:
        return found
    again = replace(found, links=rough, linked=_linked(rough, intruder, act))
    return replace(found, rough=again)


def _linked(links: Links, intruder: Intruder, act: float) -> NDArray[np.bool_]:
    """Who is linked to the record that is most probably theirs."""
    p = links.perceived
    linked = (p >= act - SLACK) & (links.best >= 0)
    if intruder.wrong is not None:
        linked &= intruder.wrong * (1 - p) <= intruder.missed * (1 - links.null) + 1e-12
    return np.asarray(linked)

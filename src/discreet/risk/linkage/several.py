"""Several intruders who look for the same respondents (Lambert 1993, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Paged
from discreet.look.words import plural
from discreet.risk.linkage.identification import BINS, SLACK, Identification
from discreet.table.cells import frame

WAYS = ("worst", "any", "any_at_most", "average")
SAID = {
    "worst": "the worst intruder",
    "any": "some intruder, if they err independently",
    "any_at_most": "some intruder, at most",
    "average": "an intruder taken at random",
}


@dataclass(frozen=True, eq=False)
class Several(Paged):
    """What several intruders believe of each respondent, each by itself.

        worst         max_k p_k
        any           1 - prod_k (1 - p_k)      if the links are right or wrong independently
        any_at_most   min(1, sum_k p_k)         whatever their dependence; at least `worst`
        average       sum_k share_k p_k

    p_k is the probability that intruder k gives the respondent's most probable link. A person is
    linked if some intruder acts on a link.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47, 50], "pay": [2.0, 9.0, 4.0]})
    >>> masked = pd.DataFrame({"age": [33, 46, 52], "pay": [2.5, 8.0, 4.0]})
    >>> found = []
    >>> for name, spread in (("age", 8), ("pay", 3)):
    ...     one = dc.linkage.Intruder.of({"keys": {name: {"kind": "normal", "spread": spread}}})
    ...     records = dc.linkage.read_records(people, masked, one, records=True)
    ...     found.append(dc.identify(records, one))
    >>> dc.linkage.several(found, names=["neighbour", "employer"])
    Several(2 intruders: 3 respondents of 3 linked by some)
    >>> found[0].links.perceived.round(2), found[1].links.perceived.round(2)
    (array([0.96, 0.55, 0.57]), array([0.58, 0.9 , 0.53]))
    """

    found: tuple[Identification, ...]
    names: tuple[str, ...]
    shares: tuple[float, ...]

    def __repr__(self) -> str:
        some = plural(int(self.linked.sum()), "respondent")
        many = plural(len(self.found), "intruder")
        return f"Several({many}: {some} of {len(self.linked):,} linked by some)"

    @cached_property
    def perceived(self) -> dict[str, Floats]:
        """Of each respondent, by way to put intruders together."""
        each = np.array([one.links.perceived for one in self.found])
        return {
            "worst": each.max(0),
            "any": np.maximum(1 - np.prod(1 - each, 0), each.max(0)),
            "any_at_most": np.minimum(1, each.sum(0)),
            "average": np.asarray(self.shares) @ each,
        }

    @property
    def linked(self) -> NDArray[np.bool_]:
        """Whom some intruder links."""
        return np.asarray(np.any([one.linked for one in self.found], axis=0))

    @property
    def act(self) -> float:
        """The least probability on which one of them acts."""
        return min(one.act for one in self.found)

    @property
    def known(self) -> bool:
        """Whether it is known which links are true."""
        return all(one.parents is not None for one in self.found)

    @property
    def correct(self) -> tuple[float, float]:
        """Respondents whom some intruder links rightly: ties broken independently, and at most."""
        right = np.array([np.where(one.linked, one.correct, 0.0) for one in self.found])
        return float((1 - np.prod(1 - right, 0)).sum()), float(np.minimum(1, right.sum(0)).sum())

    @property
    def distribution(self) -> list[tuple[float, float, int]]:
        """How many respondents have a risk in each tenth, by the worst intruder."""
        counts, edges = np.histogram(self.perceived["worst"], BINS, (0, 1))
        return [(float(a), float(b), int(n)) for a, b, n in zip(edges, edges[1:], counts,
                                                                strict=False)]  # fmt: skip

    def risks(self, way: str) -> dict[str, Any]:
        """Highest, average, sum, and respondents at or above what is acted on."""
        p = self.perceived[way]
        above = int((p >= self.act - SLACK).sum())
        return {
            "pessimistic": float(p.max()),
            "average": float(p.mean()),
            "total": float(p.sum()),
            "above": above,
        }

    def most_exposed(self, most: int = 20) -> list[dict[str, Any]]:
        """Rows of the source by their risk, and which intruder's it is."""
        p = self.perceived
        each = np.array([one.links.perceived for one in self.found])
        rows = np.lexsort([np.arange(each.shape[1]), -p["any"], -p["worst"]])[:most]
        return [
            {"row": int(j) + 1, "by": self.names[int(each[:, j].argmax())]}
            | {way: float(p[way][j]) for way in WAYS}
            for j in rows
            if p["worst"][j] > 0
        ]

    def plot(self, **options: Any) -> Any:
        """Bars: respondents by the most probable link of the worst intruder."""
        from discreet.look.linkcharts import risk_chart

        above = self.risks("worst")["above"]
        return risk_chart(self.distribution, act=self.act, above=above, **options)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a source record: each intruder's best link, and all together."""
        columns: dict[str, Any] = {
            name: one.links.perceived for name, one in zip(self.names, self.found, strict=True)
        }
        return frame(columns | self.perceived | {"linked": self.linked}, kind)

    def to_json(self) -> dict[str, Any]:
        true = None
        if self.known:
            right, most = self.correct
            released = len(self.found[0].links.released.of)
            true = {"correct": right, "correct_at_most": most, "risk": right / released}
        each = [one.perceived for one in self.found]
        return {
            "act": self.act,
            "respondents": len(self.linked),
            "linked": int(self.linked.sum()),
            **{way: self.risks(way) for way in WAYS},
            "true": true,
            "by_intruder": [
                {"intruder": name, "share": share, "pessimistic": p.pessimistic,
                 "average": p.average, "total": p.total, "linked": int(one.linked.sum())}
                for name, share, p, one in zip(self.names, self.shares, each, self.found,
                                               strict=True)
            ],
            "most_exposed": self.most_exposed(),
        }  # fmt: skip


def several(
    found: Sequence[Identification],
    *,
    names: Sequence[str] | None = None,
    shares: Sequence[float] | None = None,
) -> Several:
    """Several intruders, each with what `identify` found of the same source file.

    `shares`: how probably it is each of them, for the average; all alike unless given.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people, masked = pd.DataFrame({"age": [31, 47]}), pd.DataFrame({"age": [33]})
    >>> found = []
    >>> for spread in (4, 12):
    ...     one = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": spread}}})
    ...     records = dc.linkage.read_records(people, masked, one, records=True)
    ...     found.append(dc.identify(records, one))
    >>> dc.linkage.several(found).perceived["average"].round(3)
    array([0.829, 0.171])
    """
    if not found:
        raise DataError("there is no intruder; give what `identify` found for each.")
    sizes = sorted({len(one.linked) for one in found})
    if len(sizes) > 1:
        raise DataError(
            f"the intruders look for {sizes[0]:,} and {sizes[1]:,} respondents; give the same "
            "source file to all."
        )
    said = [f"intruder {k}" for k in range(1, len(found) + 1)] if names is None else list(names)
    weights = np.full(len(found), 1 / len(found)) if shares is None else np.array(shares, float)
    if len(said) != len(found) or len(weights) != len(found):
        raise DataError(f"there are {len(found)} intruders; give as many names and shares.")
    if not ((weights >= 0).all() and abs(weights.sum() - 1) <= 1e-6):
        raise DataError(f"the shares of the intruders sum to {weights.sum():.6g}, not to 1.")
    return Several(tuple(found), tuple(said), tuple(weights.tolist()))

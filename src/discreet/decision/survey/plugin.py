"""The plug-in rule of Pannekoek & de Waal 1998 beside the optimal one, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.survey.curve import Edge, chosen, ranks
from discreet.decision.survey.publish import Publication
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import number, plural
from discreet.table.cells import frame

ESTIMATORS = ("weighted", "synthetic", "combined")


@dataclass(frozen=True, eq=False)
class PlugIn(Result):
    """Estimates of Y, what rules with an estimate in place of Y publish, and the optimal rule.

    weighted: N y / n; synthetic: N times the share in all samples; combined: E[Y | y].

    >>> import discreet as dc
    >>> found = dc.publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.75)
    >>> rules = dc.survey.plug_in(found)
    >>> rules.estimates["weighted"].round(2), rules.differs("weighted")
    (array([2.67, 5.33, 4.  ]), array([2]))
    """

    publication: Publication
    floor: float | None
    estimates: Mapping[str, Floats]
    publish: Mapping[str, NDArray[np.bool_]]

    @property
    def understated(self) -> Floats:
        """R1 - L1(y, E Y): what an estimate in place of Y hides; not below 0 if L1 is convex."""
        c, loss = self.publication.counts, self.publication.losses[0]
        return self.publication.R1 - loss(c.y, c.mean, c.n, c.N)

    def differs(self, estimator: str = "combined") -> NDArray[np.int64]:
        """Rows where the rule decides otherwise than the optimal one."""
        if estimator not in self.publish:
            raise DataError(f"there is no estimator {estimator!r}; choose {', '.join(ESTIMATORS)}.")
        return np.flatnonzero(self.publish[estimator] != self.publication.publish)

    def decided(self, estimator: str = "combined") -> Publication:
        """The cells as the rule publishes them; their risks and losses stay the exact ones."""
        self.differs(estimator)
        published = self.publish[estimator]
        rule = replace(
            self.publication.rule, estimator=estimator, floor=self.floor, edge=Edge.WHOLE
        )
        return replace(
            self.publication, rule=rule, publish=published, probability=published.astype(float)
        )

    def to_json(self, estimator: str = "combined") -> dict[str, Any]:
        """`estimator`, `floor`, and by rows from 1: `published_besides` and `suppressed_besides`
        the optimal rule, `understated` (R1 less the loss at the estimate of the mean)."""
        optimal, rows = self.publication.publish, self.differs(estimator)
        return {
            "estimator": estimator,
            "floor": self.floor,
            "published_besides": [int(row) + 1 for row in rows if not optimal[row]],
            "suppressed_besides": [int(row) + 1 for row in rows if optimal[row]],
            "understated": self.understated.tolist(),
        }

    def __repr__(self) -> str:
        many = ", ".join(f"{name} {number(len(self.differs(name)))}" for name in self.publish)
        return f"PlugIn({plural(len(self.publication), 'cell')}: decided otherwise {many})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell: n, N, y, the optimal decision, estimates and what they publish."""
        c = self.publication.counts
        columns: dict[str, Any] = {"n": c.n, "N": c.N, "y": c.y}
        columns["publish"] = self.publication.publish
        for name in self.publish:
            columns |= {name: self.estimates[name], f"publish_{name}": self.publish[name]}
        return frame({**columns, "understated": self.understated}, kind)


def plug_in(publication: Publication, *, floor: float | None = None) -> PlugIn:
    """Rules that take an estimate for the population count.

    With a `floor`, "publish if the estimate is above it". Without, the estimate is put into both
    losses and cells are cut by the publication's own rule.

    >>> from discreet.decision.survey.publish import publish
    >>> found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.75)
    >>> plug_in(found)
    PlugIn(3 cells: decided otherwise weighted 1, synthetic 2, combined 0)
    """
    c, weight = publication.counts, publication.weight
    sampled = float(weight @ c.n)
    overall = float(weight @ c.y) / sampled if sampled > 0 else 0.0
    estimates = {
        "weighted": np.where(c.n > 0, c.N * c.y / np.maximum(c.n, 1), 0.0),
        "synthetic": c.N * overall,
        "combined": c.mean,
    }
    rule = publication.rule
    decided: dict[str, NDArray[np.bool_]] = {}
    for name, Y in estimates.items():
        if floor is not None:
            decided[name] = floor < Y
            continue
        risk, loss = (loss(c.y, Y, c.n, c.N) for loss in publication.losses)
        rank = ranks(risk, loss)
        decided[name] = chosen(rule, rank, risk * weight, loss * weight) == 1
    return PlugIn(publication, floor, estimates, decided)

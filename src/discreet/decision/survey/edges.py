"""What is published within one limit: whole configurations, the best set, one cell at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.decision.survey.curve import Edge, best_set
from discreet.decision.survey.publish import Publication
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import percent
from discreet.table.cells import frame


@dataclass(frozen=True, eq=False)
class Edges(Result):
    """A publication at each edge, and what no set of whole cells can pass.

    `random` is the linear relaxation: it bounds the best set, which is never worse than `whole`.
    `bound` is a share of the data (within a risk) or of the risk (for a share of the data);
    `proven` if the best set reaches it.

    >>> import discreet as dc
    >>> cells = [10, 10, 20, 20, 10], [50, 200, 30, 30, 50], [1, 2, 4, 1, 3]
    >>> dc.survey.edges(dc.publish(*cells, alpha=0.5, beta=1.5, risk=0.45))
    Edges(whole 45% of the data at 21% of the risk, best 55% at 33%, random 64% at 45%; proven)
    """

    whole: Publication
    best: Publication
    random: Publication
    bound: float
    proven: bool

    def __repr__(self) -> str:
        first, *others = (
            f"{edge} {percent(cut.data_published)} at {percent(cut.risk_taken)}"
            for edge, cut in self.by_edge.items()
        )
        said = ", ".join([first.replace(" at ", " of the data at ") + " of the risk", *others])
        return f"Edges({said}; {'proven' if self.proven else 'best not proven'})"

    @property
    def by_edge(self) -> dict[str, Publication]:
        return {"whole": self.whole, "best": self.best, "random": self.random}

    def to_json(self) -> dict[str, Any]:
        """`bound`, `proven`, and of each edge `cells`, `data`, `risk`."""
        rows = {
            edge: {
                "cells": float(cut.probability.sum()),
                "data": cut.data_published,
                "risk": cut.risk_taken,
            }
            for edge, cut in self.by_edge.items()
        }
        return {**rows, "bound": self.bound, "proven": self.proven}

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row an edge: cells (expected), and the shares of data and risk."""
        cuts = self.by_edge.values()
        columns = {
            "edge": list(self.by_edge),
            "cells": [float(cut.probability.sum()) for cut in cuts],
            "data": [cut.data_published for cut in cuts],
            "risk": [cut.risk_taken for cut in cuts],
        }
        return frame(columns, kind)


def edges(publication: Publication, *, seed: int = 0) -> Edges:
    """The publication's limit met in three ways; see `Edges`.

    >>> from discreet.decision.survey.publish import publish
    >>> cells = [10, 10, 20, 20], [50, 200, 30, 30], [3, 2, 6, 5]
    >>> edges(publish(*cells, alpha=0.5, beta=1.5, share=0.5)).best.publish
    array([False,  True,  True, False])
    """
    rule = publication.rule
    if rule.share is None and rule.risk is None:
        raise DataError("edges differ only within a limit; give a share or a risk.")
    if rule.estimator is not None:
        raise DataError("edges are of the exact risks; leave out the plug-in rule.")
    cuts = {edge: publication.cut(replace(rule, edge=edge), seed) for edge in Edge}
    risk, loss = publication.R1 * publication.weight, publication.R0 * publication.weight
    _, bound, proven = best_set(replace(rule, edge=Edge.BEST), publication.rank, risk, loss)
    whole = float((loss if rule.risk is not None else risk).sum())
    share = bound / whole if whole > 0 else 0.0
    return Edges(cuts[Edge.WHOLE], cuts[Edge.BEST], cuts[Edge.RANDOM], share, proven)

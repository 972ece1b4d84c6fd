"""What synthetic copies say about a sensitive attribute of people whose other variables are known.

The intruder knows the kind of model. He fits it to all copies together, as if they were one sample,
and believes

    P(s | x) = p(x, s) / sum_s p(x, s)

by the posterior predictive probabilities p of that fit. This is an approximation: the copies come
from several draws of the parameters, and the target is among those to whom the model was fitted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.look.result import Result, Unpublished
from discreet.masks.synthesis.given import conditional, places
from discreet.masks.synthesis.synthesise import Synthetic, over, predicted, refitted
from discreet.table.cells import Cells, frame
from discreet.table.formula import margin_names
from discreet.table.table import Table

ACT = 0.9
DRAWS = 20
SOURCES = ("copies", "margin", "true data")


@dataclass(frozen=True, eq=False)
class Stated(Unpublished):
    """Beliefs about one sensitive attribute from one source.

    `belief` is people's cells x values, `truth` the true value, `people` how many are in the cell.
    """

    sensitive: str
    source: str
    belief: Floats = field(repr=False)
    truth: Ints = field(repr=False)
    people: Ints = field(repr=False)
    act: float

    @property
    def perceived(self) -> float:
        """The mean of the probability that the intruder gives to the value he states."""
        return self._mean(self.belief.max(1))

    @property
    def stated(self) -> float:
        """The share of people for whom that is at least `act`."""
        return self._mean(self._acts)

    @property
    def right(self) -> float:
        """The share of all people whose most probable value is the true one."""
        return self._mean(self._right)

    @property
    def right_stated(self) -> float | None:
        """The share of those stated who are stated rightly; None if nobody is stated."""
        stated = float(self.people @ self._acts)
        return float(self.people @ (self._acts & self._right)) / stated if stated else None

    @property
    def probability(self) -> float:
        """The mean of the probability of the true value."""
        return self._mean(self.belief[np.arange(len(self.truth)), self.truth])

    @property
    def _acts(self) -> NDArray[np.bool_]:
        return np.asarray(self.belief.max(1) >= self.act)

    @property
    def _right(self) -> NDArray[np.bool_]:
        return np.asarray(self.belief.argmax(1) == self.truth)

    def _mean(self, values: NDArray[Any]) -> float:
        return float(self.people @ values / self.people.sum())


@dataclass(frozen=True, eq=False)
class AttributeRisk(Result):
    """Perceived and true attribute risk of people, for each sensitive attribute and each source.

    The source `copies` is what an intruder believes who sees the copies. `margin` is what the
    attribute's own true margin says, and `true data` what the same model says that is fitted to the
    true table: what the copies add to the first, and what they could add at most.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> model = dc.synthetic.LogLinearCells.fit(table, "Race*Income + Gender")
    >>> made = dc.synthetic.synthesise(table, model, copies=3, rng=np.random.default_rng(1))
    >>> found = dc.synthetic.attribute_risk(table, made, "Race")
    >>> found.people, round(found.of("copies").perceived, 2)
    (5, 0.94)
    """

    found: tuple[Stated, ...] = field(repr=False)
    people: int
    act: float

    def of(self, source: str = "copies", sensitive: str | None = None) -> Stated:
        """The beliefs from one source about one attribute, by default the first."""
        for one in self.found:
            if one.source == source and sensitive in (None, one.sensitive):
                return one
        raise DataError(
            f"there are no beliefs from {source!r} about {sensitive!r}; choose a source of "
            f"{', '.join(SOURCES)}, and an attribute that was asked for."
        )

    def mean(self, what: str, source: str = "copies") -> float:
        """The mean over the attributes of `perceived`, `stated`, `right` or `probability`."""
        return float(np.mean([getattr(one, what) for one in self.found if one.source == source]))

    def __repr__(self) -> str:
        few = len({one.sensitive for one in self.found})
        about = self.found[0].sensitive if few == 1 else f"{few} attributes"
        said = {s: (self.mean("perceived", s), self.mean("right", s)) for s in SOURCES}
        perceived, right = said["copies"]
        return (
            f"AttributeRisk({about} of {self.people:,} people: perceived {perceived:.3f}, right "
            f"{right:.3f}; {said['margin'][1]:.3f} by the margin, {said['true data'][1]:.3f} by "
            "the true data)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """A row for each attribute and source."""
        rows = self.to_json()["rows"]
        return frame({name: [row[name] for row in rows] for name in rows[0]}, kind)

    def to_json(self) -> dict[str, Any]:
        rows = [
            {
                "sensitive": one.sensitive,
                "source": one.source,
                "perceived": one.perceived,
                "stated": one.stated,
                "right": one.right,
                "right_stated": one.right_stated,
                "probability": one.probability,
            }
            for one in self.found
        ]
        return {"people": self.people, "act": self.act, "rows": rows}


def attribute_risk(
    table: Table,
    synthetic: Synthetic,
    sensitive: str | Iterable[str],
    cells: Cells | None = None,
    *,
    act: float = ACT,
    draws: int = DRAWS,
    rng: np.random.Generator | None = None,
) -> AttributeRisk:
    """The risk of the people in `cells`, by default those with counts of 1 and 2.

    `sensitive` is a variable, or several, of which each in turn is unknown and all others known;
    A*B are unknown together. A value is stated where its probability is at least `act`.

    >>> from discreet.models.decomposed import LogLinearCells
    >>> from discreet.masks.synthesis.synthesise import synthesise
    >>> from discreet.table.load import load
    >>> table = load("example:czech")
    >>> model = LogLinearCells.fit(table, "A*C*E + A*D*E + B*C + F")
    >>> made = synthesise(table, model, copies=5, rng=np.random.default_rng(1))
    >>> attribute_risk(table, made, "A", table.small(5))
    AttributeRisk(A of 49 people: perceived 0.611, right 0.592; 0.612 by the margin, 0.592 by
        the true data)
    """
    if not 0 < act <= 1:
        raise DataError(f"act is {act}; give a probability, such as 0.9.")
    asked = table.small() if cells is None else cells
    if not len(asked) or not asked.counts.sum():
        raise DataError("nobody is in the cells; name cells that count somebody.")
    rng = np.random.default_rng(0) if rng is None else rng
    codes, named = over(table, asked), (sensitive,) if isinstance(sensitive, str) else sensitive
    believed = {
        "copies": predicted(refitted(synthetic), draws, rng),
        "true data": predicted(synthetic.model, draws, rng),
    }
    found = []
    for text in named:
        unknown = table.axes.places(margin_names(text, table.names))
        truth = places(codes, unknown, table.shape)
        own = table.margin([table.names[p] for p in unknown]).dense().ravel() / table.total
        alone = np.broadcast_to(own, (len(codes), len(own)))
        for source in SOURCES:
            given = believed.get(source)
            belief = alone if given is None else conditional(given, codes, unknown, table.shape)
            found.append(Stated(text, source, belief, truth, asked.counts, act))
    if not found:
        raise DataError("no sensitive variable is named; name at least one.")
    return AttributeRisk(tuple(found), int(asked.counts.sum()), act)

"""Who is disclosed by a released file: found in it, or told a sensitive value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.linkage.identification import SLACK, Identification
from discreet.table.cells import frame

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive column: the true value of each source record as a code, what each released
    record is believed to have (a row of probabilities each), and how frequent values are.

    >>> import numpy as np
    >>> ill = Sensitive("ill", np.array([0, 1]), np.eye(2), np.array([0.9, 0.1]))
    >>> ill.name, ill.prior.tolist()
    ('ill', [0.9, 0.1])
    """

    name: str
    truth: Ints
    believed: Floats
    prior: Floats


@dataclass(frozen=True, eq=False)
class Disclosed(Result):
    """What an intruder says of each respondent, and how often it is right.

    `right`: the probability that the link acted on is right; `linked`: that one is acted on;
    `chance`: that of the true link. Of each sensitive column `told`: its value is stated and right,
    and `stated`: is stated, where frequency alone would not state it. `exact`: the share of records
    whose links are exact, not balanced; `pruned`: true pairs that pruning may have left out, as a
    share of respondents.

    >>> import numpy as np
    >>> one = np.array([1.0, 0.0])
    >>> Disclosed(one, one > 0, one, {"ill": one == 0}, {"ill": one == 0})
    Disclosed(2 respondents: 50.0% identified, 50.0% told a value)
    """

    right: Floats
    linked: NDArray[np.bool_]
    chance: Floats
    told: Mapping[str, NDArray[np.bool_]]
    stated: Mapping[str, NDArray[np.bool_]]
    exact: float = 1.0
    pruned: float = 0.0

    def __repr__(self) -> str:
        shares = f"{self.identified:.1%} identified, {self.attribute:.1%} told a value"
        return f"Disclosed({plural(len(self.right), 'respondent')}: {shares})"

    @property
    def identified(self) -> float:
        """Share of respondents who are linked, rightly."""
        return float(self.right.mean())

    @property
    def attribute(self) -> float:
        """Share of respondents of whom a sensitive value is stated, rightly."""
        return float(_any(self.told, len(self.right)).mean())

    @property
    def disclosed(self) -> float:
        """Share of respondents of whom either is so."""
        return float(np.maximum(self.right, _any(self.told, len(self.right))).mean())

    @property
    def perceived(self) -> float:
        """Share of respondents of whom something is stated, rightly or not."""
        return float((self.linked | _any(self.stated, len(self.right))).mean())

    @property
    def expected(self) -> float:
        """Mean probability of the true link."""
        return float(self.chance.mean())

    @property
    def highest(self) -> float:
        """Largest probability of a true link."""
        return float(self.chance.max())

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a respondent."""
        columns: dict[str, Any] = {"identified": self.right, "linked": self.linked}
        columns |= {f"told {name}": told for name, told in self.told.items()}
        return frame(columns, kind)

    def to_json(self) -> dict[str, float]:
        names = ("disclosed", "identified", "attribute", "perceived", "expected", "highest")
        return {name: getattr(self, name) for name in names}


def disclosed(found: Identification, sensitive: Sequence[Sensitive] = ()) -> Disclosed:
    """Links, and what they tell of a value v: sum over links p b(v) + p_null prior(v).

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 64]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> found = dc.identify(dc.linkage.read_records(people, masked, intruder, id="id"), intruder)
    >>> disclosed(found)
    Disclosed(3 respondents: 100.0% identified, 0.0% told a value)
    """
    links, act = found.links, found.act
    assert found.parents is not None
    chance = np.zeros(len(found.linked))
    there = np.flatnonzero(found.parents >= 0)
    chance[found.parents[there]] = links.pairs(found.parents[there], there)
    told, stated = {}, {}
    for column in sensitive:
        beliefs = _beliefs(found, column)
        told[column.name], stated[column.name] = statements(beliefs, column, act)
    right = np.where(found.linked, found.correct, 0.0)
    pruned = links.lost_at_most / len(found.linked) if links.lost else 0.0
    return Disclosed(right, found.linked, chance, told, stated, links.exact, pruned)


def statements(
    beliefs: Floats, column: Sensitive, act: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who is told rightly, and of whom something is said, that frequency would not say."""
    best = beliefs.argmax(1)
    sure = beliefs[np.arange(len(best)), best] >= act - SLACK
    sure &= column.prior[best] < act
    known = column.truth >= 0
    return sure & known & (best == column.truth), sure & known


def _beliefs(found: Identification, column: Sensitive) -> Floats:
    """What is believed of each source record's value."""
    from scipy.sparse import csr_array

    links = found.links
    shape = (len(links.source.first), len(links.released.first))
    each = csr_array((links.chances, links.places, links.starts), shape=shape)
    inside = np.zeros((shape[1], len(column.prior)))
    np.add.at(inside, links.released.of, column.believed)
    known = np.asarray(each @ inside)
    none = np.clip(1 - known.sum(1), 0, 1)
    return np.asarray((known + none[:, None] * column.prior)[links.source.of])


def _any(columns: Mapping[str, NDArray[np.bool_]], many: int) -> NDArray[np.bool_]:
    found = np.zeros(many, bool)
    for column in columns.values():
        found |= column
    return found

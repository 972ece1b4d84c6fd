"""Who is disclosed by a released file: found in it, or told a sensitive value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.intruder.linkage.links import Links
from discreet.look.result import Result, Shown
from discreet.look.words import plural
from discreet.risk.linkage.identification import SLACK, Identification
from discreet.table.cells import frame

GAIN = 0.1  # by how much a value is more probable that is told, and not only frequent
OVERALL = 1.0  # records as all are, that count beside those of a class
STRANGE = 5.0  # the same, for somebody who is not released
ROUNDS, CLOSE = 100, 1e-7
PIECE = 2_000_000  # beliefs at a time


@dataclass(frozen=True, eq=False)
class Sensitive(Shown):
    """A sensitive column: the true value of each source record as a code, what each released
    record is believed to have (a row of probabilities each), and how frequent values are.

    Where released values are uncertain, `shown` is what each record shows, as a code, and
    `likelihood` has a row for each code: how probable it is, up to a factor, for each true value.
    Where values are released more or less often than all people have them, `prior` is how often
    they are released, and `overall` the same column for who knows how often people have them.

    >>> import numpy as np
    >>> ill = Sensitive("ill", np.array([0, 1]), np.eye(2), np.array([0.9, 0.1]))
    >>> ill.name, ill.prior.tolist()
    ('ill', [0.9, 0.1])
    """

    name: str
    truth: Ints
    believed: Floats
    prior: Floats
    shown: Ints | None = None
    likelihood: Floats | None = None
    overall: Sensitive | None = None

    @property
    def known(self) -> tuple[Sensitive, ...]:
        """For each of those who know how frequent values are, from the release or otherwise."""
        return (self,) if self.overall is None else (self, self.overall)


@dataclass(frozen=True, eq=False)
class Disclosed(Result):
    """What an intruder says of each respondent, and how often it is right.

    `right`: the probability that the link acted on is right; `linked`: that one is acted on;
    `chance`: that of the true link. Of each sensitive column `told`: its value is stated and right,
    and `stated`: is stated, where the release adds at least a tenth to what frequency alone says.
    `exact`: the share of records whose links are exact, not balanced; `pruned`: true pairs that
    pruning may have left out, as a share of respondents; `error`: how much higher the share of
    links may be by chance. `attribute` is None where no column is sensitive: not computed.

    >>> import numpy as np
    >>> one = np.array([1.0, 0.0])
    >>> Disclosed(one, one > 0, one, {"ill": one == 0}, {"ill": one == 0})
    Disclosed(2 respondents: 50.0% identified, 50.0% told a value)
    """

    right: Floats
    linked: Bools
    chance: Floats
    told: Mapping[str, Bools]
    stated: Mapping[str, Bools]
    exact: float = 1.0
    pruned: float = 0.0
    error: float = 0.0

    def __repr__(self) -> str:
        told = self.attribute
        values = "values not computed" if told is None else f"{told:.1%} told a value"
        shares = f"{self.identified:.1%} identified, {values}"
        return f"Disclosed({plural(len(self.right), 'respondent')}: {shares})"

    @property
    def identified(self) -> float:
        """Share of respondents who are linked, rightly."""
        return float(self.right.mean())

    @property
    def attribute(self) -> float | None:
        """Share of respondents of whom a sensitive value is stated, rightly."""
        if not self.told:
            return None
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

    def worse(self, other: Disclosed) -> Disclosed:
        """What either of two intruders finds, respondent by respondent."""
        told, stated = dict(self.told), dict(self.stated)
        for into, more in ((told, other.told), (stated, other.stated)):
            for name, one in more.items():
                into[name] = into[name] | one if name in into else one
        return Disclosed(
            np.maximum(self.right, other.right),
            self.linked | other.linked,
            np.maximum(self.chance, other.chance),
            told,
            stated,
            min(self.exact, other.exact),
            max(self.pruned, other.pruned),
            max(self.error, other.error),
        )

    def telling(self, other: Disclosed) -> Disclosed:
        """With the values that another intruder states besides."""
        return replace(self.worse(other), right=self.right, linked=self.linked, chance=self.chance)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a respondent."""
        columns: dict[str, Any] = {"identified": self.right, "linked": self.linked}
        columns |= {f"told {name}": told for name, told in self.told.items()}
        return frame(columns, kind)

    def to_json(self) -> dict[str, float | None]:
        names = ("disclosed", "identified", "attribute", "perceived", "expected", "highest")
        return {name: getattr(self, name) for name in names}


def disclosed(found: Identification, sensitive: Sequence[Sensitive] = ()) -> Disclosed:
    """Links, and what they tell of a value v: sum over links p b(v) + p_null q(v).

    q(v) is the share of v among the records that somebody might have been, shrunk to all. Where
    what is released is uncertain, b(v) also rests on the other records that the same people may be.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 64]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> found = dc.identify(dc.linkage.read_records(people, masked, intruder, id="id"), intruder)
    >>> disclosed(found)
    Disclosed(3 respondents: 100.0% identified, values not computed)
    """
    links, act = found.links, found.act
    assert found.parents is not None
    chance = np.zeros(len(found.linked))
    there = np.flatnonzero(found.parents >= 0)
    chance[found.parents[there]] = links.pairs(found.parents[there], there)
    told, stated = {}, {}
    for column in sensitive:
        each = [statements(_beliefs(found, one), one, act) for one in column.known]
        told[column.name], stated[column.name] = by_any(each)
    right = np.where(found.linked, found.correct, 0.0)
    pruned = links.lost_at_most / len(found.linked) if links.lost else 0.0
    return Disclosed(right, found.linked, chance, told, stated, links.exact, pruned)


def statements(beliefs: Floats, column: Sensitive, act: float) -> tuple[Bools, Bools]:
    """Who is told rightly, and of whom something is said: the most credible value that is believed
    at least as `act` says and that the release teaches: it adds a tenth to the prior or more.

    A higher `act` never states more. What more than nine in ten have is nobody's secret.

    >>> import numpy as np
    >>> ill = Sensitive("ill", np.array([0, 0, 1]), np.eye(2)[[0, 0, 1]], np.array([0.6, 0.4]))
    >>> statements(np.array([[1.0, 0.0], [0.65, 0.35], [0.1, 0.9]]), ill, 0.5)[0].tolist()
    [True, False, True]
    """
    prior = column.prior
    told = beliefs >= act - SLACK
    told &= beliefs >= prior + GAIN - SLACK
    best = np.where(told, beliefs, -1.0).argmax(1)
    known = column.truth >= 0
    sure = told.any(1) & known
    return sure & (best == column.truth), sure


def by_any(each: Sequence[tuple[Bools, Bools]]) -> tuple[Bools, Bools]:
    """Who is told rightly by anybody, and of whom anybody says something."""
    told, stated = (np.logical_or.reduce(one) for one in zip(*each, strict=True))
    return told, stated


def _beliefs(found: Identification, column: Sensitive) -> Floats:
    """What is believed of each source record's value."""
    from scipy.sparse import csr_array

    links = found.links
    if column.likelihood is not None:
        return np.asarray(_among_alike(links, column)[links.source.of])
    shape = (len(links.source.first), len(links.released.first))
    each = csr_array((links.chances, links.places, links.starts), shape=shape)
    inside = np.zeros((shape[1], len(column.prior)))
    np.add.at(inside, links.released.of, column.believed)
    times = links.released.times.astype(np.float64)
    squares = np.asarray(each.power(2) @ times)
    return np.asarray(_with_null(np.asarray(each @ inside), squares, column.prior)[links.source.of])


def _with_null(known: Floats, squares: Floats, prior: Floats) -> Floats:
    """Somebody who is not released is as the records that he might have been, shrunk to all."""
    total = known.sum(1)
    many = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    share = np.divide(many, total, out=np.zeros_like(total), where=total > 0)
    like = (STRANGE * prior + share[:, None] * known) / (STRANGE + many)[:, None]
    return np.asarray(known + np.clip(1 - total, 0, 1)[:, None] * like)


def _among_alike(links: Links, column: Sensitive) -> Floats:
    """Beliefs of each source class where released values are uncertain: records that the same
    people may be tell of each other.

        b_r(v) ~ likelihood_r(v) (prior(v) + sum over s != r of w_s b_s(v))

    w_s: link probabilities, scaled to as many records as they are spread over, (sum p)^2 / sum p^2.
    """
    assert column.likelihood is not None
    assert column.shown is not None
    codes = links.released.of * len(column.likelihood) + column.shown
    units, times = np.unique(codes, return_counts=True)
    home, row = np.divmod(units, len(column.likelihood))
    many = np.bincount(home, minlength=len(links.released.first))
    first = np.cumsum(many) - many
    sources, size = len(links.source.first), len(column.prior)
    found = np.empty((sources, size))
    upto = np.concatenate([[0], np.cumsum(many[links.places])])[links.starts]
    start = 0
    while start < sources:
        stop = int(np.searchsorted(upto, upto[start] + PIECE // size, side="right")) - 1
        stop = min(max(stop, start + 1), sources)
        edges = slice(links.starts[start], links.starts[stop])
        copies = many[links.places[edges]]
        inner = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        unit = np.repeat(first[links.places[edges]], copies) + inner
        chance = np.repeat(links.chances[edges], copies)
        starts = upto[start : stop + 1] - upto[start]
        likelihood = column.likelihood[row[unit]]
        found[start:stop] = _pooled(likelihood, chance, times[unit], starts, column.prior)
        start = stop
    return found


def _pooled(likelihood: Floats, chance: Floats, times: Ints, starts: Ints, prior: Floats) -> Floats:
    """Beliefs of classes whose candidates, `times` each, stand in rows from `starts` on."""
    from scipy.sparse import csr_array

    shape = (len(starts) - 1, len(chance))
    of = np.repeat(np.arange(shape[0]), np.diff(starts))
    total, squares = (
        np.bincount(of, chance**k * times, shape[0]).astype(np.float64) for k in (1, 2)
    )
    weight = chance * np.divide(total, squares, out=np.zeros_like(total), where=squares > 0)[of]
    columns = np.arange(shape[1])
    pool = csr_array((weight * times, columns, starts), shape=shape)
    beliefs = _normed(likelihood * prior, prior)
    for _ in range(ROUNDS):
        others = np.asarray(pool @ beliefs)[of] - weight[:, None] * beliefs
        new = _normed(likelihood * (OVERALL * prior + np.maximum(others, 0)), prior)
        moved = np.abs(new - beliefs).max(initial=0)
        beliefs = new
        if moved < CLOSE:
            break
    known = np.asarray(csr_array((chance * times, columns, starts), shape=shape) @ beliefs)
    return _with_null(known, squares, prior)


def _normed(weights: Floats, prior: Floats) -> Floats:
    total = weights.sum(1, keepdims=True)
    return np.asarray(np.where(total > 0, weights / np.where(total > 0, total, 1), prior))


def _any(columns: Mapping[str, Bools], many: int) -> Bools:
    found = np.zeros(many, bool)
    for column in columns.values():
        found |= column
    return found

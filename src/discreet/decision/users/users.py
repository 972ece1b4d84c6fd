"""Those who use a release, and what the agency loses by what they do.

    DR = sum over j of Pr(a_j) E L_A(a_j, truth)       (1), j = 1 if the intruder goes on, else 0
    DU = - sum over j of Pr(a_j) E L_A(a_j, truth)     (2), the same of a scientist

Section 3 of Dobra, Fienberg & Trottini 2003 (BS7). A user goes on, a_1, if the uncertainty of the
best estimate is at most the user's threshold. (2) prints a_1 in every term; the sum runs over both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.decision.users.targets import Target, cell_targets, table_target
from discreet.errors import DataError
from discreet.intruder.belief.atoms import check_lengths, checked_mass, plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.posterior.whole_table import Model
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.uncertainty.base import Uncertainty, points
from discreet.risk.uncertainty.named import as_uncertainty
from discreet.table.cells import frame
from discreet.table.table import Table

Floats = NDArray[np.float64]
CLOSE = 1e-12
Cost = Callable[[bool, Any, Any], float]  # of: goes on?, estimate, truth
Given = Any  # a number, draws, a Belief, or a survival function


@dataclass(frozen=True, eq=False)
class Threshold:
    """The largest uncertainty at which a user goes on: known, or a distribution.

    >>> Threshold.of(0.5).chance(0.5), Threshold.of([0.2, 0.4, 0.6, 0.8]).chance(0.5)
    (1.0, 0.5)
    """

    survival: Callable[[float], float]

    @classmethod
    def of(cls, given: Given) -> Threshold:
        """A number, an array of draws, a `Belief`, or Pr(threshold >= u) as a function of u."""
        if isinstance(given, Threshold):
            return given
        if callable(given):
            return cls(given)
        if isinstance(given, Belief):
            return cls(lambda u: _at_least(given, u))
        if np.ndim(given):
            draws = Belief.draws(given)
            return cls(lambda u: _at_least(draws, u))
        known = float(given)
        if math.isnan(known):
            raise DataError("the threshold is not a number; give one, or math.inf.")
        return cls(lambda u: float(u <= known + CLOSE * max(1.0, abs(known))))

    def chance(self, uncertainty: float) -> float:
        """The probability that the user goes on."""
        found = float(self.survival(uncertainty))
        if not -CLOSE <= found <= 1 + CLOSE:
            raise DataError(
                f"the threshold is above {uncertainty:g} with probability {found}; give a function "
                "with values from 0 to 1."
            )
        return min(1.0, max(0.0, found))


def _at_least(belief: Belief, u: float) -> float:
    if math.isinf(u):
        return float(u < 0)
    slack = 0.0 if belief.kind is Kind.DENSITY else CLOSE * max(1.0, abs(u))
    return belief.probability((u - slack, math.inf))


@dataclass(frozen=True, eq=False)
class Outlook(Result):
    """What the agency expects of one user of a release, target by target.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
    >>> outlook = dc.users.identified(table).outlook(release)
    >>> outlook
    Outlook(guesses a cell: 18 targets, goes on with probability 1, expected loss 0.333333)
    >>> outlook.to_frame()[["target", "estimate", "uncertainty"]].head(2).round(3)
                                target  estimate  uncertainty
    0       Male, White, up to $10,000        86        0.905
    1  Male, White, $10,001 to $25,000        66        0.900
    """

    user: str
    targets: tuple[str, ...]
    chances: Floats
    estimates: tuple[Any, ...]
    uncertainty: Floats
    tries: Floats
    loss_if_tried: Floats
    loss_if_not: Floats
    exact: bool

    @property
    def losses(self) -> Floats:
        """The expected loss with each target."""
        return _times(self.tries, self.loss_if_tried) + _times(1 - self.tries, self.loss_if_not)

    @property
    def loss(self) -> float:
        """The expected loss: (1) of an intruder, minus (2) of a scientist."""
        return float(_times(self.chances, self.losses).sum())

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a target."""
        single = all(isinstance(each, (int, float, str, np.generic)) for each in self.estimates)
        columns: dict[str, Any] = {"target": list(self.targets), "chance": self.chances}
        if single:
            columns["estimate"] = [plain(each) for each in self.estimates]
        columns |= {"uncertainty": self.uncertainty, "tries": self.tries, "loss": self.losses}
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "user": self.user,
            "targets": len(self.targets),
            "tries": float(self.chances @ self.tries),
            "loss": _finite(self.loss),
            "exact": self.exact,
        }

    def __repr__(self) -> str:
        return (
            f"Outlook({self.user}: {plural(len(self.targets), 'target')}, goes on with probability "
            f"{self.chances @ self.tries:.4g}, expected loss {self.loss:.6g}"
            f"{'' if self.exact else ', sampled'})"
        )


@dataclass(frozen=True, eq=False)
class User:
    """An intruder or a scientist: targets, a loss, a threshold, and what the agency loses by it.

    >>> from discreet.release.release import Release
    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> user = User.of("a guesser", cell_targets(table, table.small(), "uniform"), loss="zero-one",
    ...     threshold=0.6, cost=lambda tries, estimate, truth: tries and estimate == truth)
    >>> user.outlook(Release.margins(table, "Race*Income + Income*Gender"))
    Outlook(a guesser: 4 targets, goes on with probability 0.25, expected loss 0)
    """

    name: str
    targets: tuple[Target, ...]
    chances: Floats
    loss: Uncertainty
    threshold: Threshold
    cost: Cost

    @classmethod
    def of(
        cls,
        name: str,
        targets: Target | Iterable[Target],
        *,
        loss: str | Uncertainty | Callable[[Any, Any], float],
        cost: Cost,
        threshold: Given = math.inf,
        chances: ArrayLike | None = None,
    ) -> User:
        """`chances` are those of the targets, alike if not given; by default the user goes on.

        `cost` is the agency's loss by: goes on?, the best estimate, the truth. It may be negative.
        """
        listed = (targets,) if isinstance(targets, Target) else tuple(targets)
        if not listed:
            raise DataError(f"{name} has no target; give at least one.")
        return cls(
            name,
            listed,
            _shares(chances, listed, "chance", "targets"),
            as_uncertainty(loss),
            Threshold.of(threshold),
            cost,
        )

    def outlook(self, release: Any) -> Outlook:
        """What this user is expected to do with a release, and what the agency loses by it."""
        best = [self.loss.best(target.believe(release)) for target in self.targets]
        pairs = list(zip(self.targets, best, strict=True))
        known = all(not isinstance(t.truth, Belief) or t.truth.exact for t in self.targets)
        return Outlook(
            self.name,
            tuple(target.name for target in self.targets),
            self.chances,
            tuple(each.estimate for each in best),
            np.array([each.uncertainty for each in best]),
            np.array([self.threshold.chance(each.uncertainty) for each in best]),
            np.array([self._expected(True, each.estimate, target) for target, each in pairs]),
            np.array([self._expected(False, each.estimate, target) for target, each in pairs]),
            known and all(each.exact for each in best),
        )

    def _expected(self, tries: bool, estimate: Any, target: Target) -> float:
        """The agency's loss, over what it does not know of the truth."""
        if not isinstance(target.truth, Belief):
            return self._cost(tries, estimate, target.truth)
        values, mass = points(target.truth)
        return float(mass @ [self._cost(tries, estimate, plain(value)) for value in values])

    def _cost(self, tries: bool, estimate: Any, truth: Any) -> float:
        found = float(self.cost(tries, estimate, truth))
        if math.isnan(found):
            raise DataError(f"the agency's loss by {self.name} is not a number; give one.")
        return found

    def __repr__(self) -> str:
        return f"User({self.name}: {plural(len(self.targets), 'target')})"


def own_loss(loss: str | Uncertainty | Callable[[Any, Any], float], idle: float) -> Cost:
    """The agency loses what the user does by the estimate, and `idle` if the user gives up.

    >>> import discreet as dc
    >>> cost = dc.users.own_loss("squared", idle=10)
    >>> cost(True, 3, 5), cost(False, 3, 5)
    (4.0, 10)
    """
    given = as_uncertainty(loss)
    return lambda tries, estimate, truth: given.loss(estimate, truth) if tries else idle


@dataclass(frozen=True, eq=False)
class Measured:
    """A disclosure risk or data utility, with the users that it comes from.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
    >>> found = dc.users.disclosure_risk(release, dc.users.tightness(table))
    >>> found
    Measured(-1: bounds every cell)
    >>> found.value, found.outlooks[0].exact
    (-1.0, True)
    """

    value: float
    outlooks: tuple[Outlook, ...]

    @property
    def exact(self) -> bool:
        return all(outlook.exact for outlook in self.outlooks)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        users = ", ".join(outlook.user for outlook in self.outlooks)
        return f"Measured({self.value:.6g}: {users}{'' if self.exact else '; sampled'})"


def disclosure_risk(release: Any, *intruders: User) -> Measured:
    """What the agency loses by the worst of several intruders.

    DR = sum over j of Pr(a_j) E L_A(a_j, truth), a_1 if the intruder goes on and a_0 if not
    (equation 1 of Dobra, Fienberg & Trottini 2003; the worst: their reply to the discussion).

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
    >>> dc.users.disclosure_risk(release, dc.users.identified(table))
    Measured(0.333333: guesses a cell)
    """
    if not intruders:
        raise DataError("a disclosure risk needs an intruder; give at least one.")
    found = tuple(intruder.outlook(release) for intruder in intruders)
    return Measured(max(outlook.loss for outlook in found), found)


def data_utility(release: Any, *users: User, weights: ArrayLike | None = None) -> Measured:
    """What a release is worth to its users: minus the loss by each, weighted, else alike.

    DU = - sum over j of Pr(a_j) E L_A(a_j, truth), a_1 if the user goes on and a_0 if not
    (equation 2 of Dobra, Fienberg & Trottini 2003).

    >>> import discreet as dc
    >>> table = dc.load("example:blond")
    >>> scientist = dc.users.User.of("estimates cells", dc.users.cell_targets(table),
    ...     loss="squared", cost=dc.users.own_loss("squared", idle=100))
    >>> dc.users.data_utility(dc.Release.margins(table, "Hair + Income"), scientist)
    Measured(-1.02464: estimates cells)
    """
    if not users:
        raise DataError("a data utility needs a user; give at least one.")
    shares = _shares(weights, users, "weight", "users")
    found = tuple(user.outlook(release) for user in users)
    return Measured(-float(_times(shares, np.array([o.loss for o in found])).sum()) + 0.0, found)


# The three measures of section 4


def tightness(table: Table, *, most: int = 2) -> User:
    """An intruder who bounds every cell; the risk is minus the narrowest width of a small count.

    Small is from 1 to `most`; minus the total if no count is (equation 3 of Dobra, Fienberg &
    Trottini 2003).

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
    >>> float(dc.users.disclosure_risk(release, dc.users.tightness(table)))
    -1.0
    """
    total = table.total

    def cost(tries: bool, estimate: Any, truth: Any) -> float:
        lower, upper = estimate
        asked = (lower <= truth) & (truth <= upper) & (truth > 0) & (truth <= most)
        return -float((upper - lower)[asked].min()) if tries and asked.any() else -float(total)

    return User.of("bounds every cell", table_target(table), loss="lengths", cost=cost)


def true_table(
    table: Table, model: Model | str = "uniform", *, threshold: Given = math.inf
) -> User:
    """An intruder who weighs all tables; the risk is the probability of the true one.

    1/M, of M tables that fit, if all are alike.

    >>> import discreet as dc
    >>> table = dc.load("example:blond")
    >>> release = dc.Release.margins(table, "Hair + Income")
    >>> risk = dc.users.disclosure_risk(release, dc.users.true_table(table))
    >>> round(1 / risk.value), dc.count(release).tables
    (35, 35)
    """

    def cost(tries: bool, estimate: Any, truth: Any) -> float:
        return float(estimate.probability(truth)) if tries else 0.0

    target = table_target(table, model)
    return User.of("weighs all tables", target, loss="log", threshold=threshold, cost=cost)


def identified(
    table: Table,
    model: Model | str = "saturated",
    *,
    below: int = 3,
    zeros: bool = True,
    threshold: Given = 1.0,
) -> User:
    """An intruder who guesses counts; the risk is the share of those below `below` guessed right.

    A guess counts if its probability is at least 1 - `threshold` (equation 5 of Dobra, Fienberg &
    Trottini 2003, who count zeros too).

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> user = dc.users.identified(table, threshold=0.3)
    >>> dc.users.disclosure_risk(dc.Release.margins(table, "Race*Income + Income*Gender"), user)
    Measured(0: guesses a cell)
    """
    cells = table.all()
    small = (cells.counts < below) & (zeros | (cells.counts > 0))
    each = len(cells) / max(1, int(small.sum()))

    def cost(tries: bool, estimate: Any, truth: Any) -> float:
        right = tries and estimate == truth
        return each if right and truth < below and (zeros or truth > 0) else 0.0

    targets = cell_targets(table, cells, model)
    return User.of("guesses a cell", targets, loss="zero-one", threshold=threshold, cost=cost)


def _shares(given: ArrayLike | None, of: Sequence[Any], one: str, what: str) -> Floats:
    if given is None:
        return np.full(len(of), 1 / len(of))
    shares = checked_mass(given, one, f"{one}s")
    check_lengths(of, shares)
    if abs(shares.sum() - 1) > 1e-6:
        raise DataError(f"the {one}s of the {what} sum to {shares.sum():.9g}, not to 1.")
    return np.asarray(shares / shares.sum())


def _times(shares: Floats, losses: Floats) -> Floats:
    """What has no probability costs nothing, even if it is infinite."""
    return np.where(shares > 0, shares * np.where(shares > 0, losses, 0.0), 0.0)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None

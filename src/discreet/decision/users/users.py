"""Those who use a release: what each wants to know, and what the agency loses by what they do.

Section 3 of Dobra, Fienberg & Trottini 2003 (BS7). A user goes on, a_1, if the uncertainty of the
best estimate is at most the user's threshold, and gives up, a_0, if not.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.decision.users.again import drawn_again
from discreet.decision.users.outlook import Outlook, largest, times
from discreet.decision.users.targets import Target
from discreet.decision.users.threshold import Given, Threshold
from discreet.decision.users.ties import tied
from discreet.errors import DataError
from discreet.intruder.belief.atoms import check_lengths, checked_mass, plain
from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.whole_table import Held
from discreet.look.result import Shown
from discreet.look.words import plural
from discreet.risk.uncertainty.base import Best, Uncertainty, points
from discreet.risk.uncertainty.named import as_uncertainty

Cost = Callable[[bool, Any, Any], float]  # of: goes on?, estimate, truth
Targets = Target | Iterable[Target]


@dataclass(frozen=True, eq=False)
class User(Shown):
    """An intruder or a scientist: targets, a loss, a threshold, and what the agency loses by it.

    With a class of priors, `targets` are believed under the first of `priors`.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> models = ("uniform", "release")
    >>> user = dc.users.User.of(
    ...     "a guesser",
    ...     {model: dc.users.cell_targets(table, table.small(), model) for model in models},
    ...     loss="zero-one", threshold=0.6,
    ...     cost=lambda tries, guess, truth: tries and guess == truth)
    >>> outlook = user.outlook(dc.Release.margins(table, "Race*Income + Income*Gender"))
    >>> outlook
    Outlook(a guesser under release: 4 targets, goes on with probability 1, expected loss 0.75)
    >>> outlook.by_prior
    (('uniform', 0.125), ('release', 0.75))
    """

    name: str
    targets: tuple[Target, ...]
    chances: Floats
    loss: Uncertainty
    threshold: Threshold
    cost: Cost
    priors: tuple[tuple[str, tuple[Target, ...]], ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        targets: Targets | Mapping[str, Targets],
        *,
        loss: str | Uncertainty | Callable[[Any, Any], float],
        cost: Cost,
        threshold: Given = math.inf,
        chances: ArrayLike | None = None,
    ) -> User:
        """`chances` are those of the targets, alike if not given; by default the user goes on.

        `cost` is the agency's loss by: goes on?, the best estimate, the truth. It may be negative.
        A mapping from priors to the same targets is a class of priors: the worst one counts.
        """
        given = targets if isinstance(targets, Mapping) else {"": targets}
        listed = {prior: _listed(each) for prior, each in given.items()}
        first = next(iter(listed.values()), ())
        if not first:
            raise DataError(f"{name} has no target; give at least one.")
        for prior, each in listed.items():
            if [target.name for target in each] != [target.name for target in first]:
                raise DataError(
                    f"{name} has other targets under {prior} than under {next(iter(listed))}; give "
                    "the same ones under each prior."
                )
        return cls(
            name,
            first,
            shares_of(chances, first, "chance", "targets"),
            as_uncertainty(loss),
            Threshold.of(threshold),
            cost,
            tuple(listed.items()),
        )

    def outlook(self, release: Any) -> Outlook:
        """What this user is expected to do with a release, and what the agency loses by it.

        Under a class of priors the largest loss: most risk of an intruder, least utility to a
        scientist. Estimates that are equally good are taken equally often.
        """
        found = [self._under(release, *each) for each in self.priors or (("", self.targets),)]
        worst = max(found, key=lambda outlook: outlook.loss)
        if len(found) == 1:
            return worst
        return dataclasses.replace(
            worst,
            exact=all(outlook.exact for outlook in found),
            standard_error=largest([outlook.standard_error for outlook in found]),
            by_prior=tuple((outlook.prior, outlook.loss) for outlook in found),
        )

    def _under(self, release: Any, prior: str, targets: Sequence[Target]) -> Outlook:
        beliefs = [target.believe(release) for target in targets]
        best = [self.loss.best(belief) for belief in beliefs]
        known = all(not isinstance(t.truth, Belief) or t.truth.exact for t in targets)
        rows = list(zip(targets, beliefs, best, strict=True))
        lost = np.array([self._lost(*row) for row in rows])
        sampled = [row for row in rows if not row[2].exact]
        outlook = Outlook(
            self.name,
            tuple(target.name for target in targets),
            self.chances,
            tuple(each.estimate for each in best),
            np.array([each.uncertainty for each in best]),
            np.array([self.threshold.chance(each.uncertainty) for each in best]),
            lost[:, 0],
            lost[:, 1],
            known and not sampled,
            prior=prior,
        )
        if prior:
            outlook = dataclasses.replace(outlook, by_prior=((prior, outlook.loss),))
        if not sampled:
            return outlook
        errors = [0.0 if row[2].exact else self._error(*row[:2]) for row in rows]
        return dataclasses.replace(outlook, standard_error=float(self.chances @ errors))

    def _lost(self, target: Target, belief: Held, best: Best) -> tuple[float, float]:
        """The agency's expected loss if the user goes on, and if not."""
        estimates = tied(self.loss, belief, best)
        tried = [self._expected(True, estimate, target) for estimate in estimates]
        return sum(tried) / len(tried), self._expected(False, best.estimate, target)

    def _error(self, target: Target, belief: Held) -> float:
        """How far the expected loss moves if the belief is sampled again; nan if not known."""
        losses = []
        for again in drawn_again(belief):
            best = self.loss.best(again)
            chance = self.threshold.chance(best.uncertainty)
            lost = np.array(self._lost(target, again, best))
            losses.append(times(np.array([chance, 1 - chance]), lost).sum())
        return float(np.std(losses, ddof=1)) if losses else math.nan

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
        under = f" under {plural(len(self.priors), 'prior')}" if len(self.priors) > 1 else ""
        return f"User({self.name}: {plural(len(self.targets), 'target')}{under})"


def own_loss(loss: str | Uncertainty | Callable[[Any, Any], float], idle: float) -> Cost:
    """The agency loses what the user does by the estimate, and `idle` if the user gives up.

    >>> import discreet as dc
    >>> cost = dc.users.own_loss("squared", idle=10)
    >>> cost(True, 3, 5), cost(False, 3, 5)
    (4.0, 10)
    """
    given = as_uncertainty(loss)
    return lambda tries, estimate, truth: given.loss(estimate, truth) if tries else idle


def shares_of(given: ArrayLike | None, of: Sequence[Any], one: str, what: str) -> Floats:
    """Shares that sum to 1, alike if they are not given."""
    if given is None:
        return np.full(len(of), 1 / len(of))
    shares = checked_mass(given, one, f"{one}s")
    check_lengths(of, shares)
    if abs(shares.sum() - 1) > 1e-6:
        raise DataError(f"the {one}s of the {what} sum to {shares.sum():.9g}, not to 1.")
    return np.asarray(shares / shares.sum())


def _listed(targets: Targets) -> tuple[Target, ...]:
    return (targets,) if isinstance(targets, Target) else tuple(targets)

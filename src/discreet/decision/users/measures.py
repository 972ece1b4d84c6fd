"""The three measures of section 4 of Dobra, Fienberg & Trottini 2003, each as an intruder."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from discreet.decision.users.targets import cell_targets, table_target
from discreet.decision.users.threshold import Given
from discreet.decision.users.users import Targets, User
from discreet.errors import DataError
from discreet.intruder.posterior.whole_table import Model
from discreet.table.table import Table

Models = Model | str | Sequence[Model | str]  # a sequence is a class of priors


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


def true_table(table: Table, model: Models = "uniform", *, threshold: Given = math.inf) -> User:
    """An intruder who weighs all tables; the risk is the probability of the true one.

    1/M, of M tables that fit, if all are alike (after equation 4 of Dobra, Fienberg & Trottini
    2003). Of several models the worst counts.

    >>> import discreet as dc
    >>> table = dc.load("example:blond")
    >>> release = dc.Release.margins(table, "Hair + Income")
    >>> risk = dc.users.disclosure_risk(release, dc.users.true_table(table))
    >>> round(1 / risk.value), dc.count(release).tables
    (35, 35)
    """

    def cost(tries: bool, estimate: Any, truth: Any) -> float:
        return float(estimate.probability(truth)) if tries else 0.0

    targets = under(model, lambda each: table_target(table, each))
    return User.of("weighs all tables", targets, loss="log", threshold=threshold, cost=cost)


def identified(
    table: Table,
    model: Models = "saturated",
    *,
    below: int = 3,
    zeros: bool = True,
    threshold: Given = 1.0,
) -> User:
    """An intruder who guesses counts; the risk is the share of those below `below` guessed right.

    A guess counts if its probability is at least 1 - `threshold` (equation 5 of Dobra, Fienberg &
    Trottini 2003, who count zeros too). Of several models the worst counts, and of guesses that
    are alike probable each is made as often.

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

    targets = under(model, lambda each: cell_targets(table, cells, each))
    return User.of("guesses a cell", targets, loss="zero-one", threshold=threshold, cost=cost)


def under(models: Models, targets: Callable[[Model | str], Targets]) -> dict[str, Targets]:
    """The targets under each of a class of priors, by the prior's name."""
    listed = [models] if isinstance(models, Model | str) else list(models)
    if not listed:
        raise DataError("the class of priors is empty; give at least one model.")
    return {prior_name(each): targets(each) for each in listed}


def prior_name(model: Model | str) -> str:
    """As a users file writes it: saturated:0.5."""
    if isinstance(model, str):
        return model
    name = getattr(model.name, "name", model.name)
    return f"{name}:{model.prior:g}" if name == "saturated" else str(name)

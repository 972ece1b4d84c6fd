"""What the agency expects of one user of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.intruder.belief.atoms import plain
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame


@dataclass(frozen=True, eq=False)
class Outlook(Result):
    """What the agency expects of one user of a release, target by target.

    Of a user with a class of priors it is the worst, under `prior`; `by_prior` has the expected
    loss under each. `standard_error` is that of the expected loss at most: sampled targets may go
    together.

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
    standard_error: float = 0.0
    prior: str = ""
    by_prior: tuple[tuple[str, float], ...] = ()

    @property
    def losses(self) -> Floats:
        """The expected loss with each target."""
        return times(self.tries, self.loss_if_tried) + times(1 - self.tries, self.loss_if_not)

    @property
    def loss(self) -> float:
        """The expected loss: (1) of an intruder, minus (2) of a scientist."""
        return float(times(self.chances, self.losses).sum())

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
            "loss": finite(self.loss),
            "standard_error": finite(self.standard_error),
            "exact": self.exact,
            "prior": self.prior,
            "by_prior": {prior: finite(loss) for prior, loss in self.by_prior},
        }

    def __repr__(self) -> str:
        under = f" under {self.prior}" if len(self.by_prior) > 1 else ""
        return (
            f"Outlook({self.user}{under}: {plural(len(self.targets), 'target')}, goes on with "
            f"probability {self.chances @ self.tries:.4g}, expected loss {self.loss:.6g}"
            f"{'' if self.exact else ', sampled'})"
        )


def times(shares: Floats, losses: Floats) -> Floats:
    """What has no probability costs nothing, even if it is infinite."""
    return np.where(shares > 0, shares * np.where(shares > 0, losses, 0.0), 0.0)


def finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def largest(errors: Sequence[float]) -> float:
    """Of standard errors; not known, nan, if one is not."""
    return math.nan if any(map(math.isnan, errors)) else max(errors)

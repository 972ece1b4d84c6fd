"""Disclosure risk and data utility: the agency's loss, averaged over what users may do.

    DR = sum over j of Pr(a_j) E L_A(a_j, truth)       (1), j = 1 if the intruder goes on, else 0
    DU = - sum over j of Pr(a_j) E L_A(a_j, truth)     (2), the same of a scientist

Section 3 of Dobra, Fienberg & Trottini 2003. (2) prints a_1 in every term; the sum runs over both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.decision.users.outlook import Outlook, largest, times
from discreet.decision.users.users import User, shares_of
from discreet.errors import DataError
from discreet.intruder.belief.atoms import check_lengths
from discreet.look.result import Unpublished


@dataclass(frozen=True, eq=False)
class Measured(Unpublished):
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
    standard_error: float = 0.0  # at most, if sampled

    @property
    def exact(self) -> bool:
        return all(outlook.exact for outlook in self.outlooks)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        users = ", ".join(outlook.user for outlook in self.outlooks)
        return f"Measured({self.value:.6g}: {users}{'' if self.exact else '; sampled'})"


def disclosure_risk(release: Any, *intruders: User, scales: ArrayLike | None = None) -> Measured:
    """What the agency loses by the worst of several intruders, on a comparable scale.

    DR = sum over j of Pr(a_j) E L_A(a_j, truth), a_1 if the intruder goes on and a_0 if not
    (equation 1 of Dobra, Fienberg & Trottini 2003; the worst: their reply to the discussion). The
    loss by each is multiplied by its scale, 1 if none are given.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
    >>> dc.users.disclosure_risk(release, dc.users.identified(table, ["saturated", "release"]))
    Measured(0.666667: guesses a cell)
    """
    if not intruders:
        raise DataError("a disclosure risk needs an intruder; give at least one.")
    sizes = _scales(scales, intruders)
    found = tuple(intruder.outlook(release) for intruder in intruders)
    losses = [s * outlook.loss for s, outlook in zip(sizes, found, strict=True)]
    errors = [s * outlook.standard_error for s, outlook in zip(sizes, found, strict=True)]
    return Measured(max(losses), found, largest(errors))


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
    shares = shares_of(weights, users, "weight", "users")
    found = tuple(user.outlook(release) for user in users)
    lost = times(shares, np.array([outlook.loss for outlook in found]))
    error = float(shares @ [outlook.standard_error for outlook in found])
    return Measured(-float(lost.sum()) + 0.0, found, error)


def _scales(given: ArrayLike | None, intruders: tuple[User, ...]) -> list[float]:
    if given is None:
        return [1.0] * len(intruders)
    scales = np.asarray(given, np.float64).tolist()
    check_lengths(intruders, scales)
    if wrong := [scale for scale in scales if not (scale > 0 and math.isfinite(scale))]:
        raise DataError(f"the scale of an intruder is {wrong[0]}; give numbers above 0.")
    return list(scales)

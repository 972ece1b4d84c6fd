"""What a release is worth: how many margins users get."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from discreet.release.release import Release


@dataclass(frozen=True)
class MarginUtility:
    """Number of released margins, all sub-margins counted: DU(R) of the 2002 paper."""

    released: int
    possible: int
    by_order: dict[int, int]
    variables: int

    @property
    def share(self) -> float:
        return self.released / self.possible

    def percent(self, order: int) -> float:
        """Share of all margins of that order, in percent."""
        return 100 * self.by_order.get(order, 0) / comb(self.variables, order)


def margin_utility(release: Release) -> MarginUtility:
    by_order = dict(release.formula.by_order())
    k = len(release.names)
    return MarginUtility(sum(by_order.values()), 2**k - 1, by_order, k)

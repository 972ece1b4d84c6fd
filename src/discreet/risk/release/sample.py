"""Small counts of a sample that are believed small in the population too."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import DataError
from discreet.intruder.population.population import population_beliefs, rehearse
from discreet.risk.limits import Says, breaks
from discreet.risk.release.small import observable
from discreet.table.cells import Cells
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Watched:
    """The small counts to guard; `agrees` says whether the model passed its rehearsal.

    Where it did not, or could not be `checked`, all `every` small counts are guarded.
    """

    cells: Cells
    every: int
    agrees: bool
    checked: bool = True

    @property
    def doubt(self) -> str:
        """What is wrong with the model, to follow its name; nothing if it agrees."""
        if self.agrees:
            return ""
        return "does not hold" if self.checked else "could not be checked"


def watched(table: Table, at_most: int, *, chance: float, model: str) -> Watched:
    """The small counts whose population count is small with a probability of `chance` or more.

    Before it is believed, the model is rehearsed on a sample of the sample.
    """
    seen = observable(table)
    small = seen.small(at_most)
    if not len(small):
        return Watched(small, 0, True)
    if table.sampling_fraction is None:
        raise DataError(
            "the policy says that the data are a sample, and no sampling fraction is given; state "
            "sampling_fraction in the codebook."
        )
    rehearsal = rehearse(seen, model=model)
    if not rehearsal.agrees:
        return Watched(small, len(small), False, rehearsal.checked)
    beliefs = population_beliefs(seen, small, fraction=table.sampling_fraction, model=model)
    return Watched(
        small.take(breaks(beliefs.at_most(at_most), chance, Says.OR_MORE)), len(small), True
    )

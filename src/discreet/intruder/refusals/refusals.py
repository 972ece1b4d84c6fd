"""What a refusal tells: the tables for which the custodian's rule would have refused.

A rule that looks at the confidential table speaks through its refusals. Two margins (2, 2) and
(2, 2) leave three tables; a custodian who publishes no count of 1 and refuses the joint table
leaves one (Meek's discussion of Dobra, Fienberg & Trottini 2003; their section 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.effort import Seconds
from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.weighted_tables import Judged, judge
from discreet.look.result import Result
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.cells import Cells, frame, labels
from discreet.table.formula import Formula, as_formula
from discreet.table.table import Table

Request = str | Formula
Refuses = Callable[[Table, Formula], bool]


@dataclass(frozen=True, eq=False)
class RefusalPosterior(Result):
    """Beliefs before and after refusals; `probability` is how likely these were before.

    Entropies are of the whole table, in nats, each with its Monte Carlo error; None where the
    tables' weights are known up to a factor only.

    >>> import discreet as dc
    >>> release = dc.Release.margins(dc.Table.of([[1, 1], [1, 1]], A=[0, 1], B=[0, 1]), "A + B")
    >>> refuses = lambda table, request: 1 in table.counts
    >>> found = dc.beliefs.refusal_posterior(release, "A*B", refuses)
    >>> found.tables, round(found.probability, 4), round(found.told, 4)
    ((3, 1), 0.1818, 1.7047)
    """

    refused: tuple[Formula, ...]
    before: Posterior
    after: Posterior
    probability: float
    standard_error: float
    entropy_before: tuple[float, float] | None
    entropy_after: tuple[float, float] | None

    @property
    def told(self) -> float:
        """How much the refusals told, in nats: the divergence of the new belief from the old.

        The new belief is the old one restricted, so that this is -log(probability).
        """
        return -math.log(self.probability) + 0.0

    @property
    def tables(self) -> tuple[int, int] | None:
        """How many tables fit before and after, if they were all listed."""
        before, after = self.before.tables, self.after.tables
        return None if before is None or after is None else (before, after)

    @property
    def stopped(self) -> str | None:
        """What a limit in seconds cut short, if it did."""
        return self.after.stopped

    @property
    def exact(self) -> bool:
        return self.after.exact

    def __repr__(self) -> str:
        asked = " and ".join(map(str, self.refused))
        if len(asked) > 60:
            asked = f"{len(self.refused)} requests"
        if self.tables is not None:
            left = f"{self.tables[1]:,} of {self.tables[0]:,} tables left"
        else:
            left = f"probability {self.probability:.4f} ± {self.standard_error:.4f}"
        doubt = ""
        if self.entropy_before is not None and self.entropy_after is not None:
            doubt = f", entropy {self.entropy_after[0]:.2f} of {self.entropy_before[0]:.2f} nats"
        method = self.after.method + (", stopped" if self.stopped else "")
        return f"RefusalPosterior({asked} refused: {left}{doubt}; {method})"

    def to_frame(self, kind: str = "pandas", *, most: int = 2) -> Any:
        """One row a cell: the probabilities of the counts 0..`most`, before and after."""
        columns: dict[str, Any] = labels(self.after.variables, self.after.codes)
        for when, belief in (("before", self.before), ("after", self.after)):
            for count, chances in enumerate(belief.matrix(most).T):
                columns[f"{when}_p{count}"] = chances
        if not self.exact:
            columns["standard_error"] = self.after.standard_error(self.after.guess)
        return frame(columns, kind)

    def plot(self, **options: Any) -> Any:
        """The beliefs after the refusals, a row of boxes for each cell."""
        return self.after.plot(**options)


@of_release
def refusal_posterior(
    release: Release,
    refused: Request | Iterable[Request],
    refuses: Refuses,
    cells: Cells | None = None,
    *,
    weights: CellWeights | None = None,
    sample: Iterable[Table] | None = None,
    sample_weights: ArrayLike | None = None,
    draws: int = 10_000,
    limit: int = 100_000,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> RefusalPosterior:
    """Beliefs about cells, given what is released and that each request was refused.

    `refuses(table, request)` is the custodian's public rule: would this confidential table have
    led to a refusal? Exact if at most `limit` tables fit; else by `draws` of the decomposable model
    of the release, weighted to the model asked for, or by a `sample` of independent tables.

    >>> table = Table.of([[1, 1], [1, 1]], A=[0, 1], B=[0, 1])
    >>> unique = lambda table, request: 1 in table.counts
    >>> refusal_posterior(Release.margins(table, "A + B"), "A*B", unique)
    RefusalPosterior(A*B refused: 1 of 3 tables left, entropy 0.00 of 1.04 nats;
        exact, 1 of 3 tables)
    """
    requests = _requests(release, refused)

    def all_refused(table: Table) -> bool:
        return all(refuses(table, request) for request in requests)

    found = judge(
        release, all_refused, cells, weights=weights, sample=sample, sample_weights=sample_weights,
        draws=draws, limit=limit, effort=effort, seconds=seconds, seed=seed,
    )  # fmt: skip
    probability, error = found.probability()
    if probability == 0:
        raise _nobody(found, requests)
    everything = np.ones(len(found.mass), bool)
    return RefusalPosterior(
        requests,
        found.posterior(everything),
        found.posterior(found.holds),
        probability,
        error,
        found.entropy(everything),
        found.entropy(found.holds),
    )


def _requests(release: Release, refused: Request | Iterable[Request]) -> tuple[Formula, ...]:
    listed = [refused] if isinstance(refused, str | Formula) else list(refused)
    if not listed:
        raise DataError("no request was refused; name at least one, as in 'A*B'.")
    return tuple(as_formula(request, release.names) for request in listed)


def _nobody(found: Judged, requests: tuple[Formula, ...]) -> Exception:
    asked = " and ".join(map(str, requests))
    if found.exact:
        return InconsistentRelease(
            f"none of the {len(found.mass):,} tables that fit {found.release.formula} would have "
            f"led to the refusal of {asked}; check the rule, and what is released."
        )
    return DataError(
        f"none of {len(found.mass):,} draws would have led to the refusal of {asked}: its "
        f"probability is at most {3 / len(found.mass):.2g} with 95% confidence, and no belief "
        "follows; draw more tables, or give a sample of tables that the rule refuses."
    )

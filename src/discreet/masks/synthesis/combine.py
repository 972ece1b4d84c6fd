"""One estimate from several synthetic copies, with a variance that allows for the synthesis.

    q, u   means over m copies of the estimates and of their variances
    b      variance of the estimates between the copies

    full      T = (1 + 1/m) b - u          Raghunathan, Reiter & Rubin 2003
    partial   T = u + b/m                  Reiter 2003
    large     T = u (k/n + (1 + k/n)/m)    Raab, Nowok & Dibben 2016

for k synthetic and n true people. `large` is for copies whose parameters were drawn anew, as
`synthesise` does; without that, at the fitted parameters, it is T = u (k/n + 1/m).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame

KindOfCopies = Literal["full", "partial", "large"]
KINDS = ("full", "partial", "large")


@dataclass(frozen=True)
class Combined(Result):
    """An estimate over all copies; `df` is infinite for a normal reference.

    `repaired`: the variance by the rule was negative, and u k/n is taken instead.

    >>> import discreet as dc
    >>> found = dc.synthetic.combine_copies([1.0, 2.0, 3.0], [0.2, 0.2, 0.3], kind="partial")
    >>> round(found.estimate, 3), round(found.variance, 3)
    (2.0, 0.567)
    """

    estimate: float
    variance: float
    df: float
    level: float
    kind: str
    copies: int
    repaired: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval at `level`."""
        from scipy.stats import norm, t

        tail = (1 + self.level) / 2
        wide = float(norm.ppf(tail) if math.isinf(self.df) else t.ppf(tail, self.df))
        half = wide * math.sqrt(self.variance)
        return self.estimate - half, self.estimate + half

    def __repr__(self) -> str:
        low, high = self.interval
        of = plural(self.copies, "copy", "copies")
        return (
            f"Combined({self.estimate:.4g}, {self.level:.0%} interval {low:.4g} to {high:.4g}: "
            f"{self.kind}, {of}{', repaired' if self.repaired else ''})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row."""
        return frame({name: [value] for name, value in self.to_json().items()}, kind)

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval
        return {
            "estimate": self.estimate,
            "variance": self.variance,
            "df": None if math.isinf(self.df) else self.df,
            "low": low,
            "high": high,
            "level": self.level,
            "kind": self.kind,
            "copies": self.copies,
            "repaired": self.repaired,
        }


def combine_copies(
    estimates: Sequence[float] | ArrayLike,
    variances: Sequence[float] | ArrayLike,
    kind: KindOfCopies = "full",
    *,
    ratio: float = 1.0,
    anew: bool = True,
    level: float = 0.95,
) -> Combined:
    """Combine what the copies say; `ratio` is k/n, `anew` whether parameters were drawn anew.

    Where the rule for `full` gives a negative variance, that is u k/n (Reiter 2002) with m - 1
    degrees of freedom; else at least 1 is taken, for the rule's own go to 0 with the variance.

    >>> combine_copies([10.1, 9.7, 10.4], [0.2, 0.2, 0.2], "partial")
    Combined(10.07, 95% interval 9.087 to 11.05: partial, 3 copies)
    """
    q, u = (np.asarray(values, np.float64).ravel() for values in (estimates, variances))
    _check(q, u, kind, ratio, level)
    m, mean, within = len(q), float(q.mean()), float(u.mean())
    if kind == "large":
        each = 1 + ratio if anew else 1.0
        return Combined(mean, within * (ratio + each / m), math.inf, level, kind, m)
    between = float(q.var(ddof=1))
    if kind == "partial":
        added = between / m
        df = (m - 1) * (1 + within / added) ** 2 if added > 0 else math.inf
        return Combined(mean, within + added, df, level, kind, m)
    spread = (1 + 1 / m) * between
    if spread <= within:
        return Combined(mean, within * ratio, m - 1.0, level, kind, m, repaired=True)
    df = max(1.0, (m - 1) * (1 - within / spread) ** 2)
    return Combined(mean, spread - within, df, level, kind, m)


def _check(q: Any, u: Any, kind: str, ratio: float, level: float) -> None:
    if kind not in KINDS:
        raise DataError(f"there is no rule {kind!r}; choose {', '.join(KINDS)}.")
    if len(q) != len(u):
        raise DataError(f"{len(q)} estimates have {len(u)} variances; give one for each copy.")
    if len(q) < (1 if kind == "large" else 2):
        raise DataError(
            f"the rule {kind!r} needs more copies than {len(q)}; make at least 2, or take the "
            "rule 'large', which needs 1."
        )
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u > 0).all()):
        raise DataError("an estimate is not finite, or a variance not above 0; correct them.")
    if not ratio > 0:
        raise DataError(f"ratio is {ratio}; give the synthetic people for each true one.")
    if not 0 < level < 1:
        raise DataError(f"level is {level}; give a number between 0 and 1, such as 0.95.")

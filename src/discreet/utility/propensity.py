"""Whether a regression can tell masked records from true ones: the pMSE.

    pMSE = 1/N sum (p_i - c)^2

p_i the chance, by logistic regression, that record i of both files together is a masked one, c the
share of those (Woo, Reiter, Oganian & Karr 2009; Snoke, Raab, Nowok, Dibben & Slavkovic 2018). Its
size depends on how the masked file came about, even where nothing is lost. With k parameters,
the constant counted,

    independent   both files are samples of one population      c (1-c)   (k-1) / N
    synthesised   drawn from the model fitted to the true file  c (1-c)^2 (k-1) / N

are the null means, and each standard deviation is sqrt(2 / (k-1)) of its mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DataError
from discreet.look.result import Result
from discreet.table.cells import frame as as_frame
from discreet.utility import design
from discreet.utility.logistic import fit_logistic, independent
from discreet.utility.records import check_columns, labels

if TYPE_CHECKING:
    import pandas as pd

NULLS = ("independent", "synthesised")
MODELS = ("main", "two-way")


@dataclass(frozen=True)
class Propensity(Result):
    """The pMSE of a masked file with both null means; `null` is the one that `ratio` takes.

    `parameters` counts the constant. `regularised`: categories or numbers separate the files, the
    regression was held back a trifle, and the null means are no guide.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [31, 47, 50, 64], "sex": ["f", "m", "f", "m"]})
    >>> masked = true.assign(age=[33, 45, 52, 61])
    >>> dc.worth.pmse(true, masked, columns=["sex"])
    Propensity(pMSE 0, 0 times its mean if independent and nothing lost; 2 parameters, 8 records)
    """

    pmse: float
    records: int
    share: float
    parameters: int
    null: str
    model: str
    regularised: bool
    converged: bool = True

    def mean(self, null: str | None = None) -> float:
        """The pMSE to expect where nothing is lost."""
        null = _known(null or self.null, NULLS, "null")
        c = self.share
        once = c * (1 - c) * (self.parameters - 1) / self.records
        return once if null == "independent" else once * (1 - c)

    def deviation(self, null: str | None = None) -> float:
        """The standard deviation of the pMSE where nothing is lost."""
        return self.mean(null) * math.sqrt(2 / (self.parameters - 1))

    @property
    def ratio(self) -> float:
        """The pMSE in null means: about 1 where nothing is lost, more where something is."""
        return self.pmse / self.mean()

    @property
    def standardised(self) -> float:
        """How many standard deviations the pMSE is above its null mean."""
        return (self.pmse - self.mean()) / self.deviation()

    @property
    def said(self) -> tuple[str, ...]:
        held = "the files are separated: the null means are no guide"
        short = "the regression has not converged: the pMSE is approximate"
        return (held,) * self.regularised + (short,) * (not self.converged)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a reading of where nothing is lost."""
        columns = {
            "null": list(NULLS),
            "pMSE": [self.pmse] * 2,
            "mean": [self.mean(null) for null in NULLS],
            "deviation": [self.deviation(null) for null in NULLS],
            "ratio": [self.pmse / self.mean(null) for null in NULLS],
            "standardised": [(self.pmse - self.mean(n)) / self.deviation(n) for n in NULLS],
        }
        return as_frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        nulls = {n: {"mean": self.mean(n), "deviation": self.deviation(n)} for n in NULLS}
        return {
            "pmse": self.pmse, "null": self.null, "ratio": self.ratio, "nulls": nulls,
            "parameters": self.parameters, "records": self.records, "share": self.share,
            "model": self.model, "regularised": self.regularised, "said": list(self.said),
        }  # fmt: skip

    def __repr__(self) -> str:
        held = ", separated" if self.regularised else ""
        return (
            f"Propensity(pMSE {self.pmse:.4g}, {self.ratio:.3g} times its mean if {self.null} and "
            f"nothing lost; {self.parameters} parameters, {self.records:,} records{held})"
        )


def pmse(
    true: pd.DataFrame,
    masked: pd.DataFrame,
    *,
    columns: Sequence[str],
    model: str = "main",
    null: str = "independent",
    squares: bool = False,
) -> Propensity:
    """How well logistic regression on `columns` tells masked records from true ones.

    A column is of numbers if it is so in both files, else of categories, missing one of them.
    `model` is "main" or "two-way", with products of pairs of columns; `squares` adds those of
    numbers. `null` says what the masked file is where nothing is lost: an "independent" sample,
    or "synthesised" from the model fitted to the true file. Records are not weighted.

    >>> import pandas as pd
    >>> true = pd.DataFrame({"sex": ["f"] * 60 + ["m"] * 40, "ill": ["no", "yes"] * 50})
    >>> masked = pd.DataFrame({"sex": ["f"] * 50 + ["m"] * 50, "ill": ["no", "yes"] * 50})
    >>> pmse(true, masked, columns=["sex", "ill"])
    Propensity(pMSE 0.002525, 1.01 times its mean if independent and nothing lost; 3 parameters,
               200 records)
    >>> pmse(true, true, columns=["sex", "ill"], null="synthesised").ratio < 1e-9
    True
    """
    import pandas as pd

    _known(null, NULLS, "null")
    _known(model, MODELS, "model")
    check_columns(true, columns, "the true file")
    check_columns(masked, columns, "the masked file")
    both = pd.concat(
        [_plain(true, masked, columns), _plain(masked, true, columns)], ignore_index=True
    )
    numeric = [name for name in columns if design.is_number(both, name)]
    parts = design.blocks(both, columns, numeric=numeric, squares=squares)
    rows, kinds = design.distinct_rows(parts)
    x = design.matrix(parts, rows, pairs=model == "two-way")
    number = np.bincount(kinds, minlength=len(rows)).astype(np.float64)
    yes = np.bincount(kinds[len(true) :], minlength=len(rows)).astype(np.float64)
    kept = independent(x, number)
    if len(kept) < 2:
        raise DataError("the columns have one value each, and tell nothing apart; name others.")
    fit = fit_logistic(x[:, kept], yes, number)
    share = len(masked) / len(both)
    found = float(number @ (fit.chances - share) ** 2 / len(both))
    return Propensity(
        found, len(both), share, len(kept), null, model, fit.regularised, fit.converged
    )


def _plain(frame: pd.DataFrame, other: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The columns, those that are not numbers in both files as text."""
    import pandas as pd

    found = {}
    for name in columns:
        if design.is_number(frame, name) and design.is_number(other, name):
            found[name] = frame[name].to_numpy(np.float64, na_value=np.nan)
        else:
            codes, names = labels(frame[name])
            found[name] = np.array(names, object)[codes]
    return pd.DataFrame(found)


def _known(value: str, known: Sequence[str], what: str) -> str:
    if value not in known:
        raise DataError(f"{what}={value!r}; choose {' or '.join(map(repr, known))}.")
    return value

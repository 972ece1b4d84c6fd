"""What an intruder believes who sees counts perturbed by cell keys and knows the table of noises.

    p(n | shown) ~ p(n) prod p(shown_r | (sums @ n)_r)   over the printed rows r

Every row has noise of its own, and rows that hold exactly the same people have the same: a total
over one cell that is not empty is that cell. With `keys="apart"` all other noises are taken as
independent. That is not so where keys are sums of record keys: a total's key is that of its cells
added up, independent of each of them but not of all together, and an intruder who knows this may be
sure where the product is in doubt. `keys="records"` is exact: it draws tables and keys, and keeps
those that show what was shown, or walks over tables and keys.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.effort import Effort
from discreet.errors import DataError
from discreet.masks.cellkey.apart import listed, walked
from discreet.masks.cellkey.byrecords import by_records
from discreet.masks.cellkey.case import Beliefs, Case
from discreet.masks.cellkey.ptable import PTable
from discreet.sheets.system import System

LISTED = 2_000_000  # tables that are gone through one by one


def posterior(
    system: System,
    shown: ArrayLike,
    ptable: PTable,
    *,
    means: ArrayLike | None = None,
    total: int | None = None,
    keys: str = "apart",
    method: str | None = None,
    rng: np.random.Generator | None = None,
    effort: float = 1.0,
) -> Beliefs:
    """Beliefs about the fine cells from all printed cells.

    Before, every table is as likely as any other, or cells are Poisson with these `means`; with a
    known `total` multinomial. `method` is enumerate or walk, for keys of records draw or walk; the
    first of these where it is not too much work.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.masks.cellkey.ptable import count_ptable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> system = System.of([Sheet("1", (Grouping.of(Variable("Sex", ("f", "m"))),))])
    >>> found = posterior(system, [5, 2, 2], count_ptable(1, 0.5))
    >>> found.chances[0].round(3).tolist()
    [0.0, 0.067, 0.533, 0.4]
    """
    case = Case(system, shown, ptable, means, total)
    work = Effort(effort)
    if keys == "records":
        return by_records(case, ptable, _needed(rng), work, method)
    if keys != "apart":
        raise DataError(f"keys are apart or records, not {keys!r}.")
    if method is None:
        method = "enumerate" if case.number <= work.of(LISTED) else "walk"
    if method == "enumerate":
        return listed(case)
    if method == "walk":
        return walked(case, _needed(rng), work)
    raise DataError(f"there is no method {method!r}; there are enumerate and walk.")


def _needed(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        raise DataError("this posterior is drawn; give a generator, rng=....")
    return rng

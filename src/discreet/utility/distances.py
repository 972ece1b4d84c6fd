"""How far the margins of a masked table are from the true ones, by their order.

    Hellinger        sqrt(1/2 sum (sqrt p - sqrt q)^2)
    total variation  1/2 sum |p - q|

of the shares p and q of a margin's cells. Both are from 0 to 1, and
H^2 <= total variation <= sqrt(2) H.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.theme import WIDE
from discreet.look.words import plural
from discreet.table.cells import frame
from discreet.table.notation import quoted
from discreet.table.table import Table
from discreet.utility.counted import Counted, compared, of_array, of_table

Margin = tuple[str, ...]

ORDERS = (1, 2, 3)
MOST = 5_000  # margins of one order; of more, so many are drawn
MEASURES = ("hellinger", "total variation")


@dataclass(frozen=True, eq=False)
class ByOrder(Result):
    """Distances of margins from the true ones; `possible` counts all margins of each order.

    Where there are more than were looked at, they are a sample, and `sampled` says so.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> found = dc.worth.by_order(table, np.ones(table.shape))
    >>> found
    ByOrder(7 margins of orders 1, 2, 3: Hellinger 0.1915, 0.3871, 0.5277)
    >>> round(found.mean(1, "hellinger"), 4)
    0.1915
    """

    margins: tuple[Margin, ...]
    hellinger: Floats
    total_variation: Floats
    possible: dict[int, int]

    @property
    def orders(self) -> tuple[int, ...]:
        return tuple(self.possible)

    @property
    def sampled(self) -> bool:
        """Whether some margins were not looked at."""
        return len(self.margins) < sum(self.possible.values())

    def of(self, measure: str) -> Floats:
        """The distances of one measure, by margin."""
        if measure not in MEASURES:
            raise DataError(f"there is no measure {measure!r}; choose {' or '.join(MEASURES)}.")
        return self.hellinger if measure == "hellinger" else self.total_variation

    def mean(self, order: int, measure: str = "hellinger") -> float:
        """The mean distance over the margins of an order."""
        return float(self.of(measure)[self._at(order)].mean())

    def worst(self, order: int, measure: str = "hellinger") -> tuple[Margin, float]:
        """The margin of an order that is farthest off, and its distance."""
        at = self._at(order)
        place = int(at[np.argmax(self.of(measure)[at])])
        return self.margins[place], float(self.of(measure)[place])

    def score(self, measure: str = "hellinger") -> float:
        """1 - mean over orders of the mean distance of their margins: 1 if all are as they were."""
        return 1 - float(np.mean([self.mean(order, measure) for order in self.orders]))

    def _at(self, order: int) -> NDArray[np.int64]:
        at = np.flatnonzero([len(margin) == order for margin in self.margins])
        if not len(at):
            known = ", ".join(map(str, self.orders))
            raise DataError(f"no margin of order {order} was compared; there are {known}.")
        return at

    def each(self, kind: str = "pandas") -> Any:
        """One row a margin."""
        columns = {
            "margin": [written(margin) for margin in self.margins],
            "order": [len(margin) for margin in self.margins],
            "hellinger": self.hellinger,
            "total variation": self.total_variation,
        }
        return frame(columns, kind)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row an order: means, and the worst margins."""
        columns: dict[str, Any] = {
            "order": list(self.orders),
            "margins": [len(self._at(order)) for order in self.orders],
            "possible": list(self.possible.values()),
        }
        for measure in MEASURES:
            worst = [self.worst(order, measure) for order in self.orders]
            columns[measure] = [self.mean(order, measure) for order in self.orders]
            columns[f"worst {measure}"] = [distance for _, distance in worst]
            columns[f"at ({measure})"] = [written(margin) for margin, _ in worst]
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        rows = self.to_frame().to_dict("records")
        scores = {measure: self.score(measure) for measure in MEASURES}
        return {"scores": scores, "sampled": self.sampled, "orders": rows}

    def plot(
        self, *, measure: str = "hellinger", title: str | None = None, width: int = WIDE
    ) -> Any:
        """A bar an order to the mean distance, a diamond at the worst margin."""
        from discreet.look.bars import Bar, Mark, bar_chart
        from discreet.look.ticks import nice_ticks

        bars, largest = [], 0.0
        for order in self.orders:
            at, worst = self.worst(order, measure)
            mean, largest = self.mean(order, measure), max(largest, worst)
            words = f"{mean:.3f}, worst {worst:.3f}"
            words += f" ({written(at)})" if width >= WIDE and len(written(at)) <= 24 else ""
            bars.append(Bar(f"{order}-way", mean, words, mark=worst))
        named = "Hellinger" if measure == "hellinger" else "Total variation"
        found = f"{plural(len(self.margins), 'margin')} of up to {plural(order, 'variable')}: "
        found += "all as they were" if not largest else f"at worst {largest:.3f} from the true one"
        return bar_chart(
            bars, title=found if title is None else title, axis=f"{named} distance", form=".3~f",
            key="Bar: mean over the margins of an order. Diamond: the worst of them.",
            notes=[self._note()] if self.sampled else [], mark=Mark(), width=width,
            ticks=nice_ticks(0, largest or 0.01, 4),
        )  # fmt: skip

    def _note(self) -> str:
        return f"A sample of {len(self.margins):,} of {sum(self.possible.values()):,} margins."

    def __repr__(self) -> str:
        means = ", ".join(f"{self.mean(order):.4f}" for order in self.orders)
        several = len(self.orders) > 1
        shown = f"order{'s' if several else ''} {', '.join(map(str, self.orders))}"
        note = ", a sample" if self.sampled else ""
        return f"ByOrder({plural(len(self.margins), 'margin')} of {shown}: Hellinger {means}{note})"


def by_order(
    true: Table,
    other: Table | ArrayLike,
    *,
    orders: Iterable[int] = ORDERS,
    most: int = MOST,
    seed: int = 0,
) -> ByOrder:
    """Distances of all margins of some orders of a table, or of estimates of all its cells.

    `other` may have its variables and categories in another order. Where an order has more than
    `most` margins, so many are drawn with `seed`, and the result says so.

    >>> from discreet.table.load import load
    >>> tract = load("example:tract")
    >>> by_order(tract, tract)
    ByOrder(7 margins of orders 1, 2, 3: Hellinger 0.0000, 0.0000, 0.0000)
    >>> even = np.full(tract.shape, tract.total / tract.size)
    >>> found = by_order(tract, even)
    >>> found.worst(1)[0], round(found.score(), 3)
    (('Race',), 0.631)
    """
    mine, theirs = aligned(true, other)
    return over_margins(mine, [theirs], true.names, orders=orders, most=most, seed=seed)[0]


def aligned(true: Table, other: Table | ArrayLike) -> tuple[Counted, Counted]:
    """Both as counts over the same cells; categories that only the other has come last."""
    if not isinstance(other, Table):
        return of_table(true), of_array(other, true.shape)
    if sorted(other.names) != sorted(true.names):
        raise DataError(
            f"the other table is over {', '.join(other.names)}, the true one over "
            f"{', '.join(true.names)}; compare tables over the same variables."
        )
    codes, variables = [], []
    for variable in true.variables:
        place = other.names.index(variable.name)
        theirs = other.variables[place].categories
        both = (*variable.categories, *(c for c in theirs if c not in set(variable.categories)))
        at = {category: code for code, category in enumerate(both)}
        codes.append(np.array([at[c] for c in theirs], np.int64)[other.codes[:, place]])
        variables.append(dataclasses.replace(variable, categories=both, hierarchy=None))
    return _counted(true, variables), Counted.of(
        np.column_stack(codes), other.counts.astype(np.float64), [v.size for v in variables]
    )


def _counted(true: Table, variables: Sequence[Variable]) -> Counted:
    codes = true.codes.astype(np.int64)
    return Counted.of(codes, true.counts.astype(np.float64), [v.size for v in variables])


def over_margins(
    true: Counted,
    others: Sequence[Counted],
    names: Sequence[str],
    *,
    orders: Iterable[int] = ORDERS,
    most: int = MOST,
    seed: int = 0,
) -> list[ByOrder]:
    """The distances of each of several tables from the true one."""
    wanted = sorted({int(order) for order in orders})
    if not wanted or wanted[0] < 1 or not names:
        raise DataError(f"the orders are {wanted}; ask for margins of 1 variable or more.")
    if most < 1:
        raise DataError(f"most={most}; look at 1 margin or more of each order.")
    possible = {order: comb(len(names), order) for order in wanted if order <= len(names)}
    if not possible:
        raise DataError(
            f"order {wanted[0]} is asked for, but there are {plural(len(names), 'variable')}; "
            "ask for a lower one."
        )
    rng = np.random.default_rng(seed)
    chosen = [places for order in possible for places in _margins(len(names), order, most, rng)]
    margins = tuple(tuple(names[place] for place in places) for places in chosen)
    found = np.array([[compared(true, one, places) for places in chosen] for one in others])
    return [ByOrder(margins, each[:, 0], each[:, 1], possible) for each in found]


def _margins(k: int, order: int, most: int, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """All sets of `order` of `k` variables, or so many of them, drawn, in order."""
    if comb(k, order) <= most:
        yield from combinations(range(k), order)
        return
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(k, order, replace=False).tolist())))
    yield from sorted(drawn)


def written(margin: Margin) -> str:
    """A margin as a formula."""
    return "*".join(map(quoted, margin))

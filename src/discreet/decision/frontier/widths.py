"""Critical widths: how far a margin, with all one-way margins, narrows the small counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.decision.frontier.scores import Scores, disclosure_scores
from discreet.decision.frontier.small_sums import SmallSums, VisitedSums, small_sums
from discreet.errors import DisclosureError
from discreet.look.notebook import Rows
from discreet.look.result import Paged, Unpublished, first_rows
from discreet.look.words import number, plural
from discreet.release.doors import of_any_table
from discreet.table import notation
from discreet.table.cells import frame
from discreet.table.lattice import bits
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table

DRAWN = 1_000  # margins of an order, to see how many would be listed
MOST_MARGINS = 1 << 22


@dataclass(frozen=True)
class Spread(Unpublished):
    """Five numbers of the critical widths of one order, and how many margins they are of."""

    margins: int
    least: float
    lower: float
    median: float
    upper: float
    most: float


@dataclass(frozen=True, eq=False)
class Widths(Paged):
    """Critical widths of margins; a margin is a bit set over `names`, bit p is variable p.

    `alone` is the width when nothing but the margin is known. With `beta`, margins that contain one
    of a width `alone` below `beta` were not computed: none of them is wider.

    >>> import discreet as dc
    >>> found = dc.widths(dc.load("example:tract"))
    >>> found
    Widths(7 of 7 margins of 3 variables: 0 to 5 at 4 small cells)
    >>> found.of("Gender*Income"), found.by_order()[2].median
    (5, 1.0)
    """

    names: tuple[str, ...]
    sets: tuple[int, ...]
    width: Ints
    alone: Ints
    small: int
    small_cells: int
    max_order: int | None = None
    beta: int | None = None

    def __post_init__(self) -> None:
        self.width.flags.writeable = False

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {s: row for row, s in enumerate(self.sets)}

    @cached_property
    def order(self) -> Ints:
        """How many variables each margin has."""
        return np.array([s.bit_count() for s in self.sets], np.int64)

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders of which every margin was computed."""
        found = np.bincount(self.order)
        k = len(self.names)
        return tuple(d for d in range(1, len(found)) if found[d] == math.comb(k, d))

    @property
    def possible(self) -> int:
        """How many margins the table has."""
        return (1 << len(self.names)) - 1

    @property
    def complete(self) -> bool:
        """Was every margin of the table computed?"""
        return len(self) == self.possible

    @property
    def not_computed(self) -> str:
        """Which margins are left out, in words; nothing where all were computed."""
        if self.complete:
            return ""
        left = f"{_many(self.possible - len(self))} of {_many(self.possible)} margins not computed"
        highest = int(self.order.max())
        if self.beta is None:
            return f"{left}: those of more than {plural(highest, 'variable')}"
        why = f"they contain a margin with a width below {number(self.beta)}"
        if highest == self.max_order:
            why += f", or have more than {plural(highest, 'variable')}"
        return f"{left}: {why}"

    def __len__(self) -> int:
        return len(self.sets)

    def __repr__(self) -> str:
        of = f"{_many(len(self))} of {_many(self.possible)} margins"
        of += f" of {plural(len(self.names), 'variable')}"
        widths = f"{number(int(self.width.min()))} to {number(int(self.width.max()))}"
        return f"Widths({of}: {widths} at {plural(self.small_cells, 'small cell')})"

    def _shown_rows(self, most: int) -> Rows | None:
        return first_rows(self.to_frame(most=most), len(self), most)

    def of(self, margin: str | Iterable[str]) -> int:
        """The critical width of a margin: `Race*Income`, or names in any order."""
        if isinstance(margin, str) and margin not in self.names:
            wanted, *more = notation.read(margin, self.names, "the margin")
            if more:
                raise DisclosureError(
                    f"{margin!r} names {len(more) + 1} margins; ask for one, as in A*B."
                )
        else:
            listed = [margin] if isinstance(margin, str) else margin
            wanted = notation.bit_set(listed, self.names, "the margin")
        if wanted not in self._rows:
            raise DisclosureError(
                f"the critical width of {self.label(wanted)} is not known: {self.not_computed}. "
                "Compute it with a higher max_order, or without beta."
            )
        return int(self.width[self._rows[wanted]])

    def label(self, s: int) -> str:
        """The margin of a bit set as a formula."""
        return "*".join(notation.quoted(name) for name in self.margin(s))

    def margin(self, s: int) -> tuple[str, ...]:
        """The names of a bit set."""
        return tuple(self.names[place] for place in bits(s))

    def ordered(self) -> tuple[int, ...]:
        """The list for a greedy release: least problematic margins first.

        Decreasing width; among equals the higher order, then the larger bit set as a number
        (Dobra, Erosheva & Fienberg 2002, section 1.5.1, and the tie rule that gives its lists).
        """
        return tuple(self.sets[row] for row in self._listed)

    @cached_property
    def _listed(self) -> list[int]:
        width, order, sets = self.width.tolist(), self.order.tolist(), self.sets
        rank = [(-w, -d, -s) for w, d, s in zip(width, order, sets, strict=True)]
        return sorted(range(len(sets)), key=rank.__getitem__)

    def worst(self, order: int, most: int = 5) -> tuple[int, ...]:
        """The most problematic margins of an order, as bit sets, narrowest first."""
        rows = [row for row in reversed(self._listed) if self.order[row] == order]
        return tuple(self.sets[row] for row in rows[:most])

    def by_order(self) -> dict[int, Spread]:
        """Quantiles of the widths of each order, over the margins that were computed."""
        spreads = {}
        for order in range(1, int(self.order.max()) + 1):
            widths = self.width[self.order == order]
            five = np.quantile(widths, [0, 0.25, 0.5, 0.75, 1]).tolist()
            spreads[order] = Spread(len(widths), *five)
        return spreads

    def scores(self) -> Scores:
        """Disclosure scores, over the orders of which every margin was computed."""
        whole = np.isin(self.order, self.orders)
        inside = members(self.sets, len(self.names))[whole]
        return disclosure_scores(self.names, inside, self.width[whole], self.orders)

    def to_frame(self, kind: str = "pandas", *, most: int | None = None) -> Any:
        """One row a margin, in the order of the greedy list."""
        rows = self._listed[:most]
        return frame(
            {
                "margin": [self.label(self.sets[row]) for row in rows],
                "order": self.order[rows],
                "width": self.width[rows],
            },
            kind,
        )

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet widths --json` prints."""
        scores = self.scores()
        return {
            "widths": [
                {"margin": list(self.margin(self.sets[row])), "width": int(self.width[row])}
                for row in self._listed
            ],
            "scores": scores.to_json(),
            "groups": [list(group) for group in scores.groups()],
            "scored_orders": list(scores.orders),
            "small": self.small,
            "small_cells": self.small_cells,
            "complete": self.complete,
            "not_computed": self.not_computed,
        }

    def plot(self, **options: Any) -> Any:
        """Box plots of the widths by order (Figure 1.2)."""
        from discreet.look.widthcharts import width_chart

        spreads = {
            order: (s.margins, s.least, s.lower, s.median, s.upper, s.most)
            for order, s in self.by_order().items()
        }
        return width_chart(spreads, **{"source": self.not_computed or None} | options)


@of_any_table
def widths(
    table: Table | StoredTable,
    *,
    small: int = 2,
    max_order: int | None = None,
    beta: int | None = None,
) -> Widths:
    """The critical width of every margin, or of those up to an order.

    The critical width of a margin C is the narrowest width, over the cells with counts from 1 to
    `small`, when C and the one-way margins of all other variables j are known:

        max(0, n_C + sum_j n_j - #j n)  <=  count  <=  min(n_C, n_j)

    (Dobra, Erosheva & Fienberg 2002, Definitions 1.1 and 1.2). A superset of C knows more and is
    never wider; with `beta` the margins that are below it by themselves are not extended.

    >>> table = Table.of([[4, 4], [4, 4], [4, 1]], Hair=["Black", "Red", "Blond"],
    ...                  Income=["High", "Low"])
    >>> known = widths(table)
    >>> known
    Widths(3 of 3 margins of 2 variables: 0 to 5 at 1 small cell)
    >>> known.of("Hair"), known.of("Hair*Income")
    (5, 0)
    """
    _check(table, small, max_order, beta)
    if beta is not None and isinstance(table, Table):
        _check_listed(table, small, max_order or len(table.names), beta)
    with small_sums(table, small, _number(len(table.names), max_order)) as sums:
        kept, low, high = by_level(sums, max_order or sums.variables, beta)
    lists = [level for level, _, _ in kept]
    least = np.concatenate([level for _, level, _ in kept])
    width = np.concatenate([widths_of(sums, low, high, *level) for level in kept])
    power = np.array([1 << p for p in range(sums.variables)], object)
    power = power.astype(np.int64) if sums.variables < 63 else power
    sets = chain.from_iterable(power[level].sum(1).tolist() for level in lists)
    return Widths(table.names, tuple(sets), width, least, small, sums.watched, max_order, beta)


Level = tuple[Ints, Ints, Ints]  # margins, their least and their greatest counts at small cells


def by_level(sums: SmallSums, most: int, beta: int | None) -> tuple[list[Level], Ints, Ints]:
    """Margins level by level, and the extremes of the one-way margins."""
    kept: list[Level] = []
    listed = 0
    for order in range(1, most + 1):
        if beta is None or order == 1:
            lists = _all_members(sums.variables, order)
        else:
            before, least, _ = kept[-1]
            lists = _extended(before[least >= beta], MOST_MARGINS - listed, sums.variables, beta)
        if not len(lists):
            break
        listed += len(lists)
        kept.append((lists, *sums.at(lists, last=order == most)))
    return kept, kept[0][1], kept[0][2]


def widths_of(
    sums: SmallSums, low: Ints, high: Ints, lists: Ints, least: Ints, greatest: Ints
) -> Ints:
    """The narrowest width of each margin; `low` and `high` are the one-ways at small cells.

    A cell's width is min(n_C, r, s, r + s - n_C) with r = min n_j and s = sum (n - n_j) over the
    variables j outside C. Each term is bounded by extremes over the small cells taken one by one:

        min n_C,   r* = min_j low_j,   s* = sum_j (n - high_j),   min_j high_j + s* - max n_C

    The first two are attained. Let V be the variables in which small cells differ. For j in V,
    n - high_j counts another category of a small cell, so it is at least low_j. If two variables
    of V are outside C, or one is and another in C, the last two terms are thus no less than the
    first two; in all other cases they are attained as well.
    """
    rows, n = np.arange(len(lists))[:, None], sums.total
    inside = np.zeros((len(lists), sums.variables), bool)
    inside[rows, lists] = True
    apart = np.where(inside, 0, n - high).sum(1)
    narrowest = np.where(inside, n, low).min(1)
    rest = np.where(inside, n, high).min(1) + apart - greatest
    width: Ints = np.minimum.reduce([least, narrowest, apart, rest])
    return width


def members(sets: Iterable[int], variables: int) -> NDArray[np.bool_]:
    """Which variables (columns) each bit set (row) holds."""
    wide = (variables + 7) // 8
    packed = np.frombuffer(b"".join(s.to_bytes(wide, "little") for s in sets), np.uint8)
    found = np.unpackbits(packed.reshape(-1, wide), axis=1, bitorder="little")
    return found[:, :variables].astype(bool)


def _all_members(variables: int, order: int) -> Ints:
    """Every margin of an order, as a sorted list of variables."""
    each = chain.from_iterable(combinations(range(variables), order))
    return np.fromiter(each, np.int64, order * math.comb(variables, order)).reshape(-1, order)


def _extended(kept: Ints, most: int, variables: int, beta: int) -> Ints:
    """The margins with one variable more, all of whose sub-margins were kept."""
    lists: list[tuple[int, ...]] = []
    for candidate in _candidates([tuple(row) for row in kept.tolist()]):
        if len(lists) == most:
            raise _too_many(variables, beta)
        lists.append(candidate)
    return np.array(lists, np.int64).reshape(-1, kept.shape[1] + 1)


def _candidates(kept: list[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    known = set(kept)
    for start, group in groupby(kept, key=lambda m: m[:-1]):
        for ends in combinations([m[-1] for m in group], 2):
            margin = start + ends
            if all(margin[:i] + margin[i + 1 :] in known for i in range(len(start))):
                yield margin


def _check(table: Table | StoredTable, small: int, max_order: int | None, beta: int | None) -> None:
    k = len(table.shape)
    for name, value in (("small", small), ("max_order", max_order), ("beta", beta)):
        if value is not None and (type(value) is not int or value < 1):
            raise DisclosureError(f"{name} is {value!r}; give a whole number from 1 on.")
    if not k:
        raise DisclosureError("the table has no variable; classify by at least one.")
    if max_order is not None and max_order > k:
        raise DisclosureError(
            f"max_order is {max_order}, but the table has {plural(k, 'variable')}; "
            f"give a number from 1 to {k}."
        )
    if not _has_small(table, small):
        raise DisclosureError(
            f"the table has no count from 1 to {small}, so no margin has a critical width; "
            "a larger small counts more cells as small."
        )
    margins = _number(k, max_order)
    if beta is None and margins > MOST_MARGINS:
        raise DisclosureError(
            f"{_many(margins)} margins are more than the {MOST_MARGINS:,} that can be listed; "
            f"set max_order (--max-order) to at most {_fits(k)}, or give beta."
        )


def _check_listed(table: Table, small: int, most: int, beta: int) -> None:
    """Say at once, by margins drawn at random, that more would be listed than can be.

    A margin is listed if all those with one variable less keep their widths. What the draws say is
    taken five standard errors lower, so that nothing is refused that could be done; where they do
    not say it, the list does.
    """
    k, rng = len(table.names), np.random.default_rng(0)
    if _number(k, most) <= MOST_MARGINS:
        return
    sums, listed = VisitedSums(table, small), float(k)
    for order in range(2, most + 1):
        places = rng.random((DRAWN, k)).argpartition(order - 1, axis=1)[:, :order]
        drawn = np.sort(places, axis=1).astype(np.int64)
        within = [np.delete(drawn, left, axis=1) for left in range(order)]
        kept = sums.at(np.concatenate(within))[0] >= beta
        share = float(kept.reshape(order, DRAWN).all(axis=0).mean())
        least = share - 5 * (math.sqrt(share * (1 - share) / DRAWN) + 1 / DRAWN)
        listed += max(0.0, least) * math.comb(k, order)
        if listed > MOST_MARGINS:
            raise _too_many(k, beta)
        if share == 0:
            return


def _too_many(variables: int, beta: int) -> DisclosureError:
    return DisclosureError(
        f"of {variables} variables more than {MOST_MARGINS:,} margins keep the width {beta} of "
        f"small counts, which is more than can be searched: set max_order (--max-order; of a "
        f"server, server.max_order) to at most {_fits(variables)}, or classify by fewer variables."
    )


def _fits(variables: int) -> int:
    """Up to which order all margins can be listed."""
    fits, total = 0, 0
    while (total := total + math.comb(variables, fits + 1)) <= MOST_MARGINS:
        fits += 1
    return fits


def _has_small(table: Table | StoredTable, small: int) -> bool:
    if isinstance(table, StoredTable):
        return table.small_cells(small) > 0
    return bool((table.counts <= small).any())


def _number(variables: int, max_order: int | None) -> int:
    """How many margins there are, up to an order."""
    return sum(math.comb(variables, order) for order in range(1, (max_order or variables) + 1))


def _many(n: int) -> str:
    return f"{n:,}" if n < 10**9 else f"10^{int(math.log10(n))}"

"""Complementary suppression: which further cells are left out, and what that proves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from contextlib import suppress as suppress_error
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Bools, Floats
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, SolverError, Stopped
from discreet.intruder.sums.audit import Audit
from discreet.intruder.sums.protection import Protection
from discreet.look.result import Unpublished
from discreet.masks.masked import Masked
from discreet.masks.suppress.elimination import determined
from discreet.masks.suppress.heuristic import Search
from discreet.masks.suppress.problem import Problem, Unprotectable, priced, some_table
from discreet.release.printed import Printed
from discreet.sheets.system import System
from discreet.table.words import brief

Guarantee = Literal["width", "unique"]
Method = Literal["heuristic", "optimal"]


@dataclass(frozen=True, eq=False)
class Suppression(Unpublished):
    """The hidden cells, and tables that prove that each target has what was asked.

    `audit` is by tables that were found and fit every published cell; there is none for the
    guarantee "unique", which says only that no secret cell is a combination of published ones.
    `gap` is the share of the cost that a better pattern could save, if the method knows it.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> suppress(system, values, Protection.widths([5], [1], 3), [5]).to_frame()
      table  cell        why
    0     1  f, A    primary
    1     1  f, B  secondary
    2     1  m, A  secondary
    3     1  m, B  secondary
    """

    hidden: Bools
    primary: Bools
    masked: Masked
    audit: Audit | None
    cost: float
    amount: float
    gap: float | None = None
    stopped: str | None = None
    said: tuple[str, ...] = field(default=())

    @property
    def secondary(self) -> Bools:
        """Cells that are hidden for the sake of others."""
        return self.hidden & ~self.primary

    @property
    def count(self) -> int:
        """How many these are; `amount` is what they add up to."""
        return int(self.secondary.sum())

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a hidden cell: its table, its labels, primary or secondary."""
        from discreet.table.cells import frame

        system = self.masked.system
        rows = np.flatnonzero(self.hidden)
        homes = [system.home(int(row)) for row in rows]
        columns: dict[str, Any] = {
            "table": [sheet.name for sheet, _ in homes],
            "cell": [brief(sheet.label(cell)) for sheet, cell in homes],
            "why": np.where(self.primary[rows], "primary", "secondary").tolist(),
        }
        return frame(columns, kind)

    def __repr__(self) -> str:
        primary = int((self.primary & self.hidden).sum())
        said = f"{primary:,} primary and {self.count:,} secondary cells of {len(self.hidden):,}"
        return f"Suppression({said}{'' if self.audit is None else f': {self.audit}'})"


def suppress(
    system: System,
    values: ArrayLike,
    protection: Protection,
    primary: ArrayLike,
    *,
    floor: ArrayLike = 0.0,
    ceiling: ArrayLike = math.inf,
    most: ArrayLike = math.inf,
    whole: bool = True,
    costs: str | ArrayLike = "value",
    must: ArrayLike | None = None,
    hidden: ArrayLike | None = None,
    intruders: Sequence[Sequence[int]] = (),
    guarantee: Guarantee = "width",
    method: Method = "heuristic",
    proof: Literal["whole", "linear"] = "whole",
    fine: ArrayLike | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 1,
    starts: int = 1,
) -> Suppression:
    """Hide further cells until every target of `protection` has what is asked of it.

    `primary` are the secret cells, `hidden` others that are hidden anyway, `must` those that are to
    be published; all as masks or row numbers. `floor` and `ceiling` are what everybody knows of a
    hidden cell: where zeros are printed, a floor of 1, and zeros stay. `most` is the same of fine
    cells: 0 where nobody can be. `costs` is "value", "one",
    "log" or an array: cells that last year were hidden can be made cheaper there. Each of
    `intruders` knows some rows; his own are not kept from him.

    With the guarantee "width" other tables are found that fit what is published, and that are as
    far apart as asked: tables of whole numbers if the sheets count, or of fractions with
    proof="linear". "unique" is Gaussian elimination: no primary cell follows by sums and
    differences, which says nothing of how narrow its interval is. `fine` is the true table where no
    sheet prints it; else any that fits is taken. The best of `starts` patterns is kept.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> found = suppress(system, values, Protection.widths([5], [1], 3), [5])
    >>> found.said
    ('1 cell is proven by whole tables.',)
    >>> found.masked.shown(system.sheets[0]).tolist()
    [[32.0, 7.0, 11.0, 14.0], [13.0, nan, nan, 5.0], [19.0, nan, nan, 9.0]]
    """
    clock = Clock.of(seconds)
    if guarantee == "unique":
        secret = np.flatnonzero(_mask(system, primary, "primary"))
        protection = Protection.widths(secret, np.asarray(values, float)[secret], 1.0)
    problem = _problem(
        system, values, protection, primary, floor, ceiling, most, whole, costs, must, hidden,
        intruders, fine,
    )  # fmt: skip
    for name, value, known in (
        ("guarantee", guarantee, ("width", "unique")),
        ("method", method, ("heuristic", "optimal")),
        ("proof", proof, ("whole", "linear")),
    ):
        if value not in known:
            raise DataError(f"{name} is {value!r}; say {' or '.join(known)}.")
    if guarantee == "unique" and intruders:
        raise DataError("guarantee 'unique' is against outsiders; say 'width' for intruders.")
    if whole and not problem.exact and (guarantee, proof) == ("width", "whole"):
        raise SolverError(
            "no table of whole numbers with these values was found; give the true `fine` cells, or "
            "say proof='linear'."
        )
    fractions = not whole or proof == "linear" or guarantee == "unique"
    best: Search | None = None
    rngs = np.random.default_rng(seed).spawn(max(1, starts))
    for number, rng in enumerate(rngs):
        search = Search(problem, rng, fractions=fractions, effort=Effort(effort), clock=clock)
        if best is not None and clock.over():
            break
        search.run(guarantee, number)
        if best is None or search.cost < best.cost:
            best = search
    assert best is not None
    if guarantee == "width":
        best = best.improved()
    gap, stopped = None, None
    if method == "optimal" and guarantee == "width":
        gap, stopped, best = _optimal(best, effort, clock)
    return _result(best, guarantee, gap, stopped, method)


def _problem(
    system: System, values: ArrayLike, protection: Protection, primary: ArrayLike,
    floor: ArrayLike, ceiling: ArrayLike, most: ArrayLike, whole: bool, costs: str | ArrayLike,
    must: ArrayLike | None, hidden: ArrayLike | None, intruders: Sequence[Sequence[int]],
    fine: ArrayLike | None,
) -> Problem:  # fmt: skip
    value = np.asarray(values, np.float64)
    if value.shape != (system.cells,):
        raise DataError(f"{system} has {system.cells:,} cells, and {value.size:,} values came.")
    if whole and (value != np.round(value)).any():
        wrong = value[value != np.round(value)][0]
        raise DataError(f"a value is {wrong:g}; say whole=False for sums of fractions.")
    secret, kept = _mask(system, primary, "primary"), _mask(system, hidden, "hidden")
    low = np.broadcast_to(np.asarray(floor, np.float64), value.shape)
    high = np.broadcast_to(np.asarray(ceiling, np.float64), value.shape)
    room = np.broadcast_to(np.asarray(most, np.float64), (system.columns,))
    if (room == 0).any():  # a cell of nobody but those who cannot be is no cell to hide
        high = np.where(system.sums @ (room > 0).astype(float) == 0, 0.0, high)
    shown = _mask(system, must, "must")
    out = secret | kept
    price = priced(value, costs)
    price[shown | (value < low) | (value > high)] = np.inf
    targets = protection
    needed = targets.needs() > 0
    rows = targets.rows[needed & (targets.rows < system.cells)]
    table = np.asarray(fine, np.float64) if fine is not None else None
    table = some_table(system, value, whole, 0.0, room) if table is None else table
    _check(system, table, value)
    known = tuple(np.unique(np.asarray(rows, np.int64)) for rows in intruders)
    problem = Problem(
        system,
        value,
        table,
        targets,
        secret,
        np.where(out, 0.0, price),
        low,
        high,
        known,
        whole,
        most=room if np.isfinite(room).any() else math.inf,
    )
    for wrong, said in (
        (secret & shown, "is secret and must be published; take it from one of the two"),
        (out & ((value < low) | (value > high)), "is hidden and outside of floor and ceiling"),
    ):
        if wrong.any():
            raise DataError(f"{problem.name(int(np.argmax(wrong)))} {said}.")
    if len(bare := rows[~out[rows]]):
        raise DataError(
            f"{problem.name(int(bare[0]))} is to be protected, and is not among the primary cells."
        )
    return problem.scaled()


def _check(system: System, table: Floats, value: Floats) -> None:
    near = 1e-6 * max(1.0, float(np.abs(value).max(initial=0.0)))
    if (
        table.shape != (system.columns,)
        or (table < -near).any()
        or np.abs(system.sums @ table - value).max(initial=0.0) > near
        or np.abs(system.agree @ table).max(initial=0.0) > near
    ):
        raise DataError("the fine cells do not add up to the values; give those of one table.")


def _mask(system: System, rows: ArrayLike | None, name: str) -> Bools:
    found = np.zeros(system.cells, bool)
    if rows is None:
        return found
    given = np.asarray(rows)
    if given.dtype == bool and given.shape != found.shape:
        raise DataError(f"{name} has {given.size:,} marks for {system.cells:,} cells.")
    if given.size:
        found[given if given.dtype == bool else given.astype(np.int64)] = True
    return found


def _optimal(best: Search, effort: float, clock: Clock) -> tuple[float, str | None, Search]:
    """The optimum by cuts, from the heuristic's pattern on; proven like any other."""
    from discreet.masks.suppress.optimal import optimal

    problem = best.problem
    costs = problem.costs
    pattern = optimal(
        problem.system,
        problem.values,
        problem.primary,
        problem.targets,
        floor=problem.floor,
        ceiling=problem.ceiling,
        costs=np.where(np.isfinite(costs), costs, 0.0),
        forced=~np.isfinite(costs),
        hidden=costs == 0,
        effort=effort,
        seconds=clock.before(0.8),
        start=best.hidden,
    )
    search = best
    with suppress_error(Stopped):  # then the heuristic's pattern stays
        other = best.again(pattern.hidden)
        search = other if other.cost < best.cost else best
    gap = (search.cost - pattern.bound) / search.cost if search.cost > pattern.bound else 0.0
    return gap, pattern.stopped, search


def _result(
    search: Search, guarantee: str, gap: float | None, stopped: str | None, method: str
) -> Suppression:
    problem, hidden = search.problem, search.hidden
    judged: Audit | None = None
    said: list[str] = []
    if guarantee == "width":
        judged, said = _judged(search)
    else:
        found = determined(problem.system, hidden) & problem.primary
        if found.any():
            raise Unprotectable(
                f"{problem.name(int(np.argmax(found)))} follows from what must be published; let "
                "further cells be hidden."
            )
        said.append(
            "No primary cell is a combination of published cells; how narrow their intervals are "
            "was not asked."
        )
    stopped = stopped or search.clock.sentence(
        "the pattern protects, and may hide more than it must", "Allow more seconds."
    )
    secondary = hidden & ~problem.primary & (problem.costs > 0)
    if gap is not None:
        said.append(
            "No pattern is cheaper." if gap <= 1e-9 else f"A better one could save {gap:.1%}."
        )
    if stopped:
        said.append(stopped)
    values, unit = problem.values * problem.unit, problem.unit
    printed = Printed.suppressed(
        problem.system, values, hidden,
        floor=problem.floor * unit, ceiling=problem.ceiling * unit, whole=problem.whole,
    )  # fmt: skip
    printed = dataclasses.replace(printed, most=problem.most)
    masked = Masked(
        problem.system,
        np.where(hidden, np.nan, values),
        "suppression",
        {"guarantee": guarantee, "method": method},
        printed,
        problem.whole,
        tuple(said),
    )
    return Suppression(
        hidden,
        problem.primary,
        masked,
        judged,
        float(problem.costs[secondary].sum()),
        float(values[hidden & ~problem.primary].sum()),
        gap,
        stopped,
        tuple(said),
    )


def _judged(search: Search) -> tuple[Audit, list[str]]:
    """What the tables that were found prove."""
    problem = search.problem
    nothing = np.zeros(len(problem.targets), bool)
    linear, whole = ~nothing, ~nothing
    for known in search.views():
        own = np.isin(problem.targets.rows, known)
        reach = search.witnesses.reach(known.tolist())
        linear &= own | ~problem.lacking(reach)
        counted = search.witnesses.reach(known.tolist(), whole=True)
        whole &= own | ~problem.lacking(counted)
    if not linear.all() or not search.witnesses.hold(search.hidden):
        row = int(problem.targets.rows[np.argmin(linear)])
        raise Unprotectable(
            f"{problem.name(row)} could not be proven safe; allow more effort or seconds."
        )
    safe = whole if problem.whole else linear
    said = []
    if whole.any() and problem.whole:
        said.append(_proven(int(whole.sum()), "whole tables"))
    if rest := int((linear & ~whole).sum()) if problem.whole else len(linear):
        said.append(_proven(rest, "linear bounds"))
    low, high = problem.unit * (problem.base + search.witnesses.reach(whole=problem.whole))
    far = np.full(len(nothing), math.inf)  # bounds are not sought
    return Audit(safe, nothing, linear, whole & problem.whole, low, high, -far, far), said


def _proven(number: int, how: str) -> str:
    one = number == 1
    return f"{number:,} cell{'' if one else 's'} {'is' if one else 'are'} proven by {how}."

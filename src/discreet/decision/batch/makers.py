"""The masks of sheets: each makes what is printed of the sheets of one measure."""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.coded import Coded, exact
from discreet.decision.batch.masked_verdict import Work
from discreet.decision.batch.reasons import Looked
from discreet.decision.law.verdict import Verdict, worst
from discreet.effort import Effort
from discreet.errors import DataError, OptionError
from discreet.intruder.sums.protection import Protection
from discreet.masks.masked import Masked
from discreet.masks.suppress.suppress import suppress
from discreet.release.printed import Printed
from discreet.release.release import Release
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import COUNT, Measure, Sheet, Status
from discreet.sheets.system import System

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
MOST_MERGED = 5_000  # ways to merge that are tried
MOST_ROUNDS = 4  # in which more is hidden for what all sheets together tell


def _suppress(
    work: Work,
    sheets: Sequence[Sheet],
    measure: Measure,
    *,
    optimal: bool = False,
    costs: str | Callable[[SheetCase], Floats] = "value",
    known: float | None = None,
    must: Callable[[SheetCase], Bools] | None = None,
    **unused: Any,
) -> tuple[SheetCase, Masked]:
    """Primary cells by the rules, secondary ones until each keeps what the rules ask.

    `known` is how well an intruder knows every hidden value before, in percent either way.
    """
    case = work.case(sheets, measure)
    already, watched = work.already(case), ~case.rows_of()
    if (told := np.flatnonzero(already & case.primary)).size:
        raise DataError(
            f"{case.named(int(told[0]))} is out already, and no rule lets it be printed; "
            "suppression cannot take it back."
        )
    floor, ceiling = np.where(watched, 0.0, case.floor), np.full(case.cells.printed, math.inf)
    if known is not None:
        if known < 0:
            raise OptionError(f"known is {known:g}; give a percentage from 0 on.")
        floor = np.where(watched, 0.0, np.maximum(floor, case.values * (1 - known / 100)))
        ceiling = np.where(watched, math.inf, case.values * (1 + known / 100))
    wanted = already if must is None else already | (must(case) & ~watched)
    task = _Task(
        case, floor, ceiling, costs(case) if callable(costs) else costs,
        wanted & ~case.primary, watched | work.gaps(case), optimal, work,
    )  # fmt: skip
    return case, task.in_pairs() if case.rough.any() else task.at_once()


@dataclasses.dataclass
class _Task:
    """What is to be suppressed, and how."""

    case: SheetCase
    floor: Floats
    ceiling: Floats
    costs: str | Floats
    must: Bools
    gone: Bools  # hidden anyway
    optimal: bool
    work: Work

    def at_once(self) -> Masked:
        """In the system of all sheets."""
        case = self.case
        found = suppress(
            case.system,
            case.values,
            case.protection,
            case.primary,
            floor=self.floor,
            ceiling=self.ceiling,
            whole=case.whole,
            costs=self.costs,
            must=self.must,
            hidden=self.gone,
            intruders=case.intruders,
            method="optimal" if self.optimal else "heuristic",
            fine=case.cells.fine,
            effort=self.work.effort,
            seconds=self.work.clock,
        )
        return self._masked(found.hidden, found.masked.parameters, found.said)

    def in_pairs(self) -> Masked:
        """Sheets that agree in pairs first, then more for what all of them together still tell.

        Below several sheets that none prints lie too many cells to work with. What is hidden is
        proven afterwards, by tables of all of them.
        """
        case = self.case
        real = [sheet for sheet in case.system.sheets if sheet.status is not Status.WATCHED]
        plain = System.of(real, most_joint=0)
        row = np.zeros(plain.cells, np.int64)  # of the whole system
        for place, sheet in enumerate(real):
            at = case.system.sheets.index(sheet)
            row[plain.places[place].ravel()] = case.system.places[at].ravel()
        back = {whole: own for own, whole in enumerate(row.tolist())}
        amounts = printed_amounts(self.work.records, case.cells.measure)
        back |= _same_columns(case.system, plain)
        there = np.array([whole in back for whole in case.protection.rows.tolist()], bool)
        asked = case.protection.take(there)
        whole_rows = asked.rows
        own = np.array([back[whole] for whole in whole_rows.tolist()], np.int64)
        asked = Protection(own, asked.low, asked.high, asked.width)
        intruders = [[back[r] for r in rows] for rows in case.intruders]
        hidden = self.gone[row]
        for _ in range(MOST_ROUNDS):
            found = suppress(
                plain,
                case.values[row],
                asked,
                case.primary[row],
                floor=self.floor[row],
                ceiling=self.ceiling[row],
                whole=case.whole,
                costs=self.costs if isinstance(self.costs, str) else self.costs[row],
                must=self.must[row],
                hidden=hidden,
                intruders=intruders,
                fine=plain.fine(self.work.records.codes, amounts),
                effort=self.work.effort,
                seconds=self.work.clock,
            )
            hidden = found.hidden
            whole = ~case.rows_of()
            whole[row[hidden]] = True
            said = [text for text in found.said if "proven" not in text]
            if self.optimal:
                said.append("The cheapest pattern is not sought for so many linked tables.")
            made = self._masked(whole, found.masked.parameters, said)
            assert made.printed is not None
            looked = Looked(case, made.printed, None, self.work.effort, self.work.clock)
            lacking = np.isin(whole_rows, looked.lacking)
            if not lacking.any():
                break
            more = np.where(lacking, 2.0, 1.0)
            value = np.r_[case.values, case.cells.fine][whole_rows]
            asked = Protection(
                asked.rows,
                np.maximum(0.0, value - more * (value - asked.low)),
                value + more * (asked.high - value),
                asked.width * more,
            )
        return made

    def _masked(
        self, hidden: Bools, parameters: Mapping[str, object], said: Sequence[str]
    ) -> Masked:
        case = self.case
        values = np.where(hidden, np.nan, case.values)
        shown = Printed.suppressed(
            case.system, case.values, hidden, floor=self.floor, ceiling=self.ceiling,
            whole=case.whole,
        )  # fmt: skip
        if case.closed.any():
            shown = dataclasses.replace(shown, most=np.where(case.closed, 0.0, math.inf))
        return Masked(
            case.system, values, "suppression", dict(parameters), shown, case.whole, tuple(said)
        )


def _same_columns(one: System, other: System) -> dict[int, int]:
    """Fine cells of parts that two systems share, by their numbers behind the printed rows."""
    found = {}
    for part in one.parts:
        for twin in other.parts:
            same = part.names == twin.names and part.shape == twin.shape
            if same and all(map(np.array_equal, part.atoms, twin.atoms)):
                for i in range(part.size):
                    found[one.cells + part.start + i] = other.cells + twin.start + i
    return found


def _round(
    work: Work,
    sheets: Sequence[Sheet],
    measure: Measure,
    *,
    base: float = 3,
    kind: str = "controlled",
    seed: int | None = None,
    **unused: Any,
) -> tuple[SheetCase, Masked]:
    """Multiples of a base: controlled (adds up), unbiased, conventional or random."""
    from discreet.masks.rounding import simple
    from discreet.masks.rounding.controlled import controlled

    case, plain = work.case(sheets, measure), _wanted(sheets)
    values = plain.sums @ plain.fine(work.records.codes, printed_amounts(work.records, measure))
    rng = np.random.default_rng(secrets.randbits(64) if seed is None else seed)
    if kind in ("conventional", "random"):
        one = simple.masked(plain, values, base, rng=rng if kind == "random" else None)
        return case, _onto(work, case, one)
    if kind not in ("controlled", "unbiased"):
        raise DataError(f"rounding is {kind!r}; say controlled, unbiased, conventional or random.")
    found = controlled(
        plain, values, base, unbiased=kind == "unbiased", rng=rng,
        effort=work.effort, seconds=work.clock,
    )  # fmt: skip
    said = tuple(dict.fromkeys((*found.masked.said, *found.said)))
    return case, dataclasses.replace(_onto(work, case, found.masked), said=said)


def _wanted(sheets: Sequence[Sheet]) -> System:
    return System.of([sheet for sheet in sheets if sheet.status is Status.WANTED])


def _onto(work: Work, case: SheetCase, masked: Masked) -> Masked:
    """A mask of the wanted sheets, beside what is out, in the system of all."""
    values = np.full(case.cells.printed, np.nan)
    lower, upper = np.zeros(len(values)), np.full(len(values), math.inf)
    for number, sheet in enumerate(masked.system.sheets):
        own = masked.system.places[number].ravel()
        rows = case.system.places[case.system.sheets.index(sheet)].ravel()
        values[rows] = masked.values[own]
        if masked.printed is not None:
            lower[rows], upper[rows] = masked.printed.lower[own], masked.printed.upper[own]
    out = work.already(case)
    lower[out], upper[out] = case.values[out], case.values[out]
    printed = None
    if masked.printed is not None:
        most = np.where(case.closed, 0.0, math.inf)
        printed = Printed(case.system, lower, upper, masked.printed.whole, 0.0, most)
    return dataclasses.replace(masked, system=case.system, values=values, printed=printed)


def _cell_key(
    work: Work,
    sheets: Sequence[Sheet],
    measure: Measure,
    *,
    ptable: Any = None,
    secret: str | None = None,
    **unused: Any,
) -> tuple[SheetCase, Masked]:
    """Noise by keys: the same cell, the same noise, in every table."""
    from discreet.masks.cellkey.continuous import Amounts, Simple, cell_key_amounts
    from discreet.masks.cellkey.keys import fingerprint, record_keys, row_keys
    from discreet.masks.cellkey.perturb import cell_key
    from discreet.masks.cellkey.ptable import amount_ptable, count_ptable

    if measure.weight:
        raise DataError("cell keys are for tables without weights; leave the weight out.")
    if (work.records.people != 1).any():
        raise DataError("cell keys are sums over records, and the data are cells; give records.")
    case, plain, codes = work.case(sheets, measure), _wanted(sheets), work.records.codes
    hushed = secret or secrets.token_hex(16)
    rows = row_keys(plain, codes, record_keys(hushed, len(work.records)))
    mark = fingerprint(hushed)
    if measure.value is None:
        counts = plain.sums @ plain.fine(codes, work.records.people.astype(float))
        made = cell_key(plain, counts, rows, ptable or count_ptable(2, 0.9), secret=mark)
    else:
        amounts = Amounts(ptable or amount_ptable(5, 3.0, icat=[1, 3, 5]), Simple(0.1))
        values = work.records.numbers[measure.value]
        made = cell_key_amounts(plain, codes, values, rows, amounts, secret=mark)
    return case, _onto(work, case, made)


def _perturb(
    work: Work,
    sheets: Sequence[Sheet],
    measure: Measure,
    *,
    seed: int | None = None,
    **unused: Any,
) -> tuple[SheetCase, Masked]:
    """A table drawn by chance with every margin that is out, and nothing else of the data.

    A sheet that is out with gaps, a filter or lines left out is no margin, and is not kept: its
    margin would tell what it hides.
    """
    from discreet.masks.perturb import perturb_release

    if measure != COUNT:
        raise DataError(f"a table of the {measure} cannot be drawn; perturbation is for counts.")
    out = [
        sheet
        for sheet in sheets
        if sheet.status is Status.OUT and sheet.name not in work.out and exact(sheet)
    ]
    if not out:
        raise DataError(
            "nothing is out whole that could be kept; list the tables that are, without a mask or "
            "a filter (status out)."
        )
    case = work.case([s for s in sheets if s.status is Status.WANTED], measure)
    coded = Coded.of(work.records, sheets)
    margins = [coded.margin(sheet) for sheet in out]
    for sheet in case.system.sheets:
        coded.margin(sheet)
    release = Release.margins(coded.table, [m for m in margins if m])
    drawn = perturb_release(
        release, seed=secrets.randbits(62) if seed is None else seed,
        effort=work.effort, seconds=work.clock,
    )  # fmt: skip
    values = _printed_of(drawn.table(), case, coded)
    parameters = {"kept": str(drawn.kept), "silent": drawn.silent, "drawn": drawn.method}
    return case, Masked(case.system, values, "perturb", parameters, None, True, drawn.said)


def _printed_of(table: Any, case: SheetCase, coded: Coded) -> Floats:
    """What the sheets of a case show of another table of the same people."""
    names = {name: coded.base(name) for part in case.system.parts for name in part.names}
    codes = {}
    for name, (variable, first) in names.items():
        codes[name] = first[table.codes[:, table.axes.place[variable]]]
    return np.asarray(case.system.sums @ case.system.fine(codes, table.counts.astype(float)))


def _merge(
    work: Work, sheets: Sequence[Sheet], measure: Measure, **unused: Any
) -> tuple[SheetCase, Masked]:
    """Fewer levels of hierarchies, the most cells that no rule forbids; optimal among levels."""
    fixed = [sheet for sheet in sheets if sheet.status is not Status.WANTED]
    wanted = [sheet for sheet in sheets if sheet.status is Status.WANTED]
    depths = {
        g.name: sorted({line.depth for line in g.lines}, reverse=True)
        for sheet in wanted
        for g in sheet.groupings
    }
    ways = list(product(*depths.values()))
    if len(ways) > Effort(work.effort).of(MOST_MERGED):
        raise DataError(f"there are {len(ways):,} ways to merge; name fewer tables at once.")
    cut = [[_cut(s, dict(zip(depths, way, strict=True))) for s in wanted] for way in ways]
    for merged in sorted(cut, key=lambda some: -sum(sheet.cells for sheet in some)):
        case = work.case([*fixed, *merged], measure)
        if case.primary.any():
            continue
        made = Masked(
            case.system, np.where(case.rows_of(), case.values, np.nan), "merge",
            {"levels": {g.name: len({x.depth for x in g.lines}) for s in merged
                        for g in s.groupings}},
            case.printed(), case.whole,
            (f"Merged: {sum(s.cells for s in merged):,} of {sum(s.cells for s in wanted):,} cells "
             "are left, the most of all choices of levels.",),
        )  # fmt: skip
        if worst(reason.verdict for reason in work.judge(case, made)) is not Verdict.FAIL:
            return case, made
    raise DataError("no choice of levels keeps the rules; merge categories in the codebook.")


def _cut(sheet: Sheet, depth: Mapping[str, int]) -> Sheet:
    """A sheet without the lines below a depth."""
    groupings = tuple(
        Grouping(g.variable, tuple(x for x in g.lines if x.depth <= depth[g.name]))
        for g in sheet.groupings
    )
    return dataclasses.replace(sheet, groupings=groupings)


Maker = Callable[..., tuple[SheetCase, Masked]]
MAKERS: dict[str, Maker] = {
    "suppress": _suppress,
    "round": _round,
    "cell-key": _cell_key,
    "perturb": _perturb,
    "merge": _merge,
}

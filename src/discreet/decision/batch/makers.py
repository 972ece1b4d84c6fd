"""The masks of sheets: each makes what is printed of the sheets of one measure."""

from __future__ import annotations

import dataclasses
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.coded import Coded, exact
from discreet.decision.batch.hiding import hide
from discreet.decision.batch.masked_verdict import Work
from discreet.decision.batch.out import ends
from discreet.decision.law.verdict import Verdict, worst
from discreet.effort import Effort
from discreet.errors import DataError, OptionError
from discreet.masks.masked import BITS, TRIAL, Masked
from discreet.masks.mechanism import mechanism
from discreet.release.printed import Printed
from discreet.release.release import Release
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import COUNT, Measure, Sheet, Status
from discreet.sheets.system import System

MOST_MERGED = 5_000  # ways to merge that are tried


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
    if case.whole and not float(base).is_integer():
        raise OptionError(f"base is {base:g}; counts are rounded to multiples of a whole number.")
    values = plain.sums @ plain.fine(work.records.codes, printed_amounts(work.records, measure))
    rng = np.random.default_rng(secrets.randbits(BITS) if seed is None else seed)
    if kind in ("conventional", "random"):
        one = simple.masked(plain, values, base, rng=rng if kind == "random" else None)
        made = _onto(work, case, one)
        return case, _drawn(made, seed) if kind == "random" else made
    if kind not in ("controlled", "unbiased"):
        raise DataError(f"rounding is {kind!r}; say controlled, unbiased, conventional or random.")
    found = controlled(
        plain, values, base, unbiased=kind == "unbiased", rng=rng,
        effort=work.effort, seconds=work.clock,
    )  # fmt: skip
    said = tuple(dict.fromkeys((*found.masked.said, *found.said)))
    return case, _drawn(dataclasses.replace(_onto(work, case, found.masked), said=said), seed)


def _drawn(masked: Masked, seed: int | None) -> Masked:
    """What is drawn from a seed that was given is a trial."""
    if seed is None:
        return masked
    return dataclasses.replace(masked, parameters={**masked.parameters, "trial": TRIAL})


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
            how = mechanism(masked.method, masked.parameters, whole=False) if case.step else None
            if how is not None:
                low, high = how.steps(masked.values[own], case.step)  # halves may go either way
                lower[rows] = np.minimum(low, case.values[rows])
                upper[rows] = np.maximum(high, case.values[rows])
    out = work.already(case)
    lower[out], upper[out] = case.values[out], case.values[out]
    low, high = ends(case, work.out)
    lower, upper = np.maximum(lower, low), np.minimum(upper, high)
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
    margin would tell what it hides. Nor is a zero that was only found in the data.
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
    coded = Coded.of(work.stated, sheets)
    margins = [coded.margin(sheet) for sheet in out]
    for sheet in case.system.sheets:
        coded.margin(sheet)
    release = Release.margins(coded.table, [m for m in margins if m])
    drawn = perturb_release(
        release, seed=seed,
        effort=work.effort, seconds=work.clock,
    )  # fmt: skip
    values = _printed_of(drawn.table(), case, coded)
    parameters = {"kept": str(drawn.kept), "silent": drawn.silent, "drawn": drawn.method}
    made = Masked(case.system, values, "perturb", parameters, None, True, drawn.said)
    return case, _drawn(made, seed)


def _printed_of(table: Any, case: SheetCase, coded: Coded) -> Floats:
    """What the sheets of a case show of another table of the same people."""
    plain = System.of(case.system.sheets)
    codes = {}
    for name in plain.variables:
        variable, first = coded.base(name)
        codes[name] = first[table.codes[:, table.axes.place[variable]]]
    found, values = (
        plain.sums @ plain.fine(codes, table.counts.astype(float)),
        np.zeros(plain.cells),
    )
    for own, rows in zip(plain.places, case.system.places, strict=True):
        values[rows] = found[own]
    return values


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
    "suppress": hide,
    "round": _round,
    "cell-key": _cell_key,
    "perturb": _perturb,
    "merge": _merge,
}

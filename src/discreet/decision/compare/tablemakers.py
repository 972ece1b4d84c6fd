"""Masks of a table that print some sums of it, as they are or in a range."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.decision.batch.masking import MaskedBatch, mask
from discreet.decision.compare.cellbeliefs import Asked, Believed, certain, fitting
from discreet.decision.compare.noisemakers import cell_key, private, synthesise
from discreet.decision.compare.printedbeliefs import (
    as_printed,
    cell_rows,
    coded,
    known_total,
    printed_belief,
    ranges,
    sheets_frame,
)
from discreet.decision.compare.rowbeliefs import Seen, seen_rows
from discreet.decision.compare.tablecandidate import TableCandidate
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, OptionError
from discreet.masks.masked import Masked
from discreet.masks.perturb import perturb as drawn_like
from discreet.release.printed import Printed
from discreet.release.release import Release
from discreet.sheets.grouping import TOTAL, Grouping
from discreet.sheets.reading import formula_sheets
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System
from discreet.table.notation import quoted
from discreet.table.table import Table

Maker = Callable[..., TableCandidate]
KINDS = ("controlled", "unbiased", "conventional", "random")
CHOSEN = "which cells are hidden beside the small ones is chosen by their counts, and may tell more"
RANGES = "only the range of each printed cell is used; how the rounding was chosen may tell more"


def whole(asked: Asked, policy: Policy, rng: np.random.Generator) -> TableCandidate:
    """The table itself."""
    table = asked.table
    verdict = decide(table, [table.names], policy).verdict
    return TableCandidate.of(
        "whole", asked, certain(asked), table.to_frame(zeros=True), {}, verdict=verdict
    )


def margins(
    asked: Asked, policy: Policy, rng: np.random.Generator, *, release: str
) -> TableCandidate:
    """Margins as they are."""
    made = Release.margins(asked.table, release)
    return TableCandidate.of(
        "margins",
        asked,
        fitting(made, asked, rng),
        _margin_frame(made, asked.table),
        {"release": release},
        verdict=decide(asked.table, made, policy).verdict,
    )


def perturb(asked: Asked, policy: Policy, rng: np.random.Generator, *, keep: str) -> TableCandidate:
    """A table drawn from the margins that are kept, which tells no more than these do."""
    release = Release.margins(asked.table, keep)
    drawn = drawn_like(asked.table, release, seed=int(rng.integers(2**62)))
    table = drawn.table()
    return TableCandidate.of(
        "perturb",
        asked,
        fitting(release, asked, rng),
        table.to_frame(zeros=True),
        {"keep": keep},
        verdict=decide(asked.table, release, policy).verdict,
        estimate=table.dense().ravel().astype(np.float64),
        said=drawn.said,
    )


def suppress(
    asked: Asked,
    policy: Policy,
    rng: np.random.Generator,
    *,
    release: str | None = None,
    optimal: bool = False,
    costs: str = "value",
    known: float | None = None,
) -> TableCandidate:
    """Tables with gaps, as `discreet mask` makes them."""
    options = {"optimal": optimal, "costs": costs, "known": known}
    made = _batch(asked, policy, "suppress", release, **options)
    believed = printed_belief(_printed(made), asked, rng).saying(CHOSEN)
    return _of_sheets("suppress", asked, made, believed, {"release": release} | options)


def round_(
    asked: Asked,
    policy: Policy,
    rng: np.random.Generator,
    *,
    release: str | None = None,
    base: int = 3,
    kind: str = "controlled",
) -> TableCandidate:
    """Tables in multiples of a base."""
    if kind not in KINDS:
        raise OptionError(f"kind is {kind!r}; choose {', '.join(KINDS)}.")
    if not isinstance(base, int) or base < 2:
        raise OptionError(f"base is {base!r}; counts are rounded to a whole number from 2 on.")
    options: dict[str, Any] = {"base": base, "kind": kind}
    made = _batch(asked, policy, "round", release, seed=int(rng.integers(2**62)), **options)
    if kind == "random":
        believed = seen_rows(_rounded(made.masked[0], asked, base), asked, rng)
    else:
        believed = printed_belief(_printed(made), asked, rng)
    if kind in ("controlled", "unbiased"):
        believed = believed.saying(RANGES)
    return _of_sheets("round", asked, made, believed, {"release": release} | options)


def merge(
    asked: Asked,
    policy: Policy,
    rng: np.random.Generator,
    *,
    release: str | None = None,
    merge: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> TableCandidate:
    """Fewer categories: those named, or the levels of hierarchies that the rules allow."""
    if merge is None:
        made = _batch(asked, policy, "merge", release)
        believed = printed_belief(_printed(made), asked, rng)
        return _of_sheets("merge", asked, made, believed, {"release": release})
    if release is not None:
        raise OptionError("name the categories to merge, or a release, not both.")
    table = asked.table
    groups = _groups(table, merge)
    sheet = Sheet(
        "merged", tuple(Grouping.cut(v, groups[v.name], total=False) for v in table.variables)
    )
    system, records = System.of([sheet]), Records.of_table(table)
    values = system.sums @ system.fine(records.codes, records.people.astype(np.float64))
    printed = Printed.exact(system, values)
    beside, told = coded(printed, asked)
    masked = Masked(system, values, "merge", {}, printed)
    return TableCandidate.of(
        "merge",
        asked,
        fitting(told, asked, rng),
        sheets_frame([masked], table.names, TOTAL).drop(columns="table"),
        {"merge": {name: [list(one) for one in merged] for name, merged in merge.items()}},
        verdict=decide(beside, told, policy).verdict,
    )


TABLE_METHODS: dict[str, Maker] = {
    "whole": whole,
    "margins": margins,
    "suppress": suppress,
    "round": round_,
    "merge": merge,
    "cell-key": cell_key,
    "perturb": perturb,
    "synthesise": synthesise,
    "private": private,
}


def _batch(
    asked: Asked, policy: Policy, method: str, release: str | None, **options: Any
) -> MaskedBatch:
    formula = release or "*".join(map(quoted, asked.table.names))
    records, sheets = formula_sheets(asked.table, formula)
    return mask(records, sheets, policy, method=method, **options)


def _printed(made: MaskedBatch) -> Printed:
    printed = made.masked[0].printed
    assert printed is not None
    return printed


def _of_sheets(
    method: str,
    asked: Asked,
    made: MaskedBatch,
    believed: Believed,
    parameters: Mapping[str, Any],
) -> TableCandidate:
    masked = made.masked[0]
    return TableCandidate.of(
        method,
        asked,
        believed,
        sheets_frame(made.masked, asked.table.names, TOTAL),
        parameters,
        verdict=made.verdict,
        estimate=as_printed(masked, asked, believed),
        said=made.said,
    )


def _rounded(masked: Masked, asked: Asked, base: int) -> Seen:
    """p(shown | true) of every row: each is rounded by itself."""
    from discreet.masks.rounding.simple import chances

    assert masked.printed is not None
    rows, total = cell_rows(masked.system, asked), asked.table.total
    shown = np.flatnonzero(~np.isnan(masked.values))
    seen = ranges(known_total(masked.printed, rows, total), rows, total)
    seen = Seen(rows[shown], seen.low[shown], seen.high[shown])
    logs = []
    for low, high, value in zip(seen.low, seen.high, masked.values[shown], strict=True):
        with np.errstate(divide="ignore"):
            logs.append(np.log(chances(np.arange(low, high + 1), base, value)))
    return dataclasses.replace(seen, logs=np.concatenate(logs))


def _groups(
    table: Table, merge: Mapping[str, Sequence[Sequence[str]]]
) -> dict[str, dict[str, list[str]]]:
    """The categories of each group of every variable; what is not named stays alone."""
    found = {}
    table.axes.places(merge)
    for variable in table.variables:
        of: dict[str, list[str]] = {}
        for group in merge.get(variable.name, ()):
            members = [variable.categories[variable.code(category)] for category in group]
            for category in members:
                if category in of:
                    raise DataError(f"{category!r} of {variable.name!r} is in two groups.")
                of[category] = members
        own = {c: of.get(c, [c]) for c in variable.categories}
        found[variable.name] = {" or ".join(m): m for m in own.values()}
    return found


def _margin_frame(release: Release, table: Table) -> Any:
    import pandas as pd

    parts = []
    for one in release.tables:
        part = one.to_frame(zeros=True)
        for name in table.names:
            part[name] = part[name].astype(str) if name in one.names else TOTAL
        part = part[[*table.names, "count"]]
        part.insert(0, "table", "*".join(one.names))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)

"""What a policy demands of the cells of sheets: which are not printed, and how open they stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats, Ints
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.attribute import NAME as ATTRIBUTE
from discreet.decision.law.rules.categories import NAME as HIDDEN
from discreet.decision.law.rules.categories import visible
from discreet.decision.law.rules.published import least_by_margin
from discreet.errors import PolicyError
from discreet.risk.cells.sensitive import (
    Sensitive,
    Weighting,
    dominance,
    few_zeros,
    p_percent,
    requested,
    too_few,
)
from discreet.sheets.contributions import Contributions
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Measure, Sheet, Status


@dataclass(frozen=True, eq=False)
class Demand:
    """A rule: none of these cells is printed, and what follows of each is wide enough.

    An interval must reach from `low` to `high`, and be `width` wide. Of cells in `group` a printed
    total is what they are a share of.
    """

    rule: str
    cells: Ints
    low: Floats
    high: Floats
    width: Floats
    why: str
    group: Ints | None = None

    def take(self, kept: NDArray[np.bool_]) -> Demand:
        return Demand(
            self.rule, self.cells[kept], self.low[kept], self.high[kept], self.width[kept],
            self.why, None if self.group is None else self.group[kept],
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"Demand({self.rule}: {len(self):,} cells)"


Finder = Callable[[Contributions, Policy], Demand | None]


def demands(cells: Contributions, policy: Policy) -> tuple[Demand, ...]:
    """Of every rule that has something to say of these cells."""
    found = (find(cells, policy) for find in FINDERS)
    return tuple(demand for demand in found if demand is not None and len(demand))


def check_asked(measure: Measure, policy: Policy) -> None:
    """A policy without a rule for sums judges none; counts the law always has a rule for."""
    rule = policy.contributors
    some = rule.least > 1 or rule.p > 0 or rule.n > 0 or measure.request
    if measure.value is not None and not (some or policy.categories.hidden):
        raise PolicyError(
            f"the policy {policy.name!r} asks no rule of the {measure}; nothing is judged by it."
        )


def _counts(cells: Contributions) -> bool:
    return cells.measure.value is None


def _of(rule: str, chosen: Ints, cells: Contributions, width: float, why: str) -> Demand:
    """Cells whose intervals hold `width` people more than the least; of sums, as much."""
    values = cells.values[chosen]
    widths = width * cells.person[chosen] if _counts(cells) else np.full(len(chosen), float(width))
    return Demand(rule, chosen, values, values, widths, why)


def published(cells: Contributions, policy: Policy) -> Demand | None:
    """Counts: no printed cell of fewer people than `published.least`, no zero if that is said."""
    if not _counts(cells):
        return None
    rule, number = policy.published, cells.number[: cells.printed]
    least = _leasts(cells, max(rule.least, 1))
    for names, own in least_by_margin(rule.tables).items():
        for sheet, rows in _printed(cells):
            place = _of_margin(sheet, rows, names)
            least[place] = np.maximum(least[place], own)
    low = (number > 0) & (number < least)
    if rule.zeros:
        low |= (number == 0) & (least > 0) & cells.possible[: cells.printed]
    why = f"fewer than {rule.least:,}" if rule.least > 1 else "too small"
    return _of(
        "published cells", np.flatnonzero(low), cells, policy.small.width,
        f"{why}{' or empty' * rule.zeros}",
    )  # fmt: skip


def _printed(cells: Contributions) -> Iterator[tuple[Sheet, Ints]]:
    """The sheets that are printed, and their rows."""
    for sheet, rows in zip(cells.system.sheets, cells.system.places, strict=True):
        if sheet.status is not Status.WATCHED:
            yield sheet, rows


def _leasts(cells: Contributions, usual: int) -> Ints:
    """Of each printed row what the policy asks, or more if its sheet does; 0 if it is watched."""
    found = np.zeros(cells.printed, np.int64)
    for sheet, rows in _printed(cells):
        own = rows.ravel()
        found[own] = np.maximum(found[own], max(sheet.least, usual))
    return found


def _of_margin(sheet: Sheet, rows: Ints, names: tuple[str, ...]) -> Ints:
    """The rows that are cells of a margin: of its variables some line, of all others the total."""
    known = {g.name for g in sheet.groupings} | {g.name for g in sheet.where}
    filtered = {g.name for g in sheet.where if not g.members.all()}
    if not filtered <= {*names} <= known:
        return np.zeros(0, np.int64)
    lines = [
        g.members.all(1) == (g.name not in names or g.variable.size == 1) for g in sheet.groupings
    ]
    return rows[np.ix_(*lines)].ravel()


def small(cells: Contributions, policy: Policy) -> Demand | None:
    """Counts: small ones that identify keep a width, also where no sheet prints them."""
    if not _counts(cells) or not policy.small.width:
        return None
    most = policy.small.most
    low = (cells.number > 0) & (cells.number <= most)
    guarded = np.zeros(len(low), bool)
    guarded[cells.printed :] = _identifying(cells)
    for sheet, rows in zip(cells.system.sheets, cells.system.places, strict=True):
        if all(g.variable.role.identifies or g.members.all() for g in sheet.where):
            # also totals over what identifies nobody
            known = [g.members.all(1) | g.variable.role.identifies for g in sheet.groupings]
            guarded[rows[np.ix_(*known)].ravel()] = True
    return _of(
        "small counts", np.flatnonzero(low & guarded), cells, policy.small.width,
        f"from 1 to {most:,}",
    )  # fmt: skip


def _identifying(cells: Contributions) -> NDArray[np.bool_]:
    """Fine cells that no sheet prints, of variables that all identify."""
    by_name = cells.system.variables
    found = np.zeros(cells.system.columns, bool)
    for part in cells.system.parts:
        if all(by_name[name].role.identifies for name in part.names):
            found[part.start : part.start + part.size] = True
    return found[cells.open_columns]


def hidden(cells: Contributions, policy: Policy) -> Demand | None:
    """Categories that may not be shown: lines of nothing else, printed or not.

    Of sums `contributors.range` percent stay open either way.
    """
    system = cells.system
    shut, fine = np.zeros(len(cells.values), bool), np.zeros(system.columns, bool)
    for name, shown in visible(policy, cells.table):
        for one in system.joined:
            own = [shown[v.name][:, one.codes[v.name]] for v in one.parts]
            shown[one.variable.name] = np.logical_and.reduce(own)
        for sheet, rows in zip(system.sheets, system.places, strict=True):
            others = _others((*sheet.groupings, *sheet.where), shown, name)
            shut[rows[~others.reshape(rows.shape)]] = True
        for part in system.parts:
            pairs = zip(part.names, part.atoms, strict=True)
            classes = [Grouping.classes(system.variables[n], atoms) for n, atoms in pairs]
            fine[part.start : part.start + part.size] |= ~_others(classes, shown, name).ravel()
    shut[cells.printed :] = fine[cells.open_columns]
    shut &= cells.number > 0
    asked = _of(HIDDEN, np.flatnonzero(shut), cells, policy.small.width, "not to be shown")
    if _counts(cells):
        return asked
    reach = policy.contributors.range / 100 * np.where(asked.low > 0, asked.low, cells.usual)
    return replace(asked, low=np.maximum(asked.low - reach, 0.0), high=asked.high + reach)


def _others(groupings: Sequence[Grouping], shown: Mapping[str, Bools], name: str) -> Bools:
    """Which cells can have people of a category of a variable that is not hidden."""
    found = np.zeros([len(g) for g in groupings], bool)
    for place in range(len(shown[name])):
        seen = [np.asarray(g.members[:, shown[g.name][place]].any(1)) for g in groupings]
        found |= _outer(seen)
    return found


def _outer(seen: Sequence[Bools]) -> Bools:
    """Every choice of one each: are all of them true?"""
    found = np.ones((), bool)
    for own in seen:
        found = found[..., None] & own
    return found


def attribute(cells: Contributions, policy: Policy) -> Demand | None:
    """Counts: no printed line of a sheet tells a sensitive category of everybody in it."""
    rule = policy.attribute
    if not _counts(cells) or not rule.check:
        return None
    found: dict[int, tuple[float, float, int]] = {}
    possible = cells.system.sums @ (~cells.system.closed).astype(float)  # fine cells of each row
    for here, total in sensitive_lines(cells):
        own, size = cells.number[here], cells.number[total]
        told = (own >= rule.share * size - 1e-9) & (size > 0)
        absent = (own == 0) & (size > 0) & rule.exclusion
        told &= possible[here] < possible[total]  # nobody there can be anything else
        absent &= possible[here] > 0
        for place in np.flatnonzero(told | absent).tolist():
            row, count = int(here[place]), float(own[place])
            if count == 0:
                ends = (np.inf, float(cells.person[total[place]]))
            elif cells.measure.weight is None:
                ends = _below(rule.share * size[place]), count
            else:
                most = rule.share * cells.values[total[place]]
                ends = min(most, cells.values[row]) * (1 - 1e-9), float(cells.values[row])
            before = found.get(row, (np.inf, -np.inf, 0))
            found[row] = (min(ends[0], before[0]), max(ends[1], before[1]), int(total[place]))
    if not found:
        return None
    chosen = np.array(sorted(found))
    low = np.array([found[cell][0] for cell in chosen.tolist()])
    high = np.array([found[cell][1] for cell in chosen.tolist()])
    low = np.where(np.isfinite(low), low, cells.values[chosen])
    groups = np.array([found[cell][2] for cell in chosen.tolist()])
    why = f"{rule.share:.0%} of a line or more{', or none of it' * rule.exclusion}"
    return Demand(ATTRIBUTE, chosen, low, high, np.zeros(len(chosen)), why, groups)


def _below(count: float) -> float:
    """The largest whole number below."""
    return float(np.ceil(count - 1e-9) - 1)


def sensitive_lines(cells: Contributions) -> Iterator[tuple[Ints, Ints]]:
    """The rows of every sensitive category that a sheet shows, and those of its totals.

    Of variables that identify nobody only the total counts.
    """
    for sheet, rows in zip(cells.system.sheets, cells.system.places, strict=True):
        if sheet.status is Status.WATCHED:
            continue
        for axis, grouping in enumerate(sheet.groupings):
            size, codes = grouping.variable.size, set(grouping.variable.sensitive_codes)
            group = _groups(sheet, rows, axis)
            whole = _wholes(grouping)
            for i, line in enumerate(grouping.lines):
                if whole and line.codes <= codes and len(line.codes) < size:
                    yield group.take(i, axis).ravel(), group.take(whole[0], axis).ravel()


def _groups(sheet: Sheet, rows: Ints, axis: int) -> Ints:
    """The rows of groups that an intruder can observe."""
    for other, grouping in enumerate(sheet.groupings):
        if other != axis and not grouping.variable.role.identifies:
            rows = rows.take(_wholes(grouping), other)
    return rows


def _wholes(grouping: Grouping) -> list[int]:
    size = grouping.variable.size
    return [i for i, line in enumerate(grouping.lines) if len(line.codes) == size]


def lines_without_totals(sheets: Iterable[Sheet]) -> bool:
    """May a sheet tell a sensitive category that it has no line for, or of no total?"""
    for sheet in sheets:
        for grouping in sheet.groupings:
            own = {next(iter(line.codes)) for line in grouping.lines if len(line.codes) == 1}
            if set(grouping.variable.sensitive_codes) - own:
                return True
        sensitive = any(g.variable.sensitive_codes for g in (*sheet.groupings, *sheet.where))
        if sensitive and (sheet.where or not all(map(_wholes, sheet.groupings))):
            return True
    return False


def zeros_may_be_hidden(cells: Contributions, policy: Policy) -> NDArray[np.bool_]:
    """Printed rows that a rule hides if they are empty, as everybody knows."""
    found = np.full(cells.printed, policy.published.zeros)
    if policy.attribute.check and policy.attribute.exclusion:
        for here, _ in sensitive_lines(cells):
            found[here] = True
    return found


def _contributors(cells: Contributions, found: Sensitive, why: str, width: float = 0.0) -> Demand:
    chosen = np.flatnonzero(found.cells)
    value, reach = cells.values[chosen], found.reach[chosen]
    return Demand(
        found.rule, chosen, np.maximum(value - reach, 0.0), value + reach,
        np.full(len(chosen), width), why,
    )  # fmt: skip


def contributors(cells: Contributions, policy: Policy) -> Demand | None:
    """Sums: at least so many contributors."""
    rule = policy.contributors
    if _counts(cells):
        return None
    least = np.full(len(cells.values), rule.least)
    least[: cells.printed] = np.maximum(rule.least, _leasts(cells, rule.least))
    if least.max() <= 1:
        return None
    found = too_few(cells, least, percent=rule.range, zeros=policy.published.zeros)
    return _contributors(cells, found, f"{_fewer(least)} contributors")


def zeros(cells: Contributions, policy: Policy) -> Demand | None:
    """Sums: a 0 that tells the 0 of each of a few."""
    rule = policy.contributors
    if _counts(cells) or not rule.zeros:
        return None
    least = np.full(len(cells.values), rule.least)
    least[: cells.printed] = np.maximum(rule.least, _leasts(cells, rule.least))
    found = few_zeros(cells, least, percent=rule.range)
    return _contributors(cells, found, f"{_fewer(least)} are there, with 0 each")


def sensitive_zeros(cells: Contributions, policy: Policy) -> Demand | None:
    """Sums of a value that is sensitive: a 0 tells that of each who is there."""
    if not cells.sensitive or not policy.attribute.check:
        return None
    everybody = int(cells.present.max(initial=0)) + 1
    found = few_zeros(cells, everybody, percent=policy.contributors.range)
    found = replace(found, rule=ATTRIBUTE)
    return _contributors(cells, found, "all who are there have 0, and the value is sensitive")


def _fewer(least: Ints) -> str:
    return f"fewer than {least.max():,}" if least.min() == least.max() else "too few"


def dominated(cells: Contributions, policy: Policy) -> Demand | None:
    """Sums: (n, k) dominance."""
    rule = policy.contributors
    if _counts(cells) or not rule.n:
        return None
    found = dominance(cells, rule.n, rule.k, Weighting(rule.weights))
    return _contributors(cells, found, f"{rule.n} with more than {rule.k:g}%")


def told_closely(cells: Contributions, policy: Policy) -> Demand | None:
    """Sums: p% and pq."""
    rule = policy.contributors
    if _counts(cells) or not rule.p:
        return None
    found = p_percent(
        cells, rule.p, q=rule.q, coalition=rule.coalition, weighting=Weighting(rule.weights)
    )
    return _contributors(cells, found, f"the largest is told to within {rule.p:g}%")


def on_request(cells: Contributions, policy: Policy) -> Demand | None:
    """Sums: somebody asked."""
    rule = policy.contributors
    if _counts(cells) or not cells.measure.request:
        return None
    found = requested(cells, rule.request, percent=rule.range)
    return _contributors(cells, found, f"{rule.request:g}% or more are of somebody who asked")


FINDERS: tuple[Finder, ...] = (
    published, small, hidden, attribute, contributors, zeros, sensitive_zeros, dominated,
    told_closely, on_request,
)  # fmt: skip

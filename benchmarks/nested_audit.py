"""What somebody works out of printed tables who knows what everybody knows, by linear programs.

Shares no code with the program: fine cells are made here, and every interval is found by HiGHS. An
intruder's knowledge comes in steps, so that a wrong PASS names what it takes: the tables alone
(`plain`), with what the codebook states (`stated`), with how the columns lie in each other
(`nested`), with the equation between sums or between counts and weights (`equation`), with empty
cells of counts as empty cells of sums (`empty`). Whoever is alone in a cell knows it (`alone`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nested_batches import Asked, Batch
from nested_known import CLOSE, Cell, Program, Space
from nested_rules import Floats, Guarded, Measure, Rules, cells_of

MOST_FINE = 6_000
COUNT: Measure = (None, None)


@dataclass(frozen=True)
class Shown:
    """A printed line: whom it counts or adds up, and between what its value lies."""

    table: Asked
    cell: Cell
    low: float
    high: float


@dataclass(frozen=True)
class Finding:
    """A cell that is known too closely, by whom, and what was promised."""

    step: str
    alone: bool
    measure: Measure
    guarded: Guarded
    low: float
    high: float
    promised: str

    @property
    def rule(self) -> str:
        return self.guarded.rule

    @property
    def cell(self) -> Cell:
        return self.guarded.cell

    def said(self) -> str:
        whom = ", ".join(f"{c}={'|'.join(sorted(s))}" for c, s in self.cell.items()) or "all"
        value, weight = self.measure
        what = f"{value or 'counts'}{' weighted' if weight else ''}"
        return (
            f"[{self.step}{'+alone' * self.alone}] {what}: {self.rule}: {whom} is "
            f"{self.guarded.value:g}, known to lie in [{self.low:.6g}, {self.high:.6g}], promised "
            f"{self.promised}{'' if self.guarded.printed else ' (no line of the list)'}"
        )


@dataclass
class Audit:
    """Findings, and what could not be settled."""

    findings: list[Finding] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    guarded: int = 0
    programs: int = 0

    @property
    def verdict(self) -> str:
        """`joint`: only sums of cells that no table divides as finely, which nothing promises."""
        if any(not one.rule.endswith(" joint") for one in self.findings):
            return "unsafe"
        return "undecided" if self.undecided else "joint" if self.findings else "safe"


@dataclass(frozen=True)
class System:
    """Fine cells of some measures, one block behind the other, and what is printed of them."""

    measures: list[Measure]
    space: Space
    program: Program

    def sums(self, cell: Cell, measure: Measure) -> Floats:
        """A cell of a measure as a sum of fine cells."""
        found = np.zeros((len(self.measures), self.space.size))
        found[self.measures.index(measure)] = self.space.mask(cell)
        return found.ravel()


class Auditor:
    """One batch and what is printed of it."""

    def __init__(self, batch: Batch, shown: list[Shown]) -> None:
        self.batch, self.shown, self.rules = batch, shown, Rules(batch)
        self._protected: dict[Measure, list[Guarded]] = {}
        self.measures = list(dict.fromkeys(line.table.measure for line in shown))

    def audit(self) -> Audit:
        """With all that is public; then what each finding takes."""
        found = Audit()
        steps = self._steps()
        for group in self._together(steps[-1]):
            self._look(group, steps[-1], found)
        found.findings.sort(key=lambda one: one.rule.endswith(" joint"))
        found.findings = [self._least(one, steps) for one in found.findings[:12]]
        return found

    def _steps(self) -> list[str]:
        """Those that make a difference here."""
        steps = ["plain", "stated", "nested"]
        if self._ties(self.measures, 1):
            steps.append("equation")
        if COUNT in self.measures and any(value for value, _ in self.measures):
            steps.append("empty")
        return steps

    def _together(self, step: str) -> list[list[Measure]]:
        """Measures that an intruder of this step sees as one."""
        if step not in ("equation", "empty"):
            return [[one] for one in self.measures]
        return [self.measures]

    def _least(self, one: Finding, steps: list[str]) -> Finding:
        for step in steps:
            again = Audit()
            for group in self._together(step):
                if one.measure in group:
                    self._look(group, step, again, only=one)
            if again.findings:
                return next((f for f in again.findings if not f.alone), again.findings[0])
        return one

    # What is printed of some measures, as one system

    def _look(
        self, measures: list[Measure], step: str, found: Audit, only: Finding | None = None
    ) -> None:
        seen = self._seen(measures, step)
        if seen is None:
            found.undecided.append("too many fine cells")
            return
        for measure in measures:
            for guarded in self._guarded(measure, only):
                found.guarded += 1
                self._add(found, seen, guarded, measure, step)
            if measure[0] and self.batch.policy["contributors.alone"]:
                self._by_contributors(measures, measure, step, found, only)
        found.programs += seen.program.programs

    def _seen(
        self, measures: list[Measure], step: str, known: Sequence[Shown] = ()
    ) -> System | None:
        lines = [line for line in self.shown if line.table.measure in measures]
        used = (c for x in lines for c in (*x.table.columns, *(x.table.where or ())))
        space = Space(self.batch, tuple(dict.fromkeys(used)), step)
        if space.size * len(measures) > MOST_FINE:
            return None
        rows: dict[bytes, list[Any]] = {}
        for line in (*lines, *known):
            row = np.zeros((len(measures), space.size))
            row[measures.index(line.table.measure)] = space.mask(line.cell)
            _, low, high = rows.setdefault(row.tobytes(), [row.ravel(), 0.0, np.inf])
            rows[row.tobytes()][1:] = max(low, line.low), min(high, line.high)
        most = np.full((len(measures), space.size), np.inf)
        for row, _, high in rows.values():
            if high == 0:
                most[row.reshape(most.shape) > 0] = 0.0
        if step == "empty" and COUNT in measures:
            most[:, most[measures.index(COUNT)] == 0] = 0.0
        ties = self._ties(measures, space.size) if step in ("equation", "empty") else []
        every = [*rows.values(), *([tie, 0.0, 0.0] for tie in ties)]
        matrix, lower, upper = (np.array(part) for part in zip(*every, strict=True))
        truth = [
            np.bincount(space.of_record, self.rules.amounts(measure), space.size)
            for measure in measures
        ]
        whole = np.repeat([measure == COUNT for measure in measures], space.size)
        program = Program(matrix, lower, upper, most.ravel(), np.concatenate(truth), whole)
        return System(measures, space, program)

    def _ties(self, measures: list[Measure], cells: int) -> list[Floats]:
        """Fine cell by fine cell: turnover is domestic and export, a weight times people."""
        found = []
        parts = [{("Turnover", None): 1.0, ("Domestic", None): -1.0, ("Export", None): -1.0}]
        if equal := self.batch.weights_equal:
            parts += [{(v, "Weight"): 1.0, (v, None): -equal} for v in (None, "Turnover")]
        for tie in parts:
            if set(tie) <= set(measures):
                for cell in range(cells):
                    row = np.zeros((len(measures), cells))
                    for measure, factor in tie.items():
                        row[measures.index(measure), cell] = factor
                    found.append(row.ravel())
        return found

    def _guarded(self, measure: Measure, only: Finding | None) -> list[Guarded]:
        """What the rules protect, or the cell of one finding again."""
        if measure not in self._protected:
            self._protected[measure] = list(self.rules.guarded(measure))
        every = self._protected[measure]
        if only is None:
            return every
        return [one for one in every if (one.rule, one.cell) == (only.rule, only.cell)]

    def _by_contributors(
        self, measures: list[Measure], measure: Measure, step: str, found: Audit,
        only: Finding | None,
    ) -> None:  # fmt: skip
        """Each who is alone in hidden cells knows them."""
        hidden: dict[int, list[Shown]] = {}
        for line in self.shown:
            if line.table.measure == measure and line.low < line.high:
                names, _ = self.rules.contributions(measure, self.batch.people(line.cell))
                if len(names) == 1:
                    value = float(self.rules.amounts(measure)[self.batch.people(line.cell)].sum())
                    told = Shown(line.table, line.cell, value, value)
                    hidden.setdefault(int(names[0]), []).append(told)
        before = {(f.measure, f.rule, frozenset(f.cell.items())) for f in found.findings}
        for who, known in hidden.items():
            seen = self._seen(measures, step, known)
            assert seen is not None
            for guarded in self._guarded(measure, only):
                key = measure, guarded.rule, frozenset(guarded.cell.items())
                if guarded.alone != who and guarded.rule != "zeros" and key not in before:
                    self._add(found, seen, guarded, measure, step, alone=True)
            found.programs += seen.program.programs

    # One cell

    def _add(
        self, found: Audit, seen: System, guarded: Guarded, measure: Measure, step: str, *,
        alone: bool = False,
    ) -> None:  # fmt: skip
        """What is known of a cell, if it is more than the policy promises, or not settled."""
        whole = measure == COUNT and self.batch.policy.get("bounds.proof") != "linear"
        told = _told(seen, guarded, measure, whole)
        if told is None:
            found.undecided.append(f"{guarded.rule} of {dict(guarded.cell)}")
        elif told[2]:
            found.findings.append(Finding(step, alone, measure, guarded, *told[:2], told[2]))


def _told(
    seen: System, guarded: Guarded, measure: Measure, whole: bool
) -> tuple[float, float, str] | None:
    """Ends of a cell, and what was promised instead; None if that was not settled."""
    sums, program = seen.sums(guarded.cell, measure), seen.program
    if guarded.rule == "attribute":
        size = seen.sums(guarded.group or {}, measure)
        if not (size > sums).any():
            return 0.0, 0.0, ""  # it cannot be otherwise
        ends = program.ends(sums - guarded.width * size, -2 * CLOSE, -np.inf, whole)
        kept, promised = ends and ends[0] < -CLOSE, f"less than {guarded.width:g} of the group"
    elif guarded.rule == "exclusion":
        if not sums.any():
            return 0.0, 0.0, ""
        least = 1 - CLOSE if whole else 10 * CLOSE
        ends = program.ends(sums, np.inf, least, whole)
        kept, promised = ends and ends[1] >= least - CLOSE, "that somebody may be there"
    elif guarded.width:
        ends = program.width(sums, guarded.width, whole)
        kept = ends and ends[1] - ends[0] >= guarded.width - CLOSE
        promised = f"a width of {guarded.width:g}"
    else:
        ends = program.ends(sums, guarded.low, guarded.high, False)
        slack = 1e-5 * max(1.0, guarded.high)
        kept = ends and ends[0] <= guarded.low + slack and ends[1] >= guarded.high - slack
        promised = f"{guarded.low:.6g} to {guarded.high:.6g}"
    return None if ends is None else (*ends, "" if kept else promised)


def as_it_is(batch: Batch) -> list[Shown]:
    """Every table of the list, as `assess` judges it."""
    found = []
    for table in batch.tables:
        data = batch.data
        amounts = data[table.value].to_numpy(float) if table.value else np.ones(len(data))
        if table.weight:
            amounts = amounts * data[table.weight].to_numpy(float)
        for cell in cells_of(batch, table):
            value = float(amounts[batch.people(cell)].sum())
            found.append(Shown(table, cell, value, value))
    return found

"""A verdict for each sheet, who is to blame, one for all together, and what can go."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from discreet.decision.batch.bylaw import joined, judge_by_law, unjudged
from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.classes import told_by_classes
from discreet.decision.batch.judged import Batch, Blame, Judged, first_reason
from discreet.decision.batch.larger import told_by_larger
from discreet.decision.batch.measures import Tie, doubts, said_of, ties
from discreet.decision.batch.out import Out, as_it_is, check_out, ends, unknown
from discreet.decision.batch.reasons import Looked
from discreet.decision.batch.sums_that_tell import measures_that_tell, sums_that_tell
from discreet.decision.batch.suspected import Suspicion, stricter, supposing, suspicions, worlds
from discreet.decision.batch.unions import with_unions
from discreet.decision.law.assess import provenance_of
from discreet.decision.law.names import absent, names_in_doubt
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.categories import hidden_categories
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.release.printed import Printed
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet, Status

MOST_TRIED = 200  # sets of sheets, to find the largest part


def judge_batch(
    records: Records,
    sheets: Iterable[Sheet],
    policy: Policy | None = None,
    *,
    out: Out | None = None,
    data: str | Path | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Batch:
    """Each sheet alone and all together, with those that are out.

    `out` says what is printed of sheets that are out behind a mask: values, nan where nothing is,
    or what is known of them (`Behind`).

    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> found = judge_batch(records, sheets)
    >>> found
    Batch(FAIL: 1 of 2 tables pass by themselves, 1 can go together)
    >>> found.part, found.proven
    (('Gender*Income',), True)
    """
    sheets, policy, clock = tuple(sheets), policy or Policy(), Clock.of(seconds)
    check_sheets(sheets)
    judge = Judge(records, sheets, policy, effort, clock, out or {})
    wanted = [i for i, sheet in enumerate(sheets) if sheet.status is Status.WANTED]
    if not wanted:
        raise DataError("every table of the batch is out already; name one that is wanted.")
    before = [i for i in range(len(sheets)) if i not in wanted]
    each = [judge.sheets([i]) for i in wanted]
    together = judge.sheets([*before, *wanted])
    good = [i for i, one in zip(wanted, each, strict=True) if one.verdict is not Verdict.FAIL]
    part, part_judged, conflicts, proven = judge.largest(good, before)
    return Batch(
        sheets,
        policy,
        tuple(each),
        together,
        tuple(conflicts),
        tuple(sheets[i].name for i in part),
        part_judged,
        proven,
        provenance_of(records.table, data),
        judge.said(),
        clock.sentence("tables that were not looked at are in doubt", "Allow more seconds."),
        tuple(judge.cases.values()),
        tuple(judge.looks),
    )


def check_sheets(sheets: Sequence[Sheet]) -> None:
    """Names are used once, and the same figures have the same contributors everywhere."""
    names = [sheet.name for sheet in sheets]
    if not names:
        raise DataError("the batch has no table; name at least one.")
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"two tables are called {twice[0]!r}; rename one.")
    measures: dict[tuple[str | None, str | None], Measure] = {}
    for sheet in sheets:
        own = sheet.measure
        if measures.setdefault(own.printed, own) != own:
            raise DataError(
                f"table {sheet.name!r} shows the {own} like others, with another holding, shadow "
                "or request; say the same for all of them."
            )


class Judge:
    """Judges sets of the sheets of a batch; what was built for one serves the next."""

    def __init__(
        self,
        records: Records,
        sheets: Sequence[Sheet],
        policy: Policy,
        effort: float,
        clock: Clock,
        out: Out,
        suspect: bool = True,
    ) -> None:
        self.records, self.all, self.policy, self.out = records, sheets, policy, out
        self.effort, self.clock = effort, clock
        self.cases: dict[Measure, SheetCase] = {}
        self.places: dict[int, int] = {}  # of a sheet in its case
        self.looks: list[Looked] = []  # at all sheets of a measure together
        for measure in dict.fromkeys(sheet.measure for sheet in sheets):
            own = [i for i, sheet in enumerate(sheets) if sheet.measure == measure]
            self.cases[measure] = SheetCase.of(records, [sheets[i] for i in own], measure, policy)
            self.places |= {i: place for place, i in enumerate(own)}
            check_out(self.cases[measure], out)
        self.found = suspicions(records, sheets, hidden_categories(policy)) if suspect else ()
        self._worlds: dict[tuple[Suspicion, ...], Judge] = {}  # where what was found is known
        self._known: dict[tuple[int, ...], Judged] = {}
        self._reasons: dict[tuple[int, ...], list[Reason]] = {}  # of sheets of one measure

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        return tuple(ties(self.records, self.all, self.policy))

    def said(self) -> tuple[str, ...]:
        """What the verdicts rest on."""
        found = []
        weighted = [m for m in self.cases if m.weight]
        if weighted:
            way = {
                "total": "as they are in the weighted sum",
                "repeated": "as so many contributors",
            }
            found.append(
                "Weighted tables are judged by their unweighted contributors and published "
                f"weighted; contributions count {way[self.policy.contributors.weights]}."
            )
        found += self.records.missing(self.cases)
        found += said_of(self.records)
        found += absent(self.policy, self.records.table, self.records.unread)
        found.append("Categories, hierarchies and what a table shows are public.")
        return tuple(found)

    def sheets(self, chosen: Sequence[int]) -> Judged:
        """What the rules say of some sheets together."""
        key = tuple(sorted(chosen))
        if key not in self._known:
            reasons: list[Reason] = [
                *names_in_doubt(self.policy, self.records.table, self.records.unread)
            ]
            for measure, case in self.cases.items():
                own = tuple(i for i in key if self.all[i].measure == measure)
                if own not in self._reasons:
                    self._reasons[own] = self._of(case, own) if own else []
                reasons += self._reasons[own]
            chosen_sheets = [self.all[i] for i in key]
            reasons += unknown(self.out)
            guarded = {m for m, case in self.cases.items() if case.demands}
            reasons += doubts(
                self.records, chosen_sheets, guarded, self.ties,
                policy=self.policy, effort=self.effort, seconds=self.clock,
            )  # fmt: skip
            if worst(reason.verdict for reason in reasons) is Verdict.PASS:
                shown = [*self._shown(key)]
                reasons += measures_that_tell(self.records, self.policy, shown)
                reasons += told_by_larger(self.records, shown)
                reasons += told_by_classes(self.records, shown)
            for found in worlds(self.found, chosen_sheets, hidden_categories(self.policy)):
                supposed = self._world(found).sheets(key).reasons
                reasons = stricter(reasons, supposed, found)
            self._known[key] = Judged(tuple(self.all[i].name for i in key), tuple(reasons))
        return self._known[key]

    def _shown(self, chosen: Sequence[int]) -> Iterator[tuple[SheetCase, Printed]]:
        """What some sheets show of each measure."""
        for measure, case in self.cases.items():
            if places := [self.places[i] for i in chosen if self.all[i].measure == measure]:
                yield case, self._printed(case, places)

    def _world(self, found: tuple[Suspicion, ...]) -> Judge:
        """One who judges as if everybody knew what was found."""
        if found not in self._worlds:
            self._worlds[found] = Judge(
                supposing(self.records, found), self.all, self.policy, self.effort, self.clock,
                self.out, suspect=False,
            )  # fmt: skip
        return self._worlds[found]

    def _of(self, case: SheetCase, chosen: Sequence[int]) -> list[Reason]:
        places = [self.places[i] for i in chosen]
        own, measure = [self.all[i] for i in chosen], case.cells.measure
        if len(own) < sum(sheet.measure == measure for sheet in self.all):
            # fewer sheets are a smaller case: what only the others print is not shown by these
            case, places = SheetCase.of(self.records, own, measure, self.policy), [*range(len(own))]
        printed = self._printed(case, places)
        cells = self._by_cells(case, printed)
        if case.cells.measure.value is not None:
            return [*cells, *sums_that_tell(case, printed)]
        if worst(reason.verdict for reason in cells) is Verdict.FAIL:
            return cells
        law = judge_by_law(
            self.records.behind(measure), own, case.people(printed), places, self.policy,
            behind=self.out, effort=self.effort, clock=self.clock,
        )  # fmt: skip
        if isinstance(law, str):
            return [*cells, *unjudged(own, self.policy, law)]
        return joined(law, cells)

    def _printed(self, case: SheetCase, places: Sequence[int]) -> Printed:
        """What some sheets show; less of those that are out behind a mask."""
        shown = np.zeros(case.cells.printed, bool)
        for place in places:
            sheet, rows = case.system.sheets[place], case.system.places[place].ravel()
            known = as_it_is(self.out.get(sheet.name), sheet.shape)
            shown[rows[known.ravel()]] = True
        whole = case.printed(places)
        if not (hidden := case.rows_of(places) & ~shown).any():
            return whole
        low, high = ends(case, self.out)
        low = np.maximum(np.minimum(case.floor, case.values), low)
        return dataclasses.replace(
            whole,
            lower=np.where(hidden, low, whole.lower),
            upper=np.where(hidden, high, whole.upper),
        )

    def _by_cells(self, case: SheetCase, printed: Printed) -> list[Reason]:
        """By the demands on cells."""
        whole = case is self.cases.get(case.cells.measure)  # of all sheets of the measure
        case, printed = with_unions(case, printed)
        found = case.judge(
            printed, effort=self.effort, seconds=self.clock, looks=self.looks if whole else None
        )
        return found or [Reason("cells", Verdict.PASS, "no cell is one that a rule forbids.")]

    # What can go

    def largest(
        self, wanted: Sequence[int], out: Sequence[int]
    ) -> tuple[list[int], Judged, list[Blame], bool]:
        """The most sheets that do not fail together, why not more, and whether that is proven.

        Each set that fails is shrunk to a least one that does; a part holds none of these, and the
        first part that does not fail is the largest there is.
        """
        if out and (before := self.sheets(out)).verdict is Verdict.FAIL:
            return [], before, [Blame(before.names, first_reason(before))], True
        conflicts: list[frozenset[int]] = []
        blames: list[Blame] = []
        tried = Effort(self.effort).of(MOST_TRIED)
        proven = True
        while True:
            part = _without(wanted, conflicts)
            if part is None:
                part, proven = _greedy(wanted, conflicts), False
            judged = self.sheets([*out, *part]) if part or out else Judged((), ())
            if judged.verdict is not Verdict.FAIL or not part:
                return part, judged, blames, proven
            least = self._least(part, out)
            conflicts.append(frozenset(least))
            why = self.sheets([*out, *least])
            names = tuple(self.all[i].name for i in least)
            blames.append(Blame(names, first_reason(why)))
            if len(self._known) > tried:
                return self._grown(wanted, out, blames)

    def _least(self, part: Sequence[int], out: Sequence[int]) -> list[int]:
        """A least set of sheets that fails, with what is out."""
        left = list(part)
        for i in part:
            fewer = [j for j in left if j != i]
            if fewer and self.sheets([*out, *fewer]).verdict is Verdict.FAIL:
                left = fewer
        return left

    def _grown(
        self, wanted: Sequence[int], out: Sequence[int], blames: list[Blame]
    ) -> tuple[list[int], Judged, list[Blame], bool]:
        """One sheet after the other, each that does not fail with those before it."""
        part: list[int] = []
        for i in wanted:
            if self.sheets([*out, *part, i]).verdict is not Verdict.FAIL:
                part.append(i)
        judged = self.sheets([*out, *part]) if part or out else Judged((), ())
        return part, judged, blames, False


def _without(wanted: Sequence[int], conflicts: Sequence[frozenset[int]]) -> list[int] | None:
    """The most sheets that hold no conflict whole; None if that takes too many tries."""
    involved = sorted(frozenset().union(*conflicts)) if conflicts else []
    for number in range(len(involved) + 1):
        if math.comb(len(involved), number) > 100_000:
            return None
        for gone in combinations(involved, number):
            if all(conflict & set(gone) for conflict in conflicts):
                return [i for i in wanted if i not in gone]
    return None


def _greedy(wanted: Sequence[int], conflicts: Sequence[frozenset[int]]) -> list[int]:
    left = list(conflicts)
    gone: set[int] = set()
    while left:
        worst_of = max(wanted, key=lambda i: sum(i in conflict for conflict in left))
        gone.add(worst_of)
        left = [conflict for conflict in left if worst_of not in conflict]
    return [i for i in wanted if i not in gone]

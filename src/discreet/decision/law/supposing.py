"""What only looks impossible in the data: judged without and with it, and the stricter one counts.

Nobody but the custodian knows whether a pattern of the data is public knowledge. If it is, an
intruder knows more of other cells; if it is not, the release gives it away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from discreet.decision.law.case import Case
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.look.words import plural
from discreet.release.release import STRUCTURAL
from discreet.table.codings import Coding, of_variables
from discreet.table.impossible import spelled
from discreet.table.table import Table

NAME = "found in the data"
NAMED = 3  # combinations, and codings

Reasons = tuple[Reason, ...]


def judge_suppositions(case: Case, judge: Callable[[Case], Reasons]) -> tuple[Case, Reasons]:
    """Rule by rule the gravest reason; where verdicts differ, the first says what was found."""
    cases, judged = list[Case](), list[Reasons]()
    for supposed in suppositions(case):
        cases.append(supposed)
        judged.append(judge(supposed))
        if len(cases) > 1 and _verdict(judged[0]) is Verdict.FAIL:
            break
    verdicts = [_verdict(reasons) for reasons in judged]
    gravest = max(range(len(cases)), key=lambda at: verdicts[at].rank)
    reasons = tuple(
        max(alike, key=lambda reason: reason.verdict.rank) for alike in zip(*judged, strict=True)
    )
    first = (*_difference(cases, verdicts), *too_many(case))
    return cases[gravest], (*first, *reasons)


def _verdict(reasons: Reasons) -> Verdict:
    return worst(reason.verdict for reason in reasons)


def suppositions(case: Case) -> Iterator[Case]:
    """The case where all that was found is impossible, where nothing of it is, and, of several
    codings, where those of one variable are not: what ties one variable to others may be public,
    and what ties another one may not.
    """
    codings = [coding for coding in case.table.codings if coding.taken]
    if not codings:
        yield case
        return
    yield _supposing(case, codings)
    yield _supposing(case, ())
    judged = [codings, []]
    for name in dict.fromkeys(name for coding in _told(case, codings) for name in coding.names):
        left = [coding for coding in codings if name not in coding.names]
        if left not in judged:
            judged.append(left)
            yield _supposing(case, left)


def _told(case: Case, codings: Sequence[Coding]) -> list[Coding]:
    """The codings that tie variables together of which the release speaks."""
    known = {n for known in case.release.known if known.why != STRUCTURAL for n, _ in known.cell}
    spoken = known.union(*case.release.formula.margins)
    parts: list[set[str]] = []
    for names in (*case.table.ruled_out, *(coding.names for coding in codings)):
        joined = [part for part in parts if part & {*names}]
        parts = [part for part in parts if part not in joined]
        parts.append({*names}.union(*joined))
    tied = set[str]().union(*(part for part in parts if len(part & spoken) > 1))
    return [coding for coding in codings if tied.issuperset(coding.names)]


def _supposing(case: Case, codings: Sequence[Coding]) -> Case:
    table = case.table.supposing(codings)
    found = (c for coding in case.table.codings for c in coding.combinations)
    release = case.release.allowing(found).excluding(table)
    tables = tuple(replace(each, **of_variables(table, each.names)) for each in release.tables)
    release = replace(release, tables=tables)
    return Case(table, release, case.policy, case.clock, case.effort)


def _difference(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> Iterator[Reason]:
    """What was found, what the verdict would be otherwise, and how to say so."""
    verdict, table = worst(verdicts), cases[0].table
    codings = [coding for coding in table.codings if coding.taken]
    if verdict is not verdicts[0]:
        grave = [case for case, one in zip(cases, verdicts, strict=True) if one is verdict]
        missing = [
            [c for c in codings if c.combinations[0] not in case.table.impossible] for case in grave
        ]
        chosen = min(missing, key=len)
        lines = "; ".join(_line(table, coding) for coding in chosen[:NAMED])
        if (more := len(chosen) - NAMED) > 0:
            lines = f"{lines}; and the like for {plural(more, 'more pair')} of variables"
        text = (
            f"{_seen(chosen)}. Nobody said that this is known to everybody, so the release may be "
            f"what tells it: {verdict}. If it is public knowledge, the verdict is {verdicts[0]}: "
            f"say {lines}."
        )
        yield Reason(NAME, verdict, text)
    elif len(verdicts) > 1 and verdicts[1] is not verdict:
        text = (
            f"{_seen(codings)}. An intruder may know that nobody can have them: "
            f'{verdict}. If they can occur, the verdict is {verdicts[1]}: say impossible = "none" '
            "in the codebook, or --impossible none."
        )
        yield Reason(NAME, verdict, text)


def too_many(case: Case) -> Iterator[Reason]:
    """Nothing passes where too much was found to be judged with."""
    spoken = set[str]().union(*case.release.formula.margins)
    for coding in case.table.codings:
        if not coding.taken and not coding.denied and spoken.issuperset(coding.names):
            yield Reason(NAME, Verdict.REVIEW, str(coding))


def _seen(codings: Sequence[Coding]) -> str:
    """What was found, with the first of the combinations."""
    seen = [f"{c.seen} ({_some(c)})" for c in codings[:NAMED]]
    more = len(codings) - NAMED
    return "; ".join([*seen, *([f"{plural(more, 'more pair')} of variables"] if more > 0 else [])])


def _some(coding: Coding) -> str:
    """The first of the combinations."""
    named = "; ".join(map(spelled, coding.combinations[:NAMED]))
    more = coding.impossible - NAMED
    return f"{named}; and {more:,} more" if more > 0 else named


def _line(table: Table, coding: Coding) -> str:
    """What the codebook or an option says, if the combinations of a coding cannot occur."""
    for inner, outer in (coding.names, coding.names[::-1]):
        pair = table.margin([inner, outer])
        if len(pair) == len(np.unique(pair.codes[:, 0])):
            return f'within = "{outer}" for {inner} in the codebook'
    options = " ".join(f'--impossible "{spelled(c)}"' for c in coding.combinations[:NAMED])
    more = coding.impossible - NAMED
    return f"{options}{f' and so on for {more:,} more' if more > 0 else ''}"

"""Totals that are published beside the cells: what they give back, and what hides it again.

Who sees a total and all but one of its cells knows the last. Cells that no total ties together are
looked at apart; see `sums`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.decision.law.verdict import Verdict
from discreet.decision.survey.combine import Combination
from discreet.decision.survey.publish import Publication
from discreet.decision.survey.sums import Sums, connected, few
from discreet.decision.survey.told import suppressed_counts
from discreet.errors import DataError, near
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.look.result import Result
from discreet.look.words import number, plural
from discreet.table.cells import frame

ALL = "all"
UNTOLD = "what the rule itself tells is not worked out; publish.known = false if it is secret"
PUBLISHED, SUPPRESSED, SECONDARY, GIVEN_BACK, JOINED = (
    "published", "suppressed", "suppressed for a total", "given back", "published joined",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class GuardedTotals(Result):
    """What published totals give back of suppressed cells, after further ones were suppressed.

    `publication` has the cells as they are then; its risk counts what is given back. `lower` and
    `upper` are all that follows of each cell's count; `given_back` are suppressed cells whose
    interval is narrower than `width`, and `doubt` those whose interval could not be proven. The
    intervals are those of somebody who knows every sample size and, with a `floor` of 1, that a
    suppressed cell is not empty, since an empty one is always published. `told` are cells that are
    open to him, but not to somebody who also knows losses, prior and cut, and so which counts the
    rule would suppress: no further suppression helps there, and the verdict is REVIEW. `gap` is the
    share of the loss that a better choice of further cells could save: 0 is proven to be least,
    None not known.

    >>> import discreet as dc
    >>> found = dc.publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    >>> found.publish.tolist()
    [False, True, True]
    >>> dc.survey.guard_totals(found, {"all": None})
    GuardedTotals(REVIEW: 1 suppressed cell, 1 more for 1 total; none is given back)
    """

    publication: Publication
    before: Publication
    names: tuple[str, ...]
    totals: int
    width: float
    secondary: Ints
    given_back: Ints
    doubt: Ints
    told: Ints
    joined: Ints
    lower: Floats
    upper: Floats
    floor: float
    gap: float | None = None
    stopped: str | None = None

    @property
    def verdict(self) -> Verdict:
        if len(self.given_back):
            return Verdict.FAIL
        open_end = len(self.doubt) or len(self.told) or self.stopped
        return Verdict.REVIEW if open_end else Verdict.PASS

    @property
    def status(self) -> list[str]:
        """Of each cell: published, suppressed, suppressed for a total, given back, joined."""
        found = np.where(self.publication.publish, PUBLISHED, SUPPRESSED).astype(object)
        found[self.secondary], found[self.joined] = SECONDARY, JOINED
        found[self.given_back] = GIVEN_BACK
        return [str(one) for one in found]

    def __repr__(self) -> str:
        primary = plural(int((~self.before.publish).sum()), "suppressed cell")
        more = f"{number(len(self.secondary))} more for {plural(self.totals, 'total')}"
        back = len(self.given_back)
        said = "none is given back" if not back else f"{number(back)} given back"
        return f"GuardedTotals({self.verdict}: {primary}, {more}; {said})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell: n, N, y, its status, and what follows of its count."""
        c = self.publication.counts
        columns = {"n": c.n, "N": c.N, "y": c.y, "status": self.status}
        return frame({**columns, "lower": self.lower, "upper": self.upper}, kind)

    def to_json(self) -> dict[str, Any]:
        """`verdict`, the totals, rows from 1 by what became of them, and the status of each."""

        def rows(found: Ints) -> list[int]:
            return [int(row) + 1 for row in found]

        hidden = np.flatnonzero(self.lower < self.upper)
        return {
            "verdict": str(self.verdict),
            "published": list(self.names),
            "width": self.width,
            "secondary": rows(self.secondary),
            "given_back": rows(self.given_back),
            "doubt": rows(self.doubt),
            "told": rows(self.told),
            "gap": self.gap,
            "status": self.status,
            "intervals": {
                str(int(row) + 1): [float(self.lower[row]), float(self.upper[row])]
                for row in np.union1d(hidden, self.given_back)
            },
            "stopped": self.stopped,
        }


def guard_totals(
    publication: Publication,
    totals: Mapping[str, Sequence[Any] | None],
    *,
    width: float = 1,
    secondary: bool = True,
    known: bool = True,
    combined: Combination | None = None,
) -> GuardedTotals:
    """Suppress further cells, of least R0, until no published total gives a suppressed one back.

    `totals` are the published sums of y: by name, labels that divide the domains, or None for the
    total of all. A suppressed count must stay open by `width`. Without `secondary`, nothing more is
    suppressed and what is given back is said. With `known` losses, prior and cut, what the rule
    itself tells is looked at too. Cells that `combined` publishes together are printed as one sum.

    >>> from discreet.decision.survey.publish import publish
    >>> found = publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    >>> guard_totals(found, {"region": ["a", "b", "b"]}).status
    ['given back', 'published', 'published']
    """
    if not width >= 1:
        raise DataError(f"width is {width!r}; a suppressed count stays open by 1 or more.")
    if not totals:
        raise DataError("no total is named; name all, or a column that divides the domains.")
    many, y = len(publication), publication.counts.y
    groups = [frozenset(group.rows) for group in combined.combined] if combined else []
    together = np.isin(np.arange(many), [row for rows in groups for row in rows])
    sums = _divided(totals, many)
    primary, hidden = ~publication.publish, ~publication.publish | together
    floor = 1.0 if _empty_are_published(publication) else 0.0
    ends, told_ends = (np.stack([y, y]).astype(np.float64) for _ in range(2))
    tells = suppressed_counts(publication, np.flatnonzero(primary)) if known else None
    if tells is not None:
        told_ends[:, primary] = tells
    marks = {name: np.zeros(many, bool) for name in ("more", "back", "doubt", "told")}
    gaps: list[float | None] = [0.0]
    stops: list[str] = [] if tells is not None or not known or not primary.any() else [UNTOLD]
    price = publication.R0 * publication.weight
    divided = [rows for rows in sums if len(rows) < many]  # which add up to the total of all
    shown = groups + (divided or sums)
    for rows in connected(shown, many):
        if not primary[rows].any():
            continue
        kept = few(rows, hidden, y >= max(floor, 1.0), y, price)
        place = {int(row): at for at, row in enumerate(kept)}
        local = [frozenset(place[r] for r in codes if r in place) for codes in shown]
        work = Sums(
            publication.counts.n[kept], y[kept], price[kept], primary[kept], hidden[kept],
            list(dict.fromkeys(codes for codes in local if codes)), floor,
        )  # fmt: skip
        found = work.guard(width, secondary, told_ends[:, kept] if tells is not None else None)
        ends[:, kept] = found.ends
        for name, mark in marks.items():
            mark[kept] = getattr(found, name)
        gaps.append(found.gap if len(kept) == len(rows) else None)
        stops += [found.stopped] if found.stopped else []
    if UNTOLD in stops:
        marks["doubt"] |= primary & ~marks["back"]
    after = replace(
        publication,
        publish=publication.publish & ~marks["more"],
        probability=np.where(marks["more"], 0.0, publication.probability),
    )
    after.probability[marks["back"]] = 1.0  # what is given back is out
    return GuardedTotals(
        after,
        publication,
        tuple(totals),
        len(set(sums)),
        float(width),
        np.flatnonzero(marks["more"]),
        np.flatnonzero(marks["back"]),
        np.flatnonzero(marks["doubt"]),
        np.flatnonzero(marks["told"]),
        np.flatnonzero(together),
        ends[0],
        ends[1],
        floor,
        None if None in gaps else max(gap for gap in gaps if gap is not None),
        stops[0] if stops else None,
    )


def read_totals(text: str, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """`all`, columns of the data, or both: `all,region`; nothing of "" and `none`.

    >>> read_totals("all, region", {"region": ["a", "b"]})
    {'all': None, 'region': ['a', 'b']}
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["none"]:
        return {}
    found: dict[str, Any] = {}
    for name in names:
        if name != ALL and name not in columns:
            raise DataError(
                f"totals by {name!r}: the data have no such column; {near(name, columns)}"
            )
        found[name] = None if name == ALL else columns[name]
    return found


def _divided(totals: Mapping[str, Sequence[Any] | None], many: int) -> list[frozenset[int]]:
    """The domains of each total."""
    found: list[frozenset[int]] = []
    for name, labels in totals.items():
        if labels is None:
            found.append(frozenset(range(many)))
            continue
        if len(labels) != many:
            raise DataError(
                f"the totals by {name!r} have {plural(len(labels), 'label')} for "
                f"{plural(many, 'cell')}; give one each."
            )
        groups: dict[Any, set[int]] = {}
        for row, label in enumerate(labels):
            groups.setdefault(label, set()).add(row)
        found += [frozenset(rows) for rows in groups.values()]
    return found


def _empty_are_published(publication: Publication) -> bool:
    """Would each suppressed cell have been published, had its sample nobody of the class?"""
    rows = np.flatnonzero(~publication.publish)
    rule = publication.rule
    if rule.floor is not None or not len(rows):
        return False
    c = publication.counts.take(rows)
    empty = PopulationCounts(c.n, c.N, np.zeros_like(c.y), c.alpha, c.beta)
    R1, R0 = (loss.risk(empty) for loss in publication.losses)
    first = rule.risk is not None or (rule.ratio or 0) > 0  # cells without risk are published
    return bool((R1 == 0).all()) and (first or bool((R0 == 0).all()))

"""The main job: a verdict, what it rests on, and what to release instead."""

from __future__ import annotations

import datetime
import hashlib
import math
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from discreet.decision.law.alternatives import Alternative, alternatives
from discreet.decision.law.case import MORE
from discreet.decision.law.decide import Decision, decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.effort import Clock, Seconds
from discreet.look.notebook import Item
from discreet.look.result import Paged
from discreet.look.words import plural, shortened
from discreet.release.doors import margins_alone, of_table
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table

VERSIONED = ("discreet", "numpy", "duckdb", "ibis-framework", "highspy")


@dataclass(frozen=True)
class Provenance:
    """What was assessed, by what, when: enough to do it again."""

    data: str
    sha256: str
    when: str
    versions: dict[str, str]


@dataclass(frozen=True, eq=False)
class Assessment(Paged):
    """A decision on a request, with alternatives and provenance; the report is made from it.

    >>> import discreet as dc
    >>> found = dc.assess(dc.load("example:blond"), "Hair*Income")
    >>> found
    Assessment(FAIL: Hair*Income, 2 alternatives)
    >>> found.verdict.value, [offer.how for offer in found.alternatives]
    ('FAIL', ['merge Hair to Black; Red or blond', 'leave out Hair*Income, keep Hair + Income'])
    """

    table: Table
    requested: Formula
    released: Formula | None
    policy: Policy
    decision: Decision
    alternatives: tuple[Alternative, ...]
    provenance: Provenance
    stopped: str | None = None

    @property
    def verdict(self) -> Verdict:
        return self.decision.verdict

    def __repr__(self) -> str:
        offers = plural(len(self.alternatives), "alternative")
        return f"Assessment({self.verdict}: {shortened(str(self.requested), 100)}, {offers})"

    def __str__(self) -> str:
        offers = [f"  Instead: {offer.how}" for offer in self.alternatives]
        return "\n".join([str(self.decision), *offers])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a rule: what it found."""
        return self.decision.to_frame(kind)

    def plot(self, **options: Any) -> Any:
        """The intervals of the small counts, against the width that they must keep."""
        return self.decision.plot(**options)

    def _shown_items(self) -> list[Item]:
        offers = [Item(f"Instead: {offer.how}", str(Verdict.PASS)) for offer in self.alternatives]
        return [*self.decision._shown_items(), *offers]

    def _shown_rows(self, most: int) -> None:
        return None  # the reasons are a list

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet assess --json` prints."""
        decision, utility = self.decision, self.decision.utility
        small, beta = decision.case.small, self.policy.small.width
        cells = small.bounds.to_json(small.cells.counts, beta)["cells"]
        return {
            "verdict": str(self.verdict),
            "stopped": self.stopped,
            "basis": decision.basis,
            "rung": str(decision.rung),
            "reasons": [
                {
                    "rule": reason.rule,
                    "verdict": str(reason.verdict),
                    "text": reason.text,
                    "cells": list(reason.cells),
                }
                for reason in decision.reasons
            ],
            "risk": decision.risk | {"cells": cells},
            "utility": {
                "released": utility.released,
                "possible": utility.possible,
                "by_order": {str(order): n for order, n in utility.by_order.items()},
            },
            "alternatives": [offer.to_json() for offer in self.alternatives],
            "release": str(self.requested),
            "already_released": str(self.released) if self.released else None,
            "large": large_cells(decision.release),
            "table": {
                "variables": list(self.table.names),
                "shape": list(self.table.shape),
                "total": self.table.total,
                "dropped": self.table.dropped,
            },
            "assumptions": list(decision.assumptions),
            "policy": {"name": self.policy.name} | self.policy.to_dict(),
            "provenance": vars(self.provenance),
        }


@of_table
def assess(
    table: Table,
    release: str | Formula | Iterable[Iterable[str]],
    policy: Policy | None = None,
    *,
    released: str | Formula | None = None,
    large: int | None = None,
    data: str | Path | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Assessment:
    """The verdict on margins of `table`, and safe alternatives if it is not PASS.

    With `large` every cell with so high a count is published beside them, in the alternatives too.

    `data` is the file that the table came from, for the report's hash; else the cells are hashed.
    `effort` is times the work that the policy allows; `seconds` stop it, with what is proven by
    then: a FAIL, or REVIEW.

    >>> from discreet.table.load import load
    >>> assess(load("example:tract"), "Gender*Income + Race")
    Assessment(PASS: Gender*Income + Race, 0 alternatives)
    """
    policy = policy or Policy()
    wanted = margins_alone(table, release)
    out = margins_alone(table, released) if released is not None else None
    whole = Clock.of(seconds)
    given: Any = {"released": out, "large": large, "effort": effort}
    decision = decide(table, wanted, policy, **given, seconds=whole)
    offers: tuple[Alternative, ...] = ()
    stopped = decision.stopped
    if decision.verdict is not Verdict.PASS:
        clock = Clock(max(policy.alternatives.seconds, 1e-9), within=whole)
        offers = alternatives(table, wanted, policy, **given, seconds=clock, judged=decision)
        stopped = stopped or clock.sentence(
            f"{plural(len(offers), 'alternative')} found by then", MORE
        )
    return Assessment(
        table, wanted, out, policy, decision, offers, provenance_of(table, data), stopped
    )


def large_cells(release: Release) -> dict[str, Any] | None:
    """The cells that are published for their size, and what is then known of the others."""
    if release.ceiling is None:
        return None
    return {
        "least": release.ceiling + 1,
        "cells": [
            {"cell": cells.label(row), "count": count}
            for cells in release.single_cells
            for row, count in enumerate(cells.counts.tolist())
        ],
        "ceiling": release.ceiling,
    }


def provenance_of(table: Table, data: str | Path | None) -> Provenance:
    """The hash of the file, or else of the cells; the time; the versions."""
    if data is not None and Path(data).is_file():
        return stamped(Path(data).name, file_hash(data))
    digest = hashlib.sha256()
    digest.update(repr([(v.name, v.categories) for v in table.variables]).encode())
    digest.update(table.codes.tobytes() + table.counts.tobytes())
    return stamped(str(data) if data is not None else "a table in memory", digest.hexdigest())


def stamped(data: str, sha256: str) -> Provenance:
    """With the time and the versions."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    versions = {"python": platform.python_version()} | {name: version(name) for name in VERSIONED}
    return Provenance(data, sha256, now, versions)


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

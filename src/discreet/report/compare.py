"""What changed between two assessments, from their JSON documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.decision.law.policy import renewed
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError, FormulaError, reason
from discreet.look.result import Paged
from discreet.look.words import number, printable
from discreet.table.cells import frame
from discreet.table.formula import Formula
from discreet.table.lattice import count_by_order
from discreet.table.notation import quoted

MOST = 20
REPAIR = "give a file written by discreet assess --json"


@dataclass(frozen=True)
class Finding:
    """What one rule said."""

    rule: str
    verdict: Verdict
    text: str

    def __str__(self) -> str:
        return f"{self.verdict.symbol} {self.verdict}: {self.text}"

    def to_json(self) -> dict[str, str]:
        return {"rule": self.rule, "verdict": str(self.verdict), "text": self.text}


@dataclass(frozen=True)
class Comparison(Paged):
    """An old and a new assessment side by side; pairs are (old, new).

    `gained` and `lost` are the largest margins that one has and the other has not; `margins` are
    how many there are of either with all that are inside these.

    >>> import discreet as dc
    >>> tract = dc.load("example:tract")
    >>> found = dc.diff(dc.assess(tract, "Race*Income"), dc.assess(tract, "Race + Gender*Income"))
    >>> [verdict.value for verdict in found.verdicts], found.gained, found.lost
    (['FAIL', 'PASS'], (('Gender', 'Income'),), (('Race', 'Income'),))
    """

    verdicts: tuple[Verdict, Verdict]
    gone: tuple[Finding, ...]
    new: tuple[Finding, ...]
    changed: tuple[tuple[Finding, Finding], ...]
    gained: tuple[tuple[str, ...], ...]
    lost: tuple[tuple[str, ...], ...]
    narrowest: tuple[int | None, int | None]
    policy: dict[str, tuple[Any, Any]]
    same_data: bool
    margins: tuple[int, int] = (0, 0)

    @property
    def same(self) -> bool:
        """Does nothing differ?"""
        return self.same_data and not (
            self.verdicts[0] is not self.verdicts[1]
            or self.gone or self.new or self.changed or self.gained or self.lost
            or self.narrowest[0] != self.narrowest[1] or self.policy
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"Comparison({self.verdicts[0]} to {self.verdicts[1]})"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The changes in words, the verdict first."""
        old, new = self.verdicts
        said = [f"verdict: {new} as before" if old is new else f"verdict: was {old}, now {new}"]
        if self.same:
            return [*said, "nothing changed"]
        said.append(f"data: {'the same' if self.same_data else 'not the same (sha256 differs)'}")
        said += _listed("margins gained", self.gained, self.margins[0])
        said += _listed("margins lost", self.lost, self.margins[1])
        if self.narrowest[0] != self.narrowest[1]:
            before, after = ("none" if n is None else f"{n:,}" for n in self.narrowest)
            said.append(f"narrowest width of a small count: was {before}, now {after}")
        said += [f"reason gone, {found.rule}: {found}" for found in self.gone]
        said += [f"reason new, {found.rule}: {found}" for found in self.new]
        said += [f"reason changed, {now.rule}: was {was} Now {now}" for was, now in self.changed]
        for key, (before, after) in self.policy.items():
            said.append(f"policy {key}: was {_value(before)}, now {_value(after)}")
        return [printable(line) for line in said]

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a change, the verdict first: what it is about, and what was found."""
        rows = [line.partition(": ") for line in self.lines()]
        columns = {
            "about": [about if found else "" for about, _, found in rows],
            "finding": [found or about for about, _, found in rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet diff --json` prints."""
        return {
            "same": self.same,
            "verdict": {"old": str(self.verdicts[0]), "new": str(self.verdicts[1])},
            "reasons": {
                "gone": [found.to_json() for found in self.gone],
                "new": [found.to_json() for found in self.new],
                "changed": [
                    {"rule": now.rule, "old": was.to_json(), "new": now.to_json()}
                    for was, now in self.changed
                ],
            },
            "margins": {
                "gained": [list(margin) for margin in self.gained],
                "lost": [list(margin) for margin in self.lost],
                "number_gained": self.margins[0],
                "number_lost": self.margins[1],
            },
            "narrowest": {"old": self.narrowest[0], "new": self.narrowest[1]},
            "policy": {key: {"old": a, "new": b} for key, (a, b) in self.policy.items()},
            "same_data": self.same_data,
        }


def diff(old: Any, new: Any) -> Comparison:
    """What differs between two assessments: themselves, their JSON documents, or files of these.

    Margins count as gained or lost with what was already released, sub-margins included: only
    the largest are listed.

    >>> from discreet.decision.law.assess import assess
    >>> from discreet.table.load import load
    >>> tract = load("example:tract")
    >>> old, new = assess(tract, "Race*Income"), assess(tract, "Race + Gender*Income")
    >>> print(diff(old, new))
    verdict: was FAIL, now PASS
    data: the same
    margins gained: 2 (Gender*Income and what is inside)
    margins lost: 1 (Race*Income)
    ...
    """
    a, b = _read(_document(old), "the old report"), _read(_document(new), "the new report")
    was, now = ({found.rule: found for found in report.findings} for report in (a, b))
    keys = dict.fromkeys([*a.policy, *b.policy])
    return Comparison(
        verdicts=(a.verdict, b.verdict),
        gone=tuple(found for rule, found in was.items() if rule not in now),
        new=tuple(found for rule, found in now.items() if rule not in was),
        changed=tuple(
            (was[rule], found)
            for rule, found in now.items()
            if rule in was and was[rule] != found
        ),
        gained=_beyond(b.formula, a.formula),
        lost=_beyond(a.formula, b.formula),
        narrowest=(a.narrowest, b.narrowest),
        policy={
            key: (a.policy.get(key), b.policy.get(key))
            for key in keys
            if a.policy.get(key) != b.policy.get(key)
        },
        same_data=a.sha256 == b.sha256,
        margins=(_number_beyond(b.formula, a.formula), _number_beyond(a.formula, b.formula)),
    )  # fmt: skip


def _document(given: Any) -> Any:
    if isinstance(given, (str, Path)):
        return read_report(given)
    return given.to_json() if hasattr(given, "to_json") else given


def read_report(path: str | Path) -> dict[str, Any]:
    """The JSON document of an earlier assessment; anything else is refused."""
    where = f"the report {str(path)!r}"
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DataError(f"there is no report {str(path)!r}; {REPAIR}.") from None
    except OSError as error:
        raise DataError(f"{where} cannot be read ({reason(error)}); {REPAIR}.") from None
    except (ValueError, RecursionError):
        raise DataError(f"{where} is not JSON; {REPAIR}.") from None
    _read(document, where)
    return dict(document)


@dataclass(frozen=True)
class _Report:
    """What a comparison needs of a document."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    formula: Formula
    narrowest: int | None
    policy: dict[str, Any]
    sha256: str


def _read(document: Any, where: str) -> _Report:
    try:
        names = [str(name) for name in document["table"]["variables"]]
        formula = Formula.parse(document["release"], names, files=False)
        if already := document.get("already_released"):
            formula = formula + Formula.parse(already, names, files=False)
        narrowest = document["risk"]["narrowest"]
        return _Report(
            verdict=Verdict(document["verdict"]),
            findings=tuple(
                Finding(str(reason["rule"]), Verdict(reason["verdict"]), str(reason["text"]))
                for reason in document["reasons"]
            ),
            formula=formula.frontier,
            narrowest=None if narrowest is None else int(narrowest),
            policy=renewed(document["policy"]),
            sha256=str(document["provenance"]["sha256"]),
        )
    except KeyError as error:
        raise DataError(
            f"{where} is no assessment: it has no {error.args[0]!r}; {REPAIR}."
        ) from None
    except (TypeError, ValueError, AttributeError, FormulaError) as error:
        raise DataError(f"{where} is no assessment ({error}); {REPAIR}.") from None


def _beyond(formula: Formula, other: Formula) -> tuple[tuple[str, ...], ...]:
    """The maximal margins of one formula that the other does not contain."""
    theirs = [frozenset(margin) for margin in other.margins]
    return tuple(m for m in formula.margins if not any(set(m) <= margin for margin in theirs))


def _number_beyond(formula: Formula, other: Formula) -> int:
    """How many margins one formula contains and the other does not, those inside them included.

    >>> _number_beyond(Formula.parse("A*B*C", "ABC"), Formula.parse("A + B*C", "ABC"))
    3
    """
    place = {name: p for p, name in enumerate({*formula.names, *other.names})}
    ours, theirs = (
        [sum(1 << place[name] for name in margin) for margin in each.margins]
        for each in (formula, other)
    )
    return sum(count_by_order([*ours, *theirs]).values()) - sum(count_by_order(theirs).values())


def _listed(what: str, margins: Iterable[tuple[str, ...]], every: int) -> list[str]:
    margins = list(margins)
    if not margins:
        return []
    shown = " + ".join("*".join(map(quoted, margin)) for margin in margins[:MOST])
    more = f" and {number(len(margins) - MOST)} more" if len(margins) > MOST else ""
    inside = " and what is inside" if every > len(margins) else ""
    return [f"{what}: {number(every)} ({shown}{more}{inside})"]


def _value(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)

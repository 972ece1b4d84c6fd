"""What a release teaches, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.decision.law.verdict import Verdict
from discreet.intruder.belief.belief import Kind
from discreet.look.palette import EN_DASH, number, plural
from discreet.report.text import _cells, _head, _item, _more, _say

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.intruder.belief.belief import Belief
    from discreet.risk.knowledge.knowledge import Learned
    from discreet.risk.knowledge.taught import Taught

MOST = 20


def print_taught(taught: Taught, console: Console, *, most: int = MOST) -> None:
    """The verdict, what the rule asks of the table, and each target, the worst first."""
    beyond = sum(not row.within for row in taught.rows)
    targets = plural(len(taught.rows), "target")
    said = f"{taught.about}: {beyond} of {targets} beyond the limit" if beyond else taught.about
    _item(console, _verdict(taught.within), said, bold=True)
    measure = {"knowledge": "is at least", "gain": "falls by at most"}.get(
        taught.rule.measure, "falls by a share of at most"
    )
    _say(console, f"limit: {taught.rule.uncertainty} {measure} {taught.rule.limit:g}", "dim")
    _say(console, taught.words)
    _head(console, "What is believed")
    rows = taught.rows[:most]
    gains = any(row.before is not None for row in rows)
    heads = ["best guess", "probability"] if _labelled(rows) else ["median", "90% between"]
    heads += ["uncertainty", *(["before", "gain"] if gains else [])]
    _cells(
        console,
        [[row.label] for row in rows],
        ["target"],
        [_guess(row.posterior) + _figures(row, gains) for row in rows],
        heads,
        [_verdict(row.within) for row in rows],
    )
    _more(console, len(taught.rows) - len(rows))
    if taught.notes:
        _head(console, "Notes")
        for note in taught.notes[:most]:
            _say(console, note)
        _more(console, len(taught.notes) - most)


def _verdict(within: bool) -> Verdict:
    return Verdict.PASS if within else Verdict.FAIL


def _labelled(rows: tuple[Learned, ...]) -> bool:
    return all(row.posterior.kind is not Kind.DENSITY for row in rows)


def _guess(belief: Belief) -> list[str]:
    if belief.kind is not Kind.DENSITY:
        best = belief.mode
        return [_shown(best), f"{belief.probability(best):.4f}"]
    low, middle, high = (belief.quantile(p) for p in (0.05, 0.5, 0.95))
    return [f"{middle:.4g}", f"{low:.4g}{EN_DASH}{high:.4g}"]


def _figures(row: Learned, gains: bool) -> list[str]:
    found = [f"{row.after:.4f}"]
    if not gains:
        return found
    return [*found, *("" if x is None else f"{x:.4f}" for x in (row.before, row.gain))]


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else str(value)

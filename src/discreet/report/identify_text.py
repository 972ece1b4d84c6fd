"""Who could be found, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.look.palette import number, percent, plural
from discreet.report.text import _cells, _head, _say

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.risk.harm import Harm
    from discreet.risk.identification import Identification
    from discreet.risk.matching import Matching

MOST = 10
TELLS = 1.5  # a key that makes a pair so many times likelier is a reason


def print_identification(
    found: Identification,
    near: Matching | None,
    felt: Harm | None,
    console: Console,
    *,
    most: int = MOST,
) -> None:
    """Risks, their distribution, the most exposed rows, and harm by outcome and group."""
    seen, links = found.perceived, found.links
    linked = plural(int(found.linked.sum()), "respondent")
    _head(
        console,
        f"{linked} of {number(seen.respondents)} linked at {found.act:g} or more",
        gap=False,
    )
    _say(console, f"{_how(found)}", "dim")
    _say(
        console,
        f"perceived: highest {seen.pessimistic:.4f}, average {seen.average:.4f}, "
        f"total {seen.total:,.2f}",
    )
    if found.parents is not None:
        true = found.true
        _say(
            console,
            f"true: {true.acted:,.4g} of {plural(true.released, 'released record')} correctly "
            f"identified ({percent(true.risk, 1)}), {true.wrong:,.4g} wrong; "
            f"{true.best:,.4g} if every best link counts",
        )
    if near is not None:
        _say(
            console,
            f"matching: {number(near.matched)} nearest to their own source "
            f"({percent(near.risk, 1)}), {near.distance} distance",
        )
    _head(console, "Most probable link")
    _cells(
        console,
        [[f"{low:.1f} to {high:.1f}"] for low, high, n in found.distribution if n],
        ["probability"],
        [[number(n)] for _, _, n in found.distribution if n],
        ["respondents"],
    )
    _head(console, "Most exposed")
    rows = found.most_exposed(most)
    labels = [[number(row["row"]), number(row["released_row"])] for row in rows]
    figures = []
    for row in rows:
        told = [f"{k} {v:,.3g}x" for k, v in row["because"].items() if v >= TELLS][:3]
        right = {None: "", True: "right", False: "wrong"}[row["true"]]
        figures.append([f"{row['probability']:.4f}", right, ", ".join(told)])
    _cells(console, labels, ["row", "released"], figures, ["probability", "", "because of"])
    if felt is not None:
        _print_harm(felt, console)
    if links.lost:
        _head(console, "Approximate")
        _say(
            console,
            f"pruning is expected to lose {links.lost:.2%} of true pairs",
        )


def _how(found: Identification) -> str:
    released = plural(len(found.links.released.of), "released record")
    exact = found.links.exact
    if exact == 1:
        return f"{released}, all link probabilities exact"
    return f"{released}, {percent(exact)} with exact link probabilities, the others by clusters"


def _print_harm(felt: Harm, console: Console) -> None:
    from discreet.risk.harm import OUTCOMES, SAID

    _head(console, f"Harm {felt.total:,.6g} from {felt.costs.sensitive}")
    counts = felt.by_outcome
    _cells(
        console,
        [[SAID[name]] for name in OUTCOMES],
        ["outcome"],
        [[number(counts[name]), _cost(felt, name)] for name in OUTCOMES],
        ["respondents", "cost"],
    )
    if felt.without_link is not None and felt.without_link[0]:
        inferred, right = felt.without_link
        _say(console, f"inferred without a link: {number(inferred)}, of which {number(right)} true")
    if groups := felt.by_group():
        _head(console, "Harm by group")
        _cells(
            console,
            [[row["group"], row["value"]] for row in groups],
            ["group", ""],
            [[number(r["respondents"]), number(r["linked"]), f"{r['harm']:,.6g}"] for r in groups],
            ["respondents", "linked", "harm"],
        )


def _cost(felt: Harm, name: str) -> str:
    return f"{felt.costs.costs[name]:,.6g}" if name in felt.costs.costs else ""

"""Who could be found, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.look.palette import number, percent, plural
from discreet.report.text import _cells, _head, _say

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.risk.linkage.calibration import Calibration, Share
    from discreet.risk.linkage.harm import Harm
    from discreet.risk.linkage.harmless import Harmless
    from discreet.risk.linkage.identification import Identification
    from discreet.risk.linkage.matching import Matching

MOST = 10
RIGHT = {None: "", True: "right", False: "wrong"}
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
    _say(console, how_words(found), "dim")
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
        figures.append([f"{row['probability']:.4f}", RIGHT[row["true"]], because_words(row)])
    _cells(console, labels, ["row", "released"], figures, ["probability", "", "because of"])
    if felt is not None:
        _print_harm(felt, console)
    if links.lost:
        _head(console, "Approximate")
        _say(
            console,
            f"pruning loses at most {plural(links.lost_at_most, 'true pair')} (99.9%), "
            f"{links.lost * len(links.released.of):,.3g} expected",
        )


def print_calibration(found: Calibration, act: float, console: Console) -> None:
    """How often a link so probable arises, and how often it is right."""
    drawn = plural(len(found.chance), "drawn file")
    _head(console, f"Calibration by {drawn} (and standard errors)")
    rows = [row for row in found.tenths if row.present.value or row.absent.value]
    _cells(
        console,
        [[f"{row.low:.1f} to {row.high:.1f}"] for row in rows],
        ["probability"],
        [[_share(share) for share in (row.present, row.absent, row.right)] for row in rows],
        ["of present targets", "of absent targets", "right"],
    )
    _say(console, f"{_share(found.error(act))} of links at {act:g} or more are wrong")
    if found.released.all():
        _say(console, "every source is released: no target is absent")
    else:
        share = _share(found.arises(act))
        _say(console, f"{share} of absent targets have a link at {act:g} or more")


def print_harmless(found: Harmless, console: Console) -> None:
    """From which imprecision on an intruder poses little risk, and without which key."""
    _head(console, "Little risk")
    last = found.grid[-1][0]
    if found.times is None:
        said = f"no intruder up to {number(last)} times less precise keeps"
    elif found.times == 1:
        said = "the intruder as assumed keeps"
    else:
        said = f"an intruder at least {found.times:.2f} times less precise than assumed keeps"
    _say(console, f"{said} the highest risk at {found.limit:g} or less")
    steady = "" if found.steady else ", and the risk rises in between"
    _say(console, f"checked where shown, up to {number(last)} times{steady}", "dim")
    labels = [["as assumed"], *([f"{times:.2f} times less precise"] for times, _ in found.grid[1:])]
    risks = [*(risk for _, risk in found.grid), *found.without.values()]
    _cells(
        console,
        [*labels, *([f"{name} not known"] for name in found.without)],
        ["intruder"],
        [[f"{risk:.4f}"] for risk in risks],
        ["highest risk"],
    )


def _share(share: Share) -> str:
    return f"{percent(share.value, 1)} ({share.error:.1%})" if share.of else "-"


def because_words(row: dict[str, Any]) -> str:
    """The keys that tell, and how many times likelier they make the link."""
    told = [(key, float(f"{times:.3g}")) for key, times in row["because"].items() if times >= TELLS]
    return ", ".join(f"{key} {number(times)}x" for key, times in told[:3])


def how_words(found: Identification) -> str:
    released = plural(len(found.links.released.of), "released record")
    exact = found.links.exact
    if exact == 1:
        return f"{released}, all link probabilities exact"
    if exact == 0:
        return f"{released}, all link probabilities approximate"
    return f"{released}, {percent(exact)} with exact link probabilities, the others approximate"


def _print_harm(felt: Harm, console: Console) -> None:
    from discreet.risk.linkage.harm import OUTCOMES, SAID

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

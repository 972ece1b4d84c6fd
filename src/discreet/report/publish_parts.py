"""What a page of a publication says besides the cells: plan, totals, rules, intervals, policy."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from discreet.look.words import number, percent, plural
from discreet.report.page import HTML, MOST_LONG, Points, Rows, Say, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.decision.law.policy import Policy
    from discreet.decision.survey.combine import Combination
    from discreet.decision.survey.edges import Edges
    from discreet.decision.survey.flips import Flips
    from discreet.decision.survey.plugin import PlugIn
    from discreet.decision.survey.publish import Publication
    from discreet.decision.survey.taylor import Taylor
    from discreet.decision.survey.totals import GuardedTotals
    from discreet.models.subclasses import SubclassFit

WORDS = {
    "published": "publish",
    "suppressed": "suppress",
    "suppressed for a total": "suppress for a total",
    "given back": "GIVEN BACK",
    "published joined": "publish joined",
}
MOST_ROWS = 12  # named in a sentence


def only_if(
    found: Publication,
    policy: Policy | None,
    totals: GuardedTotals | None,
    combined: Combination | None,
) -> list[str]:
    """What must hold so that suppressed is suppressed."""
    if found.publish.all() and totals is None:
        return []
    if totals is None:
        if policy is not None and policy.publish.totals == "none":
            return ["It is said that no total of the class is published (none)."]
        return [
            "Suppressed holds only if nothing else of the class is published: with a total over "
            "domains what is missing follows. Name the totals that are (--totals)."
        ]
    names = ", ".join(totals.names)
    back = len(totals.given_back)
    if back:
        cells = plural(back, "cell is", "cells are")
        open_by = f" to within less than {number(totals.width)}" if totals.width > 1 else ""
        return [
            f"{cells} NOT suppressed: the published totals ({names}) give "
            f"{'it' if back == 1 else 'them'} back{open_by}: {_rows(totals.given_back.tolist())}."
        ]
    said = []
    if len(totals.told):
        which = _rows(totals.told.tolist())
        said.append(
            f"Who knows losses, prior and cut knows the count of {which}: the rule suppresses too "
            "few others there. More suppression does not help; publish.known = false if the rule "
            "is secret."
        )
    if len(totals.doubt) or totals.stopped:
        why = f" ({totals.stopped})" if totals.stopped else ""
        many = plural(len(totals.doubt), "suppressed cell")
        them = "it" if len(totals.doubt) == 1 else "them"
        said.append(f"Of {many} it is not proven that the totals ({names}) keep {them} open{why}.")
    return said


def not_proven(edges: Edges) -> str:
    rule = edges.best.rule
    what = "data than" if rule.risk is not None else "risk than"
    side = "more" if rule.risk is not None else "less"
    return (
        f"The best set is not proven: no set of whole cells has {side} {what} "
        f"{percent(edges.bound, 2)}."
    )


def plan_section(found: Publication) -> Section:
    """Table 2: configurations in the order of publication, with the sums at each line."""
    from discreet.decision.survey.plan import plan_table

    table = plan_table(found)
    chance = found.probability[found.order]
    figures = []
    for place, row in enumerate(table.itertuples(index=False)):
        kind, likely, R1, R0, ratio, PR1, PR0, taken, left = row[3:]
        line = [number(int(row[1])), number(int(row[2])), f"{kind:.3g}", f"{likely:.4f}"]
        line += [f"{R1:.3f}", f"{R0:.4g}", "" if math.isnan(ratio) else f"{ratio:.3f}"]
        line += [f"{PR1:.4f}", f"{PR0:.3f}", f"{taken:.4f}", f"{left:.3f}"]
        at = chance[place]
        figures.append([*line, "yes" if at == 1 else "no" if at == 0 else percent(at)])
    columns = (
        "Of N people n are sampled, y of them in the class. P(N): the share of domains of this "
        "type; P(y): the probability of y in its sample. R1 and R0: the expected loss of "
        "publishing and of suppressing such a cell; P R1 and P R0: times how often it occurs. "
        "Sum: P R1 of all that is published down to a line; left: P R0 of what is suppressed "
        "below it. All per domain (Table 2 of Zaslavsky & Horton 1998)."
    )
    rows = Rows(
        "Each configuration of a domain, its sample and its count",
        ["n"],
        [[number(int(n))] for n in table["n"][:MOST_LONG]],
        ["N", "y", "P(N)", "P(y)", "R1", "R0", "R1/R0", "P R1", "P R0", "sum", "left", "out"],
        figures[:MOST_LONG],
        len(figures),
        words=("out",),
        kind="more configuration",
        of_data=True,
    )
    weight = found.weight
    risk, loss = float(found.R1 @ weight), float(found.R0 @ weight)
    taken = float(found.R1 * found.probability @ weight)
    left = loss - float(found.R0 * found.probability @ weight)
    said = (
        f"Expected per domain: risk {taken:.4g} of {risk:.4g}, loss of what is suppressed "
        f"{left:.4g} of {loss:.4g}."
    )
    return Section(
        "Configurations in the order of publication", [Say(said), Say(columns, "quiet"), rows]
    )


def totals_section(totals: GuardedTotals) -> Section:
    """What the totals leave open of each suppressed cell."""
    import numpy as np

    hidden = np.flatnonzero(~totals.publication.publish)
    status = totals.status
    rows = Rows(
        "Every count that fits what is published lies between least and most",
        ["row"],
        [[number(int(row) + 1)] for row in hidden[:MOST_LONG]],
        ["least", "most", ""],
        [
            [number(float(totals.lower[row])), number(float(totals.upper[row])), WORDS[status[row]]]
            for row in hidden[:MOST_LONG]
        ],
        len(hidden),
        words=("",),
        kind="more cell",
    )
    many = len(totals.secondary)
    least = "; no other choice loses less" if totals.gap == 0 else ""
    if many and totals.gap:
        least = f"; at most {percent(totals.gap, 1)} of their loss could be saved"
    said = (
        f"{plural(totals.totals, 'total')} published ({', '.join(totals.names)}); "
        f"{plural(many, 'more cell is', 'more cells are')} suppressed for them"
        f"{least if many else ''}. Intervals are of somebody who knows n"
        f"{' and that no suppressed cell is empty' if totals.floor > 0 else ''}, not the rule."
    )
    return Section(
        "What published totals leave open", [Say(said), *([rows] if len(hidden) else [])]
    )


def plug_in_section(found: Publication, beside: PlugIn) -> Section:
    """Where an estimate in place of Y decides otherwise than the expected losses."""
    estimator = found.rule.estimator or "combined"
    exact, rows = beside.publication, beside.differs(estimator)
    besides = [int(row) for row in rows if not exact.publish[row]]
    missed = [int(row) for row in rows if exact.publish[row]]
    texts = []
    if besides:
        texts.append(f"published, which the expected losses suppress: {_rows(besides)}")
    if missed:
        texts.append(f"suppressed, which the expected losses publish: {_rows(missed)}")
    if not rows.size:
        texts.append("it decides every cell as the expected losses do")
    gap = beside.understated
    at = int(gap.argmax())
    texts.append(
        "the loss at the expected count understates the expected loss of publishing by up to "
        f"{gap[at]:.4g} (row {at + 1})"
    )
    title = f"The plug-in rule differs in {plural(len(rows), 'cell')}"
    compared = (
        f"Expected losses: {percent(exact.data_published)} of the data at "
        f"{percent(exact.risk_taken)} of the risk; plug-in: {percent(found.data_published)} at "
        f"{percent(found.risk_taken)}."
    )
    return Section(title, [Say(compared), Points(texts)])


def edges_section(edges: Edges) -> Section:
    """The best set against the order and the random edge."""
    table = edges.to_frame()
    columns = zip(table["cells"], table["data"], table["risk"], strict=True)
    rows = Rows(
        "Within the same limit; one cell at random is the linear relaxation, a bound on every set",
        ["edge"],
        [[edge] for edge in table["edge"]],
        ["cells", "data", "risk"],
        [[f"{cells:,.4g}", percent(data, 2), percent(risk, 2)] for cells, data, risk in columns],
    )
    proven = "Proven: no set of whole cells does better." if edges.proven else not_proven(edges)
    return Section("Within the limit", [Say(proven), rows])


def taylor_section(close: Taylor) -> Section:
    """R1 by L1(y, E Y) + L1''(y, E Y) Var Y / 2, and where that fails."""
    import numpy as np

    first = np.argsort(-np.abs(np.nan_to_num(close.error)), kind="stable")
    order = np.concatenate([first[close.fails[first]], first[~close.fails[first]]])[:MOST_LONG]
    exact, error = close.publication.R1, close.error
    columns = (
        "R1: the expected loss of publishing. At E Y: the loss at the expected count. "
        "Taylor: that and half the variance times its second derivative."
    )
    rows = Rows(
        "Where it fails, then the largest relative errors",
        ["row"],
        [[number(int(row) + 1)] for row in order],
        ["R1", "at E Y", "Taylor", "error", "changes"],
        [
            [
                *(f"{x[row]:,.4g}" for x in (exact, close.plugged, close.approximate)),
                "" if math.isnan(error[row]) else f"{error[row]:+.2%}",
                close.words(int(row)),
            ]
            for row in order
        ],
        len(exact),
        words=("changes",),
        kind="more cell",
        short=10,
    )
    said = (
        f"Relative error up to {percent(close.worst, 2)}; it changes the decision of "
        f"{plural(int(close.decided.sum()), 'cell')} and the order of "
        f"{number(int(close.misordered.sum()))}."
    )
    return Section(
        "The second-order approximation of the loss of publishing",
        [Say(said), Say(columns, "quiet"), rows],
    )


def fitted_section(
    found: Publication, level: float, flips: Flips | None, subclasses: SubclassFit | None
) -> Section:
    """What was fitted, between which ends, and which cells that leaves open."""
    prior, labels, figures = found.prior, [], []
    if prior.fitted_to is not None and flips is not None:
        observed = prior.intervals(level)
        profile = prior.intervals(level, method="profile")
        frame = prior.to_frame(level=level)
        for name, value in zip(frame["parameter"], frame["estimate"], strict=True):
            labels.append([name])
            figures.append([f"{value:.4g}", _ends(profile[name]), _ends(observed[name])])
    if subclasses is not None:
        frame = subclasses.to_frame()
        for name, value, low, high in frame.itertuples(index=False):
            labels.append([name])
            exact = " (exact)" if subclasses.exact and name == "S, equal" else ""
            figures.append([_end(value), f"{_ends((low, high))}{exact}", ""])
    rows = Rows(
        f"{percent(level)} intervals",
        ["parameter"],
        labels,
        ["estimate", "profile likelihood", "observed information"],
        figures,
    )
    said: list[Say] = []
    if subclasses is not None and subclasses.uneven > UNEVEN:
        said.append(
            Say(
                "The subclasses are not of one size (twice the log likelihood ratio "
                f"{subclasses.uneven:.1f}): uniques calls cells safer than they are; say "
                "--disclosure-loss gamma-uniques.",
                "grave",
            )
        )
    if flips is not None:
        many = plural(len(flips.flipping), "cell flips", "cells flip")
        listed = f": {_rows(flips.flipping.tolist())}" if len(flips.flipping) else ""
        where = plural(flips.points, "point")
        said.append(
            Say(f"{many} at {where} along the edge of the {percent(level)} region{listed}.")
        )
    return Section("What was fitted, and what that leaves open", [rows, *said])


def policy_section(policy: Policy) -> Section:
    """Every key of the section `publish`, for an HTML page."""
    entries = dataclasses.fields(policy.publish)
    values = [getattr(policy.publish, entry.name) for entry in entries]
    locked = ["locked" if f"publish.{entry.name}" in policy.locked else "" for entry in entries]
    rows = Rows(
        policy.described,
        ["key"],
        [[f"publish.{entry.name}"] for entry in entries],
        ["value", "meaning", "locked"],
        [
            [str(value).lower() if isinstance(value, bool) else str(value), says, lock]
            for value, says, lock in zip(
                values, (entry.metadata["says"] for entry in entries), locked, strict=True
            )
        ],
        words=("value", "meaning", "locked"),
    )
    return Section("Policy", [rows], on=HTML)


UNEVEN = 3.841  # the 95% quantile of chi square with one degree of freedom


def _rows(rows: Sequence[int]) -> str:
    said = ", ".join(number(row + 1) for row in rows[:MOST_ROWS])
    more = f" and {number(len(rows) - MOST_ROWS)} more" if len(rows) > MOST_ROWS else ""
    return f"row{'s' * (len(rows) != 1)} {said}{more}"


def _end(value: float) -> str:
    return "no limit" if math.isinf(value) else f"{value:.4g}"


def _ends(ends: tuple[float, float]) -> str:
    return f"{_end(ends[0])} to {_end(ends[1])}"

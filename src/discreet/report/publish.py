"""The page of a publication: which cells of a survey table to publish."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import number, percent, plural
from discreet.report import publish_parts as parts
from discreet.report import publish_words as words
from discreet.report.page import MOST_SHORT, Chart, Page, Points, Rows, Say, Section, data_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.decision.law.policy import Policy
    from discreet.decision.survey.combine import Combination
    from discreet.decision.survey.edges import Edges
    from discreet.decision.survey.flips import Flips
    from discreet.decision.survey.plugin import PlugIn
    from discreet.decision.survey.publish import Publication
    from discreet.decision.survey.taylor import Taylor
    from discreet.decision.survey.totals import GuardedTotals
    from discreet.models.subclasses import SubclassFit

MOST_LABELS = 4


def publish_page(
    found: Publication,
    *,
    name: str = "",
    combined: Combination | None = None,
    data: str | Path | None = None,
    planned: bool = False,
    policy: Policy | None = None,
    level: float | None = None,
    plug_in: PlugIn | None = None,
    taylor: Taylor | None = None,
    flips: Flips | None = None,
    subclasses: SubclassFit | None = None,
    edges: Edges | None = None,
    totals: GuardedTotals | None = None,
) -> Page:
    """The decision, the cells nearest to its edge, and what other ratios would publish."""
    kind = "configuration" if planned else "cell"
    many = f"{number(int(found.publish.sum()))} of {plural(len(found), kind)}"
    if totals is not None and (back := len(totals.given_back)):
        many += f", and {number(back)} more {'is' if back == 1 else 'are'} given back"
    out = found if combined is None else combined
    holding, taken = words.holding(found, out.data_published), percent(out.risk_taken)
    if combined is not None and combined.combined:
        many += f", and {number(combined.saved)} more in groups"
    warned = [] if planned else parts.only_if(found, policy, totals, combined)
    if edges is not None and not edges.proven:
        warned.append(parts.not_proven(edges))
    said = [
        f"{name + ': ' if name else ''}{words.rule_words(found.rule)}",
        *words.loss_words(found),
        words.prior_words(found),
    ]
    if policy is not None:
        said.append(f"Policy: {policy.described}")
    sections = [parts.plan_section(found) if planned else _cells(found, totals)]
    if combined is not None:
        sections.append(_combined(combined))
    if totals is not None:
        sections.append(parts.totals_section(totals))
    if plug_in is not None:
        sections.append(parts.plug_in_section(found, plug_in))
    if edges is not None:
        sections.append(parts.edges_section(edges))
    if taylor is not None:
        sections.append(parts.taylor_section(taylor))
    if level is not None or subclasses is not None:
        sections.append(parts.fitted_section(found, level or 0.95, flips, subclasses))
    sections.append(_ratios(found, kind))
    if policy is not None:
        sections.append(parts.policy_section(policy))
    return Page(
        "Publication of survey cells",
        f"{'Plan: publish' if planned else 'Publish'} {many}, with {holding}, at {taken} of the "
        "disclosure risk",
        sections,
        verdict=None if totals is None else totals.verdict,
        size=plural(len(found), kind),
        said=[*(Say(text, "grave") for text in warned), *(Say(text, "quiet") for text in said)],
        figures=[
            (number(int(found.publish.sum())), f"of {plural(len(found), kind)} published"),
            words.holding_figure(found, out.data_published),
            (taken, "of the disclosure risk taken"),
        ],
        files=data_file(data),
        memory="a plan" if planned else "a table in memory",
    )


def _cells(found: Publication, totals: GuardedTotals | None) -> Section:
    """Those around the edge, in the order of publication."""
    import numpy as np

    status = parts.WORDS if totals is not None else {}

    edge = int(found.publish.sum())
    start = max(0, min(edge - MOST_SHORT // 2, len(found) - MOST_SHORT))
    rows = found.order[start : start + MOST_SHORT]
    columns = [(name, [str(v) for v in _at(values, rows)]) for name, values in _labels(found)]
    counts, mean = found.counts, found.counts.mean
    figures = []
    for row in rows:
        ratio = "" if np.isnan(found.ratio[row]) else f"{found.ratio[row]:.4f}"
        line = [number(int(column[row])) for column in (counts.n, counts.N, counts.y)]
        line += [f"{mean[row]:,.1f}", f"{found.R0[row]:,.4g}", f"{found.R1[row]:,.4g}", ratio]
        word = "publish" if found.publish[row] else "suppress"
        figures.append([*line, status[totals.status[row]] if totals is not None else word])
    labels = [[values[place] for _, values in columns] for place in range(len(rows))]
    if not columns:
        columns, labels = [("row", [])], [[number(int(row) + 1)] for row in rows]
    title = "In the order of publication" if len(found) <= MOST_SHORT else "Nearest to the edge"
    table = Rows(
        "Cells with the expected losses of suppressing and of publishing them",
        [name for name, _ in columns],
        labels,
        ["n", "N", "y", "E Y", "R0", "R1", "R1/R0", ""],
        figures,
        len(found),
        words=("",),
        kind="more cell",
        of_data=True,
    )
    return Section(title, [Say(words.COLUMNS, "quiet"), table])


def _combined(combined: Combination) -> Section:
    """Groups of neighbouring cells that can be published together."""
    saved = plural(combined.saved, "suppressed cell")
    texts = [
        f"rows {', '.join(number(row + 1) for row in group.rows)}: R1 / R0 = {group.ratio:.4f}"
        for group in combined.combined
    ]
    return Section(f"Joined with rows next to them, {saved} can be published", [Points(texts)])


def _ratios(found: Publication, kind: str) -> Section:
    table = found.ratios()
    if kind != "cell":  # how often a configuration occurs does not count it
        table["cells"] = [int((found.rank < ratio).sum()) for ratio in table["ratio"]]
    columns = zip(table["cells"], table["data"], table["risk"], strict=True)
    rows = Rows(
        "Cells, data and disclosure risk by the ratio that is published up to",
        ["published where"],
        [[f"R1/R0 below {number(ratio)}"] for ratio in table["ratio"]],
        [f"{kind}s", "data", "risk"],
        [[number(int(cells)), percent(data, 1), percent(risk, 1)] for cells, data, risk in columns],
    )
    chart = Chart("curve", found.plot, "The disclosure risk taken by the data suppressed.")
    return Section("What each ratio would publish", [chart, rows])


def _labels(found: Publication) -> list[tuple[str, object]]:
    """Columns of the data that are not n, N or y."""
    import numpy as np

    counts = found.counts
    shown = []
    for name, values in found.columns.items():
        column = np.asarray(values)
        same = column.dtype.kind in "iuf" and any(
            np.array_equal(column, other) for other in (counts.n, counts.N, counts.y)
        )
        if not same:
            shown.append((name, values))
    return shown[:MOST_LABELS]


def _at(values: object, rows: NDArray[np.int64]) -> list[object]:
    import numpy as np

    return [*np.asarray(values, object)[rows]]

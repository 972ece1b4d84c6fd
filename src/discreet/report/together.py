"""The page of several masked releases judged together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import number, percent, plural
from discreet.report.page import Chart, Facts, Page, Points, Rows, Say, Section, data_file

if TYPE_CHECKING:
    from discreet.decision.together.together import Together

SHORT = 20


def together_page(found: Together, *, data: str | Path | None = None) -> Page:
    """The verdict, every small count from each release and from all, and what was assumed."""
    frame = found.to_frame().sort_values("together", ascending=False)
    names, columns = list(found.table.names), [*found.columns, "together"]
    rows = Rows(
        "Every small count: how probable the true count is, the most probable first",
        names,
        [[str(label) for label in row] for row in frame[names].itertuples(index=False)],
        ["count", *columns],
        [
            [number(count), *(percent(chance) for chance in chances)]
            for count, *chances in frame[["count", *columns]].itertuples(index=False)
        ],
        every=len(frame),
        short=SHORT,
    )
    chart = Chart("together", found.plot, "A bar a cell. The table below has the same figures.")
    risks = Rows(
        "Risks of each release alone, and of all together",
        ["release"],
        [[name] for name in (*found.names, "together")],
        list(found.risk),
        [[number(risk[name]) for name in found.risk] for risk in (*found.risks, found.risk)],
        every=len(found.told) + 1,
        short=60,
    )
    facts = [
        ("Measure", found.measure),
        ("Limit", percent(found.limit)),
        ("Stated from", percent(found.act)),
        ("Beliefs", "exact" if found.exact else f"drawn, standard error to {found.error:.2g}"),
    ]
    return Page(
        "Releases together",
        str(found).partition(": ")[2],
        [
            Section("Small counts", [chart, rows]),
            Section("Release by release", [risks]),
            Section("How it was judged", [Facts(facts), Points(list(found.said))]),
        ],
        verdict=found.verdict,
        size=plural(len(found.told), "release"),
        said=[Say(text) for text in found.why()],
        files=data_file(data),
        memory="data in memory",
    )

"""What is inferred of a sensitive column, for the page of an identification: counts, posteriors,
estimates of the model; nobody's row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.look.words import number
from discreet.report.page import MOST_LONG, Facts, Part, Rows, Section

if TYPE_CHECKING:
    from discreet.risk.linkage.harm import Harm
    from discreet.risk.linkage.harm.told import ToldCategory, ToldNumber


def told_sections(felt: Harm) -> list[Section]:
    """Inferences by category or about a number, and the model behind them."""
    from discreet.risk.linkage.harm.told import ToldCategory

    told = felt.told
    if told is None:
        return []
    if isinstance(told, ToldCategory):
        part, what = _values(told), f"Log odds of {told.categories[-1]}"
    else:
        part, what = _number(felt, told), felt.costs.sensitive
        if told.model is not None and told.model.logs:
            what = f"Logarithm of {what}"
    found = [Section("What is inferred", [part])]
    if told.model is not None:
        found.append(Section("How it is predicted", [_model(told, what)]))
    return found


def _values(told: ToldCategory) -> Part:
    rows = sorted(told.inferences(), key=lambda row: (-row["inferred"], row["value"]))
    shown = rows[:MOST_LONG]
    return Rows(
        "Respondents with a link who are taken to have each value; before: its share before a "
        "record is read, believed: what is believed of it, on average, once a record shows it",
        ["value"],
        [[row["value"]] for row in shown],
        ["released", "before", "believed", "inferred", "right", "wrong", "of true links"],
        [
            [number(row["released"]), f"{row['prior']:.4f}",
             "" if row["believed"] is None else f"{row['believed']:.4f}",
             *(number(row[name]) for name in ("inferred", "right", "wrong", "linked"))]
            for row in shown
        ],
        len(rows),
        kind="more value",
    )  # fmt: skip


def _number(felt: Harm, told: ToldNumber) -> Part:
    seen = float(told.perceived.sum())
    linked = felt.outcome > 0
    spread = float(told.spread[linked].mean()) if linked.any() else 0.0
    return Facts(
        [
            ("Expected harm", f"{felt.total:,.6g}, over all that is believed"),
            ("Harm of estimates", f"{float(told.of_estimate.sum()):,.6g}, of the mean of a belief"),
            ("As the intruder sees it", "infinite" if seen == float("inf") else f"{seen:,.6g}"),
            ("Spread of a belief", f"{spread:,.6g} on average"),
        ]
    )


def _model(told: ToldCategory | ToldNumber, what: str) -> Part:
    from discreet.risk.linkage.harm.told import coefficients

    assert told.model is not None
    rows = coefficients(told.model)
    return Rows(
        f"{what}: coefficients of the fit to the released file",
        ["column"],
        [[row["name"]] for row in rows],
        ["estimate", "standard error"],
        [[f"{row['estimate']:.6g}", f"{row['standard_error']:.4g}"] for row in rows],
        short=len(rows),
    )

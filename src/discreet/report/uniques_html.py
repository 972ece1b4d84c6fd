"""Who stands out in a file, as one HTML file: it has row numbers, and no key of a person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import write_text
from discreet.decision.law.assess import stamped
from discreet.decision.law.verdict import Verdict
from discreet.look.palette import number, percent, plural
from discreet.report.html import drawn, named_file, page_view, render
from discreet.report.uniques_text import MISSING
from discreet.report.words import sentence
from discreet.risk.uniques.anonymity import band_name
from discreet.risk.uniques.individual import level_name

if TYPE_CHECKING:
    from discreet.risk.uniques.uniques import Uniqueness

TEMPLATE = "uniques.html.j2"
MOST = 20
COLUMNS = {"alike": "Look alike", "risk": "Risk", "score": "Special", "dis": "DIS-SUDA"}
SAME = "The table below has the same figures."


def uniques_report(
    found: Uniqueness, *, k: int | None = None, data: str | Path = "records in memory"
) -> str:
    """The report as HTML; `k`: look-alikes that each must have, `data`: the file, for its hash."""
    return render(TEMPLATE, _view(found, k, data))


def write_uniques_html(
    path: str | Path,
    found: Uniqueness,
    *,
    k: int | None = None,
    data: str | Path = "records in memory",
) -> None:
    """The report as a file, whole or not at all."""
    write_text(path, uniques_report(found, k=k, data=data))


def _view(found: Uniqueness, k: int | None, data: str | Path) -> dict[str, Any]:
    """Everything that the template shows."""
    anonymity, risk, records = found.anonymity, found.risk, found.classes.records
    name, sha256 = named_file(data)
    verdict = None
    if k is not None:
        verdict = Verdict.PASS if anonymity.k >= k else Verdict.FAIL
    view = page_view("Uniqueness assessment", stamped(name, sha256), [("Data", name, sha256)])
    return view | {
        "verdict": verdict,
        "records": records,
        "said": _said(found, k),
        "figures": _figures(found, k),
        "facts": list(_facts(found)),
        "keys": ", ".join(found.classes.keys),
        "k": k,
        "sizes": [(band_name(a, b), n, people) for a, b, n, people in anonymity.bands()],
        "levels": [(level_name(a, b), n) for a, b, n in risk.bands()],
        "columns": [title for column, title in COLUMNS.items() if column in found.exposed(1)],
        "exposed": _exposed(found),
        "more": max(0, len(found.classes) - MOST),
        "assumptions": [
            f"The intruder knows the keys of a person: {', '.join(found.classes.keys)}.",
            f"{sentence(MISSING[found.classes.missing])}.",
            f"{sentence(risk.sampling.words)}.",
        ],
        "charts": {
            "sizes": drawn("sizes", anonymity.plot, f"Bars by size of class. {SAME}"),
            "risk": drawn("risk", risk.plot, f"Bars by level of risk. {SAME}"),
        },
    }


def _said(found: Uniqueness, k: int | None) -> list[str]:
    """The summary, most important first."""
    records = plural(found.classes.records, "record")
    unique = f"{number(found.anonymity.uniques)} of {records} unique in their keys."
    if k is None:
        return [unique, "No limit is set: a person has to decide."]
    below = found.anonymity.below(k)
    return [f"{number(below)} of {records} in classes of fewer than {number(k)}.", unique]


def _figures(found: Uniqueness, k: int | None) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    anonymity, risk = found.anonymity, found.risk
    figures = [
        (number(anonymity.k), "records in the smallest class"),
        (number(anonymity.uniques), f"of {plural(anonymity.total, 'record')} unique"),
        (f"{risk.expected:,.4g}", "records expected to be linked rightly"),
        (percent(risk.highest, 1), "highest risk of a record"),
    ]
    if k is not None:
        figures.insert(1, (number(anonymity.below(k)), f"records in classes below {number(k)}"))
    return figures


def _facts(found: Uniqueness) -> Iterator[tuple[str, str]]:
    """What else was counted, where it was asked for."""
    special, population, homes = found.special, found.population, found.households
    if population is not None and len(population):
        sure = population.rehearsal is None or population.rehearsal.agrees
        said = f"{_few(population.tau1)} ± {_few(population.standard_error)} of "
        said += f"{plural(len(population), 'sample unique')} are unique in the population too, "
        said += f"{_few(population.tau2)} would be linked rightly; {population.model}"
        yield "Population uniques", said + ("" if sure else "; not reliable, no model fits")
    if special.special:
        ranked = sorted(special.shares.items(), key=lambda pair: -pair[1])
        shares = ", ".join(f"{name} {percent(share)}" for name, share in ranked)
        said = f"{plural(special.special, 'record')} unique by {special.largest} keys or fewer"
        yield "Special uniques", f"{said}; in the score: {shares}"
    if homes is not None:
        yield "Households", f"{homes.expected:,.4g} of {number(len(homes))} would be found"
    if found.diversity is not None:
        values = found.diversity.to_json()
        said = f"the class tells it of {plural(found.diversity.disclosed, 'record')}; l-diversity "
        said += f"{values['distinct_l']} distinct, {values['entropy_l']:.3g} entropy; "
        yield found.diversity.sensitive, f"{said}t-closeness {values['t']['equal']:.3g}"


def _few(value: float) -> str:
    """An estimated number of records."""
    return f"{value:,.3g}" if value >= 0.001 else "0"


def _exposed(found: Uniqueness) -> list[tuple[int, list[str]]]:
    """Rows and their figures; none of cells, which have no rows."""
    shown = found.exposed(MOST)
    if "row" not in shown:
        return []
    figures = {
        name: [
            number(v) if name in ("alike", "score") else f"{v:.4f}" for v in shown[name].tolist()
        ]
        for name in COLUMNS
        if name in shown
    }
    lines = zip(*figures.values(), strict=True)
    return [(row, list(line)) for row, line in zip(shown["row"].tolist(), lines, strict=True)]

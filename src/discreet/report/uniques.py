"""The page of uniqueness: who stands out in a file; row numbers, and no key of a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.decision.law.verdict import Verdict
from discreet.look.words import number, percent, plural, sentence
from discreet.report.page import HTML, Chart, Facts, Page, Part, Rows, Say, Section
from discreet.risk.uniques.anonymity import band_name
from discreet.risk.uniques.individual import level_name

if TYPE_CHECKING:
    from discreet.risk.uniques.anonymity import Diversity
    from discreet.risk.uniques.population import PopulationUniques
    from discreet.risk.uniques.suda import SpecialUniques
    from discreet.risk.uniques.uniques import Uniques

MOST, SHORT = 20, 10
MISSING = {
    "own": "a missing value is a category of its own",
    "any": "a missing value matches anything",
}
COLUMNS = {"alike": "look alike", "risk": "risk", "score": "special", "dis": "DIS-SUDA"}
SPECIAL = (
    "special: the more, and the smaller, the sets of keys that make a record unique, the higher; "
    "DIS-SUDA: the probability that a match with it is right"
)
TOLD = (
    "l-diversity: different values in the class with fewest; t-closeness: how far a class is from "
    "the whole file at most, from 0 to 1"
)
NOT = {
    "population": "Uniques of the population",
    "diversity": "What is told of a sensitive value",
    "households": "The risk of households",
}
SAME = "The table below has the same figures."


def uniques_page(found: Uniques, *, k: int | None = None, data: str | Path | None = None) -> Page:
    """Classes by size, the distribution of risk, uniques, and the most exposed rows.

    `k`: look-alikes that each must have; `data`: the file, for its hash.
    """
    anonymity, classes = found.anonymity, found.classes
    records, keys = plural(classes.records, "record"), ", ".join(classes.keys)
    unique = f"{number(anonymity.uniques)} of {records} unique in {keys}"
    headline, verdict = unique, None
    said = [Say(_to_sign(found))]
    if k is not None:
        verdict = Verdict.PASS if anonymity.k >= k else Verdict.FAIL
        headline = f"{number(anonymity.below(k))} of {records} in classes below {k}"
        said = [Say(unique), *said]
    smallest = f"smallest class {number(anonymity.k)}; {MISSING[classes.missing]}"
    said.append(Say(smallest, "quiet"))
    if k is None:
        said.append(Say("No limit is set: a person has to decide.", on=HTML))
    name = "records in memory" if data is None else Path(data).name
    return Page(
        "Uniqueness assessment",
        headline,
        [_request(name, keys, k), _alike(found), _risk(found), *_more(found), *_exposed(found)],
        verdict=verdict,
        size=records,
        said=said,
        figures=_figures(found, k),
        assumed=[
            f"The intruder knows the keys of a person: {keys}.",
            f"{sentence(MISSING[classes.missing])}.",
            f"{sentence(found.risk.sampling.words)}.",
            *(f"{NOT[name]}: {why}." for name, why in found.not_computed.items()),
        ],
        files={} if data is None else {"Data": data},
        memory="records in memory",
    )


def _to_sign(found: Uniques) -> str:
    """Which number to sign, and why: of two estimates the larger one."""
    risk, population = found.risk, found.population
    signed, by = found.to_sign
    if population is None or by == "file":
        return (
            f"Risk to sign: {_few(signed)} records would be linked to the right person, "
            "counted exactly; the file is taken for the population, which is the careful side"
        )
    than, other = (
        ("model", found.risk_by_model) if by == "sampling" else ("sampling", risk.expected)
    )
    doubt = "" if _fits(population) else " (no model fits)"
    return (
        f"Risk to sign: {_few(signed)} records would be linked to the right person. It is an "
        f"estimate by the {by}, the larger of two: by the {than} it is {_few(other)}{doubt}"
    )


def _fits(population: PopulationUniques) -> bool:
    return population.rehearsal is None or population.rehearsal.agrees


def _figures(found: Uniques, k: int | None) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    anonymity, risk = found.anonymity, found.risk
    figures = [
        (number(anonymity.k), "records in the smallest class"),
        (number(anonymity.uniques), f"of {plural(anonymity.total, 'record')} unique"),
        (_few(found.to_sign[0]), "records expected to be linked rightly"),
        (percent(risk.highest, 1), "highest risk of a record"),
    ]
    if k is not None:
        figures.insert(1, (number(anonymity.below(k)), f"records in classes below {number(k)}"))
    return figures


def _request(name: str, keys: str, k: int | None) -> Section:
    asked = f"{number(k)} for each record, itself included" if k else "no number is asked for"
    facts = Facts([("Data", name), ("Keys", keys), ("Look-alikes", asked)])
    return Section("The request", [facts], on=HTML)


def _alike(found: Uniques) -> Section:
    bands, records = found.anonymity.bands(), found.classes.records
    table = Rows(
        "Classes of records with the same keys, by size",
        ["class size"],
        [[band_name(low, high)] for low, high, _, _ in bands],
        ["classes", "records", "share"],
        [[number(many), number(n), percent(n / records)] for _, _, many, n in bands],
    )
    chart = Chart("sizes", found.anonymity.plot, f"Bars by size of class. {SAME}")
    return Section("How many look alike", [chart, table])


def _risk(found: Uniques) -> Section:
    risk, records = found.risk, found.classes.records
    table = Rows(
        "Records by the probability of being linked to the right person",
        ["risk"],
        [[level_name(low, high)] for low, high, _ in risk.bands()],
        ["records", "share"],
        [[number(many), percent(many / records)] for _, _, many in risk.bands()],
    )
    sampled = Say(f"{risk.sampling.words}; highest {percent(risk.highest, 1)}", "quiet")
    chart = Chart("risk", risk.plot, f"Bars by level of risk. {SAME}")
    return Section(
        "The risk of a record",
        [chart, sampled, table],
        f"Risk by the sampling: {risk.expected:,.4g} records would be linked to the right person"
        if risk.sampling.known
        else f"Risk: {risk.expected:,.4g} records would be linked to the right person",
    )


def _more(found: Uniques) -> list[Section]:
    """What else was counted, where it was asked for."""
    population, homes, sections = found.population, found.households, []
    if population is not None and len(population):
        sections.append(_population(population))
    if homes is not None:
        of = f"{homes.expected:,.4g} of {number(len(homes))} would be found"
        with_ = Say(f"with {homes.expected_records:,.4g} members", "quiet")
        sections.append(Section("Households", [with_], f"Households: {of}"))
    if found.special.special:
        sections.append(_special(found.special))
    if found.diversity is not None:
        sections.append(_diversity(found.diversity))
    return sections


def _population(population: PopulationUniques) -> Section:
    unique = plural(len(population), "unique")
    said: list[Part] = [
        Say(
            f"estimated by a model ({population.model}); of the {unique} "
            f"{_few(population.tau2)} would be linked rightly by it, and a share of "
            f"{percent(population.match)}, {_few(population.match * len(population))}, without a "
            "model",
            "quiet",
        )
    ]
    if not _fits(population):
        said.append(Say("NOT RELIABLE, no model fits", "grave"))
    error = f"{population.standard_error:,.2g}"
    return Section(
        "Population uniques",
        said,
        f"Population: {_few(population.tau1)} ± {error} of {unique} unique there too",
    )


def _special(special: SpecialUniques) -> Section:
    sizes = [f"{number(n)} of {plural(size, 'key')}" for size, n in special.by_size.items() if n]
    ranked = sorted(special.shares.items(), key=lambda pair: -pair[1])
    many = plural(special.special, "record")
    return Section(
        "Special uniques",
        [
            Say(f"minimal sets: {', '.join(sizes)}"),
            Say(f"in the score: {', '.join(f'{name} {percent(s)}' for name, s in ranked)}"),
        ],
        f"Special uniques: {many} stand out by {special.largest} keys or fewer",
    )


def _diversity(values: Diversity) -> Section:
    found = values.to_json()
    short, t = found["recursive"], found["t"]
    ordered = f", {t['ordered']:.3g} ordered" if values.is_number else ""
    return Section(
        f"What the class tells of {values.sensitive}",
        [
            Say(
                f"l-diversity {found['distinct_l']} distinct, {found['entropy_l']:.3g} entropy; "
                f"{plural(short['records'], 'record')} not recursive ({short['c']:g}, {short['l']})"
            ),
            Say(f"t-closeness {t['equal']:.3g}{ordered}"),
            Say(TOLD, "quiet"),
        ],
        f"{values.sensitive}: the class says it of {plural(values.disclosed, 'record')}",
    )


def _exposed(found: Uniques) -> list[Section]:
    """Rows and their figures; none of cells, which have no rows."""
    shown = found.exposed(MOST)
    if "row" not in shown:
        return []
    columns = [
        [number(v) if name in ("alike", "score") else f"{v:.4f}" for v in shown[name].tolist()]
        for name in COLUMNS
        if name in shown
    ]
    rows, classes = shown["row"].tolist(), len(found.classes)
    rest = plural(classes - len(rows), "more class", "more classes")
    table = Rows(
        "By row number, below the header; a row stands for its class",
        ["row"],
        [[number(row)] for row in rows],
        [title for name, title in COLUMNS.items() if name in shown],
        [list(line) for line in zip(*columns, strict=True)],
        classes,
        note=f"{rest}, none with a higher risk.",
        short=SHORT,
    )
    return [
        Section(
            "The most exposed records",
            [Say(SPECIAL, "quiet"), table],
            "Most exposed, by row number",
        )
    ]


def _few(value: float) -> str:
    """An estimated number of records."""
    return f"{value:,.4g}" if value >= 0.001 else "0"

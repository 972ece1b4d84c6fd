"""Who stands out in a file, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.decision.law.verdict import Verdict
from discreet.look.palette import number, percent, plural
from discreet.report.text import _cells, _head, _item, _more, _say
from discreet.risk.uniques.anonymity import band_name
from discreet.risk.uniques.individual import level_name

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.risk.uniques.anonymity import Diversity
    from discreet.risk.uniques.population import PopulationUniques
    from discreet.risk.uniques.suda import SpecialUniques
    from discreet.risk.uniques.uniques import Uniqueness

MOST = 10
MISSING = {
    "own": "a missing value is a category of its own",
    "any": "a missing value matches anything",
}


def print_uniqueness(
    found: Uniqueness, console: Console, *, k: int | None = None, most: int = MOST
) -> None:
    """Classes by size, the distribution of risk, uniques, and the most exposed rows."""
    anonymity, risk, classes = found.anonymity, found.risk, found.classes
    records = plural(classes.records, "record")
    said = f"{number(anonymity.uniques)} of {records} unique in {', '.join(classes.keys)}"
    if k is None:
        _head(console, said, gap=False)
    else:
        below = anonymity.below(k)
        passed = Verdict.PASS if anonymity.k >= k else Verdict.FAIL
        _item(console, passed, f"{number(below)} of {records} in classes below {k}", bold=True)
        _say(console, said)
    _say(console, f"smallest class {number(anonymity.k)}; {MISSING[classes.missing]}", "dim")

    _head(console, "How many look alike")
    _cells(
        console,
        [[band_name(low, high)] for low, high, _, _ in anonymity.bands()],
        ["class size"],
        [
            [number(many), number(people), percent(people / classes.records)]
            for _, _, many, people in anonymity.bands()
        ],
        ["classes", "records", "share"],
    )

    _head(console, f"Risk: {risk.expected:,.4g} records would be linked to the right person")
    _say(console, f"{risk.sampling.words}; highest {percent(risk.highest, 1)}", "dim")
    _cells(
        console,
        [[level_name(low, high)] for low, high, _ in risk.bands()],
        ["risk"],
        [[number(many), percent(many / classes.records)] for _, _, many in risk.bands()],
        ["records", "share"],
    )
    if found.population is not None and len(found.population):
        _print_population(found.population, console)
    if found.households is not None:
        homes = found.households
        _head(console, f"Households: {homes.expected:,.4g} of {number(len(homes))} would be found")
        _say(console, f"with {homes.expected_records:,.4g} members", "dim")
    _print_special(found.special, console)
    if found.diversity is not None:
        _print_diversity(found.diversity, console)

    exposed = found.exposed(most)
    if "row" in exposed:
        _head(console, "Most exposed, by row number")
        columns = [exposed[name].tolist() for name in ("alike", "risk", "score", "dis")]
        figures = [
            [number(alike), f"{chance:.4f}", number(score), f"{dis:.4f}"]
            for alike, chance, score, dis in zip(*columns, strict=True)
        ]
        rows = [[number(row)] for row in exposed["row"].tolist()]
        _cells(console, rows, ["row"], figures, ["look alike", "risk", "special", "DIS-SUDA"])
        _more(console, len(classes) - len(rows))


def _print_population(population: PopulationUniques, console: Console) -> None:
    error = f"{population.standard_error:,.2g}"
    rehearsal = population.rehearsal
    doubt = "" if rehearsal is None or rehearsal.agrees else "; NOT RELIABLE, no model fits"
    _head(
        console,
        f"Population: {population.tau1:,.4g} ± {error} of "
        f"{plural(len(population), 'unique')} unique there too",
    )
    _say(
        console,
        f"{population.tau2:,.4g} of them would be linked rightly; {population.model}; "
        f"without a model {percent(population.match)}{doubt}",
        "dim",
    )


def _print_special(special: SpecialUniques, console: Console) -> None:
    if not special.special:
        return
    many = plural(special.special, "record")
    _head(console, f"Special uniques: {many} stand out by {special.largest} keys or fewer")
    sizes = [f"{number(n)} of {plural(size, 'key')}" for size, n in special.by_size.items() if n]
    _say(console, f"minimal sets: {', '.join(sizes)}")
    ranked = sorted(special.shares.items(), key=lambda pair: -pair[1])
    _say(console, f"in the score: {', '.join(f'{name} {percent(s)}' for name, s in ranked)}")


def _print_diversity(values: Diversity, console: Console) -> None:
    found = values.to_json()
    _head(
        console,
        f"{values.sensitive}: the class says it of {plural(values.disclosed, 'record')}",
    )
    short, t = found["recursive"], found["t"]
    _say(
        console,
        f"l-diversity {found['distinct_l']} distinct, {found['entropy_l']:.3g} entropy; "
        f"{plural(short['records'], 'record')} not recursive ({short['c']:g}, {short['l']})",
    )
    ordered = f", {t['ordered']:.3g} ordered" if values.is_number else ""
    _say(console, f"t-closeness {t['equal']:.3g}{ordered}")

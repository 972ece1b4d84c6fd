"""The page of beliefs: how probable an intruder holds each count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.look.words import number, plural
from discreet.report.page import MOST_LONG, Chart, Page, Rows, Say, Section, data_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.intruder.posterior.average.sensitivity import PriorSensitivity
    from discreet.intruder.posterior.result import Posterior
    from discreet.risk.release.believed_counts import BeliefRisk

MOST_BARS = 20


def beliefs_page(risk: BeliefRisk, *, small: int = 2, data: str | Path | None = None) -> Page:
    """One row a cell: probabilities of small counts, the best guess, and whether it is right.

    The cells whose true count is most nearly certain come first.
    """
    import numpy as np

    posterior, right = risk.posterior, risk.right
    said = [Say(f"under {risk.under}; {_method(posterior)}", "quiet")]
    if risk.fits_badly:
        nats = number(round(risk.surprise or 0))
        said.append(
            Say(
                f"fits badly: the true table is {nats} nats less probable than a typical one "
                f"(1 in e^{nats} as probable)"
            )
        )
    rows = np.argsort(-risk.truth, kind="stable")
    cells = plural(len(posterior), "cell")
    said += _of_population(risk)
    return Page(
        "What an intruder believes",
        f"{cells}: the best guess is right for {number(int(right.sum()))}, {_sure(posterior)}",
        [*_cells(posterior, rows, small, risk.cells.counts), *_population(risk, rows, small)],
        said=[*said, *_problems(posterior)],
        files=data_file(data),
    )


def _of_population(risk: BeliefRisk) -> list[Say]:
    """The sample, and what is expected of its uniques."""
    found = risk.population
    if found is None:
        return []
    expected, ones = risk.population_uniques() or 0.0, risk.sample_uniques
    uniques = plural(ones, "sample unique")
    return [
        Say(
            f"a sample of {number(found.sampled)} of {number(found.people)} people; of {uniques} "
            f"{expected:.3g} {'is' if ones == 1 else 'are'} expected to be unique in the population"
        )
    ]


def _population(risk: BeliefRisk, rows: NDArray[Any], small: int) -> list[Section]:
    """One row a cell: how few people of the population are believed to be in it."""
    found, known = risk.population, risk.known_sample
    if found is None or known is None or not len(found):
        return []
    labels, figures = [], []
    few, sure = found.at_most(small) - found.probability(0), known.at_most(small)
    for row in rows[:MOST_LONG]:
        codes = zip(found.variables, found.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        count = int(risk.cells.counts[row])
        figures.append(
            [
                number(count),
                f"{found.unique[row]:.4f}",
                f"{few[row]:.4f}",
                f"{found.mean[row]:,.1f}",
                f"{known.unique[row]:.4f}",
                f"{sure[row] - (known.probability(0)[row]):.4f}",
            ]
        )
    heads = ["count", "P(1)", f"P(1 to {small})", "mean", "P(1), known", f"P(1 to {small}), known"]
    table = Rows(
        "Cells and how many people of the population are in them: to an intruder who has the "
        "release, and to one who knows the count in the sample too",
        [variable.name for variable in found.variables],
        labels,
        heads,
        figures,
        len(found),
        kind="more cell",
        of_data=True,
    )
    return [Section("In the population", [Say(found.method, "quiet"), table])]


def sensitivity_page(
    found: PriorSensitivity,
    *,
    counts: NDArray[np.int64] | None = None,
    small: int = 2,
    data: str | Path | None = None,
) -> Page:
    """One row a cell: the probability of its count under each prior, most dependent first."""
    import numpy as np

    ranges, first = found.ranges(counts), found.posteriors[0]
    rows = np.argsort(ranges[:, 0] - ranges[:, 1], kind="stable")
    asked = found.posteriors[len(found.priors) // 2].guess if counts is None else counts
    chart = Chart(
        "sensitivity",
        lambda **options: found.plot(counts=counts, most=MOST_BARS, **options),
        "A row a cell, a dot a prior; larger dots are larger priors.",
    )
    several = len(found.model_priors) > 1
    sections: list[Section] = []
    for by in found.model_priors if len(first) else ():
        beliefs = [belief for _, way, belief in found.every if way == by]
        chances = np.stack([belief.probability(asked) for belief in beliefs], 1)
        table = _priors(found, rows, asked, chances, "best guess" if counts is None else "count")
        parts = [chart, table] if not sections else [table]
        sections.append(Section(f"Models by {by}" if several else "Cells", parts, bare=not several))
    said = [Say(f"under {first.model}; {'sampled' if found.approximate else 'exact'}", "quiet")]
    return Page(
        "How far beliefs depend on the prior",
        f"{plural(len(first), 'cell')}: over {found.over}, a probability moves by up to "
        f"{found.most(counts):.3f}",
        sections,
        said=said + [Say(f"NOT RELIABLE: {problem}", "grave") for problem in found.problems],
        files=data_file(data),
    )


def _priors(
    found: PriorSensitivity,
    rows: NDArray[Any],
    asked: NDArray[np.int64],
    chances: NDArray[np.float64],
    what: str,
) -> Rows:
    """The probability of one count of each cell: least, most, and under each prior."""
    first, labels, figures = found.posteriors[0], [], []
    for row in rows[:MOST_LONG]:
        codes = zip(first.variables, first.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        each = [chances[row].min(), chances[row].max(), *chances[row]]
        figures.append([number(int(asked[row])), *(f"{p:.3f}" for p in each)])
    return Rows(
        f"The probability of each cell's {what}: least, most, and under each prior",
        [variable.name for variable in first.variables],
        labels,
        ["guess" if what == "best guess" else "count", "least", "most"]
        + [f"{prior:g}" for prior in found.priors],
        figures,
        len(first),
        kind="more cell",
        of_data=True,
    )


def posterior_page(posterior: Posterior, *, small: int = 2, data: str | Path | None = None) -> Page:
    """The same where the true counts are not known; the surest cells come first."""
    import numpy as np

    from discreet.intruder.posterior.population import PopulationPosterior

    surest, of = posterior.probability(posterior.guess), ""
    if isinstance(posterior, PopulationPosterior):
        of = f"counts among {number(posterior.people)} people of the population; "
    return Page(
        "What an intruder believes",
        f"Beliefs about {plural(len(posterior), 'cell')}, {_sure(posterior)}",
        _cells(posterior, np.argsort(-surest, kind="stable"), small, None),
        said=[
            Say(f"{of}under {posterior.model}; {_method(posterior)}", "quiet"),
            *_problems(posterior),
        ],
        files=data_file(data),
    )


def _sure(posterior: Posterior) -> str:
    """Whether probabilities are exact, for the first line."""
    if posterior.exact:
        return "all probabilities exact"
    convergence = posterior.convergence
    doubt = convergence is not None and convergence.problems
    return "probabilities sampled, NOT RELIABLE" if doubt else "probabilities sampled"


def _method(posterior: Posterior) -> str:
    """How it was done; what is wrong with it is said by itself."""
    problems = () if posterior.convergence is None else posterior.convergence.problems
    return posterior.method.replace(f", NOT CONVERGED: {'; '.join(problems)}", "")


def _problems(posterior: Posterior) -> list[Say]:
    convergence = posterior.convergence
    problems = () if convergence is None else convergence.problems
    mixed = []
    if convergence is not None:
        notes = posterior.diagnostics()
        mixed = [
            Say(
                f"R-hat {float(convergence.r_hat.max(initial=1.0)):.3f} (1 if chains agree), "
                f"{number(int(notes['effective_draws'] or 0))} effective draws, standard error at "
                f"most {notes['largest_standard_error']:.2g}",
                "quiet",
            )
        ]
    stopped = [Say(posterior.stopped, "grave")] if posterior.stopped else []
    return mixed + stopped + [Say(f"NOT RELIABLE: {problem}", "grave") for problem in problems]


def _cells(
    posterior: Posterior, rows: NDArray[Any], small: int, counts: NDArray[np.int64] | None
) -> list[Section]:
    if not len(posterior):
        return []
    guess, chances = posterior.guess, posterior.matrix(small)
    if counts is not None:
        own, best = posterior.probability(counts), posterior.probability(guess)
    labels, figures = [], []
    for row in rows[:MOST_LONG]:
        codes = zip(posterior.variables, posterior.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        more = max(0.0, 1 - chances[row].sum())
        line = [*(f"{p:.4f}" for p in (*chances[row], more)), number(int(guess[row]))]
        if counts is not None:
            tied = own[row] >= best[row] - 1e-12
            said = "right" if guess[row] == counts[row] else "tied" if tied else "wrong"
            line = [number(int(counts[row])), *line, said]
        figures.append(line)
    known = counts is not None
    columns = [f"P({count})" for count in range(small + 1)]
    table = Rows(
        "Cells and how probable each count is, the surest first",
        [variable.name for variable in posterior.variables],
        labels,
        [*(["count"] if known else []), *columns, "more", "guess", *([""] if known else [])],
        figures,
        len(posterior),
        words=("",),
        kind="more cell",
        of_data=True,
    )
    shown = posterior.take(rows[:MOST_BARS])
    true = None if counts is None else counts[rows[:MOST_BARS]]
    chart = Chart(
        "beliefs",
        lambda **options: shown.plot(counts=true, most=small, **options),
        "A box a cell and count, filled as far as it is probable. The table below has the same "
        "figures.",
    )
    meaning = "P(k): how probable the intruder holds a count of k; guess: the most probable count"
    return [Section("Cells", [chart, Say(meaning, "quiet"), table], bare=True)]

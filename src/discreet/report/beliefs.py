"""The page of beliefs: how probable an intruder holds each count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.look.words import number, plural
from discreet.report.page import MOST_LONG, Chart, Page, Rows, Say, Section, data_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.intruder.posterior.result import Posterior
    from discreet.risk.release.believed_counts import BeliefRisk

MOST_BARS = 20


def beliefs_page(risk: BeliefRisk, *, small: int = 2, data: str | Path | None = None) -> Page:
    """One row a cell: probabilities of small counts, the best guess, and whether it is right.

    The cells whose true count is most nearly certain come first.
    """
    import numpy as np

    posterior, right = risk.posterior, risk.right
    said = [Say(f"under {risk.under}; {posterior.method}", "quiet")]
    if risk.fits_badly:
        nats = number(round(risk.surprise or 0))
        said.append(
            Say(f"fits badly: the true table is {nats} nats less probable than a typical one")
        )
    rows = np.argsort(-risk.truth, kind="stable")
    cells = plural(len(posterior), "cell")
    return Page(
        "What an intruder believes",
        f"{cells}: the best guess is right for {number(int(right.sum()))}",
        _cells(posterior, rows, small, risk.cells.counts),
        said=[*said, *_problems(posterior)],
        files=data_file(data),
    )


def posterior_page(posterior: Posterior, *, small: int = 2, data: str | Path | None = None) -> Page:
    """The same where the true counts are not known; the surest cells come first."""
    import numpy as np

    surest = posterior.probability(posterior.guess)
    return Page(
        "What an intruder believes",
        f"Beliefs about {plural(len(posterior), 'cell')}",
        _cells(posterior, np.argsort(-surest, kind="stable"), small, None),
        said=[Say(f"under {posterior.model}; {posterior.method}", "quiet"), *_problems(posterior)],
        files=data_file(data),
    )


def _problems(posterior: Posterior) -> list[Say]:
    convergence = posterior.convergence
    problems = () if convergence is None else convergence.problems
    stopped = [Say(posterior.stopped, "grave")] if posterior.stopped else []
    return stopped + [Say(f"NOT RELIABLE: {problem}", "grave") for problem in problems]


def _cells(
    posterior: Posterior, rows: NDArray[Any], small: int, counts: NDArray[np.int64] | None
) -> list[Section]:
    if not len(posterior):
        return []
    guess, chances = posterior.guess, posterior.matrix(small)
    labels, figures = [], []
    for row in rows[:MOST_LONG]:
        codes = zip(posterior.variables, posterior.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        more = max(0.0, 1 - chances[row].sum())
        line = [*(f"{p:.4f}" for p in (*chances[row], more)), number(int(guess[row]))]
        if counts is not None:
            said = "right" if guess[row] == counts[row] else "wrong"
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
    return [Section("Cells", [chart, table], bare=True)]

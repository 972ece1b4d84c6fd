"""What an intruder believes, in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.look.palette import number, plural
from discreet.report.text import _cells, _head, _more, _say

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.risk.release.believed_counts import BeliefRisk

MOST = 20


def print_beliefs(risk: BeliefRisk, console: Console, *, small: int = 2, most: int = MOST) -> None:
    """One row a cell: probabilities of small counts, the best guess, and whether it is right.

    The cells whose true count is most nearly certain come first.
    """
    import numpy as np

    posterior, counts = risk.posterior, risk.cells.counts
    guess, truth, right = posterior.guess, risk.truth, risk.right
    _head(
        console,
        f"{plural(len(posterior), 'cell')}: the best guess is right for {number(int(right.sum()))}",
        gap=False,
    )
    _say(console, f"under {risk.under}; {posterior.method}", "dim")
    if risk.fits_badly:
        _say(
            console,
            f"fits badly: the true table is {number(round(risk.surprise or 0))} nats less probable "
            "than a typical one",
        )
    convergence = posterior.convergence
    for problem in () if convergence is None else convergence.problems:
        _say(console, f"NOT RELIABLE: {problem}", "bold red")
    names = [variable.name for variable in posterior.variables]
    rows = np.argsort(-truth, kind="stable")[:most]
    chances = posterior.matrix(small)
    labels, figures = [], []
    for row in rows:
        codes = zip(posterior.variables, posterior.codes[row], strict=True)
        labels.append([variable.categories[code] for variable, code in codes])
        more = max(0.0, 1 - chances[row].sum())
        shares = [f"{p:.4f}" for p in (*chances[row], more)]
        said = "right" if right[row] else "wrong"
        figures.append([number(int(counts[row])), *shares, number(int(guess[row])), said])
    columns = [f"P({count})" for count in range(small + 1)]
    _cells(console, labels, names, figures, ["count", *columns, "more", "guess", ""])
    _more(console, len(posterior) - len(rows))

"""Draws of the table given the released margins, by the first way that is not too much to do."""

from __future__ import annotations

import dataclasses
import math
import secrets
import warnings

import numpy as np

from discreet.arrays import Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import ConvergenceWarning, DataError, InconsistentRelease, SolverError
from discreet.intruder.posterior.chains.chains import chain_draws
from discreet.intruder.posterior.chains.convergence import Convergence
from discreet.intruder.posterior.exact.decomposable import draw, draw_tables
from discreet.intruder.posterior.result import fits
from discreet.masks.masked import BITS
from discreet.masks.perturb.exact import exact_draws
from discreet.masks.perturb.models import Named, Odds, odds
from discreet.masks.perturb.parts import is_told, matched_tables, parts_of, together
from discreet.masks.perturb.perturbed import Perturbed, matched
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.keys import Codes, lookup, unravel
from discreet.table.table import Table

MOST_COUNTS = 1 << 27  # of all draws
DENSE = 1 << 24
CHAINS, LEAST = 4, 1_000  # draws of each chain, from which those that are wanted are taken


def perturb(
    table: Table,
    release: str | Formula | Release,
    *,
    model: Named = None,
    draws: int = 1,
    seed: int | np.random.Generator | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Perturbed:
    """Whole-number tables with the released margins of `table`, drawn under a log-linear model.

    The posterior of the table given the margins: proportional to prod m^n / n! over the tables
    that fit, m the model's odds (Diaconis & Sturmfels 1998; Slavkovic 2009). `model` None is the
    log-linear model of the release, whose odds cancel; so do those of any model within it.
    "uniform" weighs all tables alike, "saturated" by Dirichlet prior 1/2; a larger formula is
    fitted to the table, and then the draws tell more than the margins: have it reviewed. Without a
    `seed` 128 secret bits are taken; who knows the seed undoes the draw, and a short one is found.

    Exact where the model is decomposable or the tables can be summed over, else by chains with
    R-hat, effective draws and standard error. No way begins at the table. `effort` multiplies the
    work, `seconds` only stop.

    >>> from discreet.table.load import load
    >>> perturb(load("example:tract"), "Race*Income + Income*Gender", seed=1)
    Perturbed(1 draw of 742 people: keeps Race*Income + Gender*Income; exact, random matching)
    """
    if not isinstance(release, Release):
        release = Release.margins(table, release)
    elif not fits(release, table):
        raise InconsistentRelease(
            f"the table does not have the released margins {release.formula}; release margins of "
            "this table."
        )
    made = odds(release, model, table)
    found = _drawn(release, made, draws, _generator(seed), effort, Clock.of(seconds))
    return dataclasses.replace(found, impossible=table.impossible)


def perturb_release(
    release: Release,
    *,
    draws: int = 1,
    seed: int | np.random.Generator | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Perturbed:
    """The same under the release's own model, from what is public and nothing else.

    >>> from discreet.table.load import load
    >>> public = Release.margins(load("example:czech"), "A*B + B*C + A*C + D + E + F")
    >>> print(perturb_release(public, seed=1).said[0])
    Perturbed: keeps A*B + B*C + A*C + D + E + F; other counts are draws from the log-linear model
    of these margins, and no counts of the data.
    """
    made = odds(release, None, None)
    return _drawn(release, made, draws, _generator(seed), effort, Clock.of(seconds))


def _generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(BITS) if seed is None else seed)


def _drawn(
    release: Release, made: Odds, draws: int, rng: np.random.Generator, effort: float, clock: Clock
) -> Perturbed:
    if draws < 1:
        raise DataError(f"draws is {draws!r}; draw at least one table.")
    if not release.tables:
        raise DataError("nothing is released that could be kept; release at least one margin.")
    inner, others = _spoken(release, made)
    found = _inner(inner, made, draws, rng, effort, clock)
    if others:
        found = _spread(found, release, rng)
    _check(found)
    return found


def _inner(
    release: Release, made: Odds, draws: int, rng: np.random.Generator, effort: float, clock: Clock
) -> Perturbed:
    if not release.total:
        nowhere = np.zeros((0, len(release.names)), np.uint8)
        none = np.zeros((draws, 0), np.int64)
        return Perturbed(release, made, nowhere, none, "exact, nobody is counted")
    seed = int(rng.integers(1 << 62))
    if matched(release, made):
        return Perturbed(release, made, *_matched(release, draws, seed), "exact, random matching")
    if made.own and len(parts := parts_of(release)) > 1:
        return _glued(release, parts, made, draws, rng, effort, clock)
    try:
        codes, counts = exact_draws(
            release, made.weights, draws, np.random.default_rng(seed), Effort(effort), clock
        )
    except (DataError, SolverError):
        clock.check("drawing tables")
        return _chained(release, made, draws, seed, effort, clock)
    return Perturbed(release, made, codes, counts, "exact, block by block")


def _glued(
    release: Release, parts: list[Release], made: Odds, draws: int, rng: np.random.Generator,
    effort: float, clock: Clock,
) -> Perturbed:  # fmt: skip
    """Parts that are no released margin are drawn, then all are matched at random."""
    drawn = [
        None if is_told(part) else _inner(part, made, draws, rng, effort, clock) for part in parts
    ]
    have = min([draws, *(len(found) for found in drawn if found is not None)])
    tables = [
        [part.table(part.names)] * have
        if found is None
        else [found.table(row) for row in range(have)]
        for part, found in zip(parts, drawn, strict=True)
    ]
    codes, counts = together(matched_tables(release, tables, rng), release.axes.sizes)
    _held(have, len(codes))
    walked = [found for found in drawn if found is not None and found.convergence is not None]
    if not walked:
        return Perturbed(release, made, codes, counts, "exact, parts drawn and matched at random")
    worst = max(walked, key=lambda found: _r_hat(found.convergence))
    method = f"parts matched at random, {'*'.join(worst.release.names)} by {worst.method}"
    stopped = next((found.stopped for found in walked if found.stopped), None)
    return Perturbed(release, made, codes, counts, method, worst.convergence, stopped)


def _r_hat(found: Convergence | None) -> float:
    return 1.0 if found is None else found.worst["r_hat"]


def _spoken(release: Release, made: Odds) -> tuple[Release, bool]:
    """The release without the variables that nothing is known of, if the model evens them out."""
    spoken = {name for table in release.tables for name in table.names}
    spoken |= {name for known in release.known for name, _ in known.cell}
    if not made.own or spoken >= set(release.names):
        return release, False
    kept = tuple(v for v in release.variables if v.name in spoken)
    return dataclasses.replace(release, variables=kept), True


def _matched(release: Release, draws: int, seed: int) -> tuple[Codes, Ints]:
    """Exact and independent, whatever the size: only cells that somebody was in are kept."""
    size = math.prod(release.axes.sizes)
    if size * draws <= DENSE:
        counts = draw(release, draws=draws, seed=seed).astype(np.int64)
        return unravel(np.arange(size), release.axes.sizes), counts
    codes, counts = together(list(draw_tables(release, draws=draws, seed=seed)), release.axes.sizes)
    _held(draws, len(codes))
    return codes, counts


def _chained(
    release: Release, made: Odds, draws: int, seed: int, effort: float, clock: Clock
) -> Perturbed:
    """Draws of chains that begin at tables found from the release alone, evenly apart."""
    each = max(LEAST, -(-draws // CHAINS))
    run = chain_draws(
        release, weights=made.weights, chains=CHAINS, draws=each, effort=effort, seconds=clock,
        seed=seed,
    )  # fmt: skip
    have = run.counts.shape[1]
    if CHAINS * have < draws and run.stopped is None:
        raise DataError(
            f"the chains made {CHAINS * have:,} draws, not the {draws:,} that were asked for; "
            "allow more effort, or ask for fewer."
        )
    wanted = min(draws, CHAINS * have)
    each = -(-wanted // CHAINS)
    at = have - 1 - np.arange(each)[::-1] * have // each  # as far apart as can be, the last last
    flat = run.counts[:, at].transpose(1, 0, 2).reshape(CHAINS * each, -1)[-wanted:]
    worst, method = run.convergence.worst, f"{CHAINS} chains x {have:,} draws"
    method += (
        f", R-hat {worst['r_hat']:.4g}, effective draws {worst['bulk']:,.0f}, largest standard "
        f"error of a probability {worst['error']:.2g}"
    )
    if problems := run.convergence.problems:
        method += f", NOT CONVERGED: {'; '.join(problems)}"
        warnings.warn(
            f"the chains have not converged: {'; '.join(problems)}. The margins are kept, the "
            "model may not be met; allow more effort.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return Perturbed(
        release, made, run.cells.codes, flat.astype(np.int64), method, run.convergence,
        run.stopped,
    )  # fmt: skip


def _spread(found: Perturbed, release: Release, rng: np.random.Generator) -> Perturbed:
    """Everybody has any category of what nothing is known of, each as likely."""
    inner = found.release
    others = [v for v in release.variables if v.name not in inner.names]
    cells = math.prod(v.size for v in others)
    draws, n = found.counts.shape
    _held(draws, n * cells)
    counts = rng.multinomial(found.counts, np.full(cells, 1 / cells)).reshape(draws, n * cells)
    more = unravel(np.arange(cells), [v.size for v in others])
    codes = np.column_stack([np.repeat(found.codes, cells, 0), np.tile(more, (n, 1))])
    now = [*inner.names, *(v.name for v in others)]
    codes = codes[:, [now.index(name) for name in release.names]]
    return dataclasses.replace(found, release=release, codes=codes, counts=counts)


def _held(draws: int, cells: int) -> None:
    if draws * cells > MOST_COUNTS:
        raise DataError(
            f"{draws:,} draws of {cells:,} cells are too many to hold; draw fewer tables."
        )


def _check(found: Perturbed) -> None:
    """Every draw has every released margin: seen, not assumed."""
    from scipy.sparse import csr_matrix

    release, n = found.release, len(found.codes)
    for table in release.tables:
        mine = found.codes[:, release.axes.places(table.names)]
        place = lookup(table.codes, table.shape, mine)
        inside = place >= 0
        ones = np.ones(int(inside.sum()), np.int64)
        sums = csr_matrix((ones, (place[inside], np.flatnonzero(inside))), (len(table), n))
        kept = (sums @ found.counts.T == table.counts[:, None]).all()
        if not kept or found.counts[:, ~inside].any():
            raise SolverError(
                f"a drawn table does not have the released margin {'*'.join(table.names)}; draw "
                "with another seed."
            )
    wrong = (found.counts < 0).any() or found.counts[:, release.closed(found.codes)].any()
    axes = {variable.name: variable for variable in release.variables}
    for known in release.ranges:
        inside = np.ones(n, bool)
        for name, category in known.cell:
            inside &= found.codes[:, release.axes.place[name]] == axes[name].code(category)
        sums = found.counts[:, inside].sum(1)
        wrong = wrong or ((sums < known.lower) | (sums > known.upper)).any()
    if wrong:
        raise SolverError("a drawn table has a count that cannot be; draw with another seed.")

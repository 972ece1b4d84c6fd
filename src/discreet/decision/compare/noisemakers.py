"""Masks of a table that draw: cell keys, synthetic copies, differentially private counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.decision.compare.cellbeliefs import Asked, Believed, apart
from discreet.decision.compare.printedbeliefs import as_printed, cell_rows, sheets_frame
from discreet.decision.compare.rowbeliefs import Seen, seen_rows
from discreet.decision.compare.tablecandidate import TableCandidate
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.masks.cellkey import PTable, count_ptable, likelihood, posterior, row_keys
from discreet.masks.cellkey import cell_key as keyed
from discreet.sheets.grouping import TOTAL, Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System
from discreet.table.formula import Formula, as_formula, margin_names
from discreet.table.table import Table

WALK_EFFORT = 4.0
CHOSEN_MODEL = "the model is public; that it was chosen by the data may tell more"
KNOWN = "the intruder knows how many people there are, which is not private"


# Cell keys


def cell_key(
    asked: Asked,
    policy: Policy,
    rng: np.random.Generator,
    *,
    release: str | None = None,
    D: int = 2,
    V: float = 0.9,
    js: int = 0,
    pstay: float | None = None,
    totals: bool = False,
) -> TableCandidate:
    """Every count of one margin with noise by its key; with `totals` all totals too."""
    table, ptable = asked.table, count_ptable(D, V, js=js, pstay=pstay)
    names = table.names if release is None else margin_names(release, table.names)
    groupings = [_grouping(table, name, totals) for name in names]
    system = System.of([Sheet("*".join(names), tuple(groupings))])
    of_record = np.repeat(np.arange(len(table)), table.counts)
    codes = {name: table.codes[of_record, i] for i, name in enumerate(table.names)}
    counts = system.sums @ system.fine(codes, np.ones(table.total))
    secret = rng.integers(2**64, size=table.total, dtype=np.uint64)
    masked = keyed(system, counts, row_keys(system, codes, secret), ptable)
    if totals:
        believed = _with_totals(asked, system, masked.values, ptable, rng)
    else:
        place = asked.place(names)
        shown = np.empty(system.cells, np.int64)
        shown[_cell_of_row(system, asked, place)] = masked.values
        values, kind = np.unique(shown, return_inverse=True)
        believed = apart(asked, place, kind, _keyed_logs(ptable, values, table.total))
    return TableCandidate.of(
        "cell-key",
        asked,
        believed,
        sheets_frame([masked], table.names, TOTAL),
        {"release": release, "totals": totals, **ptable.parameters},
        estimate=as_printed(masked, asked, believed),
        said=masked.said if totals else (),
    )


def _grouping(table: Table, name: str, totals: bool) -> Grouping:
    """All categories, without the groups of a hierarchy."""
    variable = table.variable(name)
    own = {category: [category] for category in variable.categories}
    return Grouping.cut(variable, own, total=totals)


def _cell_of_row(system: System, asked: Asked, place: Ints) -> Ints:
    """The cell of the margin that each printed row is."""
    rows = cell_rows(system, asked)
    return np.asarray(place[rows.indices[rows.indptr[:-1]]])


def _with_totals(
    asked: Asked, system: System, shown: Floats, ptable: PTable, rng: np.random.Generator
) -> Believed:
    if system.columns != len(asked.cells):
        raise DataError(
            "totals with noise of their own are for the whole table; leave out release."
        )
    found = posterior(system, shown, ptable, total=asked.table.total, rng=rng, effort=WALK_EFFORT)
    beliefs = found.chances[asked.guarded]
    error = float(found.error[asked.guarded].max(initial=0.0))
    said = (*found.said, f"tables: {found.method}, {found.tables:,}")
    return Believed(found.mean, tuple(beliefs), False, error, said)


def _keyed_logs(ptable: PTable, shown: Ints, total: int) -> Floats:
    """log p(shown | n): a row for each shown count, a column for each n up to the total."""
    known = likelihood(ptable)  # counts above the largest have its noise
    n = np.arange(total + 1)
    own = np.minimum(n, len(known) - 1)
    at = shown[:, None] - n + own
    inside = (at >= 0) & (at < known.shape[1])
    chances = np.where(inside, known[own, np.where(inside, at, 0)], 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances))


# Synthetic copies


def synthesise(
    asked: Asked,
    policy: Policy,
    rng: np.random.Generator,
    *,
    model: str = "graphical",
    copies: int = 1,
    weight: float = 1.0,
) -> TableCandidate:
    """Copies from a model's posterior predictive distribution.

    Of cliques C and separators S, with the true counts n, those of a copy y, and the prior a,

        log p(y | n) = sum_C f(y_C, n_C) - sum_S f(y_S, n_S),
        f(y, n) = sum_i log Gamma(n_i + y_i + a_i) - log Gamma(n_i + a_i)

    up to what does not depend on n (Dawid & Lauritzen 1993), and copies are independent.
    """
    from discreet.masks.synthesis.graphical import graphical
    from discreet.masks.synthesis.synthesise import synthesise as copied
    from discreet.models.decomposed import LogLinearCells

    table = asked.table
    if model == "graphical":
        fitted = graphical(table, weight=weight, rng=rng)
    else:
        wanted = Formula.of([table.names], table.names) if model == "saturated" else model
        fitted = LogLinearCells.fit(table, wanted, weight=weight)
    formula = fitted.formula
    if not formula.is_decomposable:
        raise DataError(f"{formula} is not decomposable; give a model that is, or graphical.")
    if not asked.possible.all() and not fitted.saturated:
        raise DataError("the table has impossible cells; only the saturated model can leave them.")
    made = copied(table, fitted, copies=copies, rng=rng)
    believed = _from_copies(asked, made.tables, formula, weight, rng)
    pooled = made.pooled.lookup(asked.cells.codes) / copies
    chosen = (CHOSEN_MODEL,) if model == "graphical" else ()
    return TableCandidate.of(
        "synthesise",
        asked,
        believed,
        made.to_frame(),
        {"model": model, "copies": copies, "weight": weight},
        estimate=np.asarray(pooled, np.float64),
        said=(*made.said, *chosen),
    )


def _from_copies(
    asked: Asked,
    copies: Sequence[Table],
    formula: Formula,
    weight: float,
    rng: np.random.Generator,
) -> Believed:
    tree, spoken = formula.graph.junction_tree(), 0
    for places in formula.sets:
        spoken |= places
    terms = [(1.0, s) for s in tree.nodes if s & spoken]
    terms += [(-1.0, s) for s in tree.separators if s]
    names, total, sums = asked.table.names, asked.table.total, []
    for sign, places in terms:
        own = tuple(name for i, name in enumerate(names) if places >> i & 1)
        drawn = np.column_stack([copy.margin(own).dense().ravel() for copy in copies])
        values, kind = np.unique(drawn, axis=0, return_inverse=True)
        log = _predictive(values, total, weight / len(drawn))
        sums.append((asked.place(own), kind.ravel(), sign * log))
    return _from_sums(asked, sums, rng)


def _predictive(drawn: Ints, total: int, prior: float) -> Floats:
    """sum_k log Gamma(n + y_k + a) - log Gamma(n + a) of copies k: a column for each n."""
    from scipy.special import gammaln

    n = np.arange(total + 1.0)
    before = gammaln(n + prior)
    return np.asarray([sum(gammaln(n + y + prior) - before for y in row) for row in drawn])


def _from_sums(
    asked: Asked, sums: Sequence[tuple[Ints, Ints, Floats]], rng: np.random.Generator
) -> Believed:
    """From the cells of some margins: the place of each cell there, kinds and log-likelihoods.

    Exact if there is one margin.
    """
    if len(sums) == 1:
        return apart(asked, *sums[0])
    from scipy.sparse import csr_matrix, vstack

    cells, parts, logs = np.arange(len(asked.cells)), [], []
    for group, kind, log in sums:
        parts.append(csr_matrix((np.ones(len(cells)), (group, cells)), (len(kind), len(cells))))
        logs.append(log[kind])
    each = np.concatenate(logs)
    high = np.full(len(each), asked.table.total)
    seen = Seen(csr_matrix(vstack(parts, format="csr")), np.zeros_like(high), high, each.ravel())
    return seen_rows(seen, asked, rng)


# Differential privacy


def private(
    asked: Asked,
    policy: Policy,
    rng: np.random.Generator,
    *,
    epsilon: float,
    release: str | None = None,
) -> TableCandidate:
    """Two-sided geometric noise in every cell of the table, or of some margins of it."""
    from discreet.masks.synthesis.geometric import log_law
    from discreet.masks.synthesis.private import private_table

    table, n = asked.table, np.arange(asked.table.total + 1)
    wanted = None if release is None else as_formula(release, table.names)
    made = private_table(table, epsilon, margins=wanted, rng=rng)
    sums = []
    for names, noisy in zip(made.margins, made.noisy, strict=True):
        values, kind = np.unique(noisy.ravel(), return_inverse=True)
        sums.append((asked.place(names), kind, log_law(values[:, None] - n, made.scale)))
    estimate = made.clipped().dense() if made.whole else made.fitted
    return TableCandidate.of(
        "private",
        asked,
        _from_sums(asked, sums, rng),
        made.to_frame(),
        {"epsilon": float(epsilon), "scale": made.scale, "release": release},
        estimate=estimate.ravel().astype(np.float64),
        said=(f"noise: {made.source}", KNOWN),
    )

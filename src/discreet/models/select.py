"""A log-linear model that fits a table: stepwise search, one edge at a time.

Forward from independence, backward from the saturated model, or both: from either end, forward and
backward in turn until neither finds more, and the better of the two (Edwards 2000, chapter 6). The
cliques of the model are its minimal sufficient statistics: the margins that say all that the model
says of the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, DisclosureError
from discreet.look.progress import working
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.models.loglinear import Fit
from discreet.models.neighbours import Allows, Change, Decomposable, Graphical, Models
from discreet.table.cells import frame
from discreet.table.formula import Formula, as_formula
from discreet.table.graph import Graph
from discreet.table.lattice import bits
from discreet.table.table import Table

Criterion = Literal["bic", "aic", "test"]
Search = Literal["decomposable", "graphical"]
Direction = Literal["forward", "backward", "both"]

SPACES: dict[str, type[Models]] = {"decomposable": Decomposable, "graphical": Graphical}
CRITERIA = ("bic", "aic", "test")
DIRECTIONS = ("forward", "backward", "both")
MOST_LOOKED = 600_000_000  # numbers that all changes look at
CHANGE, FITTED = 1_000, 50  # of a change, however small the table; of each cell, to fit a model
DIGITS = 6  # changes of a criterion that agree to so many places are a tie


@dataclass(frozen=True)
class Step:
    """An edge added or removed, and what that did.

    `value` is the criterion of the model reached, or its deviance where the criterion is a test.
    The test is of the edge; in a decomposable model it is of independence of its two variables
    given their common neighbours, `given`.
    """

    action: Literal["add", "remove"]
    edge: tuple[str, str]
    given: tuple[str, ...]
    value: float
    statistic: float
    parameters: int
    df: int
    p_value: float


@dataclass(frozen=True, eq=False)
class ModelSearch(Result):
    """The model that a search ended with, and the steps to it.

    A search that is not `finished` used up its work, or was `stopped` by a limit in seconds.

    >>> import discreet as dc
    >>> found = dc.beliefs.fitting_model(dc.load("example:czech"))
    >>> str(found.formula), found.fits
    ('A*C*E + A*D*E + B*C + F', True)
    >>> [f"{step.action} {'*'.join(step.edge)}" for step in found.steps[:3]]
    ['remove B*D', 'remove C*D', 'remove B*E']
    """

    fit: Fit
    steps: tuple[Step, ...] = field(repr=False)
    criterion: str
    level: float
    search: str
    direction: str
    seconds: float
    finished: bool
    stopped: str | None = None

    @property
    def formula(self) -> Formula:
        """The minimal sufficient statistics: the cliques of the model."""
        return self.fit.formula

    @property
    def value(self) -> float:
        """BIC or AIC of the model, or its deviance where the criterion is a test."""
        return _value(self.fit, self.criterion)

    @property
    def fits(self) -> bool:
        """Whether the deviance against the saturated model is no surprise at `level`.

        The chi-square is unreliable where the table is sparse, `fit.is_sparse`: with few people a
        cell the deviance does not follow it, and this is no guide either way (Koehler 1986).
        """
        return self.fit.p_value >= self.level

    def __repr__(self) -> str:
        shown = str(self.formula)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        n, p = len(self.formula), self.fit.p_value
        what = "deviance" if self.criterion == "test" else self.criterion.upper()
        notes = ["" if self.fits else "does not fit, ", f"p = {p:.2g}"]
        if self.fit.is_sparse:
            notes = [f"p = {p:.2g} in a sparse table is no guide"]
        cut = "" if self.finished else ", stopped" if self.stopped else ", not finished"
        return (
            f"ModelSearch({shown}: {plural(n, 'margin')}, {what} {self.value:,.2f} "
            f"after {len(self.steps)} steps{cut}; {''.join(notes)})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a step."""
        columns = {
            "step": list(range(1, len(self.steps) + 1)),
            "action": [step.action for step in self.steps],
            "edge": ["*".join(step.edge) for step in self.steps],
            "given": ["*".join(step.given) for step in self.steps],
            "deviance" if self.criterion == "test" else self.criterion: [
                step.value for step in self.steps
            ],
            "statistic": [step.statistic for step in self.steps],
            "parameters": [step.parameters for step in self.steps],
            "df": [step.df for step in self.steps],
            "p_value": [step.p_value for step in self.steps],
        }
        return frame(columns, kind)


def fitting_model(
    table: Table,
    *,
    criterion: Criterion = "bic",
    level: float = 0.05,
    search: Search = "decomposable",
    direction: Direction = "both",
    max_order: int | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    first: str | Formula | Iterable[Iterable[str]] = (),
    allows: Allows = lambda margin: True,
) -> ModelSearch:
    """A log-linear model that fits the table and is simple, by adding and removing edges.

    Each step takes the edge that lowers BIC or AIC most. With the criterion `test`, it adds the
    edge of the smallest p-value while that is below `level`, and removes the one of the largest
    while that is not. The margins of `first` are in the model; in a decomposable search, made
    decomposable. `max_order` limits the variables of a margin, `allows` which bit sets may be one:
    backward, edges go until all hold.

    `effort` is how many times the usual work the search may take; `seconds` only stop it.

    Of two ends of a search in both directions, the one of smaller BIC or AIC counts; with tests,
    one that fits before one that does not, then the one of fewer parameters.

    >>> from discreet.table.load import load
    >>> fitting_model(load("example:czech"))
    ModelSearch(A*C*E + A*D*E + B*C + F: 4 margins, BIC 13,453.60 after 9 steps; p = 0.099)
    """
    k = len(table.names)
    order = k if max_order is None else max_order
    _check(table, order, level, criterion=criterion, search=search, direction=direction)
    kept = as_formula(first, table.names).graph if first else Graph((0,) * k)
    if search == "decomposable":
        kept = kept.minimal_triangulation()
    if long := [s for s in kept.cliques() if s.bit_count() > order]:
        names = "*".join(table.axes.names_of(long[0]))
        raise DisclosureError(
            f"the margins to keep need {names} together, {long[0].bit_count()} variables, and "
            f"max_order is {order}; raise max_order or keep fewer margins."
        )
    clock, most = Clock.of(seconds), Effort(effort).of(MOST_LOOKED)
    models = SPACES[search](table, lambda s: s.bit_count() <= order and allows(s), kept)
    starts = {"forward": [models.smallest], "backward": [models.largest]}
    begun = starts.get(direction, [models.smallest, models.largest])
    with working("searching for a model"):
        paths = [
            _Path(models, graph, criterion, level, most // len(begun), clock).walk(direction)
            for graph in begun
        ]
        ends = [path for path in paths if not models.oversized(path.graph)]
        if not ends:
            clock.check("removing margins that are not allowed")
            raise DisclosureError(
                "the work was used up before every margin was allowed; allow more effort, or "
                "search forward."
            )
        best = min(ends, key=_Path.rank)
    finished = not any(path.late for path in paths)
    fit, steps = models.fit(best.graph), tuple(best.steps)
    stopped = clock.sentence(f"a model after {len(steps)} steps", "Allow more seconds.")
    return ModelSearch(
        fit, steps, criterion, level, search, direction, clock.spent, finished, stopped
    )


class _Path:
    """A walk from graph to graph, each the best next to the last."""

    def __init__(
        self, models: Models, start: Graph, criterion: str, level: float, most: int, clock: Clock
    ) -> None:
        self.models, self.graph, self.clock = models, start, clock
        fitted = FITTED * models.table.size if isinstance(models, Graphical) else len(models.table)
        self.left = max(1, most // (CHANGE + fitted))  # changes to look at
        self.criterion, self.level = criterion, level
        penalties = {"bic": math.log(models.table.total), "aic": 2.0, "test": 0.0}
        self.penalty = penalties[criterion]
        self.value = _value(models.fit(start), criterion)
        self.seen = {start}
        self.steps: list[Step] = []
        self.late = False

    def walk(self, direction: str) -> _Path:
        """Steps forward, backward, or in turn, until none helps."""
        if direction != "both":
            self._go(adding=direction == "forward")
            return self
        while self._go(adding=True) | self._go(adding=False):
            pass
        return self

    def rank(self) -> tuple[float, ...]:
        """Smaller is better."""
        if self.criterion != "test":
            return (round(self.value, DIGITS),)
        fit = self.models.fit(self.graph)
        return fit.p_value < self.level, fit.parameters, fit.deviance

    def _go(self, *, adding: bool) -> bool:
        """Steps one way until none helps; whether there was one."""
        before = len(self.steps)
        while change := self._best(adding=adding):
            self._take(change)
        return len(self.steps) > before

    def _best(self, *, adding: bool) -> Change | None:
        """The best change that helps; where a clique is too large, the best at all."""
        forced = not adding and bool(self.models.oversized(self.graph))
        changes = (c for c in self._new(adding=adding) if forced or self._helps(c))
        best = min(changes, key=self._order, default=None)
        return None if self.late else best

    def _new(self, *, adding: bool) -> Iterator[Change]:
        """Changes to graphs that were not seen before, as long as work and time are left."""
        for change in self.models.changes(self.graph, adding=adding):
            self.late = self.late or self.left <= 0 or self.clock.over()
            if self.late:
                return
            self.left -= 1
            if change.on(self.graph) not in self.seen:
                yield change

    def _difference(self, change: Change) -> float:
        """How much the criterion, or the deviance of a test, rises."""
        rise = self.penalty * change.parameters - change.statistic
        return rise if change.adds else -rise

    def _helps(self, change: Change) -> bool:
        if self.criterion == "test":
            return (change.p_value < self.level) == change.adds
        rise = round(self._difference(change), DIGITS)
        return rise < 0 if change.adds else rise <= 0

    def _order(self, change: Change) -> tuple[float, float, tuple[int, int]]:
        rise = round(self._difference(change), DIGITS)
        if self.criterion != "test":
            return rise, 0.0, change.edge
        p = change.p_value
        return p if change.adds else -p, rise, change.edge

    def _take(self, change: Change) -> None:
        self.graph = change.on(self.graph)
        self.seen.add(self.graph)
        self.value += self._difference(change)
        names = self.models.table.names
        u, v = change.edge
        self.steps.append(
            Step(
                "add" if change.adds else "remove",
                (names[u], names[v]),
                tuple(names[p] for p in bits(change.given)),
                self.value,
                change.statistic,
                change.parameters,
                change.df,
                change.p_value,
            )
        )


def _value(fit: Fit, criterion: str) -> float:
    return {"bic": fit.bic, "aic": fit.aic, "test": fit.deviance}[criterion]


def _check(table: Table, order: int, level: float, **chosen: str) -> None:
    choices = {"criterion": CRITERIA, "search": tuple(SPACES), "direction": DIRECTIONS}
    for name, value in chosen.items():
        if value not in choices[name]:
            raise DisclosureError(
                f"{name} is {value!r}; choose {', '.join(choices[name][:-1])} or "
                f"{choices[name][-1]}."
            )
    if not table.names or not table.total:
        raise DataError("the table has no variable or counts nobody; there is nothing to fit.")
    if order < 1:
        raise DisclosureError(f"max_order is {order}; give at least 1.")
    if not 0 < level < 1:
        raise DisclosureError(f"level is {level}; give a number between 0 and 1, such as 0.05.")

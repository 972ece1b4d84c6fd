"""Controlled rounding: every printed cell goes to a neighbouring multiple, and all still add up.

    min sum w |b x - v|,  floor(v/b) <= x <= ceil(v/b),  x = sums @ z,  z >= 0 whole

over fine cells z in multiples of the base b (Cox & Ernst 1982; Salazar 2005). With two ways the
linear program is whole by itself; with three, integer programs over the cells whose reduced cost
is least, first alone, then among more, and the gap to the linear bound is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Bools, Floats
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, SolverError, Stopped
from discreet.look.result import Unpublished
from discreet.masks.masked import Masked
from discreet.masks.rounding.program import Model, Rounded
from discreet.masks.rounding.simple import Steps, is_whole, printed
from discreet.masks.rounding.unbiased import Circulation
from discreet.sheets.system import System


@dataclass(frozen=True, eq=False)
class Rounding(Unpublished):
    """Rounded cells, how far they are from the truth together, and at most how far from the least.

    `gap` is none after rounding without bias, which seeks no minimum. `exceptions` are cells that
    had to leave their neighbouring multiples.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> controlled(system, values, 5).masked.shown(system.sheets[0]).tolist()
    [[30.0, 5.0, 10.0, 15.0], [10.0, 0.0, 5.0, 5.0], [20.0, 5.0, 5.0, 10.0]]
    """

    values: Floats
    distance: float
    gap: float | None
    exceptions: Bools
    masked: Masked
    said: tuple[str, ...] = ()

    def __repr__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:g}"
        out = f", {int(self.exceptions.sum())} exceptions" if self.exceptions.any() else ""
        return f"Rounding({len(self.values):,} cells, distance {self.distance:g}{gap}{out})"


def controlled(
    system: System,
    values: ArrayLike,
    base: float,
    *,
    unbiased: bool = False,
    rng: np.random.Generator | None = None,
    weights: ArrayLike | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Rounding:
    """Round all printed cells so that they add up.

    Multiples stay, every other cell goes to the multiple below or above. Cells that are not
    printed are any multiples of 0 or more. `weights` of the distances are 1 unless told. `unbiased`
    draws a rounding whose mean is the truth by `rng`. Where no such rounding exists, as few cells
    as possible go one multiple further.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> two = [Grouping.of(Variable(name, ("a", "b"))) for name in ("x", "y")]
    >>> system = System.of([Sheet("1", tuple(two))])
    >>> controlled(system, system.sums @ [1, 2, 3, 4], 5)
    Rounding(9 cells, distance 14, gap 0)
    """
    given = np.asarray(values, np.float64)
    if given.shape != (system.cells,):
        raise DataError(
            f"{given.size:,} values for {system.cells:,} printed cells; give one for each."
        )
    steps = Steps.of(given, base)
    weight = np.broadcast_to(np.asarray(1.0 if weights is None else weights, float), given.shape)
    if not (weight >= 0).all():
        raise DataError(f"a weight is {weight.min():g}; weights are 0 or more.")
    if unbiased:
        if rng is None or weights is not None:
            raise DataError("rounding without bias takes a generator, rng=..., and no weights.")
        shown = Circulation.of(system, given, base).draw(rng)[0]
        return _result(system, given, base, shown, weight, None, "unbiased controlled rounding", ())
    clock = Clock.of(seconds)
    model = Model(system, steps, weight)
    found = model.solve(Effort(effort), clock)
    if found is None:
        if clock.stopped:
            raise Stopped(
                f"stopped by the limit of {clock.seconds:g} seconds before there was a rounding; "
                "allow more seconds."
            )
        raise SolverError(
            "no rounding was found within one multiple further than the neighbours; "
            "take another base, or more effort."
        )
    shown = base * found.multiples
    return _result(
        system, given, base, shown, weight, found, "controlled rounding", _said(found, clock)
    )


def _result(
    system: System,
    given: Floats,
    base: float,
    shown: Floats,
    weight: Floats,
    found: Rounded | None,
    method: str,
    said: tuple[str, ...],
) -> Rounding:
    steps = Steps.of(given, base)
    out = (shown < base * (steps.low - 0.5)) | (shown > base * (steps.high + 0.5))
    distance = float((weight * np.abs(shown - given)).sum())
    whole = is_whole(given, base)
    gap = None
    if found is not None:
        counts = whole and bool((weight == np.round(weight)).all())  # so does every distance
        bound = (
            math.ceil(found.bound - 1e-6) if counts and math.isfinite(found.bound) else found.bound
        )
        gap = max(0.0, round(distance - bound, 6))
    # nobody knows which cells are exceptions: what is sure is one multiple more for all
    reach = 2 * base if out.any() else base
    reach = reach - 1 if whole else reach
    mask = Masked(
        system,
        shown,
        method,
        {"base": base, "exceptions": int(out.sum())},
        printed(system, shown, reach, reach, whole=whole),
        whole,
        said,
    )
    return Rounding(shown, distance, gap, out, mask, said)


def _said(found: Rounded, clock: Clock) -> tuple[str, ...]:
    said = []
    if found.further:
        few = "the fewest possible" if found.fewest else "not proven the fewest"
        said.append(
            f"{found.further:,} cell{'s lie' if found.further > 1 else ' lies'} further than the "
            f"neighbouring multiples ({few}), without which the cells could not add up"
        )
    said.append("that the distance is least, or nearly, may tell more than the range of each cell")
    if found.outer:
        said.append("sheets agree in pairs only: rounded cells may fit no whole table")
    stopped = clock.sentence("the best rounding found so far", "More seconds may improve it.")
    if stopped:
        said.append(stopped)
    return tuple(said)

"""What a method for bounds is: the contract that `tests/laws` holds every one of them to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from discreet.effort import UNLIMITED, Clock
from discreet.intruder.bounds.part import Found, Part, Proof
from discreet.intruder.bounds.result import Rung
from discreet.intruder.bounds.shuttle.shuttle import MOST_BYTES
from discreet.intruder.bounds.work import Work
from discreet.table.keys import Codes


class Asked(NamedTuple):
    """Cells of a part over `names`, and how they are asked for; see `Bounder.bounds`.

    `whole` gives the whole release as one part, if its shuttle fits; `number` is how many cells
    were asked for, of which these are the distinct ones; `work` is what projections may cost.
    """

    names: tuple[str, ...]
    codes: Codes
    proof: Proof | None = None
    among: int | None = None
    width: int | None = None
    effort: float = 1.0
    clock: Clock = UNLIMITED
    most_bytes: int = MOST_BYTES
    rung: Rung = Rung.INTEGER
    whole: Callable[[], Part | None] = lambda: None
    number: int = 0
    work: Work | None = None


class Method(Protocol):
    """A way to bound the cells of a part; a file in `methods/` with these two names.

    `lower` and `upper` hold every table that fits the part's release. `seen_low` and `seen_high`
    are counts in tables of whole numbers that were found and checked, `fit_low` and `fit_high`
    the same for tables of fractions, rounded inwards. More margins never widen an interval, and
    the order of variables and categories does not matter. What it cannot bound raises a
    `DataError`.

    With `SPLITS` a release is split along its released separators first, and the method bounds
    each part by itself.
    """

    SPLITS: bool

    def bound(self, part: Part, asked: Asked) -> Found: ...

"""How far an intruder's link probabilities can be trusted (Lambert 1993, section 4.2.4)."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.encode import Encoded, encode
from discreet.intruder.linkage.links import link_encoded
from discreet.intruder.linkage.matches import NEVER
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import Records
from discreet.look.progress import track
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.linkage.identification import Identification
from discreet.spreading import spread
from discreet.table.cells import frame

TENTHS = 10


class Share(NamedTuple):
    """A share `of` so many cases and its binomial standard error; both nan if there are none.

    The error is taken at (k + 1) / (n + 2): that 0 of a few arise is not certain.
    """

    value: float
    error: float
    of: int

    @classmethod
    def counted(cls, hits: float, of: int) -> Share:
        if not of:
            return cls(math.nan, math.nan, 0)
        near = (hits + 1) / (of + 2)
        return cls(hits / of, math.sqrt(near * (1 - near) / of), of)

    def to_json(self) -> dict[str, Any]:
        value, error = (self.value, self.error) if self.of else (None, None)
        return {"share": value, "standard_error": error, "of": self.of}


class Tenth(NamedTuple):
    """Best links whose probability is from `low` to `high`.

    Their mean probability, how many are right, and the shares of present and absent targets who
    have one.
    """

    low: float
    high: float
    stated: float
    right: Share
    present: Share
    absent: Share


@dataclass(frozen=True, eq=False)
class Calibration(Result):
    """Best links in files drawn from the intruder's model.

    Files x sources: the `chance` of each target's best link, whether it is `right` (1 / ties) and
    whether the target was `released`. `sure`: the intruder knows that targets are in the file, so
    that only links of those who are can be right or wrong.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2], "age": [33, 46]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> found = dc.linkage.calibration(records, intruder, files=50)
    >>> found.arises(0.5).value, found.error(0.9).value
    (0.22, 0.0)
    """

    chance: Floats
    right: Floats
    released: NDArray[np.bool_]
    sure: bool

    def __repr__(self) -> str:
        said = "no absent targets"
        if not self.released.all():
            said = f"{self.arises(0.5).value:.2%} of absent targets have a link of 0.5 or more"
        return f"Calibration({plural(len(self.chance), 'file')}: {said})"

    def arises(self, p: float, *, absent: bool = True, source: int | None = None) -> Share:
        """Absent (or present) targets whose best link is p or more: all, or one source row.

        Raises DataError if there are none, as when all sources are released.
        """
        chosen = slice(None) if source is None else [source]
        which = self.released[:, chosen] != absent
        if not which.any():
            some = "absent" if absent else "present"
            why = "all sources are released" if self.released.all() else "draw more files"
            raise DataError(f"there are no {some} targets in the drawn files: {why}.")
        chance = self.chance[:, chosen][which]
        return Share.counted(int((chance >= _probability(p)).sum()), len(chance))

    def error(self, p: float) -> Share:
        """Wrong links among best links of p or more."""
        linked = self._weighed & (self.chance >= _probability(p)) & (self.chance > 0)
        many = int(linked.sum())
        return Share.counted(many - float(self.right[linked].sum()), many)

    @property
    def tenths(self) -> list[Tenth]:
        tenth = np.minimum((self.chance * TENTHS).astype(np.int64), TENTHS - 1)
        present, weighed = int(self.released.sum()), self._weighed
        rows = []
        for k in range(TENTHS):
            here = tenth == k
            links, there = here & weighed, int((here & self.released).sum())
            many = int(links.sum())
            rows.append(
                Tenth(
                    k / TENTHS,
                    (k + 1) / TENTHS,
                    float(self.chance[links].mean()) if many else math.nan,
                    Share.counted(float(self.right[links].sum()), many),
                    Share.counted(there, present),
                    Share.counted(int(here.sum()) - there, self.released.size - present),
                )
            )
        return rows

    @property
    def _weighed(self) -> NDArray[np.bool_]:
        return self.released if self.sure else np.ones_like(self.released)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a tenth; nan where there is nothing to share."""
        rows = self.tenths
        columns: dict[str, Any] = {
            "from": [row.low for row in rows],
            "to": [row.high for row in rows],
            "stated": [row.stated for row in rows],
        }
        for name in ("right", "present", "absent"):
            columns[name] = [getattr(row, name).value for row in rows]
            columns[f"{name}_error"] = [getattr(row, name).error for row in rows]
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """A share of nobody is null, as that of absent targets if all sources are released."""
        return {
            "files": len(self.chance),
            "present": int(self.released.sum()),
            "absent": int((~self.released).sum()),
            "tenths": [
                {
                    "from": row.low,
                    "to": row.high,
                    "stated": row.stated if row.right.of else None,
                    "right": row.right.to_json(),
                    "present": row.present.to_json(),
                    "absent": row.absent.to_json(),
                }
                for row in self.tenths
            ],
        }


def calibration(
    records: Records, intruder: Intruder, *, files: int = 20, seed: int = 0
) -> Calibration:
    """Draw masked files as the intruder believes they arise, and link each.

    As many records as are released are drawn from the sources (or the population, whose other
    people look like random sources) and masked by the intruder's densities; values are missing
    where they are in the released file.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2], "age": [33, 46]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> dc.linkage.calibration(records, intruder, files=50)
    Calibration(50 files: 22.00% of absent targets have a link of 0.5 or more)
    """
    if files < 1:
        raise DataError(f"{files} files are to be drawn; draw at least 1.")
    data, rng = encode(records, intruder), np.random.default_rng(seed)
    shape = files, records.sources
    chance, right, released = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    begins = []
    for _ in range(files):
        begins.append(copy.deepcopy(rng))
        draw_file(data, intruder.population or records.sources, rng)
    found = spread(_linked, begins, given=(data, intruder, intruder.population or records.sources))
    for k, (links, correct, parents) in enumerate(track(found, "files drawn")):
        chance[k], right[k] = links, correct
        released[k, parents[parents >= 0]] = True
    return Calibration(chance, right, released, intruder.present)


def _linked(
    rng: np.random.Generator, data: Encoded, intruder: Intruder, population: int
) -> tuple[Floats, Floats, Ints]:
    """Of a drawn file: the largest links, how probably each is right, and the sources."""
    drawn, parents = draw_file(data, population, rng)
    links = link_encoded(drawn, intruder)
    correct = Identification(links, drawn, 0.0, links.best >= 0, parents).correct
    return links.perceived, correct, parents


def draw_file(data: Encoded, population: int, rng: np.random.Generator) -> tuple[Encoded, Ints]:
    """A masked file from the intruder's model, and the source of each record; -1 if none."""
    sources, many = len(data.y), len(data.x)
    there = np.flatnonzero((data.matches.source != NEVER).all(1))
    strangers = population - sources
    if many > len(there) + strangers:
        raise DataError(
            f"{many:,} records are released, but only {len(there) + strangers:,} can be; say of "
            "more source records what became of them."
        )
    drawn = rng.choice(len(there) + strangers, many, replace=False)
    inside = drawn < len(there)
    like = there[np.where(inside, drawn, rng.integers(len(there), size=many))]
    parents = np.where(inside, like, -1)
    kinds = np.searchsorted(np.cumsum(data.types)[:-1], rng.random(many), side="right")
    x, unknown = _draw_numbers(data, data.y[like], kinds, rng)
    codes = np.empty_like(data.released_codes)
    for v, size in enumerate(data.outcomes.tolist()):
        tables = data.chances[:, v, :, :size]
        rows = kinds * tables.shape[1] + data.source_codes[like, v]
        codes[:, v] = _draw_codes(tables.reshape(-1, size), rows, rng)
        if data.categories[v] not in _told(data):
            codes[data.released_codes[:, v] == size, v] = size  # missing
    file = replace(
        data,
        x=x,
        unknown=unknown,
        released_codes=codes,
        matches=data.matches.drawn(like, rng),
        ranks=data.ranks.drawn(like, rng),
        own=data.own.drawn(like, _told(data), rng) if data.own else data.own,
    )
    return _suppressed(file), parents


def _suppressed(data: Encoded) -> Encoded:
    """Values are missing where keys that may be suppressed were drawn missing."""
    x, unknown = data.x.copy(), data.unknown.copy()
    codes, spans = data.released_codes.copy(), data.ranks.released.copy()
    own = data.own
    for e, name in enumerate(data.matches.names):
        if not data.matches.bare[e]:
            continue
        missing = data.matches.released[:, e] < 0
        if name in data.numbers:
            d = data.numbers.index(name)
            x[missing, d], unknown[missing, d] = np.nan, 0.0
        elif name in data.categories:
            v = data.categories.index(name)
            codes[missing, v] = data.outcomes[v]
        elif name in own.names:
            own = own.hidden(name, missing)
        else:
            spans[missing, data.ranks.names.index(name)] = -1
    return replace(
        data,
        x=x,
        unknown=unknown,
        released_codes=codes,
        ranks=replace(data.ranks, released=spans),
        own=own,
    )


def _draw_numbers(
    data: Encoded, y: Floats, kinds: Ints, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Masked numbers, and their log density if y is missing: that of the released file."""
    spreads = data.precisions**-0.5
    upto = np.cumsum(np.exp(data.heights) * spreads, 2)[kinds, :, :-1]
    normal = (rng.random((*y.shape, 1)) > upto).sum(-1)
    own = spreads[kinds[:, None], np.arange(y.shape[1]), normal]
    missing = np.isnan(data.x)
    many = np.maximum((~missing).sum(0), 1)
    mean = np.where(missing, 0, data.x).sum(0) / many
    wide = np.sqrt(np.where(missing, 0, (data.x - mean) ** 2).sum(0) / many + 1)
    noise = rng.normal(size=y.shape) @ np.linalg.cholesky(data.correlation).T
    x = np.where(np.isnan(y), mean + wide * noise, y + own * noise)
    unknown = -(((x - mean) / wide) ** 2) / 2 - np.log(wide)
    missing &= np.array([name not in _told(data) for name in data.numbers], bool)
    return np.where(missing, np.nan, x), np.where(missing, 0.0, unknown)


def _told(data: Encoded) -> set[str]:
    """Keys of which it is known how they go missing."""
    return {name for name, bare in zip(data.matches.names, data.matches.bare, strict=True) if bare}


def _draw_codes(table: Floats, rows: Ints, rng: np.random.Generator) -> Ints:
    """One outcome for each of `rows` of the table."""
    upto, luck = np.cumsum(table, 1), rng.random(len(rows))
    found = np.empty(len(rows), np.int64)
    for row in np.unique(rows):
        here = rows == row
        found[here] = np.searchsorted(upto[row], luck[here] * upto[row, -1], side="right")
    return np.asarray(np.minimum(found, table.shape[1] - 1))


def _probability(p: float) -> float:
    if not 0 <= p <= 1:
        raise DataError(f"p is {p:g}; give a probability from 0 to 1.")
    return p

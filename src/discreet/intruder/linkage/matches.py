"""Labels that are released as they are, go missing, or are mixed up: equal or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError

Labels = NDArray[np.object_]
MISSING, NEVER = -1, -2
FAR = 4  # standard errors


@dataclass(frozen=True, eq=False)
class Matches:
    """Keys of any number of labels, of which a source record's own is told from all others.

        P[x | y] = same [x = y] + leak share(x),    P[missing | y] = gone

    `source` and `released`: codes, -1 if missing, -2 of a record that is never released; `share`:
    of each released record's label among all. `bare`: keys of which only whether they are missing
    is said here.
    """

    names: tuple[str, ...]
    bare: tuple[bool, ...]
    source: Ints
    released: Ints
    same: Floats
    leak: Floats
    gone: Floats
    share: Floats

    @property
    def parts(self) -> Floats:
        """That a source record's label stays, becomes any other, or is missing."""
        return self.parts_of(np.arange(len(self.source)))

    def parts_of(self, rows: Ints) -> Floats:
        """The same of some source records."""
        source, same, leak = self.source[rows], self.same[rows], self.leak[rows]
        own = np.zeros_like(leak)
        for e in range(len(self.names)):
            known = self.released[:, e] >= 0
            many = 1 + max(self.source[:, e].max(initial=0), self.released[:, e].max(initial=0))
            shares = np.zeros(many)
            shares[self.released[known, e]] = self.share[known, e]
            there = source[:, e] >= 0
            own[there, e] = shares[source[there, e]]
        stays = np.maximum(0, same + leak * own)
        return np.stack([stays, np.maximum(0, leak * (1 - own)), self.gone[rows]], -1)

    def chances(self, e: int, released: int) -> Floats:
        """P[released label | source label] of key e for all source records."""
        x = self.released[released, e]
        if x == MISSING:
            return self.gone[:, e]
        mixed = self.leak[:, e] * self.share[released, e]
        return np.asarray(np.maximum(0, mixed + self.same[:, e] * (self.source[:, e] == x)))

    def blurred(self, times: float) -> Matches:
        """The same for who knows each label with probability 1 / times, else not at all."""
        there = self.source != NEVER
        gone = np.where(there, self.gone, 0.0)
        mean = gone.sum(0) / np.maximum(there.sum(0), 1)
        less = 1 - 1 / times
        gone = np.where(there, gone + less * (mean - gone), 0.0)
        leak = np.where(there, self.leak / times + less * (1 - mean), 0.0)
        return replace(self, same=self.same / times, leak=leak, gone=gone)

    def drawn(self, like: Ints, rng: np.random.Generator) -> Matches:
        """Released labels drawn for these source records."""
        released, share = self.released.copy(), self.share.copy()
        parts = self.parts[like]
        for e in range(len(self.names)):
            known = self.released[:, e] >= 0
            many = 1 + max(self.source[:, e].max(initial=0), self.released[:, e].max(initial=0))
            shares = np.zeros(many)
            shares[self.released[known, e]] = self.share[known, e]
            luck = rng.random(len(like)) * parts[:, e].sum(1)
            own, stays = self.source[like, e], parts[:, e, 0]
            x = np.where(luck < stays, own, MISSING)
            mixed = (luck >= stays) & (luck < stays + parts[:, e, 1])
            x[mixed] = _others(own[mixed], shares, rng)
            released[:, e] = x
            share[:, e] = np.where(x >= 0, shares[np.maximum(x, 0)], 0.0)
        return replace(self, released=released, share=share)


def _others(own: Ints, shares: Floats, rng: np.random.Generator) -> Ints:
    """Labels drawn by their share, none of them the own one."""
    upto = np.cumsum(shares)
    held = np.where(own >= 0, shares[np.maximum(own, 0)], 0.0)
    before = np.where(own >= 0, upto[np.maximum(own, 0)] - held, upto[-1])
    luck = rng.random(len(own)) * (upto[-1] - held)
    luck += np.where(luck >= before, held, 0.0)
    return np.asarray(np.minimum(np.searchsorted(upto, luck, side="right"), len(shares) - 1))


def coded(source: Labels, released: Labels) -> tuple[Ints, Ints, list[str]]:
    """Codes of both, -1 where a label is missing, and the labels."""
    import pandas as pd

    codes, found = pd.factorize(np.concatenate([source, released]))
    names = [str(one) for one in found]
    if "" in names:
        empty = names.index("")
        codes = np.where(codes == empty, MISSING, codes - (codes > empty))
        names.pop(empty)
    codes = codes.astype(np.int64)
    return codes[: len(source)], codes[len(source) :], names


def match(
    name: str,
    source: Labels,
    released: Labels,
    *,
    never: NDArray[np.bool_],
    suppressed: float | Mapping[str, float] = 0.0,
    keep: float = 1.0,
    alike: bool = False,
    known_missing: bool = False,
    by: Labels | None = None,
    bare: bool = False,
) -> Matches:
    """One key: it stays with probability `keep`, else it is another label in proportion to its
    frequency in the release, or any other (`alike`).

    A missing label stays missing, as far as the release has as many; if it has more than are
    `suppressed`, anybody's may be missing. `known_missing`: missing ones are as certain as others;
    `by`: labels that `suppressed` tells apart.
    """
    y, x, names = coded(source, released)
    if not bare and (x >= 0).any() and not (keep < 1 or np.isin(x[x >= 0], y).any()):
        raise DataError(
            f"{name!r} has no value in common in the source, masked as the intruder knows, and the "
            "released file; code both files alike, or describe how the key was masked."
        )
    gone = _gone(name, source if by is None else by, suppressed)
    lacking, lacked = y == MISSING, x == MISSING
    stays = 1.0
    if not known_missing:
        gone, stays = _also_missing(gone, lacking & ~never, lacked, ~never, suppressed)
    shares = np.full(len(names), 1 / max(len(names), 1))
    if not alike:
        shares = np.bincount(x[x >= 0], minlength=len(names)) / max((x >= 0).sum(), 1)
    own = np.where(lacking, 0.0, shares[np.maximum(y, 0)] if len(names) else 0.0)
    single = own >= 1
    leak = np.where(single, 0.0, (1 - keep) / np.where(single, 1.0, 1 - own))
    same = np.where(single, 1.0, keep - leak * own)
    same, leak = (np.where(lacking, 0.0, part * (1 - gone)) for part in (same, leak))
    leak = np.where(lacking, 1 - stays, leak)
    gone = np.where(lacking, stays, gone)
    y = np.where(never, NEVER, y)
    same, leak, gone = (np.where(never, 0.0, part) for part in (same, leak, gone))
    share = np.where(lacked, 0.0, shares[np.maximum(x, 0)] if len(names) else 0.0)
    own, shown = y.astype(np.int64)[:, None], x[:, None]
    rest = [np.asarray(part, np.float64)[:, None] for part in (same, leak, gone, share)]
    return Matches((name,), (bare,), own, shown, *rest)


def _gone(name: str, source: Labels, suppressed: float | Mapping[str, float]) -> Floats:
    """That each source record's label is suppressed."""
    if not isinstance(suppressed, Mapping):
        return np.full(len(source), float(suppressed))
    import pandas as pd

    if odd := sorted(set(source) - set(suppressed) - {""}):
        raise DataError(
            f"{name!r} does not say how often {odd[0]!r} is suppressed; add it, with 0 if never."
        )
    return np.asarray(pd.Series(source, dtype=object).map(dict(suppressed)).fillna(0.0), np.float64)


def _also_missing(
    gone: Floats,
    lacking: NDArray[np.bool_],
    lacked: NDArray[np.bool_],
    there: NDArray[np.bool_],
    suppressed: float | Mapping[str, float],
) -> tuple[Floats, float]:
    """That a known label goes missing, and that a missing one stays so."""
    many, sources = len(lacked), max(int(there.sum()), 1)
    rest = float(gone[there & ~lacking].sum()) / sources
    without, share = lacking.sum() / sources, lacked.sum() / many
    expected = without + rest
    error = np.sqrt(max(expected * (1 - expected), 0) / many)
    stays = 1.0
    if without and share < expected - FAR * error:
        stays = float(np.clip((share - rest) / without, 0, 1))
    plain = not isinstance(suppressed, Mapping) and suppressed == 0
    if plain and lacked.sum() > lacking.sum():  # for reasons that are not known
        gone = np.full_like(gone, 1.0 if without >= 1 else (share - without) / (1 - without))
        gone = np.clip(gone, 1 / (many + 1), 1.0)
    return gone, stays


def joined(found: list[Matches], sources: int, count: int) -> Matches:
    """Several keys side by side."""

    def stack(field: str, rows: int, kind: type) -> NDArray[np.float64]:
        columns = [getattr(one, field) for one in found]
        return np.ascontiguousarray(np.hstack([np.zeros((rows, 0)), *columns]), kind)

    return Matches(
        tuple(name for one in found for name in one.names),
        tuple(bare for one in found for bare in one.bare),
        stack("source", sources, np.int64),  # type: ignore[arg-type]
        stack("released", count, np.int64),  # type: ignore[arg-type]
        stack("same", sources, np.float64),
        stack("leak", sources, np.float64),
        stack("gone", sources, np.float64),
        stack("share", count, np.float64),
    )

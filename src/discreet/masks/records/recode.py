"""Global recoding: every value of a column at the same level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.criteria import DISTANCES, DIVERSITIES, Criteria
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.ladder import Ladder
from discreet.masks.records.lattice import LOSSES, Lattice, Node, Search
from discreet.masks.records.mask import Mask, MaskedFile, amount, listed, others_changed


@dataclass(frozen=True)
class Recode(Mask):
    """Columns at `levels` that are given, or at those of least loss for k, l and t.

    Level 0 is a column as it is; then come the parents in its hierarchy or the intervals between
    its `cuts` (a list of cuts for each level), and last "*" for everybody. Missing values stay
    missing up to the last level but one, and count as a value.

    `k` records at least look alike in the columns; `l`: so diverse is the `sensitive` column among
    them (`diversity`: distinct, entropy or recursive with `c`), `t`: so close to that of all
    records (`distance`: equal, ordered or hierarchical). Up to a share `suppress` of the records
    may be in classes that fail: their columns are blanked, and the records stay. All counts are of
    records, not weighted. `loss`: height, discernibility, non-uniform entropy or average class.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47, 40, 18], "sex": ["f", "m", "m", "f"]})
    >>> mask = Recode(("age", "sex"), k=2, cuts={"age": [[20, 40], [40]]})
    >>> masked = mask.apply(RecordFile(people), np.random.default_rng(1))
    >>> masked
    MaskedFile(recode: 4 records, age masked)
    >>> masked.data["age"].tolist()
    ['< 40', '>= 40', '>= 40', '< 40']
    >>> masked.said
    ('age is at level 2 of 3, sex at level 0 of 1.',
     'height 2 is the least of all 8 nodes, 5 of which were looked at.')
    """

    name: ClassVar[str] = "recode"
    promise: ClassVar[str] = (
        "each column is at one level of its hierarchy, and every class of records that is not "
        "blanked is k-anonymous, l-diverse and t-close as asked"
    )

    columns: str | Sequence[str]
    levels: Mapping[str, int] = field(default_factory=dict)
    cuts: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    k: int = 1
    l: int = 0  # noqa: E741 the paper's letter
    sensitive: str | None = None
    diversity: str = "distinct"
    c: float = 3.0
    t: float | None = None
    distance: str = "equal"
    suppress: float = 0.0
    loss: str = "height"

    def __post_init__(self) -> None:
        names = listed(self.columns, "columns of recode")
        for what in ("levels", "cuts"):
            if odd := sorted(set(getattr(self, what)) - set(names)):
                raise OptionError(
                    f"{what} of recode names {odd[0]!r}, which is not in columns; add."
                )
        for what, value, known in (
            ("diversity", self.diversity, DIVERSITIES),
            ("distance", self.distance, DISTANCES),
            ("loss", self.loss, LOSSES),
        ):
            if value not in known:
                raise OptionError(f"{what} is {value!r}; choose one of {', '.join(known)}.")
        for what, least in (("k", 1), ("l", 0)):
            if (
                not isinstance(getattr(self, what), int)
                or amount(getattr(self, what), what, least=least) < least
            ):
                raise OptionError(f"{what} is {getattr(self, what)!r}; give a whole number.")
        amount(self.suppress, "suppress", least=0, most=1)
        if self.t is not None:
            amount(self.t, "t", least=0)
        if amount(self.c, "c", least=0) == 0:
            raise OptionError("c is 0, which no class fulfils; give a number above.")
        if (self.l > 1 or self.t is not None) and self.sensitive is None:
            raise OptionError("l and t are of a sensitive column; name it as sensitive.")
        if self.sensitive in names:
            raise OptionError(f"{self.sensitive!r} is sensitive and in columns; name it once.")
        if not self._asks and set(self.levels) != set(names):
            raise OptionError("recode has nothing to reach; give k, l or t, or a level per column.")

    @property
    def _asks(self) -> bool:
        return self.k > 1 or self.l > 1 or self.t is not None

    def ladders(self, file: RecordFile) -> list[Ladder]:
        """The levels of every column."""
        names = listed(self.columns, "columns of recode")
        self.check_columns(file, names)
        return [Ladder.of(file, name, self.cuts.get(name, ())) for name in names]

    def lattice(self, file: RecordFile) -> Lattice:
        """All levels that could be chosen, and what is asked of them."""
        whole: Floats | None = None
        values: Ints | None = None
        tree: tuple[Ints, ...] = ()
        if self.sensitive is not None:
            values, tree = _values(file, self.sensitive)
            if self.distance == "hierarchical" and self.t is not None and len(tree) < 2:
                raise DataError(
                    f"distance is 'hierarchical', but {self.sensitive!r} has no hierarchy with "
                    "groups; give one, or choose another distance."
                )
            whole = np.bincount(values) / len(file)
        criteria = Criteria(
            self.k, self.l, self.diversity, self.c, self.t, self.distance, whole, tree
        )
        options: dict[str, Any] = {"suppress": self.suppress, "loss": self.loss}
        return Lattice(self.ladders(file), criteria, sensitive=values, **options)

    def search(self, file: RecordFile) -> Search:
        """The levels of least loss; levels that are given are not searched."""
        return self.lattice(file).search()

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        ladders = self.ladders(file)
        found, gone = None, np.zeros(len(file), bool)
        if set(self.levels) == {ladder.name for ladder in ladders}:
            node: Node = tuple(_level(self.levels[a.name], a) for a in ladders)
            lattice = self.lattice(file) if self._asks else None
            if lattice is not None:
                gone = lattice.failing(node)
                if gone.sum() > lattice.limit:
                    raise DataError(
                        f"at the levels given {int(gone.sum()):,} records are in classes that "
                        f"fail, and {lattice.limit:,} may be left out; give higher levels."
                    )
        elif self.levels:
            raise OptionError("levels of recode leaves out a column; give all levels, or none.")
        else:
            lattice = self.lattice(file)
            found = lattice.search()
            node, gone = found.levels, lattice.failing(found.levels)
        return self._masked(file, ladders, node, gone, found)

    def _masked(
        self,
        file: RecordFile,
        ladders: list[Ladder],
        node: Node,
        gone: NDArray[np.bool_],
        found: Search | None,
    ) -> MaskedFile:
        columns: dict[str, Any] = {}
        keys: dict[str, Key] = {}
        behind: dict[str, Labels] = {}
        for ladder, level in zip(ladders, node, strict=True):
            if gone.any():
                seen = np.where(gone, "", ladder.at(level)).astype(object)
                if self.sensitive is not None:
                    behind[ladder.name] = ladder.at(level)
                keys[ladder.name] = Key(ladder.name, Kind.SHARED, seen=seen)
            elif level:
                seen, keys[ladder.name] = ladder.at(level), ladder.key(level)
            else:
                continue
            column = file.data[ladder.name]
            kept = column.where(~gone) if not level else _shown(seen)
            columns[ladder.name] = kept
        at = [f"{a.name} at level {v} of {a.top}" for a, v in zip(ladders, node, strict=True)]
        said = [f"{at[0].replace(' at', ' is at', 1)}{''.join(', ' + one for one in at[1:])}."]
        if found is not None:
            said.append(
                f"{self.loss} {found.loss:.6g} is the least of all {found.nodes:,} nodes, "
                f"{found.looked:,} of which were looked at."
            )
        if gone.any():
            said.append(f"{int(gone.sum()):,} of {len(file):,} records are blanked in the columns.")
        used = dict(zip((a.name for a in ladders), node, strict=True))
        told = {**self.options, "levels": used}
        return self.changed(file, columns, keys, said, parameters=told, behind=behind)

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        import pandas as pd

        if len(masked) != len(file):
            return ["records are lost."]
        found = []
        names = listed(self.columns, "columns of recode")
        after = RecordFile(masked.data)
        seen = pd.DataFrame({name: after.labels(name) for name in names})
        blanked = (seen == "").all(axis=1).to_numpy()
        for ladder in self.ladders(file):
            level = masked.parameters["levels"][ladder.name]
            kept = seen[ladder.name].to_numpy() == ladder.at(level)
            if not (kept | blanked).all():
                found.append(f"{ladder.name!r} is not at level {level} everywhere.")
        found += others_changed(file, masked, names, "not recoded")
        was = np.all([file.labels(name) == "" for name in names], axis=0)
        if (blanked & ~was).sum() > self.suppress * len(file) + 1e-9:
            found.append("more records are blanked than may be.")
        blanked = blanked if (blanked & ~was).any() else np.zeros(len(file), bool)
        return found + self._short(file, seen, blanked)

    def _short(self, file: RecordFile, seen: Any, blanked: NDArray[np.bool_]) -> list[str]:
        """Criteria that classes of released records do not meet."""
        left, found = seen[~blanked], []
        if not len(left):
            return []
        groups = left.groupby(list(seen.columns)).ngroup().to_numpy()
        sizes = np.bincount(groups)
        if sizes.min() < self.k:
            found.append(f"fewer than {self.k} records look alike.")
        if self.sensitive is None:
            return found
        values, tree = _values(file, self.sensitive)
        whole = np.bincount(values) / len(file)
        many = len(whole)
        cells = np.bincount(groups * many + values[~blanked], minlength=len(sizes) * many)
        counts = cells.reshape(-1, many)
        shares = counts / sizes[:, None]
        if self.l > 1:
            ordered = -np.sort(-counts, axis=1)
            logs = np.log(np.where(shares > 0, shares, 1))
            passed = {
                "distinct": (counts > 0).sum(1) >= self.l,
                "entropy": np.exp(-(shares * logs).sum(1)) >= self.l * (1 - 1e-8),
                "recursive": ordered[:, 0] < self.c * ordered[:, self.l - 1 :].sum(1),
            }
            if not passed[self.diversity].all():
                found.append(f"a class is not {self.diversity} {self.l}-diverse.")
        if self.t is not None:
            rule = Criteria(t=self.t, distance=self.distance, whole=whole, tree=tree)
            if rule.moved(shares - whole).max() > self.t + 1e-8:
                found.append(f"a class is farther than {self.t} from all records.")
        return found


def _values(file: RecordFile, name: str) -> tuple[Ints, tuple[Ints, ...]]:
    """Sensitive values in order, numbers by size and missing last, and their ancestors."""
    ladder = Ladder.of(file, name)
    names = ladder.labels[0]
    try:
        order = sorted(range(len(names)), key=lambda i: (names[i] == "", float(names[i] or 0)))
    except ValueError:
        order = list(range(len(names)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[ladder.codes], tuple(up[order] for up in ladder.maps[1:])


def _shown(seen: Labels) -> Labels:
    found = seen.copy()
    found[seen == ""] = None
    return found


def _level(level: object, ladder: Ladder) -> int:
    if not isinstance(level, int) or isinstance(level, bool) or not 0 <= level <= ladder.top:
        raise DataError(
            f"the level of {ladder.name!r} is {level!r}; give one from 0 to {ladder.top}."
        )
    return level

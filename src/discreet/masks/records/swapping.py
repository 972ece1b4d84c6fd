"""Targeted record swapping: households exchange the places where they live."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, OptionError
from discreet.masks.records.file import RecordFile
from discreet.masks.records.households import Households, codes_of
from discreet.masks.records.mask import Mask, MaskedFile, amount, listed, others_changed
from discreet.masks.records.tied import Tied
from discreet.table.keys import grouped

REPEATS = 500
SEED = 20


@dataclass(frozen=True)
class Swap(Mask):
    """Households at risk, and others up to a `rate`, exchange blocks with one of another block.

    `block` names columns of geography, coarse to fine. Who swaps shares the `match` columns, the
    whole household with its members; further lists in `match` are tried where the first leaves no
    partner. A household is at risk at a level of geography if a member shares the `risk` columns
    and the block with fewer than `k` records, itself included: it looks for a partner in another
    block of that level, at first in the same block of the level above, in random order, as long
    as one is left. If then fewer than `rate` of the households are swapped, others are at the
    finest level (as recordSwap of sdcMicro does). Counts and the rate are not weighted.

    What an intruder knows is how often a household of the same block, match and risk stays, or
    goes near or far, in `repeats` draws with a seed that all may know: estimated, and then weighed
    so that `identify` is right on average where it knows the block and the match columns.

    >>> import pandas as pd
    >>> people = RecordFile(pd.DataFrame({"town": list("aaabbb"), "sex": list("ffmfmm")}))
    >>> mask = Swap("town", match="sex", rate=0.3)
    >>> masked = mask.apply(people, np.random.default_rng(1))
    >>> masked.said
    ('2 of 6 households are swapped.',)
    >>> masked.keys["town"].joint, mask.broken(people, masked)
    ((), [])
    """

    name: ClassVar[str] = "swap"
    promise: ClassVar[str] = (
        "every column but the block is as it was, and so is every count of blocks by the columns "
        "that all lists of match share, of households and of people in each block"
    )

    block: str | Sequence[str]
    match: str | Sequence[str] | Sequence[Sequence[str]] = ()
    rate: float = 0.05
    risk: str | Sequence[str] = ()
    k: int = 3
    repeats: int = REPEATS

    def __post_init__(self) -> None:
        blocks, lists = self.blocks, self.lists
        amount(self.rate, "rate", least=0, most=1)
        for what in ("k", "repeats"):
            value = getattr(self, what)
            if not isinstance(value, int) or amount(value, what, least=1) < 1:
                raise OptionError(f"{what} of swap is {value!r}; give a whole number from 1 on.")
        for one in lists:
            if odd := sorted(set(one) & set(blocks)):
                raise OptionError(f"{odd[0]!r} is in block and in match; name it once.")
        if odd := sorted(set(blocks) & set(self.risks)):
            raise OptionError(f"{odd[0]!r} is in block and in risk; every block counts by itself.")

    @property
    def blocks(self) -> tuple[str, ...]:
        return listed(self.block, "block of swap")

    @property
    def risks(self) -> tuple[str, ...]:
        return listed(self.risk, "risk of swap") if self.risk else ()

    @property
    def lists(self) -> tuple[tuple[str, ...], ...]:
        """The match columns, then those to fall back on."""
        if not self.match:
            return ((),)
        if isinstance(self.match, str) or isinstance(self.match[0], str):
            return (listed(self.match, "match of swap"),)
        return tuple(listed(one, "match of swap") if one else () for one in self.match)

    @property
    def kept(self) -> tuple[str, ...]:
        """Columns whose counts by block are kept."""
        first, *others = self.lists
        return tuple(name for name in first if all(name in other for other in others))

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        plan = _Plan.of(self, file)
        partner = plan.draw(rng)
        homes = np.where(partner >= 0, partner, np.arange(len(partner)))
        rows = plan.households.first[homes][plan.households.home]
        stays = (partner < 0)[plan.households.home]
        rows = np.where(stays, np.arange(len(file)), rows)
        data = {name: file.data[name].iloc[rows].array for name in self.blocks}
        chances = plan.chances(self.repeats, partner)[plan.households.home]
        whole = len(self.lists) == 1
        key = Tied.of(file, self.blocks, self.lists[0], chances, whole=whole).key()
        many = int((partner >= 0).sum())
        said = [f"{many:,} of {len(partner):,} households are swapped."]
        if self.risks:
            at_risk = plan.risk < len(self.blocks)
            left = int((at_risk & (partner < 0)).sum())
            told = f"{left:,} have no partner and stay" if left else "all of them are swapped"
            said.append(f"{int(at_risk.sum()):,} households are at risk; {told}.")
        return self.changed(file, data, {key.name: key}, said)

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        import pandas as pd

        blocks = list(self.blocks)
        if found := others_changed(file, masked, blocks, "no block"):
            return found
        for level in range(1, len(blocks) + 1):
            by = [*blocks[:level], *self.kept]
            was, now = (f[by].value_counts(dropna=False) for f in (file.data, masked.data))
            if not was.sort_index().equals(now.sort_index()):
                found.append(f"the counts of {', '.join(by)} have changed.")
        if file.household is not None:
            homes = [file.household, *blocks]
            was, now = (
                pd.DataFrame(f[homes]).drop_duplicates()[blocks].value_counts(dropna=False)
                for f in (file.data, masked.data)
            )
            if not was.sort_index().equals(now.sort_index()):
                found.append("the number of households in a block has changed.")
        return found


@dataclass(frozen=True, eq=False)
class _Plan:
    """Households, and the stages in which they look for partners."""

    households: Households
    units: list[Ints]  # by level of geography, from everybody down
    types: Ints
    risk: Ints
    stages: tuple[Any, ...]
    nobody: Ints
    wanted: int

    @classmethod
    def of(cls, mask: Swap, file: RecordFile) -> _Plan:
        if {file.household, file.weight} & {*mask.blocks, *(n for one in mask.lists for n in one)}:
            raise DataError("swap never changes or matches the household or the weight.")
        homes = Households.of(file)
        nested = [codes_of(file, mask.blocks[: i + 1]) for i in range(len(mask.blocks))]
        for name in mask.blocks:
            homes.one_each(codes_of(file, [name]), name)
        units = [np.zeros(len(homes), np.int64), *(code[homes.first] for code in nested)]
        classes = [homes.classes(codes_of(file, one)) for one in mask.lists]
        risk = np.full(len(homes), len(mask.blocks))
        for level in reversed(range(len(mask.blocks) if mask.risks else 0)):
            codes = codes_of(file, [*mask.risks, *mask.blocks[: level + 1]])
            alone = np.bincount(codes)[codes] < mask.k
            risk[homes.home[alone]] = level
        gone = np.any([file.labels(name)[homes.first] == "" for name in mask.blocks], axis=0)
        types = grouped(np.array([*classes, units[-1], risk]))[0]
        return cls(
            homes,
            units,
            types,
            risk,
            _stages(units, classes, bool(mask.risks)),
            np.where(gone, -2, -1),
            math.ceil(mask.rate * len(homes) - 1e-9),
        )

    def draw(self, rng: np.random.Generator) -> Ints:
        """The partner of each household; below 0 for those without."""
        from discreet._kernels.swapping import swap

        partner = self.nobody.copy()
        groups, cells, members, starts, lowest = self.stages
        swap(groups, cells, members, starts, lowest, self.risk, self.wanted, partner, rng)
        return partner

    def chances(self, repeats: int, partner: Ints) -> Floats:
        """How often a household of each type goes to a block as near as 0, 1, ... levels, or stays.

        The draw that is released is one of the repeats, so that nothing that happened is said to
        be impossible.
        """
        own = np.random.default_rng(SEED)
        levels = len(self.units) - 1
        times = np.zeros((int(self.types.max()) + 1) * levels)
        for turn in range(repeats):
            drawn = self.draw(own) if turn else partner
            moved = np.flatnonzero(drawn >= 0)
            near = np.zeros(len(moved), np.int64)
            for unit in self.units[1:-1]:
                near += unit[moved] == unit[drawn[moved]]
            times += np.bincount(self.types[moved] * levels + near, minlength=len(times))
        sizes = np.bincount(self.types)
        found = times.reshape(-1, levels) / (repeats * sizes[:, None])
        stays = np.clip(1 - found.sum(1), 0, 1)
        stays[stays < 1e-9] = 0
        return np.asarray(np.column_stack([found, stays])[self.types])


def _stages(units: list[Ints], classes: list[Ints], targeted: bool) -> tuple[Any, ...]:
    """For each stage: groups, cells within groups, members by group, starts, lowest level."""
    finest = len(units) - 2
    asked = [
        (level, parent, matched)
        for level in range(finest + 1 if targeted else 0)
        for parent in range(level, -1, -1)
        for matched in classes
    ]
    lowest = [level for level, _, _ in asked] + [-1] * len(classes)
    asked += [(finest, finest, matched) for matched in classes]
    groups = np.array(
        [grouped(np.array([matched, units[parent]]))[0] for _, parent, matched in asked]
    )
    cells = np.array(
        [
            grouped(np.array([group, units[level + 1]]))[0]
            for group, (level, _, _) in zip(groups, asked, strict=True)
        ]
    )
    members = np.argsort(groups, axis=1, kind="stable")
    starts = np.array(
        [np.searchsorted(np.sort(g), np.arange(groups.max() + 2)) for g in groups], np.int64
    )
    return groups, cells, members, starts, np.array(lowest)

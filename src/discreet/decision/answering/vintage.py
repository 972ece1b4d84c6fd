"""A new vintage of the data, judged together with what is out of the old one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from discreet.decision.answering.bench import PROOF_SECONDS, Bench, Ints
from discreet.decision.brief import Sets
from discreet.decision.decide import decide
from discreet.decision.policy import Policy
from discreet.decision.verdict import Verdict, worst
from discreet.errors import PolicyError
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import maximal
from discreet.table.table import Table


class Changes:
    """Who came and who went between two vintages, as tables of their own.

        came = max(new - old, 0),  went = max(old - new, 0),  cell by cell

    A margin that is out of both tells came - went. That both are judged as if each were told is
    more than an intruder sees, and errs on the safe side; what the rest of either release says of
    the changes is left aside. Somebody who left while another came to the same cell is no change.
    """

    def __init__(self, new: Table, old: Table, old_out: Sets, policy: Policy) -> None:
        _check_alike(new, old)
        codes = np.unique(np.concatenate([new.codes, old.codes]), axis=0)
        more = new.lookup(codes) - old.lookup(codes)
        self.parts = tuple(
            Table.from_cells(
                new.variables, codes[side > 0], side[side > 0], impossible=new.impossible
            )
            for side in (more, -more)
            if (side > 0).any()
        )
        self.old_out = old_out
        # a model of the population is one of the whole table, not of what changed
        sample = dataclasses.replace(policy.sample, check=False)
        policy = dataclasses.replace(policy, given={**policy.given, "sample": sample})
        seconds = min(policy.bounds.witness_seconds, PROOF_SECONDS)
        self.policy = policy.effort(witness_seconds=seconds)
        self._known: dict[Sets, Verdict] = {}

    def shared(self, out: Iterable[int]) -> Sets:
        """The margins that are out of both, when these are out of the new vintage."""
        both = maximal(new & old for new in out for old in self.old_out)
        return tuple(s for s in both if s)

    def verdict(self, out: Iterable[int]) -> Verdict:
        """On what the two releases together tell of the changes."""
        shared = self.shared(out)
        if not shared or not self.parts:
            return Verdict.PASS
        if shared not in self._known:
            self._known[shared] = worst(
                decide(part, Formula(part.names, shared), self.policy).verdict
                for part in self.parts
            )
        return self._known[shared]


class VintageBench:
    """The verdict of another bench on the new vintage, or a worse one on the changes."""

    def __init__(self, own: Bench, new: Table, old: Table, old_out: Sets, policy: Policy) -> None:
        self.own, self.changes = own, Changes(new, old, old_out, policy)
        self.out: Sets = own.out

    def verdict(self, margins: Sequence[int]) -> Verdict:
        changes = self.changes.verdict([*self.out, *margins])
        if changes is Verdict.FAIL:
            return changes
        return worst([self.own.verdict(margins), changes])

    def rejects(self, margin: int) -> bool:
        return self.own.rejects(margin)

    def take(self, margins: Iterable[int]) -> None:
        self.own.take(margins)
        self.out = self.own.out

    @contextmanager
    def supposing(self, margins: Iterable[int]) -> Iterator[int | None]:
        before = self.out
        with self.own.supposing(margins) as narrowest:
            self.out = self.own.out
            try:
                yield narrowest
            finally:
                self.out = before

    def widths(self) -> tuple[Cells, Ints]:
        return self.own.widths()


def _check_alike(new: Table, old: Table) -> None:
    if new.names != old.names:
        raise PolicyError(
            f"the new vintage has the variables {', '.join(new.names)}, the old one "
            f"{', '.join(old.names)}; give both the same, in the same order."
        )
    for now, then in zip(new.variables, old.variables, strict=True):
        if now.categories != then.categories:
            raise PolicyError(
                f"{now.name} has the categories {', '.join(now.categories)} in the new vintage, "
                f"{', '.join(then.categories)} in the old one; give both the same codebook."
            )

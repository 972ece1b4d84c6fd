"""A new vintage of the data, judged together with what is out of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from discreet.data.codebook import Variable
from discreet.decision.answering.trial import PROOF, Ints, Trial
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict, worst
from discreet.errors import PolicyError
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import bits, maximal
from discreet.table.table import Table

Vintage = tuple[Table, Sets]  # a table, and what is out of it


class Changes:
    """Who came and who went between two vintages, as tables of their own.

        came = max(new - old, 0),  went = max(old - new, 0),  cell by cell

    over the variables that both have, with the categories of either. A margin that is out of both
    tells came - went; of a register that only grows, came. That both are judged as if each were
    told is more than an intruder sees, and errs on the safe side. Assumed: what is out of one
    vintage alone tells nothing of the other, and a name means the same in both. Somebody who left
    while another came to the same cell is no change.
    """

    def __init__(self, new: Table, old: Table, old_out: Sets, policy: Policy) -> None:
        self.common = _common(new, old)
        variables = tuple(map(_either, (new.variable(name) for name in self.common),
                              (old.variable(name) for name in self.common)))  # fmt: skip
        now, then = (_over(table, variables) for table in (new, old))
        codes = np.unique(np.concatenate([now.codes, then.codes]), axis=0)
        more = now.lookup(codes) - then.lookup(codes)
        self.parts = tuple(
            Table.from_cells(
                variables,
                codes[side > 0],
                side[side > 0],
                impossible=table.impossible,
                codings=table.codings,
            )
            for side, table in ((more, now), (-more, then))
            if (side > 0).any()
        )
        self.names, self.old_out = new.names, tuple(self._shared_names(old.names, old_out))
        # a model of the population is one of the whole table, not of what changed
        sample = dataclasses.replace(policy.sample, check=False)
        policy = dataclasses.replace(policy, given={**policy.given, "sample": sample})
        self.policy = policy.effort(witness_effort=min(policy.bounds.witness_effort, PROOF))
        self._known: dict[Sets, Verdict] = {}

    def _shared_names(self, names: Sequence[str], sets: Iterable[int]) -> Iterator[int]:
        """Margins of a vintage as sets of the common variables."""
        for margin in sets:
            held = {names[place] for place in bits(margin)}
            yield sum(1 << place for place, name in enumerate(self.common) if name in held)

    def shared(self, out: Iterable[int]) -> Sets:
        """The margins that are out of both, when these are out of the new vintage."""
        mine = list(self._shared_names(self.names, out))
        both = maximal(new & old for new in mine for old in self.old_out)
        return tuple(s for s in both if s)

    def verdict(self, out: Iterable[int]) -> Verdict:
        """On what the two releases together tell of the changes."""
        shared = self.shared(out)
        if not shared or not self.parts:
            return Verdict.PASS
        if shared not in self._known:
            self._known[shared] = worst(
                decide(part, Formula(part.names, shared), self.policy, named=False).verdict
                for part in self.parts
            )
        return self._known[shared]


def changes(new: Table, others: Iterable[Vintage], policy: Policy) -> tuple[Changes, ...]:
    """Between a vintage and each of the others."""
    return tuple(Changes(new, old, out, policy) for old, out in others)


class VintageTrial:
    """The verdict of another trial on the new vintage, or a worse one on the changes."""

    def __init__(self, own: Trial, changes: Sequence[Changes]) -> None:
        self.own, self.changes = own, tuple(changes)
        self.out: Sets = own.out

    def verdict(self, margins: Sequence[int]) -> Verdict:
        found = Verdict.PASS
        for each in self.changes:
            found = worst([found, each.verdict([*self.out, *margins])])
            if found is Verdict.FAIL:
                return found
        return worst([self.own.verdict(margins), found])

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


def _common(new: Table, old: Table) -> tuple[str, ...]:
    common = tuple(name for name in new.names if name in old.names)
    if not common:
        raise PolicyError(
            f"the new vintage has the variables {', '.join(new.names)}, the old one "
            f"{', '.join(old.names)}, and none in common; a vintage is of the same people."
        )
    return common


def _either(now: Variable, then: Variable) -> Variable:
    """With the categories of both: what one vintage does not have is a zero of it."""
    return dataclasses.replace(
        now, categories=tuple(dict.fromkeys((*now.categories, *then.categories)))
    )


def _over(table: Table, variables: Sequence[Variable]) -> Table:
    """The margin over variables that have all its categories, and perhaps more."""
    margin = table.margin([v.name for v in variables])
    codes = margin.codes.copy()
    for place, (own, wanted) in enumerate(zip(margin.variables, variables, strict=True)):
        codes[:, place] = np.array([wanted.code(c) for c in own.categories])[codes[:, place]]
    return Table.from_cells(
        variables, codes, margin.counts, impossible=margin.impossible, codings=margin.codings
    )

"""The one gate: what becomes public passes `decide`, together with all that is out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.decision.answering.vintage import Vintage, judges
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.decide import Decision, decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DisclosureError
from discreet.look.words import listed
from discreet.risk.release.published import low_cells
from discreet.table.formula import Formula
from discreet.table.lattice import maximal
from discreet.table.table import Table

NAMED = 5  # categories, or variables


class NotSafe(DisclosureError):
    """What was to become public does not pass: what it is, and where to see why.

    The sentence can go to standard error and into logs: it names no cell and no count. `why` names
    them, with the repair, for custodians.
    """

    def __init__(self, sentence: str, why: str) -> None:
        super().__init__(sentence)
        self.why = why


def why(error: DisclosureError) -> str:
    """What a custodian is told, who sees the data."""
    return error.why if isinstance(error, NotSafe) else str(error)


def opening(table: Table, policy: Policy, frontier: Iterable[int] | None) -> Sets:
    """The margins that a rule has out before anybody asks."""
    if policy.server.rule == "static":
        return maximal(frontier or ())
    if policy.server.one_way:
        return tuple(1 << place for place in range(len(table.names)))
    return ()


def check(
    table: Table,
    out: Iterable[int],
    policy: Policy,
    others: Iterable[Vintage] = (),
    *,
    doubt: bool = False,
) -> None:
    """Raise unless all of it together is proven to keep the policy, other vintages included.

    `doubt`: what is in doubt is no reason, because a custodian has approved it.
    """
    enough = {Verdict.PASS, Verdict.REVIEW} if doubt else {Verdict.PASS}
    out = maximal(out)
    if not out:
        return
    decision = decide(table, Formula(table.names, out), policy)
    if decision.verdict not in enough:
        raise NotSafe(_told(table, out, policy, decision), _why(table, out, policy, decision))
    for judge in judges(table, others, policy):
        told = judge.verdict(out)
        if told not in enough:
            tells = "tells too much" if told is Verdict.FAIL else "is not proven to tell little"
            said = (
                f"{_named(table, out)}, with what is out of the other vintages of these data, "
                f"{tells} of {judge.who}; publish less that the vintages share: set "
                "server.one_way = false, or give a smaller frontier."
            )
            raise NotSafe(said, said)


def _told(table: Table, out: Sets, policy: Policy, decision: Decision) -> str:
    """What is not published, and where to see why."""
    doubt = decision.verdict is Verdict.REVIEW
    repairs = ", or ".join(["merge categories", *_repairs(policy, doubt)])
    return (
        f"{_named(table, out)} {'is not proven to keep' if doubt else 'does not keep'} the policy, "
        "and would be public. Why names cells, and is not said here: `discreet assess` of the same "
        f"data, with this as --release and the same policy, shows it. Repair: {repairs}."
    )


def _why(table: Table, out: Sets, policy: Policy, decision: Decision) -> str:
    """The first reason, and the repair; with cells and counts."""
    worse = [r for r in decision.reasons if r.verdict is decision.verdict]
    doubt = decision.verdict is Verdict.REVIEW
    said = (
        f"{_named(table, out)} "
        f"{'is not proven to keep' if doubt else 'does not keep'} the policy, and would be public: "
        f"{worse[0].rule}: {worse[0].text}"
    )
    small = _small_categories(table, out, policy)
    repairs = [f"merge {small} with others" if small else "merge categories"]
    return f"{said} Repair: {', or '.join([*repairs, *_repairs(policy, doubt)])}."


def _repairs(policy: Policy, doubt: bool) -> list[str]:
    """What else than merging makes less public, or asks for less."""
    if policy.server.rule == "static":
        repairs = ["give a smaller frontier (`discreet frontier` finds one)"]
    else:
        repairs = ["set server.one_way = false"]
    return [*repairs, *(['ask for less proof (bounds.proof = "linear")'] if doubt else [])]


def _small_categories(table: Table, out: Sequence[int], policy: Policy) -> str:
    """Categories that one-way margins within what is out show with too small a count."""
    found = []
    for place, name in enumerate(table.names):
        if any(margin >> place & 1 for margin in out):
            low = low_cells(table.margin([name]), policy.published.least, zeros=False)
            found += [f"{low.cells.label(row)[name]!r} of {name}" for row in
                      range(len(low.cells))] if low else []  # fmt: skip
    return listed(found, NAMED)


def _named(table: Table, out: Sequence[int]) -> str:
    text = str(Formula(table.names, tuple(out)))
    return text if len(text) <= 200 else f"what is to be out ({len(out)} tables)"

"""What a frontier is, in words and rows: the terminal and the page say the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.result import Rung
from discreet.look.words import listed, named, number, percent, plural
from discreet.table.lattice import count_by_order
from discreet.table.notation import quoted

if TYPE_CHECKING:
    from discreet.decision.frontier.frontier import Frontier

METHODS = {
    "best": "the better of the greedy list and the best decomposable release, then every further "
    "margin that keeps the policy, then exchanges; small tables to a proof",
    "greedy": "the list of margins by critical width, cut where the policy breaks",
    "decomposable": "annealing over decomposable releases",
}
MOST_MISSED = 3
USERS = "Users: share of what they asked for, least served first"


def headline(frontier: Frontier) -> str:
    """`479 of 65,535 margins (0.73%) can be released`, or less surely if not proven."""
    released, possible = frontier.released, frontier.decision.utility.possible
    share = percent(released / possible, 2)
    sure = frontier.decision.verdict is Verdict.PASS
    what = "can be released" if sure else "are in the set that was found"
    return f"{number(released)} of {plural(possible, 'margin')} ({share}) {what}"


def facts(frontier: Frontier) -> list[tuple[str, str]]:
    """How the set was found and how far it is proven, each with what it is about."""
    method = frontier.method
    about = METHODS.get(method)
    said = [("Method", f"{method}: {about}" if about else method)]
    if frontier.min_width is not None:
        beta = f"the policy asks for {number(frontier.beta)}"
        said.append(("Narrowest width", f"{number(frontier.min_width)}; {beta}"))
    said.append(("Proof", _proof(frontier)))
    said.append(("Larger sets", _larger(frontier)))
    if held := frontier.to_json()["held_back"]:
        said.append(("Held back", _held_back(held, len(frontier.held_back))))
    if frontier.listed is not None:
        said.append(("Greedy list", f"cut after {plural(frontier.listed, 'margin')}"))
    said.append(("Search", f"{_seconds(frontier.seconds)}, seed {frontier.seed}"))
    return said


def _proof(frontier: Frontier) -> str:
    if not len(frontier.decision.case.small.cells):
        return "there is no small count"
    rungs = [each.rung for each in frontier.decision.case.small.bounds.status(frontier.beta)]
    some, none = rungs.count(Rung.LINEAR), rungs.count(Rung.OUTER)
    said = [f"{plural(some, 'small count')} by tables of fractions only"] * (some > 0)
    said += [f"{plural(none, 'small count')} not proven by tables to keep the width"] * (none > 0)
    return "; ".join(said) or "the width of every small count is proven by tables of whole numbers"


def _held_back(held: list[dict[str, Any]], number_of: int) -> str:
    """What stopped it: margins, and the counts that they would narrow."""
    first = held[0]
    cell = named(first["cell"])
    would = "would" if number_of == 1 else "each would"
    return (
        f"{plural(number_of, 'margin')} that {would} leave a small count too narrow, such as "
        f"{'*'.join(map(quoted, first['margin']))} the one in {cell}"
    )


def _larger(frontier: Frontier) -> str:
    more = "is worth more to the users" if frontier.users else "has more margins"
    if frontier.optimal:
        return f"none: it is proven that no set that keeps the policy {more}"
    limit = ""
    if frontier.at_most is not None and not frontier.users:
        most = plural(int(frontier.at_most), "margin")
        limit = f"; it is proven that no set that keeps the policy has more than {most}"
    if frontier.maximal:
        return f"none by one more margin, but quite another set may be larger{limit}"
    return f"possible: it was not found out whether a margin can be added{limit}"


def _seconds(seconds: float) -> str:
    return "less than a second" if seconds < 1 else plural(round(seconds), "second")


def variable_rows(frontier: Frontier) -> list[tuple[str, int]]:
    """In how many released margins each variable is, most first."""
    formula, all_ = frontier.formula, frontier.released
    without = (
        sum(count_by_order(s & ~(1 << place) for s in formula.sets).values())
        for place in range(len(formula.names))
    )
    rows = [(name, all_ - n) for name, n in zip(formula.names, without, strict=True)]
    return sorted(rows, key=lambda row: -row[1])


def written(margin: Iterable[str]) -> str:
    """A margin as a formula has it."""
    return "*".join(map(quoted, margin))


def user_rows(frontier: Frontier) -> list[tuple[str, str, str, str, str]]:
    """Each user, least served first: margins asked for, share served, share if the first to ask is
    the first to get, and what is missed."""
    first = {user.name: user.share for user in frontier.first_come}
    rows = []
    for user in sorted(frontier.users, key=lambda user: user.share):
        missed = [written(margin) for margin in user.missed]
        came = percent(first[user.name]) if user.name in first else ""
        lost = listed(missed, MOST_MISSED)
        rows.append((user.name, number(user.requests), percent(user.share), came, lost))
    return rows

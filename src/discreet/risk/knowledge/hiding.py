"""What a table teaches in which categories are merged or left out (Duncan & Lambert 1986, 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from discreet.errors import DataError
from discreet.intruder.predictive.hidden import merged, suppressed
from discreet.intruder.predictive.priors import Counts, Dirichlet, Independent, Mixture, Prior
from discreet.look.words import both, plural
from discreet.risk.knowledge.knowledge import KnowledgeRule, Measure
from discreet.risk.knowledge.reach import Priors, Reach, merged_reach, suppressed_reach
from discreet.risk.knowledge.safest import Beliefs
from discreet.risk.knowledge.taught import about_somebody, group_label
from discreet.risk.knowledge.withheld import (
    BEYOND,
    EVERY,
    NONE,
    OPEN,
    SOME,
    THIS,
    Outcome,
    Withheld,
)
from discreet.risk.uncertainty import OnValues, Uncertainty, on_values
from discreet.risk.uncertainty.named import as_uncertainty, uncertainty_named
from discreet.risk.uncertainty.shares import Shares, shown
from discreet.table.formula import margin_names
from discreet.table.table import Table

MIXTURES = (
    "Every mixture of these priors is within the limit if they all are: what it leads to is an "
    "average of what they lead to, and an average leaves no less to know."
)
OUTER = (
    "Splits of several merged categories are taken as free of each other: some that fail may be "
    "beyond the class."
)


def withheld(
    data: Table | Counts,
    *,
    limit: float,
    merge: Mapping[str, Iterable[str]] | None = None,
    suppress: str | Iterable[str] = (),
    total_known: bool = False,
    target: str | None = None,
    group: str | Iterable[str] | None = None,
    uncertainty: str | Uncertainty = "largest",
    measure: str = "knowledge",
    prior: Prior | Priors | None = None,
) -> Withheld:
    """What publishing a table teaches in which categories of the target are merged or left out.

    `data` is the table with all categories, or its counts. `merge` has the categories in each
    merged one; `suppress` are left out, and with `total_known` what they have together is known.
    `prior` is one prior, a class of them, or None for every prior.

    >>> import discreet as dc
    >>> estates = dc.load("example:estates")
    >>> dc.uncertainty.withheld(estates, target="Estate", suppress="10-19", limit=0.25)
    Withheld(10-19 left out: within the limit for some priors)
    >>> prior = dc.uncertainty.Dirichlet.of({"10-19": 6, "20-29": 3, "30+": 1})
    >>> dc.uncertainty.withheld(estates, target="Estate", suppress="10-19", limit=0.25, prior=prior)
    Withheld(10-19 left out: within the limit for this prior)
    """
    about, lines = _lines(data, target, group)
    categories = list(lines[0][1])
    hidden = [suppress] if isinstance(suppress, str) else [str(name) for name in suppress]
    groups = {str(name): [str(each) for each in held] for name, held in (merge or {}).items()}
    if bool(groups) == bool(hidden):
        raise DataError("say either which categories are merged, or which are suppressed.")
    if total_known and not hidden:
        raise DataError("that the total is known goes with suppressed categories.")
    u = (
        uncertainty_named(uncertainty, categories)
        if isinstance(uncertainty, str)
        else as_uncertainty(uncertainty)
    )
    if isinstance(data, Table):
        u = on_values(u, data.variable(str(target)))
    rule = KnowledgeRule(u, limit, Measure(measure))
    if total_known:
        groups, hidden = {" or ".join(hidden): hidden}, hidden
    if prior is not None and not isinstance(prior, Priors):
        rows = [_of_prior(rule, line, groups, hidden, prior) for line in lines]
        who, notes, outer = _named(prior), [], False
    else:
        priors = prior or Priors()
        if rule.measure is not Measure.KNOWLEDGE:
            raise DataError(
                f"a class of priors needs a limit on knowledge, not on {rule.measure}; give one "
                "prior."
            )
        rows = [_of_class(rule, line, groups, hidden, priors) for line in lines]
        who, notes = str(priors), [MIXTURES]
        if outer := priors.kind == "shares" and len(groups) > 1:
            notes.append(OUTER)
    if isinstance(u, OnValues):
        notes += u.notes
    rows.sort(key=lambda row: row.lowest - rule.least(row.before))
    how = _how(groups, hidden, total_known)
    first = next(counts for label, counts in lines if label == rows[0].label)
    curve, axis = ((), "") if isinstance(prior, Mixture) else _curve(rule, first, groups, hidden)
    words = rule.words(categories, rows[0].before)
    return Withheld(about, how, who, rule, tuple(rows), words, tuple(notes), curve, outer, axis)


def _lines(
    data: Table | Counts, target: str | None, group: str | Iterable[str] | None
) -> tuple[str, list[tuple[str, dict[str, int]]]]:
    """What it is about, and the counts of every group that has people."""
    if not isinstance(data, Table):
        if target or group:
            raise DataError("target and group go with a table; these are counts of one target.")
        counts = {str(name): int(n) for name, n in data.items()}
        lines = [("all", counts)]
        about = "the category of somebody"
    else:
        if target is None:
            raise DataError("name the target: the variable that an intruder wants to know.")
        by = _names(data, group)
        if target in by:
            raise DataError(f"{target!r} is both the target and the group; group by another.")
        sums = data.margin([*by, target]).reorder([*by, target])
        names = sums.variable(target).categories
        labels = product(*(sums.variable(name).categories for name in by))
        rows = sums.dense().reshape(-1, len(names)).tolist()
        lines = [
            (group_label(by, label), dict(zip(names, row, strict=True)))
            for label, row in zip(labels, rows, strict=True)
        ]
        about = about_somebody(target, by)
    lines = [(label, counts) for label, counts in lines if sum(counts.values()) > 0]
    if not lines:
        raise DataError("there is no target: the table is empty.")
    return about, lines


def _names(table: Table, group: str | Iterable[str] | None) -> tuple[str, ...]:
    if group is None or not isinstance(group, str):
        return tuple(group or ())
    one = "*" not in group or group in table.names
    return (table.variable(group).name,) if one else margin_names(group, table.names)


def _of_prior(
    rule: KnowledgeRule,
    line: tuple[str, Counts],
    groups: Mapping[str, list[str]],
    hidden: list[str],
    prior: Prior,
) -> Outcome:
    label, counts = line
    total = sum(counts.values())
    if strange := sorted(set(counts) ^ set(prior.categories)):
        raise DataError(f"the prior and the table must have the same categories; see {strange[0]}.")
    if hidden:
        published = {name: n for name, n in counts.items() if name not in hidden}
        known = total if groups or not sum(published.values()) else None
        if known is not None:
            sums = {" or ".join(hidden): sum(counts[name] for name in hidden)}
            belief = merged(sums | published, {" or ".join(hidden): hidden}, prior)
        else:
            belief = suppressed(published, hidden, prior)
    else:
        inside = {name for held in groups.values() for name in held}
        sums = {name: sum(counts.get(each, 0) for each in held) for name, held in groups.items()}
        rest = {name: n for name, n in counts.items() if name not in inside}
        if clash := [name for name in sums if name in rest]:
            raise DataError(f"{clash[0]!r} is a category already; call the merged one otherwise.")
        belief = merged(sums | rest, groups, prior)
    learned = rule.judge(belief, prior.predictive(), label=label)
    holds = THIS if learned.within else BEYOND
    said = "within the limit" if learned.within else "beyond the limit"
    return Outcome(
        label, total, holds, belief, learned.after, belief, learned.after, said,
        before=learned.before,
    )  # fmt: skip


def _reach(
    counts: Counts, groups: Mapping[str, list[str]], hidden: list[str], priors: Priors
) -> Reach:
    if groups:
        return merged_reach(counts, groups, priors)
    return suppressed_reach(counts, hidden, priors)


def _of_class(
    rule: KnowledgeRule,
    line: tuple[str, Counts],
    groups: Mapping[str, list[str]],
    hidden: list[str],
    priors: Priors,
) -> Outcome:
    label, counts = line
    reach = _reach(counts, groups, hidden, priors)
    space = Beliefs(rule.uncertainty, reach.categories, reach.corners)
    lowest, worst = space.lowest()
    total = sum(counts.values())
    if rule.judge(space.belief(worst)).within:
        held = space.belief(worst)
        words = f"for {EVERY}" + (" of the class" if priors.bounds else "")
        return Outcome(label, total, EVERY, held, lowest, None, None, words)
    safe, sure = space.safe(rule.limit)
    best = None if safe is None else space.belief(safe)
    highest = None if best is None else rule.uncertainty(best)
    if safe is None:
        holds = NONE if sure else OPEN
        words = _none_said(rule, counts, reach) if sure else "whether for some prior is not known"
        return Outcome(label, total, holds, space.belief(worst), lowest, None, None, words)
    shares = _shares(space, reach, rule.limit)
    words = _some_said(reach, shares)
    return Outcome(
        label, total, SOME, space.belief(worst), lowest, best, highest, words, shares
    )  # fmt: skip


def _shares(space: Beliefs, reach: Reach, limit: float) -> dict[str, tuple[float, float]]:
    """From and to, of every category that is merged or left out."""
    found = {}
    for names, together in reach.hidden:
        for name in names if together != 0 else ():
            direction = np.zeros(len(reach.categories))
            direction[reach.categories.index(name)] = 1 / (together or 1)
            ends = space.ends(limit, direction)
            if ends is not None:
                found[name] = (max(0.0, ends[0]), min(1.0, ends[1]))
    return found


def _some_said(reach: Reach, shares: Mapping[str, tuple[float, float]]) -> str:
    (names, together), *more = reach.hidden
    if not more and together is None and len(names) == 1:
        return f"for priors that give {names[0]} {_span(shares[names[0]])}"
    if not more and together is not None and len(names) == 2:
        among = f"among {names[0]} and {names[1]}"
        return f"for priors whose share of {names[0]}, {among}, is {_span(shares[names[0]])}"
    parts = [f"{name} {_span(ends)}" for name, ends in shares.items()]
    of = "" if together is None else " of those merged together"
    return f"for some priors, none of them outside {both(parts)}{of}"


def _none_said(rule: KnowledgeRule, counts: Counts, reach: Reach) -> str:
    """For no prior: because of a category that is published, or whatever the split."""
    bounds: Shares | None = rule.uncertainty.shares(rule.limit, list(reach.categories))
    out = {name for names, _ in reach.hidden for name in names}
    known = all(together is not None for _, together in reach.hidden)
    if bounds is not None and known:
        total = sum(counts.values())
        for name, low, high in zip(bounds.categories, bounds.lower, bounds.upper, strict=True):
            share = counts[name] / total
            if name not in out and not low - 1e-12 <= share <= high + 1e-12:
                return f"for no prior: {name} is published with {shown(share)}"
    return "for no prior"


def _curve(
    rule: KnowledgeRule, counts: Counts, groups: Mapping[str, list[str]], hidden: list[str]
) -> tuple[tuple[tuple[float, float], ...], str]:
    """U over the prior share, where one share says it all; and what it is a share of."""
    reach = _reach(counts, groups, hidden, Priors())
    if len(reach.corners) != 2 or rule.measure is not Measure.KNOWLEDGE:
        return (), ""
    space = Beliefs(rule.uncertainty, reach.categories, reach.corners)
    (names, _), *_ = (each for each in reach.hidden if each[1] != 0)
    first = int(np.argmax(reach.corners[:, reach.categories.index(names[0])]))
    high, low = reach.corners[first], reach.corners[1 - first]
    at = np.linspace(0, 1, 201)
    axis = names[0] if len(names) == 1 else f"{names[0]} among {both(list(names))}"
    return tuple((float(t), space.u(t * high + (1 - t) * low)) for t in at), axis


def _how(groups: Mapping[str, list[str]], hidden: list[str], total_known: bool) -> str:
    if hidden:
        return f"{both(hidden)} left out" + (", the total known" if total_known else "")
    return "; ".join(f"{both(held)} merged" for held in groups.values())


def _named(prior: Prior) -> str:
    if isinstance(prior, Mixture):
        return f"a mixture of {plural(len(prior.priors), 'prior')}"
    kind = "a Dirichlet prior" if isinstance(prior, Dirichlet) else "independent people"
    numbers = prior.shares if isinstance(prior, Independent) else prior.weights
    pairs = zip(prior.categories, numbers, strict=True)
    return f"{kind}: " + ", ".join(f"{name} {number:.4g}" for name, number in pairs)


def _span(ends: tuple[float, float]) -> str:
    low, high = map(shown, ends)
    return low if low == high else f"{low} to {high}"

"""A person's category when categories are merged, or a count is suppressed (section 6).

    merged      (r_1 + r_2) p_i / (p_1 + p_2)  for i = 1, 2;  r_i for the others
    suppressed  p_1;  (1 - p_1) r_i / (1 - r_1)  for i >= 2

r shares of the table, p the prior. Merging: for independent and Dirichlet priors, under which the
split of a merged count does not depend on the counts. Suppressing: for the same priors, if the
total is not known and how many the others are says nothing about category 1 (for independent
people: every size of the table alike). Under another exchangeable prior neither holds as it
stands. Each part of a mixture is updated by itself, and weighted by how well it foresaw what is
published: the merged counts, or those that are shown, given how many these are together,

    w_k  <-  w_k P_k(published),    belief = sum over k of w_k (the belief under part k)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.priors import Counts, Dirichlet, Independent, Mixture, Prior

Part = Independent | Dirichlet


def merged(groups: Counts, members: Mapping[str, Iterable[str]], prior: Prior) -> Belief:
    """Of somebody in a table with merged categories, over the categories of the prior.

    `groups` are the published counts; `members` says which categories a merged one holds.

    >>> prior = Independent.of({"a": 0.1, "b": 0.4, "c": 0.5})
    >>> merged({"a or b": 5, "c": 5}, {"a or b": ["a", "b"]}, prior).mass.round(3).tolist()
    [0.1, 0.4, 0.5]
    """
    parts = _parts(prior, "merging")
    inside = {str(group): [str(name) for name in names] for group, names in members.items()}
    if strange := [group for group in inside if group not in groups]:
        raise DataError(f"{strange[0]!r} is not among the published categories.")
    held = {str(group): inside.get(str(group), [str(group)]) for group in groups}
    listed, known = [name for names in held.values() for name in names], set(prior.categories)
    if len(listed) != len(set(listed)) or set(listed) != known:
        odd = next(iter(set(listed) ^ known), "one")
        raise DataError(f"each category of the prior must be in one published one; see {odd!r}.")
    total = _total(groups)

    def split(part: Part) -> Belief:
        p = _shares(part)
        found = dict.fromkeys(p, 0.0)
        for group, names in held.items():
            for name in names if groups[group] else ():
                whole = sum(p[each] for each in names)
                found[name] = groups[group] / total * p[name] / whole
        return Belief.discrete(list(found), list(found.values()))

    return _mixed(parts, groups, [_gathered(part, held) for part, _ in parts], split)


def suppressed(
    counts: Counts, hidden: Iterable[str], prior: Prior, *, total: int | None = None
) -> Belief:
    """Of somebody in a table in which the counts of `hidden` are left out.

    With a `total` that is known from elsewhere, what is left out is known together: as if merged.

    >>> prior = Independent.of({"a": 0.1, "b": 0.4, "c": 0.5})
    >>> suppressed({"b": 8, "c": 2}, ["a"], prior).mass.round(3).tolist()
    [0.1, 0.72, 0.18]
    """
    parts, out = _parts(prior, "suppressing"), [str(name) for name in hidden]
    names = [str(name) for name in counts]
    if {*out, *names} != set(prior.categories) or set(out) & set(names):
        raise DataError(
            "every category of the prior must be either published or suppressed; published are "
            f"{', '.join(names)}, suppressed {', '.join(out)}."
        )
    if not out:
        raise DataError("no category is suppressed; name at least one.")
    shown = _total(counts)
    if total is not None:
        if total < shown:
            raise DataError(f"the total is {total:,}, but the published counts sum to {shown:,}.")
        label = " or ".join(out)
        return merged({label: total - shown, **counts}, {label: out}, prior)

    def left(part: Part) -> Belief:
        p = _shares(part)
        rest = 1 - sum(p[name] for name in out)
        found = {n: p[n] if n in out else rest * counts[n] / shown for n in p}
        return Belief.discrete(list(found), list(found.values()))

    kept = {name: [name] for name in names}
    return _mixed(parts, counts, [_gathered(part, kept) for part, _ in parts], left)


def _mixed(
    parts: Sequence[tuple[Part, float]],
    counts: Counts,
    told: Sequence[Part | None],
    belief: Callable[[Part], Belief],
) -> Belief:
    """The beliefs under the parts, each by its weight and by what `told` says of the counts."""
    able = []
    for (part, weight), seen in zip(parts, told, strict=True):
        possible = seen is not None and not any(
            count and not share > 0
            for count, share in zip((counts[n] for n in seen.categories), seen.shares, strict=True)
        )
        if seen is not None and possible:
            able.append((part, math.log(weight) + seen.log_evidence(counts) if weight else -np.inf))
    if not able or max(log for _, log in able) == -np.inf:
        raise _nowhere(counts, told[0])
    if len(parts) == 1:
        return belief(able[0][0])
    logs = np.array([log for _, log in able])
    weights = np.exp(logs - logs.max())
    return Belief.mixture([belief(part) for part, _ in able], weights / weights.sum())


def _gathered(part: Part, held: Mapping[str, Sequence[str]]) -> Part | None:
    """The prior of the published categories: the members' shares or weights, added up.

    None if it gives them nothing.
    """
    numbers = part.weights if isinstance(part, Dirichlet) else part.shares
    given = dict(zip(part.categories, numbers, strict=True))
    sums = {group: math.fsum(given[name] for name in names) for group, names in held.items()}
    total = math.fsum(sums.values())
    if not total > 0:
        return None
    if isinstance(part, Dirichlet):
        return Dirichlet.of(sums)
    return Independent.of({group: share / total for group, share in sums.items()})


def _parts(prior: Prior, what: str) -> list[tuple[Part, float]]:
    if isinstance(prior, Mixture):
        return list(zip(prior.priors, prior.weights, strict=True))
    if not isinstance(prior, (Independent, Dirichlet)):
        raise DataError(
            f"{what} needs an Independent or Dirichlet prior, or a mixture, not {prior!r}."
        )
    return [(prior, 1.0)]


def _shares(part: Part) -> dict[str, float]:
    return dict(zip(part.categories, part.shares, strict=True))


def _total(counts: Counts) -> int:
    if wrong := [name for name, count in counts.items() if count < 0 or count != int(count)]:
        raise DataError(f"the count of {wrong[0]!r} is {counts[wrong[0]]}; counts are whole.")
    total = sum(counts.values())
    if not total:
        raise DataError("the published counts are all 0; nobody there can be a target.")
    return total


def _nowhere(counts: Counts, seen: Part | None) -> DataError:
    given = dict(zip(seen.categories, seen.shares, strict=True)) if seen else {}
    name = next(name for name, count in counts.items() if count and not given.get(str(name)))
    return DataError(
        f"the prior gives {name!r} no probability, but {counts[name]:,} are published there; give "
        "it some."
    )

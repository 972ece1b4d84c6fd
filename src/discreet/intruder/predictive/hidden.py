"""A person's category when categories are merged, or a count is suppressed (section 6).

    merged      (r_1 + r_2) p_i / (p_1 + p_2)  for i = 1, 2;  r_i for the others
    suppressed  p_1;  (1 - p_1) r_i / (1 - r_1)  for i >= 2

r shares of the table, p the prior. Merging: for independent and Dirichlet priors, under which the
split of a merged count does not depend on the counts. Suppressing: for the same priors, if the
total is not known and how many the others are says nothing about category 1 (for independent
people: every size of the table alike). Under another exchangeable prior neither holds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.priors import Counts, Dirichlet, Independent, Mixture, Prior

Floats = NDArray[np.float64]


def merged(groups: Counts, members: dict[str, Iterable[str]], prior: Prior) -> Belief:
    """Of somebody in a table with merged categories, over the categories of the prior.

    `groups` are the published counts; `members` says which categories a merged one holds.

    >>> prior = Independent.of({"a": 0.1, "b": 0.4, "c": 0.5})
    >>> merged({"a or b": 5, "c": 5}, {"a or b": ["a", "b"]}, prior).mass.round(3).tolist()
    [0.1, 0.4, 0.5]
    """
    p = _shares(prior, "merging")
    inside = {str(group): [str(name) for name in names] for group, names in members.items()}
    if strange := [group for group in inside if group not in groups]:
        raise DataError(f"{strange[0]!r} is not among the published categories.")
    listed = [(group, inside.get(str(group), [str(group)])) for group in groups]
    names = [name for _, held in listed for name in held]
    if len(names) != len(set(names)) or set(names) != set(p):
        odd = next(iter(set(names) ^ set(p)), "one")
        raise DataError(f"each category of the prior must be in one published one; see {odd!r}.")
    total = _total(groups)
    found = dict.fromkeys(p, 0.0)
    for group, held in listed:
        whole = sum(p[name] for name in held)
        if groups[group] and not whole > 0:
            raise _nowhere(group, groups[group])
        for name in held if groups[group] else ():
            found[name] = groups[group] / total * p[name] / whole
    return Belief.discrete(list(found), list(found.values()))


def suppressed(
    counts: Counts, hidden: Iterable[str], prior: Prior, *, total: int | None = None
) -> Belief:
    """Of somebody in a table in which the counts of `hidden` are left out.

    With a `total` that is known from elsewhere, what is left out is known together: as if merged.

    >>> prior = Independent.of({"a": 0.1, "b": 0.4, "c": 0.5})
    >>> suppressed({"b": 8, "c": 2}, ["a"], prior).mass.round(3).tolist()
    [0.1, 0.72, 0.18]
    """
    p, out = _shares(prior, "suppressing"), [str(name) for name in hidden]
    if set(out) | set(map(str, counts)) != set(p) or set(out) & set(map(str, counts)):
        raise DataError(
            "every category of the prior must be either published or suppressed; published are "
            f"{', '.join(map(str, counts))}, suppressed {', '.join(out)}."
        )
    if not out:
        raise DataError("no category is suppressed; name at least one.")
    shown = _total(counts)
    for name, count in counts.items():
        if count and not p[str(name)] > 0:
            raise _nowhere(name, count)
    if total is not None:
        if total < shown:
            raise DataError(f"the total is {total:,}, but the published counts sum to {shown:,}.")
        label = " or ".join(out)
        return merged({label: total - shown, **counts}, {label: out}, prior)
    left = 1 - sum(p[name] for name in out)
    found = {n: p[n] if n in out else left * counts[n] / shown for n in p}
    return Belief.discrete(list(found), list(found.values()))


def _shares(prior: Prior, what: str) -> dict[str, float]:
    if isinstance(prior, Mixture):
        raise DataError(
            f"the belief after {what} categories has this form for independent and Dirichlet "
            "priors only, not for a mixture of them; judge the release for each prior of the "
            "mixture."
        )
    if not isinstance(prior, (Independent, Dirichlet)):
        raise DataError(f"{what} needs an Independent or Dirichlet prior, not {prior!r}.")
    return dict(zip(prior.categories, prior.shares, strict=True))


def _total(counts: Counts) -> int:
    if wrong := [name for name, count in counts.items() if count < 0 or count != int(count)]:
        raise DataError(f"the count of {wrong[0]!r} is {counts[wrong[0]]}; counts are whole.")
    total = sum(counts.values())
    if not total:
        raise DataError("the published counts are all 0; nobody there can be a target.")
    return total


def _nowhere(name: object, count: int) -> DataError:
    return DataError(
        f"the prior gives {name!r} no probability, but {count:,} are published there; give it some."
    )

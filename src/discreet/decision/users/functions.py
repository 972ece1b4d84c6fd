"""Functions of a table that analysts want: the share of a category, a log odds ratio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from discreet.arrays import Ints
from discreet.decision.users.again import effective_draws
from discreet.decision.users.targets import Target, cell_targets, margin_target
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.whole_table import Held, Model
from discreet.release.release import Release
from discreet.table.table import Table


def share_target(
    table: Table,
    share: Mapping[str, object],
    of: Mapping[str, object] | None = None,
    model: Model | str = "saturated",
) -> Target:
    """The share of those with some categories, of all people or of a group; 0 of an empty one.

    From the belief about one count if the size of the group is known, else from all tables that
    fit, listed.

    >>> from discreet.table.load import load
    >>> table = load("example:blond")
    >>> rich = share_target(table, {"Income": "High"}, {"Hair": "Blond"})
    >>> rich, rich.truth
    (Target(share of Income High in Hair Blond), 1.0)
    """
    group = dict(of or {})
    if not share or set(share) & set(group):
        raise DataError(
            f"a share of {_said(share) or 'nothing'} in {_said(group) or 'all'} is no share; name "
            "other variables on both sides."
        )
    names = (*group, *share)
    codes = [table.variable(n).code(c) for n, c in {**group, **share}.items()]
    name = f"share of {_said(share)}" + (f" in {_said(group)}" if group else "")
    listed = margin_target(table, name, names, partial(_share, codes, len(group)), model)
    margin = table.margin([each for each in table.names if each in names])
    place = [codes[names.index(each)] for each in margin.names]
    counted = cell_targets(table, margin.all().take([_row(margin, place)]), model)[0]

    def believed(release: Release) -> Held:
        if group and not release.formula.contains(tuple(group)):
            return listed.believe(release)
        total = release.table(tuple(group)).slice(**group).total
        if not total:
            return Belief.discrete([0.0], [1.0])
        belief = counted.believe(release)
        assert isinstance(belief, Belief)
        draws = None if belief.exact else effective_draws(belief)
        return Belief.discrete(belief.values / total, belief.mass, effective=draws)

    return Target(name, believed, listed.truth)


def odds_target(
    table: Table,
    pairs: Mapping[str, Sequence[object]],
    model: Model | str = "saturated",
) -> Target:
    """The log odds ratio of two categories each of two variables, a half added to every count.

        log (n11 + 1/2)(n22 + 1/2) / (n12 + 1/2)(n21 + 1/2)

    >>> from discreet.table.load import load
    >>> table = load("example:blond")
    >>> odds = odds_target(table, {"Hair": ["Blond", "Red"], "Income": ["High", "Low"]})
    >>> odds, round(odds.truth, 4)
    (Target(log odds ratio of Hair Blond/Red and Income High/Low), 2.1972)
    """
    if len(pairs) != 2 or any(isinstance(p, str) or len(p) != 2 for p in pairs.values()):
        raise DataError(
            f"the odds ratio of {', '.join(pairs) or 'nothing'} needs two variables with two "
            "categories each: { Sex = ['f', 'm'], Ill = ['yes', 'no'] }."
        )
    codes = [[table.variable(n).code(c) for c in pair] for n, pair in pairs.items()]
    if any(first == second for first, second in codes):
        raise DataError("an odds ratio compares two categories; one is named twice.")
    said = " and ".join(f"{name} {'/'.join(map(str, pair))}" for name, pair in pairs.items())
    odds = partial(_log_odds, np.ix_(*codes))
    return margin_target(table, f"log odds ratio of {said}", tuple(pairs), odds, model)


def _share(codes: Sequence[int], group: int, counts: Ints) -> float:
    inside = counts[tuple(codes[:group])]
    total = int(inside.sum())
    return float(inside[tuple(codes[group:])]) / total if total else 0.0


def _row(margin: Table, codes: Sequence[int]) -> int:
    return int(np.ravel_multi_index(tuple(codes), margin.shape))


def _log_odds(codes: Any, counts: Ints) -> float:
    (a, b), (c, d) = counts[codes] + 0.5
    return math.log((a * d) / (b * c))


def _said(cell: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {category}" for name, category in cell.items())

"""Variables that no released margin has, of which nothing is told that is not told of others.

Of such a variable U nothing is published, but what is impossible may tie it to others. A group by
it is everybody who is in a u, and these are in the cells x of the others that are possible with u:
perhaps all that are there, and for sure those that are possible with no other u. What is told of
them may be told of no other group: if nobody has the disease z, and nobody in ward w has x, all of
w have y.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Bools
from discreet.data.codebook import Variable
from discreet.intruder.bounds.unspoken import margins_speak_of, possible_with
from discreet.release.release import STRUCTURAL, Release
from discreet.risk.release.nature import Nature


def untold(release: Release, nature: Nature, *, exclusion: bool) -> tuple[set[str], Nature]:
    """The variables that attribute disclosure can do without, and nature without them.

    `exclusion`: it counts that a category is ruled out. What is known otherwise, a published zero
    too, tells of its variables; only what is impossible is no news.
    """
    news = {n for known in release.known if known.why != STRUCTURAL for n, _ in known.cell}
    spoken = margins_speak_of(release) | news
    left = [v for v in release.variables if v.name not in spoken]
    gone: set[str] = set()
    while fresh := next((v for v in left if _told_of_others(nature, v, exclusion)), None):
        fewer = nature.without(fresh.name)
        if fewer is None:
            break
        nature = fewer
        left.remove(fresh)
        gone.add(fresh.name)
    return gone, nature


def _told_of_others(nature: Nature, variable: Variable, exclusion: bool) -> bool:
    """Is what is told of a variable, as a group or as a category, told of another one?"""
    some = len(variable.sensitive_codes)
    if variable.size == 1 or 0 < some < variable.size:
        return False
    tie = possible_with(nature.release, variable.name)
    if tie is None:
        return False
    names, possible = tie
    by_one = list[tuple[Variable, Bools]]()
    for axis, name in enumerate(names):
        other = next(v for v in nature.release.variables if v.name == name)
        ways = np.moveaxis(possible, axis, 0).reshape(other.size, -1, variable.size)
        inside, every = ways.sum(axis=1), ways.any(axis=2).sum(axis=1)[:, None]
        if ((inside == 0) | (inside == every)).all():  # which u are possible, the v alone says
            by_one.append((other, inside > 0))
    if not names:
        return True
    if some and not any(_as_category(other, possible) for other, possible in by_one):
        return False
    return not variable.role.identifies or any(
        _as_group(nature, other, possible, exclusion) for other, possible in by_one
    )


def _as_category(other: Variable, possible: Bools) -> bool:
    """Are all v sensitive, and no two of them in the same u alone?

    Who is known to be in a u, or not to be, is known to be, or not, in one of that.
    """
    sure = possible[possible.sum(axis=1) == 1].argmax(axis=1)
    return _all_sensitive(other) and len(np.unique(sure)) == len(sure)


def _as_group(nature: Nature, other: Variable, possible: Bools, exclusion: bool) -> bool:
    """Does each u lie in one v, or could all who may be in it be in another one as well?

    Then all that can be told of it is that they have a category that all in one of its v have, or
    that no v has. Of the v themselves it is that some v are ruled out, told only where that counts;
    and a v that is tied to more may have by nature what u has not.
    """
    told = not other.sensitive_codes or (exclusion and _all_sensitive(other))
    alone = sum(other.name in names for names, _ in nature.release.zeros) == 1
    fine = possible.sum(axis=0) < 2
    if told and alone:
        fine |= ~possible[possible.sum(axis=1) == 1].any(axis=0)
    return other.role.identifies and bool(fine.all())


def _all_sensitive(variable: Variable) -> bool:
    return len(variable.sensitive_codes) == variable.size

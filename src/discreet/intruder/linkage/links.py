"""Link probabilities of whole files: candidates are found, then weighed against each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.intruder.linkage.blocking import DENSE, find_candidates
from discreet.intruder.linkage.encode import Encoded, encode
from discreet.intruder.linkage.linked import Links, most_events
from discreet.intruder.linkage.matches import NEVER
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import Records
from discreet.intruder.linkage.shelf import Shelf, forget
from discreet.intruder.linkage.solving import EXACT, solve

__all__ = ["Links", "given_present", "link", "link_encoded", "most_events", "solve"]


def link(records: Records, intruder: Intruder, *, dense: int = DENSE, exact: int = EXACT) -> Links:
    """Link probabilities of all source and released records (Lambert 1993, equation 1).

    Released records that share no candidate are independent. A group of entangled ones is summed
    exactly in up to `exact` steps. In a larger one beliefs are propagated (Huang & Jebara 2009),
    and then each record is summed exactly with those it is most entangled with, the others by what
    they tell. Files of more than `dense` pairs are pruned first.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> dc.linkage.link(records, intruder).perceived.round(3)
    array([1.   , 0.989, 0.989])
    """
    return link_encoded(encode(records, intruder), intruder, dense=dense, exact=exact)


def link_encoded(
    data: Encoded, intruder: Intruder, *, dense: int = DENSE, exact: int = EXACT
) -> Links:
    found = find_candidates(data, lose=intruder.lose, top=intruder.top, dense=dense)
    everyone = intruder.population or len(data.y)
    links = solve(found, strangers=everyone - len(data.y), exact=exact)
    never = int((data.matches.source == NEVER).any(1).sum())
    released = len(data.x) == everyone - never and not links.lost
    return given_present(links) if intruder.present or released else links


def given_present(links: Links) -> Links:
    """The same for a target who is known to be released: no null link."""
    total, starts = links._sums[0], links.starts
    total = np.where(total > 0, total, 1)
    shelf = Shelf()
    chances = shelf.empty(len(links.chances))
    for first, end in shelf.blocks(starts):
        span = slice(starts[first], starts[end])
        own = np.repeat(total[first:end], np.diff(starts[first : end + 1]))
        np.divide(links.chances[span], own, out=chances[span])
        forget()
    return replace(links, chances=chances)

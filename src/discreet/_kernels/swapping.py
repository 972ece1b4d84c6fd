"""Pairs of households that exchange their blocks."""

from __future__ import annotations

import numpy as np
from numba import njit

TRIES = 32


@njit(cache=True, nogil=True)
def swap(groups, cells, members, starts, lowest, risk, wanted, partner, rng):
    """Partners of households, stage by stage; -1 without one, -2 for those who never have one.

    In stage s a household has the group groups[s] and, within it, the cell cells[s]; a partner is
    drawn from the same group and another cell. members[s] lists households by group, from
    starts[s, g] on. Those with risk <= lowest[s] look for one, in random order; a stage with
    lowest -1 is for anybody, until `wanted` households have one.
    """
    many = len(partner)
    order = np.arange(many)
    for i in range(many - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    swapped = 0
    for s in range(len(lowest)):
        if lowest[s] < 0 and swapped + 1 >= wanted:
            continue
        in_group = np.zeros(groups[s].max() + 1, np.int64)
        in_cell = np.zeros(cells[s].max() + 1, np.int64)
        for h in range(many):
            if partner[h] == -1:
                in_group[groups[s, h]] += 1
                in_cell[cells[s, h]] += 1
        for h in order:
            if partner[h] != -1 or (lowest[s] >= 0 and risk[h] > lowest[s]):
                continue
            g = groups[s, h]
            if in_group[g] == in_cell[cells[s, h]]:
                continue
            other = _draw(members[s], starts[s, g], starts[s, g + 1], cells[s], h, partner, rng)
            partner[h], partner[other] = other, h
            swapped += 2
            for one in (h, other):
                in_group[g] -= 1
                in_cell[cells[s, one]] -= 1
            if lowest[s] < 0 and swapped + 1 >= wanted:
                break
    return swapped


@njit(cache=True, nogil=True)
def _draw(members, low, high, cells, h, partner, rng):
    """A free member of another cell, all alike; there is one."""
    for _ in range(TRIES):
        other = members[low + int(rng.random() * (high - low))]
        if partner[other] == -1 and cells[other] != cells[h]:
            return other
    found, seen = -1, 0
    for place in range(low, high):
        other = members[place]
        if partner[other] == -1 and cells[other] != cells[h]:
            seen += 1
            if rng.random() * seen < 1:
                found = other
    return found

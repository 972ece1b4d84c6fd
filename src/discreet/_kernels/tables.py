"""Whole-number solutions of sums with bounds: narrow the bounds, walk through all solutions.

A net has nodes with bounds and relations: the first member of a relation is the sum of the others.
The first nodes are the columns, whose values make a solution.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet._kernels.tiers import built, tiered
from discreet.arrays import Ints

FAILED, SETTLED, STOPPED = 0, 1, 2
FEW = 5000  # steps of a walk before it is compiled


class Net(NamedTuple):
    """members[starts[r]] is the sum of members[starts[r] + 1 : starts[r + 1]]; node v is in the
    relations uses[places[v] : places[v + 1]]; `columns` are the nodes that make a solution."""

    starts: Ints
    members: Ints
    places: Ints
    uses: Ints
    columns: int


@njit(cache=True, nogil=True)
def _note(net: Net, node: int, queue: Ints, queued: Any, ends: Ints) -> None:
    for place in range(net.places[node], net.places[node + 1]):
        relation = net.uses[place]
        if not queued[relation]:
            queued[relation] = True
            queue[ends[1]] = relation
            ends[1] = (ends[1] + 1) % queue.size


@njit(cache=True, nogil=True)
def _settle(net: Net, low: Ints, high: Ints, queue: Ints, queued: Any, ends: Ints) -> int:
    """Narrow the bounds until no queued relation narrows any."""
    limit = 100 * queue.size + 1000  # bounds may creep for long; what they are then still holds
    status = SETTLED
    while ends[0] != ends[1]:
        r = queue[ends[0]]
        ends[0] = (ends[0] + 1) % queue.size
        queued[r] = False
        limit -= 1
        if limit == 0 and status == SETTLED:
            status = STOPPED
        if status != SETTLED:
            continue
        begin, end = net.starts[r], net.starts[r + 1]
        top = net.members[begin]
        least, most = 0, 0
        for i in range(begin + 1, end):
            least += low[net.members[i]]
            most += high[net.members[i]]
        lower, upper = max(low[top], least), min(high[top], most)
        if lower > upper:
            status = FAILED
            continue
        if lower > low[top] or upper < high[top]:
            low[top], high[top] = lower, upper
            _note(net, top, queue, queued, ends)
        if least == lower and most == upper and lower == upper:
            continue
        for i in range(begin + 1, end):
            node = net.members[i]
            new_low = max(low[node], lower - (most - high[node]))
            new_high = min(high[node], upper - (least - low[node]))
            if new_low > new_high:
                status = FAILED
                break
            if new_low > low[node] or new_high < high[node]:
                least += new_low - low[node]
                most += new_high - high[node]
                low[node], high[node] = new_low, new_high
                _note(net, node, queue, queued, ends)
    return status


@njit(cache=True, nogil=True)
def narrow(net: Net, low: Ints, high: Ints) -> bool:
    """Narrow all bounds in place; false if no solution is left."""
    relations = net.starts.size - 1
    queue, ends = np.arange(relations + 1), np.array([0, relations])
    queued = np.ones(relations, np.bool_)
    status = STOPPED
    while status == STOPPED:
        before = _spread(low, high)
        status = _settle(net, low, high, queue, queued, ends)
        if status == STOPPED:
            if _spread(low, high) == before:
                break
            ends[0], ends[1] = 0, relations
            for r in range(relations):
                queue[r], queued[r] = r, True
    return status != FAILED


@njit(cache=True, nogil=True)
def _met(low: Ints, high: Ints, columns: int) -> bool:
    """Have all columns one value?"""
    c = 0
    while c < columns and low[c] == high[c]:
        c += 1
    return c == columns


@njit(cache=True, nogil=True)
def _spread(low: Ints, high: Ints) -> int:
    """All widths together."""
    total = 0
    for node in range(low.size):
        total += high[node] - low[node]
    return total


@njit(cache=True, nogil=True)
def _set(
    net: Net, node: int, value: int, low: Ints, high: Ints, queue: Ints, queued: Any, ends: Ints
) -> bool:
    """Give a node a value and settle; false if that leaves no solution."""
    low[node] = high[node] = value
    _note(net, node, queue, queued, ends)
    status = _settle(net, low, high, queue, queued, ends)
    if status == STOPPED and _met(low, high, net.columns):
        return narrow(net, low, high)  # what counts as a solution is checked to the end
    return status != FAILED


@njit(cache=True, nogil=True)
def _open(order: Ints, place: int, low: Ints, high: Ints) -> int:
    while place < order.size and low[order[place]] == high[order[place]]:
        place += 1
    return place


@njit(cache=True, nogil=True)
def _line(
    net: Net, node: int, low: Any, high: Any, level: Any, queue: Ints, queued: Any, ends: Ints
) -> int:
    """How far the solutions go from one end of a node's bounds to the other, or -1 if unproven.

    Sound where at most one degree of freedom is left: two solutions whose difference is a
    multiple of their distance have every solution between them. They are left at the two levels
    above.
    """
    length = high[level, node] - low[level, node]
    for up, value in ((1, low[level, node]), (2, high[level, node])):
        put(low[level + up], low[level])
        put(high[level + up], high[level])
        if not _set(net, node, value, low[level + up], high[level + up], queue, queued, ends):
            return -1
        if not _met(low[level + up], high[level + up], net.columns):
            return -1
    for c in range(net.columns):
        if (low[level + 2, c] - low[level + 1, c]) % length:
            return -1
    return int(length)


@njit(cache=True, nogil=True)
def _walk(
    net: Net,
    order: Ints,
    last: int,
    low: Any,
    high: Any,
    stack: Any,
    state: Ints,
    lines: Any,
    budget: int,
) -> int:
    relations = net.starts.size - 1
    queue, queued = np.empty(relations + 1, np.int64), np.zeros(relations, np.bool_)
    ends = np.zeros(2, np.int64)
    n, found, level = net.columns, 0, state[0]
    state[2] += budget
    while level >= 0 and found < lines.shape[0] and budget > 0:
        if state[1]:
            state[1] = 0
            place = _open(order, stack[level - 1, 0] if level else 0, low[level], high[level])
            length = 0
            if place == order.size:
                put(low[level + 1], low[level, :n])
            elif place == last:
                length = _line(net, order[place], low, high, level, queue, queued, ends)
                budget -= 2
            else:
                length = -1
            if length >= 0:
                put(lines[found], low[level + 1, :n])
                for c in range(n):
                    step = low[level + 2, c] - low[level + 1, c] if length else 0
                    lines[found, n + c] = step // length if length else 0
                lines[found, 2 * n] = length
                found += 1
                level -= 1
                continue
            stack[level, 0], stack[level, 1] = place, low[level, order[place]]
        node, value = order[stack[level, 0]], stack[level, 1]
        if value > high[level, node]:
            level -= 1
            continue
        stack[level, 1] += 1
        budget -= 1
        put(low[level + 1], low[level])
        put(high[level + 1], high[level])
        if _set(net, node, value, low[level + 1], high[level + 1], queue, queued, ends):
            level += 1
            state[1] = 1
    state[0] = level
    state[2] -= budget
    return found


settle = tiered(lambda net, low, high: 20 * net.members.size)(narrow)
_begin = tiered(lambda *given: FEW)(_walk)


def walk(
    net: Net, order: Ints, last: int, low: Any, high: Any, stack: Any, state: Ints, lines: Any,
    budget: int,
) -> int:  # fmt: skip
    """Go on through all solutions, depth first; returns how many lines of them were written.

    A line is a row of `lines`: a solution, a step, and how many steps are also solutions.
    `low` and `high` have a row for each level; `state` holds the level (-1 when all is done),
    whether it is new, and how many trials were made. Stops when `lines` is full or after `budget`
    trials.
    """
    given, found = (net, order, last, low, high, stack, state), 0
    if not built(_walk):
        begun, few = int(state[2]), min(budget, max(1, FEW // (20 + 10 * net.members.size)))
        found = int(_begin(*given, lines, few))
        budget -= int(state[2]) - begun
        if state[0] < 0 or found == len(lines) or budget <= 0:
            return found
    return found + int(_walk(*given, lines[found:], budget))


@tiered(lambda matrix, prime: matrix.size * (5 + 3 * min(matrix.shape)))
@njit(cache=True, nogil=True)
def last_free(matrix: Any, prime: int) -> int:
    """The last column that those after it span, modulo a prime; -1 if they are independent.

    With all columns before it fixed, at most one degree of freedom is left: columns that depend on
    each other do so modulo any prime.
    """
    rows, columns = matrix.shape
    basis = np.zeros((min(rows, columns), rows), np.int64)
    pivots = np.zeros(len(basis), np.int64)
    for rank, column in enumerate(range(columns - 1, -1, -1)):
        vector = np.empty(rows, np.int64)
        for i in range(rows):
            vector[i] = matrix[i, column]
        for k in range(rank):
            factor = vector[pivots[k]]
            if factor:
                for i in range(rows):
                    vector[i] = (vector[i] - factor * basis[k, i]) % prime
        pivot = -1
        for i in range(rows):
            if vector[i] % prime:
                pivot = i
                break
        if pivot < 0:
            return column
        inverse, power, exponent = 1, vector[pivot], prime - 2
        while exponent:
            if exponent & 1:
                inverse = inverse * power % prime
            power = power * power % prime
            exponent >>= 1
        pivots[rank] = pivot
        for i in range(rows):
            basis[rank, i] = vector[i] * inverse % prime
    return -1

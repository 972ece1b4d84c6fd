"""Cubes that hide a cell, and changes of few columns.

A cube is a product over variables of a step: from one atom to another, or an atom alone (then the
totals above it move too). In a sheet it moves the product of the lines that each step moves, by +1
or -1; sheets that lack a variable of a step between two atoms do not move.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet._kernels.tiers import tiered


@njit(cache=True, nogil=True)
def rows_of(choice, layout, rows, signs):
    """The rows that a cube moves and how; returns their number, -1 if it is more than fit."""
    variables, sizes, sheet_start, axis_variable, axis_first, axis_stride = layout[:6]
    entry_start, entry_line, entry_sign, sheet_first, place, home, _, covers = layout[6:]
    pairs = 0
    for v in range(variables):
        if choice[v] // sizes[v] != choice[v] % sizes[v]:
            pairs |= 1 << v
    found = 0
    for s in range(len(sheet_start) - 1):
        if pairs & ~covers[s]:
            continue
        begin = found
        if begin >= len(rows):
            return -1
        rows[found], signs[found] = sheet_first[s], 1
        found += 1
        for axis in range(sheet_start[s], sheet_start[s + 1]):
            key = axis_first[axis] + choice[axis_variable[axis]]
            first, last = entry_start[key], entry_start[key + 1]
            many = found - begin
            if first == last:
                found = begin
                break
            if begin + many * (last - first) > len(rows):
                return -1
            for e in range(last - 1, first - 1, -1):
                to = begin + many * (e - first)
                shift = axis_stride[axis] * entry_line[e]
                for i in range(many):
                    rows[to + i] = rows[begin + i] + shift
                    signs[to + i] = signs[begin + i] * entry_sign[e]
            found = begin + many * (last - first)
        end = found
        found = begin
        for i in range(begin, end):
            row = place[rows[i]]
            if home[row] == s:
                rows[found], signs[found] = row, signs[i]
                found += 1
    return found


@njit(cache=True, nogil=True)
def weigh(target, choice, layout, cost, below, above, most, rows, signs):
    """Cost of the cells that a cube hides, how far it moves the target up and down."""
    found = rows_of(choice, layout, rows, signs)
    if found <= 0:
        return np.inf, 0.0, 0.0, 0
    total, up, down, side = 0.0, np.inf, np.inf, 0
    for i in range(found):
        total += cost[rows[i]]
        if total > most:
            return np.inf, 0.0, 0.0, 0
        if rows[i] == target:
            side = signs[i]
    if side == 0:
        return np.inf, 0.0, 0.0, 0
    for i in range(found):
        row = rows[i]
        if signs[i] == side:
            up, down = min(up, above[row]), min(down, below[row])
        else:
            up, down = min(up, below[row]), min(down, above[row])
    return total, up, down, found


@njit(cache=True, nogil=True)
def edges(target, starts, options, layout, cost, found):
    """What a step costs at least: the cells that it moves on the lines of the target itself."""
    sheet_start, axis_variable, axis_first, axis_stride = layout[2:6]
    entry_start, entry_line, _, sheet_first, place, home, spot, _ = layout[6:]
    s = home[target]
    own = sheet_first[s] + spot[target]
    found[:] = 0.0
    rest = spot[target]
    for axis in range(sheet_start[s], sheet_start[s + 1]):
        stride = axis_stride[axis]
        if stride == 0:
            continue
        line = rest // stride
        rest -= line * stride
        v = axis_variable[axis]
        for o in range(starts[v], starts[v + 1]):
            key = axis_first[axis] + options[o]
            for e in range(entry_start[key], entry_start[key + 1]):
                if entry_line[e] != line:
                    row = place[own + stride * (entry_line[e] - line)]
                    if home[row] == s:
                        found[o] += cost[row]


@njit(cache=True, nogil=True)
def cheapest(
    target, starts, options, layout, cost, below, above, need, most_work, draws, rows, signs, best
):
    """The cheapest cube through a row that moves it as far as needed: its cost, up and down.

    `options` of variable v stand between starts[v] and starts[v + 1]. Cheap steps come first, and
    what cannot be cheaper is left out; where there are too many, each step in turn is bettered from
    drawn ones.
    """
    variables = len(starts) - 1
    choice = np.empty(variables, np.int64)
    least, far, low, high = np.inf, -1.0, 0.0, 0.0
    edge = np.empty(starts[variables])
    edges(target, starts, options, layout, cost, edge)
    order = np.empty(starts[variables], np.int64)
    for v in range(variables):
        order[starts[v] : starts[v + 1]] = starts[v] + np.argsort(
            edge[starts[v] : starts[v + 1]], kind="mergesort"
        )
        if starts[v] == starts[v + 1] or edge[order[starts[v]]] == np.inf:
            return least, low, high
    rest = np.zeros(variables + 1)
    for v in range(variables - 1, -1, -1):
        rest[v] = rest[v + 1] + edge[order[starts[v]]]
    at = starts[:-1].copy()
    paid = np.zeros(variables + 1)
    v, work = 0, 0
    while v >= 0 and work < most_work:
        if at[v] == starts[v + 1] or paid[v] + edge[order[at[v]]] + rest[v + 1] > least:
            v -= 1
            if v >= 0:
                at[v] += 1
            continue
        if edge[order[at[v]]] == np.inf:
            at[v] = starts[v + 1]
            continue
        choice[v] = options[order[at[v]]]
        paid[v + 1] = paid[v] + edge[order[at[v]]]
        if v < variables - 1:
            v += 1
            at[v] = starts[v]
            continue
        work += 1
        total, up, down, _n = weigh(target, choice, layout, cost, below, above, least, rows, signs)
        far_enough = up >= need[0] and down >= need[1] and up + down >= need[2]
        if total < np.inf and far_enough and (total < least or up + down > far):
            least, far, low, high = total, up + down, down, up
            put(best, choice)
            if total == 0:
                break
        at[v] += 1
    if work < most_work:
        return least, low, high
    for start in range(len(draws)):
        for v in range(variables):
            # the cheap half of the steps
            among = 1 + (starts[v + 1] - starts[v]) // 2
            choice[v] = options[order[starts[v] + draws[start, v] % among]]
        own, own_far, own_low, own_high = np.inf, -np.inf, 0.0, 0.0
        still = 0
        v = 0
        while still < variables:
            kept, better = choice[v], False
            for i in range(starts[v], starts[v + 1]):
                o = order[i]
                if edge[o] > own:
                    break
                choice[v] = options[o]
                total, up, down, _n = weigh(
                    target, choice, layout, cost, below, above, np.inf, rows, signs
                )
                if total == np.inf:
                    continue
                lack = min(0.0, up - need[0]) + min(0.0, down - need[1])
                lack += min(0.0, up + down - need[2])
                # cubes that do not reach far enough only lead to others
                if lack < 0:
                    if own < np.inf or lack <= own_far:
                        continue
                    own_far, kept, better = lack, options[o], True
                elif total < own or (total == own and up + down > own_far):
                    own, own_far, own_low, own_high = total, up + down, down, up
                    kept, better = options[o], True
            choice[v] = kept
            still = 0 if better else still + 1
            v = (v + 1) % variables
        if own < least or (own == least and own_far > far):
            least, far, low, high = own, own_far, own_low, own_high
            put(best, choice)
    return least, low, high


def _cover_steps(targets, first, starts, *given):
    most_work = given[-2]
    cubes = np.minimum(np.prod(np.diff(starts, axis=1).astype(float), axis=1), most_work)
    return int(min(2.0 ** (starts.shape[1] + 2) * cubes.sum(), 1e15))


@tiered(_cover_steps)
@njit(cache=True, nogil=True)
def cover(
    targets, first, starts, options, layout, cost, below, above, needs, reached, most_work, draws
):
    """Hide a cheapest cube for every target that no cube before has moved far enough.

    `reached` are the rows' moves down and up so far; cost falls to 0 where a cell is hidden.
    Returns the cubes in the order of targets, -1 where there is none or none was needed.
    """
    variables = starts.shape[1] - 1
    rows, signs = np.empty(4096, np.int64), np.empty(4096, np.int64)
    cubes = np.full((len(targets), variables), -1, np.int64)
    lost = np.zeros(len(targets), np.bool_)
    best = np.empty(variables, np.int64)
    for t in range(len(targets)):
        row = targets[t]
        need = needs[t]
        down, up, seen = reached[row]
        if seen and up >= need[0] and down >= need[1] and up + down >= need[2]:
            continue
        least, low, high = cheapest(
            row, starts[t], options[first[t] :], layout, cost, below, above, need, most_work,
            draws, rows, signs, best,
        )  # fmt: skip
        if least == np.inf:
            lost[t] = True
            continue
        cubes[t] = best
        found = rows_of(best, layout, rows, signs)
        side = 0
        for i in range(found):
            if rows[i] == row:
                side = signs[i]
        for i in range(found):
            r = rows[i]
            cost[r] = 0.0
            reached[r, 2] = 1.0
            if signs[i] == side:
                reached[r, 0], reached[r, 1] = max(reached[r, 0], low), max(reached[r, 1], high)
            else:
                reached[r, 0], reached[r, 1] = max(reached[r, 0], high), max(reached[r, 1], low)
    return cubes, lost


@tiered(lambda start, index, value, chosen, weight, size: 5 + 2 * len(index))
@njit(cache=True, nogil=True)
def weighed(start, index, value, chosen, weight, size):
    """The sum of these compressed lines, each times its weight."""
    found = np.zeros(size)
    for k in range(len(chosen)):
        for e in range(start[chosen[k]], start[chosen[k] + 1]):
            found[index[e]] += value[e] * weight[k]
    return found


@tiered(lambda start, index, chosen, size: 5 + 10 * len(index))
@njit(cache=True, nogil=True)
def hanging_together(start, index, chosen, size):
    """A number for each of these compressed lines, the same if they share entries, step by step."""
    first = np.full(size, -1, np.int64)
    root = np.arange(len(chosen))
    for k in range(len(chosen)):
        for e in range(start[chosen[k]], start[chosen[k] + 1]):
            other = first[index[e]]
            if other < 0:
                first[index[e]] = k
                continue
            a, b = k, other
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            while root[b] != b:
                root[b] = root[root[b]]
                b = root[b]
            root[max(a, b)] = min(a, b)
    for k in range(len(chosen)):
        root[k] = root[root[k]]
    return root


moved = tiered(lambda choice, layout, rows, signs: 50 << layout[0])(rows_of)

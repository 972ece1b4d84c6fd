"""Random rounding of a circulation, cycle by cycle."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _round(tail, head, part, full, nodes, order, chance, up):
    """Each arc's part of `full` goes to 0 or to it; sums at nodes stay, so does the mean."""
    arcs = len(tail)
    first = np.full(nodes, -1, np.int64)
    after = np.full(2 * arcs, -1, np.int64)
    for place in order:
        if part[place] > 0 and part[place] < full:
            after[2 * place] = first[tail[place]]
            first[tail[place]] = 2 * place
            after[2 * place + 1] = first[head[place]]
            first[head[place]] = 2 * place + 1
    at = np.full(nodes, -1, np.int64)
    path = np.empty(nodes + 1, np.int64)  # sides of arcs: 2a leaves along arc a, 2a + 1 against it
    trail = np.empty(nodes + 1, np.int64)
    used = 0
    for begin in order:
        while part[begin] > 0 and part[begin] < full:
            node, came, length = tail[begin], -1, 0
            while at[node] < 0:
                at[node] = length
                trail[length] = node
                side = first[node]
                while side >= 0 and (part[side // 2] == 0 or part[side // 2] == full):
                    side = after[side]
                first[node] = side
                while side >= 0 and (
                    side // 2 == came or part[side // 2] == 0 or part[side // 2] == full
                ):
                    side = after[side]
                if side < 0:
                    return False
                path[length] = side
                came = side // 2
                node = head[came] if side % 2 == 0 else tail[came]
                length += 1
            start = at[node]
            rise, fall = full, full
            for i in range(start, length):
                now = part[path[i] // 2]
                if path[i] % 2 == 0:
                    rise, fall = min(rise, full - now), min(fall, now)
                else:
                    rise, fall = min(rise, now), min(fall, full - now)
            push = rise if chance[used] * (rise + fall) < fall else -fall
            used += 1
            for i in range(start, length):
                arc = path[i] // 2
                part[arc] += push if path[i] % 2 == 0 else -push
            for i in range(length):
                at[trail[i]] = -1
    for arc in range(arcs):
        up[arc] = part[arc] == full
    return True


@njit(cache=True, nogil=True)
def rounded(tail, head, part, full, nodes, orders, chances):
    """Which arcs go up, a row a draw; and whether every node's parts added up to whole numbers."""
    draws = len(orders)
    up = np.zeros((draws, len(tail)), np.bool_)
    good = True
    for draw in range(draws):
        good = (
            _round(tail, head, part.copy(), full, nodes, orders[draw], chances[draw], up[draw])
            and good
        )
    return up, good

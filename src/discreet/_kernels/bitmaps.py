"""Counting with bit maps: one bit a cell and category, and words of 64 bits at a time.

Cells lie in blocks of equal count, so what a map selects of a block counts `weight` times its bits.
A cell with a larger count lies in a block of each binary digit of its count. Of every variable
the first category has no map: it is what is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

from discreet._kernels.parallel import spread

HALF = 32  # bits of half a word
TILE = 512  # cells whose keys stay in the nearest cache


@intrinsic
def ones(typing: Any, word: Any) -> Any:
    """How many bits of a word are set: one instruction, or one for eight words."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        name = builder.module.declare_intrinsic("llvm.ctpop", (ir.IntType(64),), whole)
        return builder.call(name, args)

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def _gather(first, end, columns, rows, out):
    for v in range(first, end):
        column, mine = columns[v], out[v]
        for i in range(len(rows)):
            mine[i] = column[rows[i]]


def gather(columns: Any, rows: Any) -> Any:
    """Some rows of every column."""
    out = np.empty((len(columns), len(rows)), columns.dtype)
    spread(_gather, len(columns), columns, rows, out, each=len(rows))
    return out


@njit(cache=True, nogil=True)
def _pack(first, end, columns, start, cells, begins, sizes, out):
    """Bits of some variables, of `cells` cells from `start` on; begins[v] is the first map of v."""
    for v in range(first, end):
        column = columns[v]
        for word in range(cells // 64):
            at = start + 64 * word
            for c in range(1, sizes[v]):
                code, bits = np.uint8(c), np.uint64(0)
                for j in range(64):
                    bits |= np.uint64(column[at + j] == code) << np.uint64(j)
                out[begins[v] + c - 1, word] = bits
        for i in range(cells // 64 * 64, cells):
            if column[start + i] > 0:
                bit = np.uint64(1) << np.uint64(i & 63)
                out[begins[v] + column[start + i] - 1, i >> 6] |= bit


def pack(columns: Any, start: int, cells: int, begins: Any, sizes: Any, out: Any) -> None:
    """One block: the bits of `cells` cells, into `out` (maps x words), which is zero before."""
    spread(_pack, len(columns), columns, start, cells, begins, sizes, out, each=cells)


@njit(cache=True, nogil=True)
def _both(a, b, words, out):
    for w in range(words):
        out[w] = a[w] & b[w]


@njit(cache=True, nogil=True)
def _ones_of_both(a, b, words):
    total = np.uint64(0)
    for w in range(words):
        total += ones(a[w] & b[w])
    return total


@njit(cache=True, nogil=True)
def _corners(first, end, blocks, cells, weights, small, lists, found):
    """Add what blocks hold in the maps of each list; `lists` are sorted, so that they share."""
    depth = lists.shape[1]
    held = np.zeros((max(depth - 1, 1), blocks.shape[2]), np.uint64)
    for b in range(len(blocks)):
        block = blocks[b]
        words = (cells[b] + 511) // 512 * 8
        for t in range(first, end):
            level = 0
            while t > first and level < depth - 1 and lists[t, level] == lists[t - 1, level]:
                level += 1
            for d in range(level, depth - 1):
                if d == 0:
                    held[0, :words] = block[lists[t, 0], :words]
                else:
                    _both(held[d - 1], block[lists[t, d]], words, held[d])
            last = block[lists[t, depth - 1]]
            if depth == 1:
                bits = np.int64(_ones_of_both(last, last, words))
            else:
                bits = np.int64(_ones_of_both(held[depth - 2], last, words))
            found[0, t] += weights[b] * bits
            if small[b]:
                found[1, t] += bits


def add_corners(chunk: Any, lists: Any, found: Any) -> None:
    """Of each list of maps: people (row 0), and small cells, that all its maps hold; added up."""
    blocks, _, cells, weights, small = chunk
    steps = float(blocks.shape[0] * blocks.shape[2])
    given = (blocks, cells, weights, small, lists, found)
    spread(_corners, len(lists), *given, each=steps)


@njit(cache=True, nogil=True)
def _tables(first, end, parts, free, known, fresh, least, greatest, tables):
    """Whole tables from the corners of all their parts, and extremes at cells with a small one.

    `parts[m, s]` is where the corner of the variables s (bits) begins, in `fresh` for all of them,
    else in `known`: rows of people and of small cells. `free[m, i]` are the maps of variable i. A
    place of 0 stands for all categories until those with a map are subtracted.
    """
    depth = free.shape[1]
    strides, place = np.empty(depth, np.int64), np.empty(depth, np.int64)
    for m in range(first, end):
        size = 1
        for i in range(depth - 1, -1, -1):
            strides[i] = size
            size *= free[m, i] + 1
        people, there = np.zeros(size, np.int64), np.zeros(size, np.int64)
        for s in range(1 << depth):
            at, corners = parts[m, s], known
            if s == (1 << depth) - 1:
                corners = fresh
            where, number = 0, 1
            for i in range(depth):
                place[i] = 1
                if s >> i & 1:
                    where += strides[i]
                    number *= free[m, i]
            for j in range(number):
                people[where], there[where] = corners[0, at + j], corners[1, at + j]
                for i in range(depth - 1, -1, -1):
                    if not s >> i & 1:
                        continue
                    where += strides[i]
                    place[i] += 1
                    if place[i] <= free[m, i]:
                        break
                    where -= free[m, i] * strides[i]
                    place[i] = 1
        for i in range(depth):
            step, many = strides[i], free[m, i]
            for high in range(0, size, step * (many + 1)):
                for low in range(high, high + step):
                    for c in range(1, many + 1):
                        people[low] -= people[low + c * step]
                        there[low] -= there[low + c * step]
        low_sum, high_sum = np.int64(2**62), np.int64(-1)
        for cell in range(size):
            if there[cell] > 0:
                low_sum = min(low_sum, people[cell])
                high_sum = max(high_sum, people[cell])
        least[m], greatest[m] = low_sum, high_sum
        if len(tables):
            tables[m, 0, :size] = people
            tables[m, 1, :size] = there


def extremes(parts: Any, free: Any, known: Any, fresh: Any) -> Any:
    """The least and the greatest count of each margin at the small cells."""
    least, greatest = np.empty(len(parts), np.int64), np.empty(len(parts), np.int64)
    steps = float(np.prod(free[0] + 1)) * free.shape[1]
    none = np.empty((0, 2, 0), np.int64)
    spread(_tables, len(parts), parts, free, known, fresh, least, greatest, none, each=steps)
    return least, greatest


def whole_table(parts: Any, free: Any, known: Any, fresh: Any) -> Any:
    """The counts of every cell of one margin: people (row 0) and small cells (row 1)."""
    none = np.empty(1, np.int64)
    tables = np.empty((1, 2, int(np.prod(free + 1))), np.int64)
    _tables(0, 1, parts[None], free[None], known, fresh, none, none.copy(), tables)
    return tables[0]


@njit(cache=True, nogil=True)
def _tile_keys(block, codes, at, held, maps, steps, wide, strides, lowest, keys):
    """The keys of `held` cells from `at` on, less `lowest`; a map adds its step to a key."""
    keys[:] = np.uint32(0) - lowest
    for m in range(len(maps)):
        halves, step = block[maps[m]][at // HALF : (at + TILE) // HALF], steps[m]
        for h in range((held + HALF - 1) // HALF):
            bits, some = halves[h], keys[h * HALF : (h + 1) * HALF]
            for j in range(HALF):
                some[j] += (np.uint32(0) - ((bits >> np.uint32(j)) & np.uint32(1))) & step
    for i in range(len(wide)):
        column, stride = codes[wide[i]], strides[i]
        for j in range(held):
            keys[j] += column[at + j] * stride


@njit(cache=True, nogil=True)
def _histogram(first, end, halves, codes, cells, weights, small, ways, lowest, people):
    """Add the counts of cells by their keys, those of small cells apart from others."""
    keys = np.empty(TILE, np.uint32)
    span = np.uint32(people.shape[2])
    maps, steps, wide, strides = ways
    for b in range(len(halves)):
        row = b % len(people)
        if not first <= row < end:
            continue
        mine, weight = people[row, np.int64(small[b])], weights[b]
        for at in range(0, cells[b], TILE):
            held = min(TILE, cells[b] - at)
            _tile_keys(halves[b], codes[b], at, held, maps, steps, wide, strides, lowest, keys)
            for j in range(held):
                if keys[j] < span:
                    mine[keys[j]] += weight


def add_histogram(chunk: Any, ways: Any, lowest: int, people: Any) -> None:
    """Counts by key, a row for each thread: of other cells (0) and of small ones (1); added up.

    `ways`: the maps and what each adds to a key, the columns of codes and their strides.
    """
    blocks, codes, cells, weights, small = chunk
    given = (blocks.view(np.uint32), codes, cells, weights, small, ways, np.uint32(lowest))
    spread(_histogram, len(people), *given, people, each=float(cells.sum()))

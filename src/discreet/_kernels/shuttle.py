"""Intervals on a lattice of sums, tightened until nothing changes.

A record holds LANES neighbouring nodes, their lower ends and then their upper ends, so that one sum
over records is a handful of vector instructions: `data[r, 0]` are lower, `data[r, 1]` upper. Along
each digit of a record number the parts of a sum lie `step` apart, and the sum itself behind them.

`pending[r]` has a bit for each digit whose sum has not been visited since the record last changed,
and INSIDE for the sums within the record: one visit leaves nothing for a second.
"""

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread
from discreet._kernels.shuttle_lanes import LANES, THREES, pair_changes, settle_pair, settle_threes

MOST_BITS = 62
TILE = 3
SHARE = 16  # chunks or tiles at a time: some take much longer than others
INSIDE = np.uint32(1 << 31)
HALF, QUARTER, ZERO = np.uint64(32), np.uint64(16), np.uint64(0)
LOW_32, LOW_16 = np.uint64(0x00000000FFFFFFFF), np.uint64(0x0000FFFF0000FFFF)


@njit(cache=True, nogil=True)
def _family(data, base, step, count, store):
    """A sum of any number of parts; bits say which of them change, the last one the sum."""
    kind = data.dtype.type
    low, high = np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for i in range(count):
        for j in range(LANES):
            low[j] += data[base + i * step, 0, j]
            high[j] += data[base + i * step, 1, j]
    p, bits = base + count * step, 0
    new_lp, new_up = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    differs = False
    for j in range(LANES):
        new_lp[j] = max(np.int64(data[p, 0, j]), low[j])
        new_up[j] = min(np.int64(data[p, 1, j]), high[j])
        differs |= (new_lp[j] != data[p, 0, j]) | (new_up[j] != data[p, 1, j])
    if differs:
        bits |= 1 << min(count, MOST_BITS)
        if store:
            for j in range(LANES):
                data[p, 0, j], data[p, 1, j] = kind(new_lp[j]), kind(new_up[j])
    for i in range(count):
        r, differs = base + i * step, False
        for j in range(LANES):
            la, ua = np.int64(data[r, 0, j]), np.int64(data[r, 1, j])
            new_la = max(la, new_lp[j] - (high[j] - ua))
            new_ua = max(min(ua, new_up[j] - (low[j] - la)), 0)
            differs |= (new_la != la) | (new_ua != ua)
        if differs:
            bits |= 1 << min(i, MOST_BITS)
            if store:
                for j in range(LANES):
                    la, ua = np.int64(data[r, 0, j]), np.int64(data[r, 1, j])
                    data[r, 0, j] = kind(max(la, new_lp[j] - (high[j] - ua)))
                    data[r, 1, j] = kind(max(min(ua, new_up[j] - (low[j] - la)), 0))
    return bits


@njit(cache=True, nogil=True)
def changes(data, base, step, count):
    """What `settle` would change."""
    if count == 2:
        return pair_changes(data, base, base + step, base + 2 * step)
    return _family(data, base, step, count, False)


@njit(cache=True, nogil=True)
def settle(data, base, step, count):
    """One sum and its parts; bits say which of the parts changed, the last one the sum."""
    if count == 2:
        return settle_pair(data, base, base + step, base + 2 * step)
    return _family(data, base, step, count, True)


@njit(inline="always")
def _swap(block, a, b, side, shift, mask):
    """Exchange the high halves of one row's lanes with the low halves of another's."""
    for w in range(block.shape[2]):
        high, low = block[a, side, w], block[b, side, w]
        moved = ((high >> shift) ^ low) & mask
        block[b, side, w] = low ^ moved
        block[a, side, w] = high ^ (moved << shift)


@njit(cache=True, nogil=True)
def _transpose(block, lanes):
    """Rows become lanes and lanes rows, in place: five rounds of exchanges of halves.

    `block` are LANES x 2 sides x words of `lanes` lanes each.
    """
    for side in range(2):
        apart = LANES // 2
        while apart >= lanes:
            words = apart // lanes
            for row in range(LANES):
                if row & apart == 0:
                    for start in range(0, block.shape[2], 2 * words):
                        for w in range(start, start + words):
                            kept = block[row, side, w + words]
                            block[row, side, w + words] = block[row + apart, side, w]
                            block[row + apart, side, w] = kept
            apart //= 2
        if lanes == 4:
            for row in range(LANES):
                if row & 2 == 0:
                    _swap(block, row, row + 2, side, HALF, LOW_32)
        for row in range(0, LANES, 2):
            if lanes == 4:
                _swap(block, row, row + 1, side, QUARTER, LOW_16)
            else:
                _swap(block, row, row + 1, side, HALF, LOW_32)


@njit(cache=True, nogil=True)
def settle_inside(data, words, records, number, steps, counts, size, crosswise, block, changed):
    """The sums inside up to LANES records; did any change, and which?

    Three digits of two parts settle where they are. Others are laid crosswise, so that a lane is a
    record: `words` and `block` are the records and the scratch space `crosswise` as 64-bit words.
    """
    found = False
    if size == THREES and len(steps) == 3:
        for q in range(number):
            changed[q] = settle_threes(data, records[q])
            if changed[q]:
                found = True
                while settle_threes(data, records[q]):
                    pass
        return found
    lanes = LANES // block.shape[2]
    for q in range(number):
        for side in range(2):
            for w in range(block.shape[2]):
                block[q, side, w] = words[records[q], side, w]
    for q in range(number, LANES):
        block[q] = 0
    _transpose(block, lanes)
    again = True
    while again:
        again = False
        for d in range(len(steps)):
            for start in range(0, size, steps[d] * (counts[d] + 1)):
                for base in range(start, start + steps[d]):
                    if settle(crosswise, base, steps[d], counts[d]):
                        again = True
        found |= again
    if found:
        _transpose(block, lanes)
        for q in range(number):
            differs = ZERO
            for side in range(2):
                for w in range(block.shape[2]):
                    differs |= words[records[q], side, w] ^ block[q, side, w]
            changed[q] = differs != 0
            if differs:
                for side in range(2):
                    for w in range(block.shape[2]):
                        words[records[q], side, w] = block[q, side, w]
    return found


@njit(cache=True, nogil=True)
def _visit_pairs(data, pending, start, end, step, own, others):
    """The sums of two parts from the first part `start` on, where one of the three waits."""
    found = False
    for a in range(start, end):
        b, p = a + step, a + 2 * step
        if (pending[a] | pending[b] | pending[p]) & own:
            bits = settle_pair(data, a, b, p)
            pending[a] &= ~own
            pending[b] &= ~own
            pending[p] &= ~own
            if bits:
                found = True
                if bits & 1:
                    pending[a] |= others
                if bits & 2:
                    pending[b] |= others
                if bits & 4:
                    pending[p] |= others
    return found


@njit(cache=True, nogil=True)
def _visit_families(data, pending, start, end, step, count, own, others):
    """The same for sums of any number of parts."""
    found = False
    for base in range(start, end):
        waiting = pending[base]
        for q in range(1, count + 1):
            waiting |= pending[base + q * step]
        if waiting & own:
            bits = _family(data, base, step, count, True)
            found |= bits != 0
            for q in range(count + 1):
                changed = others if bits >> min(q, MOST_BITS) & 1 else np.uint32(0)
                pending[base + q * step] = (pending[base + q * step] & ~own) | changed
    return found


@njit(cache=True, nogil=True)
def _settle_between(data, pending, start, apart, rows, width, steps, counts, first, every):
    """One pass over the sums between rows x width records; did any change?

    The digits are bits `first` on of `pending`; whatever changes waits for `every` other bit.
    """
    found = False
    for d in range(len(steps)):
        near, count = steps[d], counts[d]
        own = np.uint32(1 << (first + d))
        others = np.uint32(every ^ own)
        for block in range(0, rows, near * (count + 1)):
            # records side by side in one run: a chunk's are, a tile's are row by row
            many, long = (1, near) if apart == 1 else (near, width)
            for i in range(block, block + many):
                base, step = start + i * apart, near * apart
                if count == 2:
                    found |= _visit_pairs(data, pending, base, base + long, step, own, others)
                else:
                    found |= _visit_families(
                        data, pending, base, base + long, step, count, own, others
                    )
    return found


@njit(cache=True, nogil=True)
def _settle_waiting(data, words, pending, start, rows, inner, counts, size, every):
    """The sums inside those records of a chunk that wait for it."""
    block = np.zeros((LANES, 2, words.shape[2]), np.uint64)
    crosswise = block.view(data.dtype)
    records, changed = np.empty(LANES, np.int64), np.zeros(LANES, np.bool_)
    number, found = np.int64(0), False
    for i in range(rows + 1):
        if i < rows and pending[start + i] & INSIDE:
            pending[start + i] ^= INSIDE
            records[number] = start + i
            number += 1
        if number == LANES or (i == rows and number):
            if settle_inside(
                data, words, records, number, inner, counts, size, crosswise, block, changed
            ):
                found = True
                for q in range(number):
                    if changed[q]:
                        pending[records[q]] |= every ^ INSIDE
            number = 0
    return found


@njit(cache=True, nogil=True)
def _sweep_chunks(first, end, data, words, pending, chunk, near, inner, size, dirty, marks, width):
    steps, counts, every, outside = near
    inner_steps, inner_counts = inner
    for k in range(first, end):
        if dirty[k]:
            dirty[k] = 0
            start, again = k * chunk, True
            while again:
                again = _settle_between(
                    data, pending, start, 1, chunk, 1, steps, counts, 0, every
                ) | _settle_waiting(
                    data, words, pending, start, chunk, inner_steps, inner_counts, size, every
                )
            for i in range(chunk):
                if pending[start + i] & outside:
                    marks[i // width] = 1


def sweep_chunks(
    data: Any, words: Any, pending: Any, chunk: Any, near: Any, inner: Any, size: Any, dirty: Any,
    *rest: Any,
) -> None:  # fmt: skip
    """Settle every dirty chunk of contiguous records; marks the tiles that it changed."""
    given = (data, words, pending, chunk, near, inner, size, dirty, *rest)
    spread(_sweep_chunks, len(dirty), *given, each=1_000 * len(data) / len(dirty), share=SHARE)


@njit(cache=True, nogil=True)
def _sweep_tiles(first, end, data, pending, chunk, rows, far, dirty, marks, width):
    steps, counts, every, outside, bit = far
    for t in range(first, end):
        if dirty[t]:
            dirty[t] = 0
            start, wide = t * width, min(width, chunk - t * width)
            while _settle_between(
                data, pending, start, chunk, rows, wide, steps, counts, bit, every
            ):
                pass
            for i in range(rows):
                for j in range(wide):
                    if pending[start + i * chunk + j] & outside:
                        marks[i] = 1


def sweep_tiles(
    data: Any, pending: Any, chunk: Any, rows: Any, far: Any, dirty: Any, *rest: Any
) -> None:
    """Settle every dirty tile of `width` columns across the chunks; marks the chunks."""
    given = (data, pending, chunk, rows, far, dirty, *rest)
    spread(_sweep_tiles, len(dirty), *given, each=1_000 * len(data) / len(dirty), share=SHARE)


def settle_all(data: Any, chunk: int, near: Any, far: Any, inner: Any, size: int) -> int:
    """Sweep chunks and tiles in turn until nothing changes; how many sweeps it took.

    `near`, `far` and `inner` are steps and counts of the digits within a chunk, across chunks and
    inside a record. Narrow tiles of TILE columns stay in cache as chunks do.
    """
    rows = len(data) // chunk
    inward = np.uint32((1 << len(near[0])) - 1)
    across = np.uint32(((1 << len(far[0])) - 1) << len(near[0]))
    every = inward | across | INSIDE
    pending = np.full(len(data), every, np.uint32)
    chunks, tiles = np.ones(rows, np.uint8), np.ones(-(-chunk // TILE), np.uint8)
    close, wide = (*near, every, across), (*far, every, inward | INSIDE, len(near[0]))
    words, sweeps = data.view(np.uint64), 0
    while chunks.any() or tiles.any():
        sweep_chunks(data, words, pending, chunk, close, inner, size, chunks, tiles, TILE)
        sweep_tiles(data, pending, chunk, rows, wide, tiles, chunks, TILE)
        sweeps += 1
    return sweeps


@njit(cache=True, nogil=True)
def crossed(data, size):
    """The first record with a node whose lower end is above its upper end, or -1."""
    for r in range(len(data)):
        for j in range(size):
            if data[r, 0, j] > data[r, 1, j]:
                return r
    return -1

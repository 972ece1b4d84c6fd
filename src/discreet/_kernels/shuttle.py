"""Intervals on a lattice of sums, tightened until nothing changes.

A record holds LANES neighbouring nodes, their lower ends and then their upper ends, so that one sum
over records is a handful of vector instructions: `data[r, 0]` are lower, `data[r, 1]` upper. Along
each digit of a record number the parts of a sum lie `step` apart, and the sum itself behind them.
"""

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread

LANES = 32
MOST_BITS = 62
SHARE = 16  # chunks or tiles at a time: some take much longer than others
HALF, QUARTER, ZERO = np.uint64(32), np.uint64(16), np.uint64(0)
LOW_32, LOW_16 = np.uint64(0x00000000FFFFFFFF), np.uint64(0x0000FFFF0000FFFF)


@njit(inline="always")
def _pair(data, a, b, p, store):
    """A sum p of two parts a and b; bits 1, 2, 4 say which of a, b, p change."""
    kind = data.dtype.type
    differ_a, differ_b, differ_p = kind(0), kind(0), kind(0)
    for j in range(LANES):
        la, ua, lb, ub = data[a, 0, j], data[a, 1, j], data[b, 0, j], data[b, 1, j]
        lp, up = data[p, 0, j], data[p, 1, j]
        new_up, new_lp = min(up, kind(ua + ub)), max(lp, kind(la + lb))
        new_ua, new_ub = min(ua, kind(new_up - lb)), min(ub, kind(new_up - la))
        new_la = max(la, kind(max(new_lp, ub) - ub))
        new_lb = max(lb, kind(max(new_lp, ua) - ua))
        if store:
            data[a, 0, j], data[a, 1, j] = new_la, new_ua
            data[b, 0, j], data[b, 1, j] = new_lb, new_ub
            data[p, 0, j], data[p, 1, j] = new_lp, new_up
        else:
            differ_a |= kind((new_la ^ la) | (new_ua ^ ua))
            differ_b |= kind((new_lb ^ lb) | (new_ub ^ ub))
            differ_p |= kind((new_lp ^ lp) | (new_up ^ up))
    return (differ_a != 0) | (differ_b != 0) << 1 | (differ_p != 0) << 2


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
    for i in range(count):
        r, differs = base + i * step, False
        for j in range(LANES):
            la, ua = np.int64(data[r, 0, j]), np.int64(data[r, 1, j])
            new_la = max(la, new_lp[j] - (high[j] - ua))
            new_ua = max(min(ua, new_up[j] - (low[j] - la)), 0)
            differs |= (new_la != la) | (new_ua != ua)
            if store:
                data[r, 0, j], data[r, 1, j] = kind(new_la), kind(new_ua)
        if differs:
            bits |= 1 << min(i, MOST_BITS)
    if store:
        for j in range(LANES):
            data[p, 0, j], data[p, 1, j] = kind(new_lp[j]), kind(new_up[j])
    return bits


@njit(cache=True, nogil=True)
def _changes(data, base, step, count):
    if count == 2:
        return _pair(data, base, base + step, base + 2 * step, False)
    return _family(data, base, step, count, False)


@njit(cache=True, nogil=True)
def _store(data, base, step, count):
    if count == 2:
        _pair(data, base, base + step, base + 2 * step, True)
    else:
        _family(data, base, step, count, True)


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
def _settle_inside(words, records, number, steps, counts, size, crosswise, block, changed):
    """The sums inside up to LANES records, laid crosswise so that a lane is a record.

    `words` and `block` are the records and the scratch space `crosswise` as 64-bit words.
    """
    lanes = LANES // block.shape[2]
    for q in range(number):
        for side in range(2):
            for w in range(block.shape[2]):
                block[q, side, w] = words[records[q], side, w]
    for q in range(number, LANES):
        block[q] = 0
    _transpose(block, lanes)
    found, again = False, True
    while again:
        again = False
        for d in range(len(steps)):
            for start in range(0, size, steps[d] * (counts[d] + 1)):
                for base in range(start, start + steps[d]):
                    if _changes(crosswise, base, steps[d], counts[d]):
                        _store(crosswise, base, steps[d], counts[d])
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
def _settle_between(
    data, stamp, start, apart, rows, width, steps, counts, last, tick, marks, share
):
    """One pass over the sums between rows x width records; how many records changed.

    A sum is visited only if one of its records changed after this digit's last visit: one visit
    leaves nothing for a second.
    """
    found = 0
    for d in range(len(steps)):
        tick += 1
        step, count = steps[d] * apart, counts[d]
        for block in range(0, rows, steps[d] * (count + 1)):
            for i in range(block, block + steps[d]):
                for j in range(width):
                    base = start + i * apart + j
                    newest = stamp[base]
                    for q in range(1, count + 1):
                        newest = max(newest, stamp[base + q * step])
                    if newest <= last[d]:
                        continue
                    bits = _changes(data, base, step, count)
                    if bits:
                        _store(data, base, step, count)
                        for q in range(count + 1):
                            if bits >> min(q, MOST_BITS) & 1:
                                stamp[base + q * step] = tick
                                marks[(i + q * steps[d]) // share] = 1
                                found += 1
        last[d] = tick
    return found


@njit(cache=True, nogil=True)
def _settle_changed(data, words, stamp, start, rows, last, tick, inner, counts, size, marks, share):
    """The sums inside those records of a chunk that changed after `last`."""
    block = np.zeros((LANES, 2, words.shape[2]), np.uint64)
    crosswise = block.view(data.dtype)
    records, changed = np.empty(LANES, np.int64), np.zeros(LANES, np.bool_)
    number, found = np.int64(0), 0
    for i in range(rows + 1):
        if i < rows and stamp[start + i] > last:
            records[number] = start + i
            number += 1
        if number == LANES or (i == rows and number):
            if _settle_inside(
                words, records, number, inner, counts, size, crosswise, block, changed
            ):
                for q in range(number):
                    if changed[q]:
                        stamp[records[q]] = tick
                        marks[(records[q] - start) // share] = 1
                        found += 1
            number = 0
    return found


@njit(cache=True, nogil=True)
def _sweep_chunks(
    first,
    end,
    data,
    words,
    stamp,
    chunk,
    steps,
    counts,
    inner,
    inner_counts,
    size,
    dirty,
    last,
    clock,
    marks,
    width,
):
    digits = len(steps)
    for k in range(first, end):
        if dirty[k]:
            dirty[k] = 0
            tick, start, inside = clock, k * chunk, 1
            while inside:
                between = 1
                while between:
                    between = _settle_between(
                        data,
                        stamp,
                        start,
                        1,
                        chunk,
                        1,
                        steps,
                        counts,
                        last[k],
                        tick,
                        marks,
                        width,
                    )
                    tick += digits
                tick += 1
                inside = _settle_changed(
                    data,
                    words,
                    stamp,
                    start,
                    chunk,
                    last[k, digits],
                    tick,
                    inner,
                    inner_counts,
                    size,
                    marks,
                    width,
                )
                last[k, digits] = tick


def sweep_chunks(
    data: Any,
    words: Any,
    stamp: Any,
    chunk: Any,
    steps: Any,
    counts: Any,
    inner: Any,
    inner_counts: Any,
    size: Any,
    dirty: Any,
    *rest: Any,
) -> None:
    """Settle every dirty chunk of contiguous records; marks the tiles that it changed."""
    given = (data, words, stamp, chunk, steps, counts, inner, inner_counts, size, dirty, *rest)
    spread(_sweep_chunks, len(dirty), *given, each=1_000 * len(data) / len(dirty), share=SHARE)


@njit(cache=True, nogil=True)
def _sweep_tiles(
    first, end, data, stamp, chunk, rows, steps, counts, dirty, last, clock, marks, width
):
    for t in range(first, end):
        if dirty[t]:
            dirty[t] = 0
            tick, found = clock, 1
            wide = min(width, chunk - t * width)
            while found:
                found = _settle_between(
                    data,
                    stamp,
                    t * width,
                    chunk,
                    rows,
                    wide,
                    steps,
                    counts,
                    last[t],
                    tick,
                    marks,
                    1,
                )
                tick += len(steps)


def sweep_tiles(
    data: Any, stamp: Any, chunk: Any, rows: Any, steps: Any, counts: Any, dirty: Any, *rest: Any
) -> None:
    """Settle every dirty tile of `width` columns across the chunks; marks the chunks."""
    given = (data, stamp, chunk, rows, steps, counts, dirty, *rest)
    spread(_sweep_tiles, len(dirty), *given, each=1_000 * len(data) / len(dirty), share=SHARE)


@njit(cache=True, nogil=True)
def crossed(data, size):
    """The first record with a node whose lower end is above its upper end, or -1."""
    for r in range(len(data)):
        for j in range(size):
            if data[r, 0, j] > data[r, 1, j]:
                return r
    return -1

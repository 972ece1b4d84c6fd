"""The same intervals after a few records changed: only what follows from them, with roll-back."""

import numpy as np
from numba import njit

from discreet._kernels.shuttle import MOST_BITS, changes, settle, settle_inside
from discreet._kernels.shuttle_lanes import LANES


@njit(cache=True, nogil=True)
def _keep(data, r, saved, places, epochs, epoch, number):
    """Remember a record before its first change in this epoch."""
    if epochs[r] != epoch:
        epochs[r] = epoch
        places[number] = r
        for j in range(LANES):
            saved[number, 0, j], saved[number, 1, j] = data[r, 0, j], data[r, 1, j]
        number += 1
    return number


@njit(cache=True, nogil=True)
def _too_narrow(data, r, lanes, floor):
    """Is a node of the record that `lanes` names in bits narrower than `floor`, or crossed?"""
    for j in range(LANES):
        if lanes >> j & 1 and np.int64(data[r, 1, j]) - np.int64(data[r, 0, j]) < floor:
            return True
    return False


@njit(cache=True, nogil=True)
def _push(r, bits, queue, tail, waiting, pending):
    pending[r] |= bits
    if not waiting[r]:
        waiting[r] = True
        queue[tail] = r
        tail = tail + 1 if tail + 1 < len(queue) else 0
    return tail


@njit(cache=True, nogil=True)
def propagate(
    data,
    words,
    seeds,
    steps,
    counts,
    inner,
    inner_counts,
    size,
    queue,
    waiting,
    pending,
    saved,
    places,
    epochs,
    epoch,
    number,
    targets,
    floor,
):
    """Tighten whatever follows from the changed records `seeds`.

    Stops as soon as a target node is narrower than `floor`. Returns how many records are saved for
    roll-back, and whether every target held.
    """
    digits = len(steps)
    inside = 1 << digits
    everything = (inside << 1) - 1
    block = np.zeros((LANES, 2, words.shape[2]), np.uint64)
    crosswise = block.view(data.dtype)
    batch, changed = np.empty(LANES, np.int64), np.zeros(LANES, np.bool_)
    head, tail, held = 0, np.int64(0), True
    for r in seeds:
        tail = _push(r, everything, queue, tail, waiting, pending)
        held = held and not _too_narrow(data, r, targets[r], floor)
    while held and head != tail:
        r = queue[head]
        if pending[r] & inside:
            # the sums inside the next records together: a lane is a record
            ahead, look = np.int64(0), head
            for _ in range(2 * LANES):
                if ahead == LANES or look == tail:
                    break
                if pending[queue[look]] & inside:
                    batch[ahead] = queue[look]
                    number = _keep(data, batch[ahead], saved, places, epochs, epoch, number)
                    pending[batch[ahead]] &= ~inside
                    ahead += 1
                look = look + 1 if look + 1 < len(queue) else 0
            if settle_inside(
                data, words, batch, ahead, inner, inner_counts, size, crosswise, block, changed
            ):
                for q in range(ahead):
                    if changed[q]:
                        pending[batch[q]] |= everything ^ inside
                        held = held and not _too_narrow(data, batch[q], targets[batch[q]], floor)
        head = head + 1 if head + 1 < len(queue) else 0
        waiting[r] = False
        todo = pending[r]
        pending[r] = 0
        for d in range(digits):
            if not todo >> d & 1 or not held:
                continue
            step, count = steps[d], counts[d]
            base = r - r // step % (count + 1) * step
            bits = changes(data, base, step, count)
            if not bits:
                continue
            for q in range(count + 1):
                if bits >> min(q, MOST_BITS) & 1:
                    number = _keep(data, base + q * step, saved, places, epochs, epoch, number)
            settle(data, base, step, count)
            for q in range(count + 1):
                x = base + q * step
                if bits >> min(q, MOST_BITS) & 1:
                    tail = _push(x, everything ^ 1 << d, queue, tail, waiting, pending)
                    held = held and not _too_narrow(data, x, targets[x], floor)
    while head != tail:
        waiting[queue[head]] = False
        pending[queue[head]] = 0
        head = head + 1 if head + 1 < len(queue) else 0
    return number, held


@njit(cache=True, nogil=True)
def restore(data, saved, places, number):
    """Put every saved record back."""
    for i in range(number):
        for j in range(LANES):
            data[places[i], 0, j], data[places[i], 1, j] = saved[i, 0, j], saved[i, 1, j]

"""Cells of a latent class model, straight to disk: a table larger than memory.

Within a class the 60 variables are independent, the classes differ. Most cells count one person.
Two cells are the same with a chance of about 10^-5 in all; `StoredCells.check_cells` looks.

    python benchmarks/stored_cells.py OUT.cells --cells 100000000
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit

from discreet.data.storing import CellsWriter
from discreet.data.variable import Variable

FEWEST, MOST = 2, 4  # categories
RARER = 0.2, 0.8  # how much rarer, in logs, each category is than the one before it
APART = 0.5  # spread of the logs of a category's probability between classes
CLASSES = 12
BATCH, PART = 1 << 20, 1 << 22


@njit(cache=True, nogil=True)
def _luck(state):
    """SplitMix64: a number from 0 to 2^32 that depends on the state alone."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) >> np.uint64(32)


@njit(cache=True, nogil=True)
def _draw(start, shares, ends, codes, counts):
    """Cells from number `start` on; every number drawn depends on cell and variable alone."""
    step = np.uint64(0x9E3779B97F4A7C15)
    width = np.uint64(ends.shape[1] + 2)
    for i in range(len(counts)):
        state = np.uint64(start + i) * width * step
        luck, group = _luck(state), 0
        while luck >= shares[group]:
            group += 1
        for v in range(ends.shape[1]):
            state += step
            luck, code = _luck(state), 0
            while luck >= ends[group, v, code]:
                code += 1
            codes[v, i] = code
        luck = _luck(state + step)
        count = 1
        while luck < 2**32 * 0.09 and count < 1000:
            count += 1
            luck = (luck * np.uint64(3)) if luck < 2**32 * 0.02 else np.uint64(2**32)
        counts[i] = count


def model(variables, seed=0):
    """Sizes, and the ends of the shares of classes and of categories, as parts of 2^32."""
    rng = np.random.default_rng(seed)
    sizes = [FEWEST + v % (MOST - FEWEST + 1) for v in range(variables)]
    shares = np.cumsum(rng.dirichlet(np.full(CLASSES, 2.0)))
    ends = np.full((CLASSES, variables, MOST), 1.0)
    for v, size in enumerate(sizes):
        logs = -rng.uniform(*RARER) * np.arange(size)
        logs = logs + APART * rng.standard_normal((CLASSES, size))
        chance = np.exp(logs)
        ends[:, v, :size] = np.cumsum(chance / chance.sum(1, keepdims=True), 1)
        ends[:, v, size - 1] = 1
    shares[-1] = 1
    return sizes, np.rint(shares * 2.0**32), np.rint(ends * 2.0**32)


def write(folder, cells, variables=60, seed=0, workers=2):
    """So many cells; the parts that are there stay."""
    sizes, shares, ends = model(variables, seed)
    shares, ends = shares.astype(np.uint64), ends.astype(np.uint64)
    names = [f"v{v:02}" for v in range(variables)]
    axes = [
        Variable(name, tuple(map(str, range(size))))
        for name, size in zip(names, sizes, strict=True)
    ]
    writer = CellsWriter(folder, axes)

    def batches(first, end):
        for start in range(first, end, BATCH):
            number = min(BATCH, end - start)
            codes, counts = np.empty((variables, number), np.uint8), np.empty(number, np.int64)
            _draw(start, shares, ends, codes, counts)
            yield dict(zip(names, codes, strict=True)), counts

    def part(number):
        if not writer.has(number):
            writer.write_batches(number, batches(number * PART, min((number + 1) * PART, cells)))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(part, range(-(-cells // PART))))
    return writer.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--variables", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = write(asked.out, asked.cells, asked.variables, asked.seed)
    print(f"{asked.out}: {len(found):,} cells, {found.total:,} people, {asked.variables} variables")


if __name__ == "__main__":
    main()

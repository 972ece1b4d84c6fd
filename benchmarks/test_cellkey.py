"""Cell keys: speed, and what an intruder finds out.

Hard for an intruder because every printed cell has its own noise; easy because a total's key is the
sum of its cells' keys. The rival is the usual product of likelihoods, which overlooks this.
"""

import time

import numpy as np

from discreet.data.codebook import Variable
from discreet.masks.cellkey import (
    cell_key,
    count_ptable,
    posterior,
    record_keys,
    row_keys,
)
from discreet.sheets.grouping import Grouping
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

SECRET = "a secret for benchmarks"


def crossed(*sizes):
    lines = [
        Grouping.of(Variable(f"v{axis}", tuple(f"c{code}" for code in range(size))))
        for axis, size in enumerate(sizes)
    ]
    return System.of([Sheet("1", tuple(lines))])


def test_a_million_records():
    rng = np.random.default_rng(0)
    system = crossed(100, 50, 10)
    codes = {
        f"v{axis}": rng.integers(0, size, 1_000_000) for axis, size in enumerate((100, 50, 10))
    }
    marks = [time.process_time()]
    table = count_ptable(10, 5, js=2)
    marks.append(time.process_time())
    keys = record_keys(SECRET, 1_000_000)
    marks.append(time.process_time())
    counts = system.sums @ system.fine(codes, np.ones(1_000_000))
    masked = cell_key(system, counts, row_keys(system, codes, keys), table)
    marks.append(time.process_time())
    made, keyed, done = np.diff(marks)
    noise = (masked.values - counts)[counts > 0]
    print(
        f"\nperturbation table D=10 {made:.2f} s; a million record keys {keyed:.2f} s; "
        f"{system.cells:,} cells perturbed {done:.2f} s, noise mean {noise.mean():.3f}, "
        f"variance {noise.var():.3f} (5)"
    )
    assert abs(noise.mean()) < 4 * np.sqrt(5 / len(noise))
    assert keyed < 10
    assert done < 10


def test_what_an_intruder_believes_of_the_truth():
    """Mean probability of the true count of a cell, over tables of two by two with Poisson 2."""
    system, plain = crossed(2, 2), count_ptable(2, 0.9)
    rng = np.random.default_rng(3)
    mixed = plain.shuffled(0.05, rng)
    sums = system.sums.toarray()
    found = {"product": [], "keys of records": [], "keys of records, intervals shuffled": []}
    for _ in range(12):
        true = rng.poisson(2.0, 4)
        keys = (np.where(true > 0, rng.random(4), 0) @ sums.T) % 1.0
        counts = sums @ true
        for table, names in ((plain, list(found)[:2]), (mixed, list(found)[2:])):
            shown = counts + table.noise(counts, keys)
            for name in names:
                how = {"keys": "apart"} if name == "product" else {"keys": "records", "rng": rng}
                beliefs = posterior(system, shown, table, means=2.0, effort=0.05, **how)
                found[name].append(beliefs.chances[np.arange(4), true].mean())
    means = {name: float(np.mean(each)) for name, each in found.items()}
    print(
        "\nmean probability of the true count: "
        + ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
        + f"; ratio to the product {means['keys of records'] / means['product']:.2f}"
    )
    assert means["keys of records"] > means["product"]


def test_a_walk_over_tables_and_keys():
    """A table of four by five: too many printed cells for draws."""
    system, table = crossed(4, 5), count_ptable(2, 0.9)
    rng = np.random.default_rng(0)
    true = rng.poisson(2.0, 20)
    sums = system.sums.toarray()
    keys = (np.where(true > 0, rng.random(20), 0) @ sums.T) % 1.0
    shown = sums @ true + table.noise(sums @ true, keys)
    start = time.process_time()
    exact = posterior(
        system, shown, table, means=2.0, keys="records", method="walk", rng=rng, effort=5
    )
    seconds = time.process_time() - start
    apart = posterior(system, shown, table, means=2.0, rng=rng)
    own = np.arange(20), true
    print(
        f"\n4x5: {seconds:.1f} s, {exact}, standard error at most {exact.error.max():.3f}; mean "
        f"probability of the truth {exact.chances[own].mean():.3f}, by the product "
        f"{apart.chances[own].mean():.3f}"
    )
    assert exact.ess > 100


def test_posterior_by_every_table_and_by_a_walk():
    system, table = crossed(3, 3), count_ptable(2, 0.9)
    rng = np.random.default_rng(7)
    fine = rng.poisson(3.0, 9)
    sums = system.sums.toarray()
    keys = (np.where(fine > 0, rng.random(9), 0) @ sums.T) % 1.0
    counts = sums @ fine
    shown = counts + table.noise(counts, keys)
    start = time.process_time()
    exact = posterior(system, shown, table, means=3.0, method="enumerate")
    listed = time.process_time() - start
    start = time.process_time()
    walked = posterior(system, shown, table, means=3.0, method="walk", rng=rng)
    walking = time.process_time() - start
    off = np.abs(exact.chances - walked.chances)
    print(
        f"\n3x3: every table {listed:.1f} s ({exact.tables:,} possible), a walk {walking:.1f} s, "
        f"off by at most {off.max():.4f}, standard error {walked.error.max():.4f}, {walked}"
    )
    assert (off <= 5 * walked.error + 2e-3).all()

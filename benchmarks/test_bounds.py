"""Shuttle, linear and integer bounds side by side on a sparse 2^10 table, all 3-way margins.

Hard for integer programs: 848 free dimensions, fractional vertices almost everywhere. The rival is
HiGHS alone, warm started on the independent rows: one linear program for each end of each cell.
"""

import time
from itertools import combinations

import numpy as np

from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.linear import Program
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.result import Status
from discreet.release.release import Release
from discreet.table.table import Table

NAMES = "ABCDEFGHIJ"


def test_sparse_2_to_the_10():
    rng = np.random.default_rng(7)
    array = rng.multinomial(1000, rng.dirichlet(np.full(1024, 0.2))).reshape((2,) * 10)
    table = Table.of(array, **{name: range(2) for name in NAMES})
    release = Release.margins(table, list(combinations(NAMES, 3)))
    small = table.small()
    bounds(release, small.take([0]), method="shuttle")

    found, seconds = {}, {}
    for method in ("shuttle", "linear"):
        start = time.perf_counter()
        found[method] = bounds(release, small, method=method)
        seconds[method] = time.perf_counter() - start
    start = time.perf_counter()
    found["proven"] = bounds(release, small, method="linear", proof=Proof(table, 3, 2.0))
    seconds["proven"] = time.perf_counter() - start

    program = Program(OpenCells.of(release))
    group = program.cells.group(table.names, small.codes)
    start = time.perf_counter()
    plain = []
    for cell in range(len(small)):
        member = np.flatnonzero(group == cell)
        upper, lower = program.optimum(member, 1)[0], program.optimum(member, -1)[0]
        plain.append((np.ceil(lower - 1e-5), np.floor(upper + 1e-5)))
    seconds["HiGHS alone"] = time.perf_counter() - start

    linear = found["linear"]
    assert np.array_equal(np.array(plain), np.stack([linear.lower, linear.upper], axis=1))
    agree = np.sum(
        (found["shuttle"].lower == linear.lower) & (found["shuttle"].upper == linear.upper)
    )
    status = found["proven"].status(3)
    print(
        f"\n2^10, n = 1,000, all 3-way margins, {len(small)} small cells: shuttle "
        f"{seconds['shuttle']:.2f} s, narrowest {found['shuttle'].narrowest}; linear "
        f"{seconds['linear']:.1f} s, narrowest {linear.narrowest}; HiGHS alone "
        f"{seconds['HiGHS alone']:.1f} s, ratio {seconds['HiGHS alone'] / seconds['linear']:.1f}; "
        f"shuttle = linear at {agree} cells"
    )
    print(
        f"witnesses of width 3 in {seconds['proven']:.0f} s with the linear programs: "
        f"{status.count(Status.SHARP)} sharp, {status.count(Status.WITNESSED)} witnessed, "
        f"{status.count(Status.LINEAR)} linear, "
        f"{status.count(Status.OUTER)} outer only"
    )
    for method in ("shuttle", "linear"):
        assert (found[method].lower <= small.counts).all()
        assert (found[method].upper >= small.counts).all()
    assert (found["shuttle"].upper >= linear.upper).all()
    assert (found["shuttle"].lower <= linear.lower).all()

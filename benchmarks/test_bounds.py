"""Shuttle, linear and integer bounds side by side on a sparse 2^10 table, all 3-way margins.

Hard for integer programs: 848 free dimensions, fractional vertices almost everywhere. The rival is
HiGHS alone, warm started on the independent rows: one linear program for each end of each cell.
"""

import time
from itertools import combinations

import numpy as np
import pytest

from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.linear import Program
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.result import Status
from discreet.release.release import Release
from discreet.table.table import Table

NAMES = "ABCDEFGHIJ"


@pytest.fixture(scope="module")
def sparse():
    """A table and its release."""
    rng = np.random.default_rng(7)
    array = rng.multinomial(1000, rng.dirichlet(np.full(1024, 0.2))).reshape((2,) * 10)
    table = Table.of(array, **{name: range(2) for name in NAMES})
    return table, Release.margins(table, list(combinations(NAMES, 3)))


def test_against_highs(sparse, claim):
    table, release = sparse
    small = table.small()
    bounds(release, small.take([0]), method="shuttle")

    found, seconds = {}, {}
    for method in ("shuttle", "linear"):
        start = time.perf_counter()
        found[method] = bounds(release, small, method=method)
        seconds[method] = time.perf_counter() - start

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
    claim(
        "bounds", "Linear bounds of 2^10 cells, all 3-way margins", ours=seconds["linear"],
        rival="HiGHS alone (warm, two programs a cell)", theirs=seconds["HiGHS alone"],
        size=f"{len(small)} small cells", why="Hard for programs: 848 free dimensions, and "
        "vertices are fractions; projections settle many cells at once.",
    )  # fmt: skip
    print(
        f"\n2^10, n = 1,000, all 3-way margins, {len(small)} small cells: shuttle "
        f"{seconds['shuttle']:.2f} s, narrowest {found['shuttle'].narrowest}; linear "
        f"{seconds['linear']:.1f} s, narrowest {linear.narrowest}; HiGHS alone "
        f"{seconds['HiGHS alone']:.1f} s, ratio {seconds['HiGHS alone'] / seconds['linear']:.1f}; "
        f"shuttle = linear at {agree} cells"
    )
    for method in ("shuttle", "linear"):
        assert (found[method].lower <= small.counts).all()
        assert (found[method].upper >= small.counts).all()
    assert (found["shuttle"].upper >= linear.upper).all()
    assert (found["shuttle"].lower <= linear.lower).all()


def test_witnesses(sparse):
    """Tables that fit prove how far cells vary."""
    table, release = sparse
    small = table.small()
    start = time.perf_counter()
    found = bounds(release, small, method="linear", proof=Proof(table, 3, effort=0.1))
    status = found.status(3)
    print(
        f"\nwitnesses of width 3 in {time.perf_counter() - start:.0f} s with the linear programs: "
        f"{status.count(Status.SHARP)} sharp, {status.count(Status.WITNESSED)} witnessed, "
        f"{status.count(Status.LINEAR)} linear, {status.count(Status.OUTER)} outer only"
    )
    assert status.count(Status.SHARP) + status.count(Status.WITNESSED) > 0
    assert (found.lower <= small.counts).all()
    assert (found.upper >= small.counts).all()

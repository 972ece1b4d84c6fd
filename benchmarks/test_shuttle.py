"""The shuttle on the NLTCS lattice: 3^16 sums, 4,011 released margins.

Hard because the lattice has 43 million nodes and the release is far from decomposable; easy in that
counts fit in 16 bits. The rival is the plain shuttle of the reference folder beside DISCREET_DATA:
one pass over memory for each of the 16 variables, 32-bit integers, both cores. Both are timed from
the state in which the released sums are set, and the setting is stated apart.

Where the time goes, in processor seconds: 2.3 by numba's own loops over lanes; 0.9 where what
changes in a record is one mask, not a sum over lanes; 0.7 where sums inside a record are shuffles
of its own lanes, not two transpositions of 32 records; 0.6 where records begin at a cache line.
"""

import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.release.release import Release
from discreet.table.load import load

LISTED = 4011


@pytest.fixture(scope="module")
def rival():
    try:
        find_example("nltcs").path  # noqa: B018
    except DataError as error:
        pytest.skip(str(error))
    path = Path(os.environ["DISCREET_DATA"]).parent / "reference" / "naive_shuttle.py"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the reference folder beside DISCREET_DATA")
    spec = importlib.util.spec_from_file_location("naive_shuttle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def case(rival):
    """Table, release, list of margins, and the rival's view of them."""
    table = load("example:nltcs")
    digits = 3 ** np.arange(16)
    cells = table.codes.astype(np.int64)
    keys = cells @ digits
    order_of = np.argsort(keys)
    values = rival.lattice(keys[order_of], table.counts[order_of], 16)
    order = rival.greedy_order(rival.critical_widths(values, cells[table.counts <= 2], 16), 16)
    listed = [[table.names[p] for p in range(16) if int(m) >> p & 1] for m in order[:LISTED]]
    return table, Release.margins(table, listed), order, values


def test_full_run(rival, case, claim):
    _, release, order, values = case
    nodes = rival.subsets(16)
    released = np.zeros(1 << 16, bool)
    released[0] = True
    released[order[:LISTED]] = True
    rival.sweep(np.zeros(3, np.int32), np.zeros(3, np.int32), 1)
    Shuttle(release)
    ours, settled, naive, setting = [], [], [], []
    for turn in range(5):  # neighbours disturb
        start = time.perf_counter()
        shuttle = Shuttle(release)
        ours.append(time.perf_counter() - start)
        settled.append(shuttle.settled_in)
        if turn < 2:
            start = time.perf_counter()
            lower, upper = set_state(values, nodes, released)
            begun = time.perf_counter()
            sweeps = settle(rival, lower, upper)
            naive.append(time.perf_counter() - begun)
            setting.append(begun - start)
    ratio, whole = min(naive) / min(settled), (min(naive) + min(setting)) / min(ours)
    apart = (
        f"with the setting of the margins {min(ours):.2f} s to {min(naive) + min(setting):.1f} s, "
        f"ratio {whole:.1f}"
    )
    print(
        f"\nNLTCS, {LISTED:,} margins: plain shuttle {min(naive):.1f} s ({sweeps} sweeps), "
        f"Shuttle {min(settled):.2f} s ({shuttle.sweeps} sweeps), ratio {ratio:.1f} (at least 25); "
        f"{apart}"
    )
    for side, plain in zip(shuttle.arrays(), (lower, upper), strict=True):
        assert np.array_equal(side.transpose(range(15, -1, -1)).ravel(), plain)
    claim(
        "shuttle",
        f"Bounds of 43 million sums, {LISTED:,} margins released",
        ours=min(settled),
        rival="plain shuttle (numba, both cores)",
        theirs=min(naive),
        size="3^16 sums",
        memory=shuttle.data.nbytes / 2**20,
        why=f"easy in that counts fit in 16 bits; {apart}",
    )
    assert ratio >= 25


def set_state(values, nodes, released):
    """What the plain shuttle begins with."""
    known = released[nodes]
    lower = np.where(known, values, 0).astype(np.int32)
    return lower, np.where(known, values, values[-1]).astype(np.int32)


def settle(rival, lower, upper):
    sweeps = 0
    while sum(rival.sweep(lower, upper, 3**digit) for digit in range(16)):
        sweeps += 1
    return sweeps


def test_one_margin_more(case):
    table, release, order, _ = case
    start = time.perf_counter()
    shuttle = Shuttle(release)
    full = time.perf_counter() - start
    shuttle.watch(table.small())
    before = shuttle.data.copy()
    seconds = []
    for margin in [m for m in order[LISTED:] if int(m).bit_count() == 6][:21]:
        more = table.margin([table.names[p] for p in range(16) if int(margin) >> p & 1])
        start = time.perf_counter()
        shuttle.add([more])
        shuttle.roll_back()
        seconds.append(time.perf_counter() - start)
        assert np.array_equal(shuttle.data, before)
    middle = float(np.median(seconds[1:]))
    print(
        f"\na further 6-way margin and back: median {1000 * middle:.0f} ms, most "
        f"{1000 * max(seconds[1:]):.0f} ms, {middle / full:.1%} of a full run of {full:.2f} s"
    )
    assert middle <= full / 20


def test_memory(case):
    _, release, *_ = case
    script = (
        "import resource, sys\n"
        "from discreet.intruder.bounds.shuttle.shuttle import Shuttle\n"
        "from discreet.release.release import Release\n"
        "from discreet.table.load import load\n"
        "table = load('example:nltcs')\n"
        "Shuttle(Release.margins(table, [m.split('*') for m in sys.stdin.read().split()]))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    margins = " ".join("*".join(margin) for margin in release.formula.margins)
    done = subprocess.run(
        [sys.executable, "-c", script], input=margins, capture_output=True, text=True, check=True
    )
    peak = int(done.stdout) / 1024
    print(f"\npeak memory {peak:,.0f} MiB (under 2,048)")
    assert peak < 2048

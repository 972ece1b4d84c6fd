"""Critical widths of all 65,535 margins of the NLTCS table, and of a file with 53 variables.

The first is hard because each margin has up to 65,536 sums, easy in that only 3,152 cells are not
zero. The rival is the plain version of the reference folder beside DISCREET_DATA, which looks the
small cells up in the lattice of all 3^16 sums. The second is hard because nothing dense fits and
nearly every record is a cell of its own; three variables at a time have few sums.
"""

import importlib.util
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from discreet.data.codebook import Variable
from discreet.data.examples import find_example
from discreet.decision.frontier.widths import widths
from discreet.errors import DataError
from discreet.table.load import load
from discreet.table.table import Table

RECORDS = int(os.environ.get("DISCREET_RECORDS", 100_000))


@pytest.fixture(scope="module")
def nltcs():
    try:
        find_example("nltcs").path  # noqa: B018
    except DataError as error:
        pytest.skip(str(error))
    return load("example:nltcs")


@pytest.fixture(scope="module")
def rival():
    path = Path(os.environ["DISCREET_DATA"]).parent / "reference" / "naive_shuttle.py"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the reference folder beside DISCREET_DATA")
    spec = importlib.util.spec_from_file_location("naive_shuttle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_margins_of_nltcs(nltcs, rival, claim):
    widths(nltcs)
    ours = []
    for _ in range(3):
        start = time.perf_counter()
        found = widths(nltcs)
        ours.append(time.perf_counter() - start)
    cells = nltcs.codes.astype(np.int64)
    keys = cells @ 3 ** np.arange(16)
    first = np.argsort(keys)
    start = time.perf_counter()
    values = rival.lattice(keys[first], nltcs.counts[first], 16)
    plain = rival.critical_widths(values, cells[nltcs.counts <= 2], 16)
    naive = time.perf_counter() - start
    print(
        f"\nNLTCS, {len(found):,} margins: plain {naive:.1f} s, found "
        f"{min(ours):.2f} s (at most 2), ratio {naive / min(ours):.1f}"
    )
    assert np.array_equal(found.width, plain[list(found.sets)])
    claim(
        "widths", "All 65,535 critical widths of the disability table", ours=min(ours),
        rival="lattice of all 3^16 sums (numba)", theirs=naive, size="2^16 cells",
        why="Only 3,152 cells are not zero; the lattice holds 43 million sums.",
    )  # fmt: skip
    assert min(ours) <= 2


def test_memory(nltcs):
    script = (
        "from pathlib import Path\n"
        "from discreet.decision.frontier.widths import widths\n"
        "from discreet.table.load import load\n"
        "widths(load('example:nltcs'))\n"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    peak = int(done.stdout) / 1024
    print(f"\nNLTCS, peak memory {peak:,.0f} MiB (under 1,024)")
    assert peak < 1024


def by_definition(table, margin):
    """Definition 1.2 from the sums themselves."""
    small, n = table.small(), table.total
    own = table.margin(margin).lookup(small.project(margin))
    rest = np.stack(
        [table.margin([j]).lookup(small.project([j])) for j in table.names if j not in margin]
    )
    lower = np.maximum(0, own + (rest - n).sum(0))
    return int((np.minimum(own, rest.min(0)) - lower).min())


def test_order_3_of_53_variables(claim):
    rng = np.random.default_rng(53)
    sizes = rng.integers(2, 9, 53)
    codes = [np.minimum(rng.geometric(0.4, RECORDS), size) - 1 for size in sizes]
    variables = [Variable(f"v{p}", tuple(map(str, range(s)))) for p, s in enumerate(sizes)]
    counts = np.ones(RECORDS, np.int64)
    table = Table.from_cells(variables, np.stack(codes, 1).astype(np.uint8), counts)
    widths(table, max_order=1)
    start = time.perf_counter()
    found = widths(table, max_order=3)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"\n53 variables, {len(table):,} cells, {len(found):,} margins up to order 3: "
        f"{seconds:.1f} s, peak memory of this process {peak:,.0f} MiB"
    )
    claim(
        "widths", "Critical widths up to order 3 of 53 variables", ours=seconds,
        size=f"{RECORDS:,} records", why="Nothing dense fits: the rival's lattice would have "
        "10^38 sums.",
    )  # fmt: skip
    assert len(found) == sum(math.comb(53, order) for order in (1, 2, 3))
    for margin in map(found.margin, (found.sets[60], found.sets[-1], *found.worst(3, 3))):
        assert found.of(margin) == by_definition(table, margin)
    assert seconds <= 60 * max(1, RECORDS / 100_000)

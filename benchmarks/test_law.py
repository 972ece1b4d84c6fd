"""The law on 100,000 random cases: as in `tests/laws`, twenty times as many."""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

CASES, SHARE, FIRST = 100_000, 500, 10_000
LAWS = str(Path(__file__).parents[1] / "tests" / "laws")


def violations(first):
    """Of a share of the cases, those that break the law."""
    os.environ["NUMBA_NUM_THREADS"] = "1"  # the processes are as many as the cores
    sys.path.insert(0, LAWS)
    from test_law import hold

    broken = []
    for seed in range(first, first + SHARE):
        try:
            hold(seed)
        except AssertionError as error:
            broken.append(f"seed {seed}: {error}")
    return broken


def test_no_case_in_a_hundred_thousand_breaks_the_law():
    begun, starts = time.monotonic(), range(FIRST, FIRST + CASES, SHARE)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = [broken for part in pool.map(violations, starts) for broken in part]
    seconds = time.monotonic() - begun
    print(f"the law: {CASES:,} cases in {seconds:,.0f} s, {len(found)} violations")
    assert not found, found[:3]

"""How long it takes before anything is done: imports alone, since nothing heavy is among them."""

import subprocess
import sys
import time

import pytest


@pytest.mark.parametrize(
    ("arguments", "limit"), [(["-c", "import discreet"], 0.5), (["-m", "discreet", "--help"], 0.3)]
)
def test_the_start_is_quick(arguments, limit):
    best = min(_seconds(arguments) for _ in range(5))
    print(f"\n{' '.join(arguments)}: {best:.2f} s")
    assert best < limit


def _seconds(arguments):
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - start

"""Times that can be compared: both warmed up, in turns, the best of several."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

PEAK = """
from pathlib import Path
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def best(work: Callable[[], Any], times: int = 5) -> tuple[Any, float]:
    """The answer, and the least seconds of several runs after one that warms up."""
    return side_by_side(work, times=times)[0]


def side_by_side(*works: Callable[[], Any], times: int = 5) -> list[tuple[Any, float]]:
    """The answer and the least seconds of each, run in turns so that neighbours disturb all."""
    answers = [work() for work in works]
    least = [float("inf")] * len(works)
    for _ in range(times):
        for place, work in enumerate(works):
            start = time.perf_counter()
            answers[place] = work()
            least[place] = min(least[place], time.perf_counter() - start)
    return list(zip(answers, least, strict=True))


def peak_memory(code: str) -> float:
    """MiB at the peak of a Python process of its own that runs the code."""
    done = subprocess.run(
        [sys.executable, "-c", code + PEAK], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1]) / 1024

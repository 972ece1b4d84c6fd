"""The law of sheets over thousands of cases; the tests run the first few dozen.

Each case is easy: at most 4,000 tables fit. Many are needed, since what is wrong shows in few of
them: a coding that only another sheet divides, a total that is hidden, a filter.
"""

import importlib.util
import time
from pathlib import Path

import pytest

LAWS = str(Path(__file__).parents[1] / "tests" / "laws")
CASES = {"judged": 3_000, "suppressed": 800, "rounded": 1_500, "part": 300}


def _law():
    """The module of the tests, which is called as this one."""
    spec = importlib.util.spec_from_file_location("sheets_law", f"{LAWS}/test_sheets_law.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CASES)
def test_nothing_unsafe_passes_of_thousands(name):
    law = _law()
    start = time.process_time()
    tally = law.run(name, range(10_000, 10_000 + CASES[name]))
    seconds = time.process_time() - start
    print(f"\n{name}: {CASES[name]:,} cases, {seconds:.0f} s, {tally}")
    if name in law.CEILINGS:
        print(f"safe and not passed: {law.refused(tally):.1%}")
        assert law.refused(tally) < law.CEILINGS[name]
    assert sum(tally.values()) >= CASES[name] // 2

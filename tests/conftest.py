"""What every test shares: reproducible properties, data that do not ship, where time went."""

import os
from collections import Counter

import hypothesis
import pytest

from databases import postgres, spark  # noqa: F401 the fixtures
from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.table.load import load

if "PYTEST_XDIST_WORKER" in os.environ:  # there are as many workers as cores
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
hypothesis.settings.register_profile("discreet", deadline=None, derandomize=True)
hypothesis.settings.load_profile("discreet")
SLOWEST = 40  # files whose seconds are printed


def pytest_configure(config):
    config.addinivalue_line("markers", "nltcs: needs nltcs.csv in the folder DISCREET_DATA")


def pytest_runtest_setup(item):
    if item.get_closest_marker("nltcs"):
        _need_nltcs()


@pytest.fixture(scope="session")
def nltcs():
    """The table of Dobra, Erosheva & Fienberg 2002."""
    _need_nltcs()
    return load("example:nltcs")


def _need_nltcs():
    try:
        return find_example("nltcs").path
    except DataError as error:
        pytest.skip(str(error))


def pytest_terminal_summary(terminalreporter):
    reports = [r for group in terminalreporter.stats.values() for r in group]
    _say_where_time_went(terminalreporter, reports)
    skipped = [
        r for r in terminalreporter.stats.get("skipped", []) if "nltcs.csv" in str(r.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests on the NLTCS did not run: DISCREET_DATA names no folder with "
            "nltcs.csv."
        )


def _say_where_time_went(terminalreporter, reports):
    """Seconds by file, the slowest first; of a few files there is nothing to say."""
    seconds, tests = Counter(), Counter()
    for report in reports:
        if hasattr(report, "duration"):
            file = report.nodeid.partition("::")[0]
            seconds[file] += report.duration
            tests[file] += report.when == "call"
    if len(seconds) < SLOWEST:
        return
    terminalreporter.section(f"seconds by file: {SLOWEST} of {len(seconds)}")
    for file, spent in seconds.most_common(SLOWEST):
        terminalreporter.write_line(f"{spent:8.1f}  {file} ({tests[file]:,} tests)")
    terminalreporter.write_line(f"{sum(seconds.values()):8.1f}  all")

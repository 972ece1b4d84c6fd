"""What every test shares: reproducible properties, and data that do not ship."""

import os

import hypothesis
import pytest

from databases import postgres  # noqa: F401 the fixture
from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.table.load import load

if "PYTEST_XDIST_WORKER" in os.environ:  # there are as many workers as cores
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
hypothesis.settings.register_profile("discreet", deadline=None, derandomize=True)
hypothesis.settings.load_profile("discreet")


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
    skipped = [
        r for r in terminalreporter.stats.get("skipped", []) if "nltcs.csv" in str(r.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests on the NLTCS did not run: DISCREET_DATA names no folder with "
            "nltcs.csv."
        )

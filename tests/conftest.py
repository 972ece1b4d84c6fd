"""What every test shares: reproducible properties, and data that do not ship."""

import os

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

from databases import postgres, spark  # noqa: F401 the fixtures
from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.table.load import load

if "PYTEST_XDIST_WORKER" in os.environ:  # there are as many workers as cores
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
hypothesis.settings.register_profile("discreet", deadline=None, derandomize=True)
hypothesis.settings.load_profile("discreet")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests have no examples in docstrings: looking for some would import each a second time."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


def pytest_configure(config):
    config.addinivalue_line("markers", "nltcs: needs nltcs.csv in the folder DISCREET_DATA")


# Tests that compile most, by what they compile; two workers begin with one group each.
COMPILING = (
    (
        "test_what_pruning_loses_is_said",
        "test_links_are_right_as_often_as_stated",
        "test_chains_against_enumeration",
        "test_chains_that_change_model_against_brute_force",
        "test_a_walk_over_tables_and_keys_agrees_with_draws",
        "test_links_are_right_as_often_as_they_say",
    ),
    (
        "test_the_incremental_bench_agrees_with_the_one_from_scratch",
        "test_the_quick_way_agrees_with_decide",
        "test_a_limited_order_limits_every_table",
        "test_shapes_and_sizes",
        "test_every_small_count_of_a_frontier_keeps_its_width",
        "test_the_prefix_is_what_each_start_by_itself_says",
    ),
)


def pytest_collection_modifyitems(items):
    """What one worker has compiled the other finds; each begins with half of the list."""
    place = {name: group for group, names in enumerate(COMPILING) for name in names}
    groups = [[], [], []]
    for item in items:
        groups[place.get(getattr(item, "originalname", ""), 2)].append(item)
    one, two, rest = groups
    middle = max(0, len(items) // 2 - len(one))
    items[:] = [*one, *rest[:middle], *two, *rest[middle:]]


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

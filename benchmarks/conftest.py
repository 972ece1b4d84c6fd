"""What benchmarks have in common: the survey, and the claims that make the page."""

import pytest
from claims_session import Claiming, Session

from databases import postgres  # noqa: F401 the fixture
from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.table.load import load

SESSION = pytest.StashKey()
MARKERS = (
    "claimed: a row of docs/benchmarks.md, which make page measures",
    "large: takes minutes or many GiB; make page leaves it out without LARGE=1",
)


@pytest.fixture(scope="session")
def nltcs():
    """The table of Dobra, Erosheva & Fienberg 2002."""
    try:
        find_example("nltcs").path  # noqa: B018
    except DataError as error:
        pytest.skip(str(error))
    return load("example:nltcs")


@pytest.fixture
def claim(request):
    """A row of the page: claim(topic, what, ours=..., rival=..., theirs=..., why=...)."""
    large = request.node.get_closest_marker("large") is not None
    return Claiming(request.config.stash[SESSION], request.node.nodeid, large)


def pytest_configure(config):
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    config.stash[SESSION] = Session()


@pytest.hookimpl(tryfirst=True)  # before anything is deselected
def pytest_collection_modifyitems(config, items):
    session = config.stash[SESSION]
    for item in items:
        if "claim" in getattr(item, "fixturenames", ()):
            item.add_marker("claimed")
            session.wanted[item.nodeid] = item.get_closest_marker("large") is not None
    session.collected({item.path for item in items}, any("::" in word for word in config.args))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    session = item.config.stash[SESSION]
    if item.nodeid in session.wanted and (report.when == "call" or not report.passed):
        session.ended(item.nodeid, report.outcome)
    return report


def pytest_terminal_summary(terminalreporter, config):
    """Writes the page, and says where it is and what became slower."""
    written = config.stash[SESSION].write()
    if written is None:
        return
    run, folder = written
    terminalreporter.section("claims")
    for row in run.claims:
        beside = f", {row.rival} {row.theirs:.3g} s: {row.ratio:.3g} times" if row.rival else ""
        terminalreporter.line(f"{row.topic}: {row.what}: {row.ours:.3g} s{beside}")
    for row in run.slower:
        terminalreporter.line(f"SLOWER since {run.compared}: {row}", red=True)
    if run.busy:
        terminalreporter.line(f"the machine was busy: a load of {run.load:g}", yellow=True)
    if run.compared and not run.slower:
        terminalreporter.line(f"nothing became slower by a third since {run.compared}")
    place = folder.relative_to(folder.parent.parent if folder.name == "out" else folder.parent)
    terminalreporter.line(f"written to {place}/benchmarks.md and .json")
    if folder.name == "out":
        terminalreporter.line("docs/benchmarks.md stays: not every claim of it ran")

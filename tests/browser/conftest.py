"""One server for each worker; a browser for each module, which leaves no event loop behind."""

import pytest

from browser.live import Visits, chromium, find_chromium, live_server


@pytest.fixture(scope="session")
def live(tmp_path_factory):
    with live_server(tmp_path_factory.mktemp("live")) as served:
        yield served


@pytest.fixture(scope="module")
def browser():
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium: install it, or say where it is with CHROMIUM")
    with chromium(path) as opened:
        yield opened


@pytest.fixture
def visits(browser, live):
    """Opens pages; after the test, nothing went wrong in any of them."""
    made = Visits(browser, live)
    yield made
    made.close()
    assert not made.wrong

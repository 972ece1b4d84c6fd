"""What benchmarks have in common."""

import pytest

from databases import postgres  # noqa: F401 the fixture
from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.table.load import load


@pytest.fixture(scope="session")
def nltcs():
    """The table of Dobra, Erosheva & Fienberg 2002."""
    try:
        find_example("nltcs").path  # noqa: B018
    except DataError as error:
        pytest.skip(str(error))
    return load("example:nltcs")

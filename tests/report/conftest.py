"""Assessments that the tests of the report look at."""

from itertools import combinations

import numpy as np
import pytest

from discreet.data.examples import find_example
from discreet.decision.law.assess import assess
from discreet.decision.law.policy import Policy
from discreet.table.load import load
from discreet.table.table import Table
from oracle import gap_table

PAIRS = list(combinations("ABCDE", 2))
FRACTIONS = {
    "attribute.check": False, "published.least": 0, "small.width": 1, "bounds.method": "linear",
    "bounds.witness_seconds": 0.0, "alternatives.number": 0,
}  # fmt: skip
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="session")
def tract():
    """A FAIL for small counts, with two alternatives."""
    path = find_example("tract").path
    return assess(load("example:tract"), "Race*Income + Income*Gender", data=path)


@pytest.fixture(scope="session")
def safe():
    """A PASS."""
    return assess(load("example:tract"), "Gender*Income + Race")


@pytest.fixture(scope="session")
def blond():
    """A FAIL for disclosed groups; no small count."""
    return assess(load("example:blond"), "Hair*Income")


@pytest.fixture(scope="session")
def ones():
    """A published table of ones, too many to be listed."""
    table = Table.of(np.ones((12, 10), int), A=list("abcdefghijkl"), B=list("0123456789"))
    changes = {"alternatives.seconds": 0.0, "small.width": 0, "attribute.check": False}
    return assess(table, "A*B", Policy.of(changes))


@pytest.fixture(scope="session")
def fractions():
    """A PASS that rests on tables of fractions; without them it would be a FAIL."""
    return assess(gap_table(), PAIRS, Policy.of(FRACTIONS | {"bounds.proof": "linear"}))


@pytest.fixture(scope="session")
def doubtful():
    """The same where tables of whole numbers are asked for: a REVIEW."""
    return assess(gap_table(), PAIRS, Policy.of(FRACTIONS))


@pytest.fixture(scope="session")
def hostile():
    """Labels that would do harm in a page, a spreadsheet or a terminal; many small counts."""
    counts = np.random.default_rng(5).poisson(1, (4, 3, 9, 3))
    table = Table.of(
        counts,
        **{
            "Region & <b>place</b>": [SCRIPT, 'a"b', "South", "a long name " * 6],
            "=Job": ["=1+1", "@x", "-2"],
            "Age": [f"{5 * i}-{5 * i + 4}" for i in range(9)],
            "Escape": ["\x1b[31mred", "[bold]rich[/bold]", "plain"],
        },
    )
    policy = Policy.of({"alternatives.seconds": 0.0, "closeness.share": 0.5})
    return assess(table, "`Region & <b>place</b>`*`=Job`*Age + `=Job`*Escape", policy)

"""Section 1.5 of the 2002 paper through the command line: three greedy searches of 2^16 cells.

Hard because 1,700 maximal margins of 16 variables are judged together, again and again; some 25
seconds of processor time each.
"""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main

ASKED = ["--method", "greedy", "--proof", "outer", "--set", "bounds.witness_effort=0", "--json"]


def frontier(*more):
    result = CliRunner().invoke(main, ["frontier", "example:nltcs", *ASKED, *more])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("beta", "listed", "released", "tops"),
    [
        (4, 3663, 3663, {"3": 1, "4": 338, "5": 1176, "6": 55}),
        (5, 3366, 3366, {"3": 5, "4": 405, "5": 1110, "6": 17}),
    ],
)
def test_where_the_list_is_cut(nltcs, beta, listed, released, tops):
    """Tables 1.6 to 1.9; of beta 4 the paper prints 1,569 maximal margins, and there are 1,570."""
    found = frontier("--beta", str(beta))
    assert found["listed"] == listed
    assert found["released"] == released
    assert found["frontier_by_order"] == tops
    assert found["min_width"] == beta
    assert len(found["frontier"]) == {4: 1570, 5: 1537}[beta]


@pytest.mark.parametrize("large", [1000, 3853])
def test_large_cells_beside_the_greedy_set(nltcs, large):
    """3,853 all healthy people, or them and 1,107 others, cost no margin of Tables 1.4 and 1.5."""
    found = frontier("--beta", "3", "--large", str(large))
    assert (found["listed"], found["released"], found["min_width"]) == (4011, 4014, 3)
    assert [each["count"] for each in found["large"]["cells"]] == [3853, 1107][: 1 + (large < 2000)]
    assert found["large"]["ceiling"] == large - 1
    assert f"counts of {large:,} or more" in found["basis"]

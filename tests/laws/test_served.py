"""Whatever happens to a server, all that is public keeps the policy, by enumeration."""

import pytest

from anyserver import Server, check

FEW = 12


@pytest.mark.parametrize("part", range(4))
def test_all_that_is_public_keeps_the_policy(part, tmp_path):
    Server.tally.clear()
    check(tmp_path, 1_000 * part, FEW)
    assert Server.tally["data sets"] >= FEW
    assert Server.tally["states checked"] > 5

"""Whatever happens to a server, all that is public keeps the policy, by enumeration."""

import pytest

from anyserver import Server, check


@pytest.mark.parametrize("run", range(2))
def test_all_that_is_public_keeps_the_policy(run, tmp_path):
    Server.tally.clear()
    check(tmp_path, run, 12)
    assert Server.tally["servers"] >= 12
    assert Server.tally["states checked"] > 2

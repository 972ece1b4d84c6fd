"""Whatever happens to a server, all that is public keeps the policy, by enumeration."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from anyserver import Server


@pytest.mark.parametrize("part", range(4))
def test_all_that_is_public_keeps_the_policy(part, tmp_path):
    run_state_machine_as_test(
        lambda: Server(tmp_path),
        settings=settings(
            max_examples=12,
            stateful_step_count=25,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Server.tally["states checked"] > 10

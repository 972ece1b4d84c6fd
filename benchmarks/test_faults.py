"""200 kills and 200 failed statements or commits on each database; 300 servers against a list."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import faults
from anyserver import Server
from server.conftest import *  # noqa: F403

NUMBER, MACHINES = 200, 300


def test_kills(url):
    told = faults.kills(url, NUMBER, 1)
    print(f"\n{url.partition(':')[0]}: {NUMBER} kills, {told} answers told, all of them kept")
    assert told > NUMBER


def test_failures(url):
    table = faults.random_table(np.random.default_rng(2))
    failed, told = faults.failures(url, table, NUMBER, 2)
    print(f"\n{url.partition(':')[0]}: {failed} failures, {told} answers, each as a new process's")
    assert failed == NUMBER


@pytest.mark.parametrize("part", range(6))
def test_all_that_is_public_keeps_the_policy(part, tmp_path):
    run_state_machine_as_test(
        lambda: Server(tmp_path),
        settings=settings(
            max_examples=MACHINES // 6,
            stateful_step_count=30,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"\n{Server.tally}")

"""200 kills and 200 failed statements or commits on each database; 300 servers against a list."""

import numpy as np

import anyserver
import faults
from server.conftest import *  # noqa: F403

NUMBER, DATA_SETS = 200, 300


def test_kills(url):
    told = faults.kills(url, NUMBER, 1)
    print(f"\n{url.partition(':')[0]}: {NUMBER} kills, {told} answers told, all of them kept")
    assert told > NUMBER


def test_failures(url):
    table = faults.random_table(np.random.default_rng(2))
    failed, told = faults.failures(url, table, NUMBER, 2)
    print(f"\n{url.partition(':')[0]}: {failed} failures, {told} answers, each as a new process's")
    assert failed == NUMBER


def test_all_that_is_public_keeps_the_policy(tmp_path):
    servers = anyserver.Server
    for run in range(100, 200):
        if len(servers.different) < DATA_SETS:
            anyserver.check(tmp_path, run, 25)
    print(f"\n{len(servers.different)} data sets: {servers.tally}")
    assert len(servers.different) >= DATA_SETS

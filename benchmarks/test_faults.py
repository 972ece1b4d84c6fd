"""200 kills and 200 failed statements or commits on each database; 300 servers against a list."""

import numpy as np

import anyserver
import faults
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


def test_all_that_is_public_keeps_the_policy(tmp_path):
    anyserver.check(tmp_path, 10_000, MACHINES)
    print(f"\n{anyserver.Server.tally}")
    assert anyserver.Server.tally["data sets"] >= MACHINES

"""Killed or failing at random, a server follows its ledger; 200 of each are in `make bench`."""

import numpy as np
import pytest

import faults


def test_a_killed_server_has_told_nothing_that_is_not_kept(url):
    assert faults.kills(url, 2, seed=1) > 0


@pytest.mark.parametrize("seed", range(2))
def test_after_a_failure_the_next_decision_follows_the_ledger(url, seed):
    failed, _ = faults.failures(url, faults.random_table(np.random.default_rng(seed)), 10, seed)
    assert failed == 10

"""Work on a dask cluster of 1, 2 and 4 workers: identical answers, also with a worker killed.

On two cores two workers are the most that can pay; four show that the answer does not change. The
rival is the same program by itself, in threads that share memory: it has nothing to send.
"""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from test_compare import folder  # noqa: F401 the fixture

import discreet as dc
from discreet.intruder.posterior.chains.chains import chain_posterior

distributed = pytest.importorskip("distributed")
RECORDS = 100_000


def restarts(nltcs):
    """Hard: eight restarts of seconds each, none of which knows of another."""
    return dc.frontiers.decomposable_frontier(
        nltcs, beta=3, restarts=8, effort=0.05, seed=1, weights={7: 1.5}
    ).restarts


def chains(nltcs):
    """Hard: states go back and forth after every judgement."""
    table = nltcs.margin(list(nltcs.names[:8]))
    release = dc.Release.margins(table, " + ".join(f"{a}*{b}" for a, b in pairs(table.names)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = chain_posterior(release, table.small(), effort=0.5, seed=2)
    return found.mass.tolist(), found.effective.tolist()


def pairs(names):
    return [(names[i], names[(i + 1) % len(names)]) for i in range(len(names))]


def margins(_):
    """Easy to divide, and quick: bit maps count a margin of 300,000 cells in microseconds."""
    rng = np.random.default_rng(0)
    codes = {f"v{i}": rng.geometric(0.45, 300_000).clip(max=6) for i in range(24)}
    return dc.widths(dc.load(pd.DataFrame(codes), records=True), max_order=3).width.tolist()


def links(_):
    """Pieces of the file, then beliefs that tie all of them together, which stay here."""
    rng = np.random.default_rng(3)
    age, income = rng.integers(18, 90, RECORDS), rng.lognormal(10, 0.7, RECORDS)
    town = rng.integers(0, 400, RECORDS)
    people = pd.DataFrame({"id": np.arange(RECORDS), "age": age, "income": income, "town": town})
    noisy = people.assign(income=income * rng.lognormal(0, 0.05, RECORDS))
    keys = {
        "town": {"kind": "exact"},
        "age": {"kind": "exact"},
        "income": {"kind": "lognormal", "spread": 0.05},
    }
    intruder = dc.linkage.Intruder.of({"keys": keys})
    records = dc.linkage.read_records(people, noisy, intruder, id="id")
    return dc.linkage.link(records, intruder).perceived.tolist()


def masks(_):
    """Twelve masks of unequal length: the longest one decides."""
    return dc.compare("people.csv", "masks.toml", codebook="people.toml").to_frame().to_dict()


def timed(answer, given):
    begun = time.perf_counter()
    found = answer(given)
    return found, time.perf_counter() - begun


@pytest.mark.parametrize("answer", [restarts, chains, margins, links, masks])
def test_any_number_of_workers(answer, nltcs, folder, claim):  # noqa: F811
    answer(nltcs)  # loops are compiled
    alone, here = timed(answer, nltcs)
    seconds = {}
    for number in (1, 2, 4):
        how = {"n_workers": number, "threads_per_worker": 1, "dashboard_address": None}
        with (
            distributed.LocalCluster(**how) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
            dc.workers(client),
        ):
            found, _ = timed(answer, nltcs)  # and there
            assert found == alone
            found, seconds[number] = timed(answer, nltcs)
            assert found == alone
            if number == 2:
                victim = max(client.run(os.getpid).values())
                killer = threading.Timer(seconds[2] / 3, os.kill, (victim, signal.SIGKILL))
                killer.start()
                found, killed = timed(answer, nltcs)
                killer.join()
                assert found == alone
    print(
        f"\n{answer.__name__}: {here:.1f} s here in threads; "
        + ", ".join(f"{number} workers {took:.1f} s" for number, took in seconds.items())
        + f"; one of two killed: {killed:.1f} s; identical"
    )
    claim(
        "spreading",
        f"{answer.__name__.capitalize()} by two dask workers, identical to the last digit",
        ours=seconds[2],
        rival="the same in threads, without a cluster",
        theirs=here,
        size="2 cores",
        growth=list(seconds.items()),
        why=answer.__doc__.strip(),
    )

"""200 kills and 100 troubles of a real server, half of them on each database; 300 servers
against a list.

Whatever a client was told before is in the ledger and is told again; nothing is public that was
not decided; quotas are charged once; the ledger holds.
"""

import os
import signal
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest
from lives import Clients, Life, Oracle, Starter, computed
from troubles import OfPostgres, OfSqlite, postgres_on_small_disk, small_disk

import anyserver
import faults
from server.conftest import *  # noqa: F403

KILLS, TROUBLES, A_LIFE = 100, 50, 25  # on each database
VINTAGES, BOOK = (8, 20), 14  # turns of a life
RECOVERED = 20  # seconds until it is ready again
NUMBER, DATA_SETS = 200, 300


@pytest.fixture(scope="module")
def starter():
    made = Starter()
    yield made
    made.close()


def change(life, oracle, turn):
    """What the server is started with from this turn on."""
    if turn == VINTAGES[-1]:  # no vintage is opened beside a codebook that nobody has accepted
        for slug in life.changed:
            for _ in range(life.rules["server.approvers"]):
                life.accept_by_command(slug)
        oracle.check()
    life.vintages = 1 + sum(turn >= place for place in VINTAGES)
    if turn == BOOK and len(oracle.entries) == len(life.slugs):  # nor is the codebook changed then
        life.changed = {slug: len(entries) for slug, entries in oracle.entries.items()}
        life.book = "second"
        if life.chance.random() < 0.5:
            slug = life.chance.choice(list(life.changed))
            life.accept_by_command(slug, kill=life.chance.random() < 0.5)
            oracle.check()


def kill_something(life, turn):
    """One of several workers, or all of the server."""
    whole = turn + 1 in (*VINTAGES, BOOK) or life.chance.random() < 0.1
    found = [] if life.workers == 1 or whole else life.worker_pids()
    if not found:
        life.kill()
        return
    chosen = life.chance.choice(found)
    life.spent += computed(chosen)
    os.kill(chosen, signal.SIGKILL)
    time.sleep(life.chance.uniform(0, 0.3))  # the others go on


def live(life, clients, turns):
    """Killed so many times; how many entries there are."""
    oracle = Oracle(life, clients)
    for turn in range(turns):
        if not life.is_up():
            change(life, oracle, turn)
            life.start()
        if turn and life.chance.random() < 0.2:  # while it starts
            clients.begin()
            time.sleep(life.chance.uniform(0, 2))
        else:
            life.until_ready()
            oracle.check_served(10)
            clients.begin()
            clients.until_answered(life.chance.randint(1, 20))
            time.sleep(life.chance.uniform(0, 0.2))
        kill_something(life, turn)
        clients.end()
        oracle.check()
    if not life.is_up():
        life.start()
    life.until_ready()
    oracle.check_served()
    oracle.check_policy()
    life.kill()
    return oracle.size


def test_kills(starter, new_url, tmp_path):
    lives, told, entries = KILLS // A_LIFE, 0, 0
    for number in range(lives):
        url = new_url()
        kind = url.partition(":")[0]
        workers = 1 if kind == "sqlite" else 2
        life = Life(starter, tmp_path / f"life-{number}", url, number, workers)
        with Clients(life) as clients:
            size = live(life, clients, A_LIFE)
        told, entries = told + clients.told, entries + size
        print(
            f"\n{kind}: {dict(clients.statuses)}, {size} entries, {life.spent:.0f} s",
            end="",
            flush=True,
        )
    print(
        f"\n{kind}: {KILLS} kills, {told} answers told, all kept and told again; {entries} entries"
    )
    assert told > KILLS


def suffer(life, clients, troubles, turns):
    """So many troubles, one after the other; after which of them it had to be started again."""
    oracle = Oracle(life, clients)
    again = Counter()
    for turn in range(turns):
        if turn in (*VINTAGES, BOOK):
            life.kill()
        if not life.is_up():
            change(life, oracle, turn)
            life.start(suffers=True)
            life.until_ready()
        kind = troubles.kinds[turn % len(troubles.kinds)]
        clients.begin()
        clients.until_answered()
        time.sleep(life.chance.uniform(0, 0.2))
        with kind():
            time.sleep(life.chance.uniform(0.1, 1))
        try:
            life.until_ready(RECOVERED)
        except AssertionError:
            again[kind.__name__] += 1
            life.kill()
        clients.end()
        oracle.check()
        if kind.__name__ in ("corrupted", "gone"):
            life.kill()
            life.start(suffers=True)
            life.until_ready()
        if life.is_up():
            oracle.check_served(5)
    oracle.check_policy()
    life.kill()
    return again


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_troubles(starter, kind, tmp_path, request):
    for number in range(TROUBLES // A_LIFE):
        folder = tmp_path / f"life-{number}"
        folder.mkdir()
        with ExitStack() as opened:
            if kind == "sqlite":
                disk = opened.enter_context(small_disk(folder / "disk", "8m"))
                url, made = f"sqlite:///{disk or folder}/ledger.db", OfSqlite
            else:
                server = request.getfixturevalue("postgres")
                url, disk = opened.enter_context(postgres_on_small_disk(server, "64m"))
                made = partial(OfPostgres, server=server)
            life = Life(starter, folder, url, 1_000 + number)
            with Clients(life) as clients:
                again = suffer(life, clients, made(life, disk), A_LIFE)
        print(f"\n{kind}: {dict(clients.statuses)}, {life.spent:.0f} s, started again {again}")


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

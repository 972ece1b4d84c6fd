"""A cluster of dask: the same answers for any number of workers, killed or not."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import DataError, DisclosureError
from discreet.spreading import cores, spread, workers
from discreet.spreading.crew import crew

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        memory_limit="2GB",
    ) as cluster:  # fmt: skip
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


def drawn(seed, x):
    rng = np.random.default_rng(seed)
    y = x * rng.random()
    return os.getpid(), cores(), crew().pool is None, (y @ x).sum(1)[:3].tolist()


def broken(number):
    if number in (3, 7):
        raise DataError(f"{number} is wrong; leave it out.")
    return number


def kills_once(number, folder, array):
    mark = Path(folder, f"killed {number}")
    if number == 4 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number + int(array[number])


def noted(number, folder):
    Path(folder, str(number)).touch()
    time.sleep(0.2)
    return number


def test_the_same_answers_as_here(client):
    x = np.random.default_rng(0).random((300, 300))
    here = [row[-1] for row in spread(drawn, range(8), given=(x,))]
    with workers(client):
        found = list(spread(drawn, range(8), given=(x,)))
    assert [row[-1] for row in found] == here
    assert len({row[0] for row in found} - {os.getpid()}) == 2
    assert {row[1:3] for row in found} == {(1, True)}


def test_by_address(cluster):
    with workers(cluster.scheduler_address):
        assert list(spread(abs, range(-3, 3), threads=True)) == [3, 2, 1, 0, 1, 2]


def test_killed_workers_change_nothing_but_the_time(client, tmp_path):
    with workers(client):
        found = list(spread(kills_once, range(12), given=(tmp_path, np.arange(12))))
    assert found == [2 * number for number in range(12)]
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_raised_is_raised_in_its_turn(client):
    with workers(client):
        results = iter(spread(broken, range(12)))
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(DataError, match=r"^3 is wrong; leave it out\.$"):
            next(results)


def test_what_is_abandoned_is_not_begun(client, tmp_path):
    with workers(client):
        results = iter(spread(noted, range(50), given=(tmp_path,)))
        assert next(results) == 0
        results.close()
    assert len(list(tmp_path.iterdir())) < 50
    assert not client.futures


def test_a_task_larger_than_every_worker_is_refused(client):
    with workers(client):
        assert list(spread(abs, [1, -2], memory=1_000_000)) == [1, 2]
        with pytest.raises(DisclosureError, match=r"^a task needs 3\.0 GB, and no worker of the "):
            list(spread(abs, [1, -2], memory=3_000_000_000))


def test_large_items_go_past_the_scheduler(client):
    arrays = [np.full(200_000, number) for number in range(3)]
    with workers(client):
        assert list(spread(np.sum, arrays)) == [0, 200_000, 400_000]


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr("discreet.spreading.cluster.PATIENCE", 0.3)
    said = r"^no dask scheduler answers at tcp://127\.0\.0\.1:9; start one"
    with pytest.raises(DisclosureError, match=said), workers("tcp://127.0.0.1:9"):
        pass


def stuck(number):
    return (number for _ in range(2))


def test_what_cannot_travel_is_said(client):
    with workers(client), pytest.raises(TypeError, match="cannot pickle"):
        list(spread(stuck, range(2)))

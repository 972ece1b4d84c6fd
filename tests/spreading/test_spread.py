"""Work that is spread: in order, the same for everybody, and over when it is over."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import DataError, DisclosureError, WorkersLost, WrongKind
from discreet.look.progress import track
from discreet.spreading import cores, in_threads, spread, workers
from discreet.spreading.crew import Crew, _crew, crew
from discreet.spreading.memory import fit, in_bytes
from discreet.spreading.pool import Pool
from discreet.spreading.processes import SHARED_MEMORY

NUMBERS = list(range(12))


def drawn(seed, *given):
    """Sums of BLAS and of numpy, and a generator of its own."""
    rng = np.random.default_rng([seed, 7])
    x = rng.random((300, 300)) if not given else given[0] * rng.random()
    return (x @ x.T).sum(1)[:5].tolist(), float(np.linalg.slogdet(x)[1])


def square(number):
    return number * number


def broken(number):
    if number in (3, 7):
        raise DataError(f"{number} is wrong; leave it out.")
    return number


def wrong_kind(number):
    raise WrongKind(lambda say: f"say {say('count', number)}.")


def where(number):
    return os.getpid(), cores(), crew().pool is None, len(list(spread(square, range(3))))


def threads_there(_):
    return cores()


def kills_once(number, folder):
    """The first to come to 4 dies of it."""
    mark = Path(folder, "killed")
    if number == 4 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def kills_always(number, here):
    if number == 2 and os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def address_of(number, array):
    return array[number], array.flags.writeable, type(array), array.flags.owndata


def slow(number):
    time.sleep(0.01 if number else 60)
    return number


@pytest.fixture(scope="module")
def kept():
    """Starting processes takes half a second each."""
    pool = Pool()
    yield pool
    pool.close()


@pytest.fixture
def two_processes(kept):
    token = _crew.set(Crew(2, pool=kept))
    yield
    _crew.reset(token)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_threads_give_the_same_to_the_last_digit(number):
    alone = list(spread(drawn, NUMBERS))
    with workers(number):
        assert list(spread(drawn, NUMBERS, threads=True)) == alone


@pytest.mark.usefixtures("two_processes")
def test_processes_give_the_same_to_the_last_digit():
    x = np.random.default_rng(1).random((260, 260))
    for given in ((), (x,)):
        found = list(spread(drawn, NUMBERS, given=given))
        with workers(1):
            assert list(spread(drawn, NUMBERS, given=given)) == found


def test_nobody_asked_for_means_no_process():
    assert {pid for pid, *_ in spread(where, NUMBERS)} == {os.getpid()}


@pytest.mark.usefixtures("two_processes")
def test_processes_work_apart_and_spread_no_further():
    found = list(spread(where, NUMBERS))
    assert os.getpid() not in {pid for pid, *_ in found}
    assert {tuple(rest) for _, *rest in found} == {(1, True, 3)}


def test_few_items_share_the_cores_among_them():
    with workers(8):
        assert cores() == 8
        assert list(spread(threads_there, range(3), threads=True)) == [2, 2, 2]


def raised_in_turn(**how):
    one_by_one = iter(spread(broken, NUMBERS, **how))
    assert [next(one_by_one) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(DataError, match=r"^3 is wrong; leave it out\.$"):
        next(one_by_one)
    assert next(one_by_one, None) is None


@pytest.mark.parametrize("number", [1, 3])
def test_what_is_raised_is_raised_in_its_turn(number):
    with workers(number):
        raised_in_turn(threads=True)


@pytest.mark.usefixtures("two_processes")
def test_what_a_process_raises_is_raised_in_its_turn():
    raised_in_turn()
    with pytest.raises(DisclosureError, match=r"^say count=0\.$"):  # it cannot travel
        list(spread(wrong_kind, range(2)))


def test_a_killed_process_changes_nothing_but_the_time(tmp_path):
    with workers(2):
        found = list(spread(kills_once, NUMBERS, given=(tmp_path,)))
    assert [number for number, _ in found] == NUMBERS
    assert os.getpid() not in {pid for _, pid in found}


def test_work_that_kills_whoever_takes_it_is_done_here_and_told(monkeypatch):
    monkeypatch.setattr("discreet.spreading.work.LOSSES", 1)
    with workers(2), pytest.warns(WorkersLost, match="lost 1 times over; what is left"):
        found = list(spread(kills_always, range(5), given=(os.getpid(),)))
    assert found == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("two_processes")
def test_what_is_given_lies_in_memory_once_and_as_arrays_do():
    array = np.arange(100_000)
    before = set(SHARED_MEMORY.glob("discreet-*")) if SHARED_MEMORY.is_dir() else set()
    found = list(spread(address_of, [5, 99_999], given=(array,)))
    assert [value for value, *_ in found] == [5, 99_999]
    assert {tuple(kind) for _, *kind in found} == {(True, np.ndarray, False)}
    assert not SHARED_MEMORY.is_dir() or set(SHARED_MEMORY.glob("discreet-*")) == before


def children():
    path = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    found = path.read_text().split()
    return {one for one in found if b"popen_loky" in Path(f"/proc/{one}/cmdline").read_bytes()}


def test_an_abandoned_iterator_leaves_no_worker_behind():
    before = children()
    with workers(2):
        results = iter(spread(slow, [1, 0, 0, 0]))
        assert next(results) == 1
        assert len(children() - before) == 2
        results.close()
        assert children() == before
        list(spread(square, range(4)))
        assert len(children() - before) == 2  # kept for the next work
    assert children() == before


def test_progress_counts_what_is_done():
    found = spread(square, range(4))
    assert (len(found), repr(found)) == (4, "Spread(4 items)")
    assert list(track(found, "squares")) == [0, 1, 4, 9]


def test_memory_limits_how_many_run_at_once(monkeypatch):
    with workers(4, memory="10 GiB"):
        assert crew().memory == 10 << 30
        # two at a time, of four cores
        assert set(spread(threads_there, range(8), threads=True, memory=4 << 30)) == {2}
        assert set(spread(threads_there, range(8), threads=True, memory=9 << 30)) == {4}
    monkeypatch.setenv("DISCREET_MEMORY", "1 TB")
    assert crew().memory == 10**12
    assert fit(4, 1 << 60, None) == 1


def test_the_environment_says_who_works(monkeypatch):
    monkeypatch.setenv("DISCREET_WORKERS", "3")
    assert (cores(), crew().pool is None) == (3, False)
    with workers(2):
        assert cores() == 2
    monkeypatch.setenv("DISCREET_WORKERS", "nobody")
    with pytest.raises(DisclosureError, match=r"^DISCREET_WORKERS is 'nobody'; give a number"):
        cores()


@pytest.mark.parametrize("who", [0, -1, "0", True, 1.5, "many", object(), None])
def test_wrong_workers_are_refused(who):
    with (
        pytest.raises(DisclosureError, match=r"^workers is .*; give a number from 1 on, or "),
        workers(who),
    ):
        pass


@pytest.mark.parametrize("memory", ["much", "0", "-3 GB", "3 XB", "1.2.3"])
def test_wrong_memory_is_refused(memory):
    with pytest.raises(DisclosureError, match=r"^memory is .*; give bytes"):
        in_bytes(memory, "memory")


def test_shared_memory_is_changed_where_it_lies():
    rows = [np.zeros(3) for _ in range(5)]
    with workers(2):
        in_threads(lambda row: row.__iadd__(1), rows)
    assert np.array(rows).sum() == 15

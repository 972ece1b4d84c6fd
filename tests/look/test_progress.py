"""Progress: only on a terminal, only after two seconds, and it leaves nothing behind."""

import io
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from discreet.look.progress import CLEAR, Compiling, Progress, track, working


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    terminal = Terminal()
    # in the module alone: pytest puts its own stream into sys before each test
    monkeypatch.setitem(track.__globals__, "sys", SimpleNamespace(stderr=terminal))
    return terminal


@pytest.fixture
def impatient(monkeypatch):
    # by its functions: collecting doctests may leave a second copy of the module
    monkeypatch.setitem(track.__globals__, "PATIENCE", 0.0)
    monkeypatch.setitem(track.__globals__, "EVERY", 0.001)


def slowly(items):
    for item in track(items, "cells"):
        time.sleep(0.003)
        yield item


def test_all_items_come_in_order(terminal):
    assert list(track(range(5), "cells")) == [0, 1, 2, 3, 4]
    assert list(track([], "cells")) == []


def test_quick_work_says_nothing(terminal):
    list(track(range(5), "cells"))
    with working("reading"):
        pass
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("impatient")
def test_long_work_says_how_far_it_is(terminal):
    assert list(slowly(range(1000, 1010))) == list(range(1000, 1010))
    assert re.search(r"cells: \d of 10 \(\d0%\), about 0 s left", terminal.getvalue())
    assert terminal.getvalue().endswith(CLEAR)


@pytest.mark.usefixtures("impatient")
def test_work_that_cannot_say_how_far_it_is(terminal):
    with working("reading"):
        time.sleep(0.05)
    assert "reading: 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith(CLEAR)


@pytest.mark.usefixtures("impatient")
def test_a_failure_leaves_a_clean_line(terminal):
    def fail():
        with working("reading"):
            time.sleep(0.05)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert terminal.getvalue().endswith(CLEAR)


@pytest.mark.usefixtures("impatient")
def test_nothing_without_a_terminal(capsys):
    list(slowly(range(5)))
    with working("reading"):
        time.sleep(0.01)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("impatient")
def test_work_within_work_is_one_line(terminal):
    with working("assessing"), Progress("cells", 4) as cells:
        cells.step(2)
        time.sleep(0.05)
    assert "assessing: cells: 2 of 4 (50%), about 0 s left" in terminal.getvalue()
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().endswith(CLEAR)


@pytest.mark.usefixtures("impatient")
def test_the_innermost_that_knows_is_shown(terminal):
    with working("assessing"), Progress("cells", 4), working("solving"):
        time.sleep(0.05)
    assert "cells: 0 of 4" in terminal.getvalue()
    assert "solving" not in terminal.getvalue()


@pytest.mark.usefixtures("impatient")
def test_compiling_is_said_and_counted(terminal, monkeypatch):
    ear = Compiling()
    monkeypatch.setitem(track.__globals__, "compiling", ear)
    own, other = (
        SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=f)})
        for f in (test_all_items_come_in_order, time.sleep)
    )
    own.data["dispatcher"].py_func = SimpleNamespace(__module__="discreet._kernels.walks")
    with working("bounding"):
        ear._start()
        ear._start()
        time.sleep(0.05)
        ear._end(other)
        assert ear.since is not None
        ear._end(own)
    assert ear.since is None
    assert ear.built == 1
    assert "bounding: compiling, once: 0 s" in terminal.getvalue()


def test_compiling_is_heard_from_numba_itself():
    """And numba is not imported for it."""
    program = (
        "import sys\n"
        "from discreet.look.progress import compiling\n"
        "compiling.listen()\n"
        "assert 'numba' not in sys.modules\n"
        "import numba\n"
        "compiling.listen()\n"
        "one = numba.njit(lambda x: x + 1)\n"
        "one.py_func.__module__ = 'discreet.one'\n"
        "assert one(1) == 2 and compiling.built == 1 and compiling.since is None\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.2, "3 s left"), (600, "10 min left"), (9000, "2.5 h left")]
)
def test_time_left_in_words(seconds, words):
    progress = Progress("cells", 2)
    progress.begun -= seconds
    progress.step()
    assert progress.line().endswith(words)

"""Progress: only on a terminal, only after two seconds, and it leaves nothing behind."""

import io
import time
from types import SimpleNamespace

import pytest

from discreet.look.progress import CLEAR, track, working


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
    assert " of 10, about 0 s left" in terminal.getvalue()
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

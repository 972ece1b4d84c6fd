"""Ctrl-C ends a command soon, also while compiled code runs or a compiler swallows it."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, NoReturn

from discreet.data.files import remove_unfinished

CODE = 130
GRACE = 0.7  # seconds to end by KeyboardInterrupt

_heard, _calm, _said = Event(), Event(), Event()


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt; what does not end by it within `GRACE` is ended.

    The main thread sees a signal only between two lines of Python. So another thread waits for it:
    the handler of the interpreter, which runs at once, writes to a socket.
    """
    try:
        ear, mouth = socket.socketpair()
        mouth.setblocking(False)
        signal.signal(signal.SIGINT, _interrupt)
        signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
        sys.unraisablehook = _quiet(sys.unraisablehook)
        Thread(target=_watch, args=(ear,), daemon=True).start()
        yield
    except KeyboardInterrupt:
        _end()
    except SystemExit as ended:
        if ended.code == CODE:
            _end()  # no waiting for threads that still work
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer is out


def interrupted() -> bool:
    """Was there a Ctrl-C, whatever became of it on its way?"""
    return _heard.is_set()


def calm() -> None:
    """From now on the command ends by itself: a server finishes what is under way."""
    _calm.set()


def say_interrupted() -> None:
    """Once, whoever comes first."""
    if not _said.is_set():
        _said.set()
        print("discreet: interrupted; nothing was written.", file=sys.stderr, flush=True)


def _interrupt(*_: object) -> None:
    _heard.set()
    raise KeyboardInterrupt


def _watch(ear: socket.socket) -> None:
    while numbers := ear.recv(64):
        if signal.SIGINT in numbers and not _calm.wait(GRACE):
            _end()


def _end() -> NoReturn:
    remove_unfinished()
    say_interrupted()
    os._exit(CODE)


def _quiet(shown: Any) -> Any:
    def hook(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            shown(lost)

    return hook

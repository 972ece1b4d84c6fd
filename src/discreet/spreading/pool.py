"""Processes of this machine, by joblib's loky: how they begin, and how they end."""

from __future__ import annotations

import os
import signal
import warnings
from threading import Thread
from time import sleep
from typing import Any

from discreet.spreading.blas import ONE_THREAD

LOOKS = 1.0  # seconds between two looks whether there still is somebody to work for
SERIAL = ".*joblib will operate in serial mode"
RENEWED = "A worker stopped while some jobs were given to the executor"  # it grew, and is replaced


class Pool:
    """Processes that are kept for the next work, as long as somebody wants workers."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, Any]] = []

    def take(self, number: int) -> Any:
        """At least so many, for one taker alone."""
        try:
            had, executor = self._kept.pop()
        except IndexError:
            return _started(number)
        if had >= number:
            return executor
        ended(executor)
        return _started(number)

    def give_back(self, executor: Any, number: int) -> None:
        self._kept.append((number, executor))
        while len(self._kept) > 1:
            ended(self._kept.pop(0)[1])

    def close(self) -> None:
        while self._kept:
            ended(self._kept.pop()[1])


def _started(number: int) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", SERIAL)  # what raises below says it
        from joblib.externals.loky.process_executor import ProcessPoolExecutor
    warnings.filterwarnings("ignore", RENEWED, UserWarning)
    return ProcessPoolExecutor(number, initializer=_begin, initargs=(os.getpid(),), env=ONE_THREAD)


def ended(executor: Any) -> None:
    executor.shutdown(wait=True, kill_workers=True)


def _begin(parent: int) -> None:
    """Ctrl-C is for the one who sent the work; without that one there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        sleep(LOOKS)
    os._exit(1)

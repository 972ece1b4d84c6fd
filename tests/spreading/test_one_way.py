"""Every parallel loop of the program goes through `discreet.spreading`."""

import ast
from pathlib import Path

import pytest

import discreet

PACKAGE = Path(discreet.__file__).parent
WAITING = {"look/progress.py", "cli/interrupts.py"}  # threads that wait, and do no work
SCHEDULERS = ("concurrent", "joblib", "multiprocessing", "dask", "distributed", "asyncio")
STARTING = ("Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "fork")
OTHERS = ("spreading", "server")  # which has a pool of requests that wait
SOURCES = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in OTHERS
)


def starters(text):
    """What a source imports or calls that could run work side by side."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            called = node.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            names = [f"threading.{name}"] if name in STARTING else []
        else:
            continue
        for name in names:
            first, _, last = name.partition(".")
            if first in SCHEDULERS or (first in ("threading", "_thread") and last in STARTING):
                yield name


def test_nothing_else_starts_workers():
    found = {
        source: [*starters((PACKAGE / source).read_text(encoding="utf-8"))]
        for source in SOURCES
        if source not in WAITING
    }
    assert not {source: names for source, names in found.items() if names}


@pytest.mark.parametrize(
    "text",
    [
        "from concurrent.futures import ThreadPoolExecutor",
        "import joblib",
        "def f():\n    from multiprocessing import Pool",
        "import dask.distributed",
        "import threading\nthreading.Thread(target=print).start()",
        "from threading import Thread",
        "import os\nos.fork()",
    ],
)
def test_what_would_start_workers_is_seen(text):
    assert list(starters(text))


def test_locks_are_no_workers():
    assert not list(starters("from threading import Lock\nLock()"))

"""Work for processes of this machine; what is large lies in memory once for all."""

from __future__ import annotations

import mmap
import pickle
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.spreading.pool import Pool, ended
from discreet.spreading.task import Lost, done_away, packed

SHARED_MEMORY = Path("/dev/shm")  # what is confidential never reaches a disk


class Processes:
    """So many, each with `own` cores. A lost one loses what it had begun, which is sent again."""

    lost: Lost = (BrokenProcessPool,)

    def __init__(
        self, work: Callable[..., Any], given: tuple[Any, ...], number: int, own: int, pool: Pool
    ) -> None:
        self._work, self._own, self._pool = work, own, pool
        self._number = self.ahead = number
        self._sent: list[Future[bytes]] = []
        self._well = True
        self._folder = _folder(given)
        self._executor = pool.take(number)

    def send(self, item: Any) -> Future[bytes]:
        task = packed((self._work, item))
        try:
            sent: Future[bytes] = self._executor.submit(_done, task, self._folder, self._own)
        except self.lost:
            self._well = False
            raise
        self._sent = [sent, *(one for one in self._sent if not one.done())]
        return sent

    def alive(self) -> bool:
        return True  # or the executor says it is broken

    def close(self) -> None:
        """Whatever still runs is ended, and who has nothing to do stays for the next work."""
        try:
            if self._well and all(one.done() and _is_well(one) for one in self._sent):
                self._pool.give_back(self._executor, self._number)
            else:
                ended(self._executor)
        finally:
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)


def _is_well(future: Future[bytes]) -> bool:
    return not future.cancelled() and future.exception() is None


def _done(task: bytes, folder: str | None, own: int) -> bytes:
    return done_away(task, _mapped(folder) if folder else (), own)


def _folder(given: tuple[Any, ...]) -> str | None:
    """Where `given` lies: its arrays one after the other in a file, the rest in another."""
    if not given:
        return None
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    buffers: list[pickle.PickleBuffer] = []
    rest = dumps(given, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    size = len(rest) + sum(view.nbytes for view in views)
    folder = tempfile.mkdtemp(prefix="discreet-", dir=_room(size))
    sizes = [view.nbytes for view in views]
    Path(folder, "rest").write_bytes(pickle.dumps((rest, sizes)))
    with Path(folder, "arrays").open("wb") as file:
        for start, view in zip(_starts(sizes), views, strict=True):
            file.seek(start)
            file.write(view)
        file.truncate(max(_end(sizes), 1))
    return folder


def _room(size: int) -> Path | None:
    """Memory where there is twice the room, else wherever temporary files go."""
    if SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > 2 * size:
        return SHARED_MEMORY
    return None


def _starts(sizes: Sequence[int]) -> list[int]:
    """At multiples of 64, as numpy would have them."""
    starts = [0]
    for size in sizes:
        starts.append(-(-(starts[-1] + size) // 64) * 64)
    return starts[:-1]


def _end(sizes: Sequence[int]) -> int:
    return _starts([*sizes, 0])[-1]


@lru_cache(maxsize=1)
def _mapped(folder: str) -> tuple[Any, ...]:
    """Pages are shared by all workers; who writes gets a copy of the page."""
    rest, sizes = pickle.loads(Path(folder, "rest").read_bytes())
    with Path(folder, "arrays").open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    spans = zip(_starts(sizes), sizes, strict=True)
    return tuple(pickle.loads(rest, buffers=[whole[at : at + size] for at, size in spans]))

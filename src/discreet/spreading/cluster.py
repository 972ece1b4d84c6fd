"""Workers of a dask cluster, and what can go wrong between here and there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import Any

from discreet.errors import DisclosureError
from discreet.spreading.memory import fit
from discreet.spreading.task import Lost, done_away, packed, program

PATIENCE = 15  # seconds for a scheduler to answer, and for its first worker
AHEAD = 1_000  # tasks that the scheduler holds at most
LARGE = 1 << 20  # bytes of an item that go to a worker, past the scheduler
MISSING = "a cluster needs dask; install it with pip install 'discreet[cluster]'."


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise DisclosureError(MISSING) from error
    opened: Callable[..., Any] = Client
    try:
        client = opened(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise DisclosureError(
            f"no dask scheduler answers at {address}; start one with `dask scheduler`, or name "
            "another."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise DisclosureError(
                f"the scheduler at {address} has no workers; start some with `dask worker "
                f"{address}`."
            ) from error
        check_program(client, address)
        yield client


def check_program(client: Any, name: str) -> None:
    """Another program may give another answer."""
    here = program()
    try:
        others = client.run(program)
    except ModuleNotFoundError as error:
        raise DisclosureError(
            f"the workers of {name} have no {error.name}; install discreet {here['discreet']} "
            "there."
        ) from error
    for worker, there in others.items():
        for package, own in here.items():
            if there[package] != own:
                raise DisclosureError(
                    f"the worker {worker} has {package} {there[package]} and this is {own}; "
                    "install the same versions, or the answers may differ."
                )


class Cluster:
    """Dask sends again what a lost worker had begun, unless it lost too many, or what was given."""

    def __init__(
        self, work: Callable[..., Any], given: tuple[Any, ...], client: Any, memory: int | None
    ) -> None:
        from distributed import KilledWorker
        from distributed.client import ClosedClientError

        self._client, self._work = client, work
        self.lost: Lost = (CancelledError, KilledWorker, ClosedClientError, OSError)
        try:
            able, self.ahead = _able(client, memory)
            self._executor = client.get_executor(pure=False, workers=able)
            self._given = _handed_over(client, given)
        except self.lost as error:
            raise ConnectionError(f"the cluster is gone: {error}") from error

    def send(self, item: Any) -> Future[bytes]:
        task: Any = packed((self._work, item))
        if len(task) > LARGE:
            task = _handed_over(self._client, task, everywhere=False)
        sent: Future[bytes] = self._executor.submit(done_away, task, self._given, 1)
        return sent

    def alive(self) -> bool:
        with suppress(*self.lost):
            return bool(self._client.nthreads())
        return False

    def close(self) -> None:
        """What has not begun is taken back; what runs there ends with its item, for nobody."""
        with suppress(*self.lost):
            self._executor.shutdown(wait=False)
            self._client.cancel([self._given])


def _handed_over(client: Any, given: Any, *, everywhere: bool = True) -> Any:
    """Once to each worker, which hands it on where one is lost."""
    (future,) = client.scatter([given], broadcast=everywhere, hash=False)
    return future


def _able(client: Any, memory: int | None) -> tuple[list[str] | None, int]:
    """Workers that a task of so many bytes fits into, and how many do in all."""
    if memory is None:
        return None, AHEAD
    threads = client.nthreads()
    limits = {name: found["memory_limit"] for name, found in _workers(client).items()}
    able = [name for name in threads if not limits.get(name) or limits[name] >= memory]
    if not able:
        most = max(limits.values(), default=0)
        raise DisclosureError(
            f"a task needs {memory / 1e9:,.1f} GB, and no worker of the cluster has more than "
            f"{most / 1e9:,.1f} GB; start larger ones with `dask worker --memory-limit`."
        )
    room = sum(fit(threads[name], memory, limits.get(name) or None) for name in able)
    return able, room


def _workers(client: Any) -> dict[str, Any]:
    try:
        found = client.scheduler_info(n_workers=-1)
    except TypeError:  # before it left most of them out
        found = client.scheduler_info()
    return dict(found["workers"])

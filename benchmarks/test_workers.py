"""Two workers on PostgreSQL: they count together, and neither serves what one withdrew."""

import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
from served import Served, ask
from sqlalchemy import select

from discreet.server.ledger.database import open_database
from discreet.server.ledger.schema import Meter
from discreet.server.people.accounts import Accounts

CZECH = "/api/v1/datasets/czech"
SEEN = re.compile(
    r'^discreet_http_responses_total\{route="(.*)/frontier",status="200"\} (.*)$', re.M
)
CLIENTS, LOGINS = 16, 5


def seen(server):
    """How often the frontier was asked for, as one of the workers says."""
    found = SEEN.search(httpx.get(f"{server.url}/metrics", timeout=30).text)
    return float(found[2]) if found else 0.0


def counting(database):
    """The workers that answered for the frontier."""
    with database.read() as session:
        rows = session.scalars(select(Meter).where(Meter.labels.contains("/frontier"))).all()
        return {row.worker for row in rows if row.value}


def children(pid):
    """The worker processes of a server: those with the largest memory."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    sizes = {int(one): int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in found}
    return [one for one, size in sizes.items() if size * 4 > 2 * max(sizes.values())]


def eventually(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_two_workers_are_one_server(postgres):
    rules = ("--set", "server.rule=myopic", "--set", "server.slot=0")
    shared = {"DISCREET_LOGINS_PER_MINUTE": str(LOGINS), "DISCREET_SHARED": "database"}
    with ExitStack() as open_:
        server = open_.enter_context(
            Served("example:czech", *rules, database=postgres, workers=2, env=shared)
        )
        clients = [
            open_.enter_context(httpx.Client(base_url=server.url, timeout=60))
            for _ in range(CLIENTS)
        ]
        database = open_database(postgres)
        open_.callback(database.close)
        accounts = Accounts(database)
        key = accounts.make_key(accounts.create("maria", "custodian").id, "bench")
        threads = open_.enter_context(ThreadPoolExecutor(CLIENTS))

        wrong = {"name": "nobody", "password": "not a password"}
        answers = threads.map(
            lambda n: clients[n % CLIENTS].post("/api/v1/login", json=wrong).status_code, range(40)
        )
        assert sorted(answers) == [401] * LOGINS + [429] * (40 - LOGINS)

        before = seen(server)
        list(threads.map(lambda client: client.get(f"{CZECH}/frontier"), clients * 5))
        eventually(lambda: seen(server) == before + 5 * CLIENTS)
        assert len(counting(database)) == 2  # both were asked

        assert ask(clients[0], "czech", "AB")["outcome"] == "granted"
        table = f"{CZECH}/tables/A*B"
        eventually(lambda: {client.get(table).status_code for client in clients} == {200})
        gone = clients[0].post(
            f"{table}/withdraw",
            json={"reason": "wrong"},
            headers={"Authorization": f"Bearer {key}"},
        )
        assert gone.status_code == 200, gone.text
        time.sleep(1)
        assert {client.get(table).status_code for client in clients} == {410}

        workers = children(server.process.pid)
        assert len(workers) == 2
        eventually(lambda: seen(server) == before + 5 * CLIENTS)
        os.kill(workers[0], signal.SIGKILL)
        eventually(lambda: len(set(children(server.process.pid)) - {workers[0]}) == 2, 120)
        eventually(lambda: httpx.get(f"{server.url}/readyz").status_code == 200, 120)
        for _ in range(10):
            assert seen(server) == before + 5 * CLIENTS  # what the dead one counted stays
        print(
            f"\n2 workers: {LOGINS} of 40 logins at once let in, {5 * CLIENTS} requests in every "
            "scrape, a withdrawal seen by both within a second, no counter fell when one was killed"
        )

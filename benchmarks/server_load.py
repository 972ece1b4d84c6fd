"""The table server under load: published tables by wrk, 100 waiting decisions, 10,000 decisions.

    python benchmarks/server_load.py tables waiting shared memory [--source SRC]

256 cells, seeded, default policy with the myopic rule, SQLite, one worker; `large` asks 10,000
times about the 2^16 cells of the NLTCS. `--source` serves
another checkout's `src`, to compare. The server, the client and whoever else shares the machine
share its cores: each figure is the best of three, with the load average beside it.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from served import Served, ask

from discreet.table.table import Table

NAMES = "ABCDEFGH"
API = "/api/v1/datasets/eight"
SECONDS, ROUNDS, CONNECTIONS = 5, 3, 32
WAITING, PROBES = 100, ("/readyz", f"{API}/tables/A", "/d/eight/t/A", "/")
DECISIONS, EVERY = 10_000, 1_000


def write_data(folder):
    rng = np.random.default_rng(256)
    counts = rng.multinomial(40_000, rng.dirichlet(np.full(256, 0.9))).reshape((2,) * 8)
    path = Path(folder) / "eight.csv"
    Table.of(counts, **{name: ["no", "yes"] for name in NAMES}).write(path)
    return path


def serve(folder, source, *more, data=None):
    given = (data,) if data else (str(write_data(folder)), "--count", "count")
    env = {"PYTHONPATH": source} if source else {}
    return Served(
        *given, "--slug", "eight", "--set", "server.rule=myopic", *more,
        database=f"sqlite:///{folder}/served.db", env=env,
    )  # fmt: skip


def load():
    return f"load average {os.getloadavg()[0]:.1f}"


# Published tables


def wrk(server, path, headers):
    """Requests a second, the server's CPU milliseconds for each, and 99% of the times."""
    sent = [word for key, value in headers.items() for word in ("-H", f"{key}: {value}")]
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", *sent]
    before = cpu(server.process.pid)
    said = subprocess.run(
        [*command, server.url + path], check=True, capture_output=True, text=True
    ).stdout
    used = cpu(server.process.pid) - before
    assert "Non-2xx" not in said, said
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    number = int(re.search(r"(\d+) requests in", said)[1])
    return rate, 1000 * used / number, re.search(r"\s99%\s+([\d.]+\w+)", said)[1]


def cpu(pid):
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


async def by_python(url, headers, number=2_000):
    """Requests a second, by a client in Python."""
    limits = httpx.Limits(max_connections=CONNECTIONS)
    async with httpx.AsyncClient(limits=limits, timeout=60, headers=headers) as client:
        left = iter(range(number))

        async def one():
            for _ in left:
                assert (await client.get(url)).status_code in (200, 304)

        begun = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
        return number / (time.perf_counter() - begun)


def tables(server):
    """A table that is out: whole, compressed, and 304."""
    with httpx.Client(base_url=server.url, timeout=120) as client:
        margin = next(
            "*".join(names)
            for names in ("ABCD", "ABC", "AB", "A")
            if ask(client, "eight", names)["outcome"] == "granted"
        )
        address = f"{API}/tables/{margin}"
        plain = client.get(address, headers={"Accept-Encoding": "identity"})
        assert plain.status_code == 200
        tag = plain.headers["etag"]
        cases = {
            "200": (address, {"Accept-Encoding": "identity"}),
            "200 gzip": (address, {"Accept-Encoding": "gzip"}),
            "304": (address, {"If-None-Match": tag, "Accept-Encoding": "identity"}),
            "200 csv": (f"{address}?format=csv", {"Accept-Encoding": "identity"}),
            "page": (f"/d/eight/t/{margin}", {"Accept": "text/html"}),
        }
        for name, (path, headers) in cases.items():
            got = client.get(path, headers=headers)
            assert got.status_code == (304 if name == "304" else 200)
            best, spent, late = max(wrk(server, path, headers) for _ in range(ROUNDS))
            rate = max(asyncio.run(by_python(server.url + path, headers)) for _ in range(ROUNDS))
            print(
                f"{margin} {name}, {got.headers.get('content-length', 0)} bytes: wrk {best:,.0f} "
                f"a second, {spent:.2f} ms of a core each, 99% within {late}; Python's client "
                f"{rate:,.0f} a second; {load()}",
                flush=True,
            )


# Waiting decisions


async def crowd(server, margins, seconds):
    """Ask for all of them at once; meanwhile, how long do others wait?"""
    limits = httpx.Limits(max_connections=400)
    times = {path: [] for path in PROBES}
    async with httpx.AsyncClient(base_url=server.url, limits=limits, timeout=600) as client:

        async def decide(names):
            return await client.post(f"{API}/requests", json={"variables": list(names)})

        for path in PROBES:  # what is done once is done
            assert (await client.get(path)).status_code == 200
        await decide("AB")
        asked = [asyncio.create_task(decide(names)) for names in margins]
        await asyncio.sleep(2)  # until all have come
        end, waited = time.perf_counter() + seconds, sum(not task.done() for task in asked)

        async def probe(path):
            while time.perf_counter() < end and not all(task.done() for task in asked):
                begun = time.perf_counter()
                got = await client.get(path)
                assert got.status_code == 200, got.text
                times[path].append(time.perf_counter() - begun)
                await asyncio.sleep(0.05)

        await asyncio.gather(*map(probe, PROBES))
        left = sum(not task.done() for task in asked)
        for task in asked:
            task.cancel()
        done = await asyncio.gather(*asked, return_exceptions=True)
    answers = [one for one in done if isinstance(one, httpx.Response)]
    assert all(one.status_code in (200, 202) for one in answers)
    return times, waited, left


def waiting(server):
    """100 different margins at once, and whoever only reads."""
    every = [c for n in (3, 4) for c in itertools.combinations(NAMES, n)]
    margins = random.Random(5).sample(every, WAITING)
    times, waited, left = asyncio.run(crowd(server, margins, seconds=15))
    for path, found in times.items():
        late = statistics.quantiles(found, n=100)[98]
        print(
            f"{path} while up to {waited} decisions wait ({left} at the end): median "
            f"{statistics.median(found) * 1000:.0f} ms, 99% {late * 1000:.0f} ms, most "
            f"{max(found) * 1000:.0f} ms of {len(found)}; {load()}",
            flush=True,
        )


def shared(server):
    """100 times the same, at once."""

    async def go():
        limits = httpx.Limits(max_connections=400)
        async with httpx.AsyncClient(base_url=server.url, limits=limits, timeout=600) as client:
            body = {"variables": list("CDEF")}
            begun = time.perf_counter()
            got = await asyncio.gather(
                *(client.post(f"{API}/requests", json=body) for _ in range(WAITING))
            )
            return time.perf_counter() - begun, [one.json() for one in got]

    took, answers = asyncio.run(go())
    outcomes = {one["outcome"] for one in answers}
    entries = {one["entry"] for one in answers}
    assert len(outcomes) == 1
    print(
        f"{WAITING} times the same request: {took:.1f} s, {len(entries)} entries, {outcomes}; "
        f"{load()}",
        flush=True,
    )


# Memory


def resident(pid):
    """MiB of a process, and of those it started."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(server):
    """Random margins: granted once, refused, out."""
    rng, seen = random.Random(10), []
    described = httpx.get(f"{server.url}{API}", timeout=600).json()
    every = [variable["name"] for variable in described["variables"]]
    outcomes = dict.fromkeys(("granted", "refused", "pending"), 0)
    print(f"at the start: {resident(server.process.pid):.0f} MiB", flush=True)
    with httpx.Client(base_url=server.url, timeout=600) as client:
        begun = time.perf_counter()
        for turn in range(1, DECISIONS + 1):
            names = rng.sample(every, rng.randint(1, min(len(every), 8)))
            outcomes[ask(client, "eight", names)["outcome"]] += 1
            if turn % EVERY == 0:
                seen.append(resident(server.process.pid))
                print(
                    f"{turn} decisions, {time.perf_counter() - begun:.0f} s: "
                    f"{seen[-1]:.0f} MiB, {outcomes}; {load()}",
                    flush=True,
                )
    print(json.dumps({"MiB": [round(x, 1) for x in seen]}))


LARGE = {"large": "example:nltcs"}
FAST = ("--set", "server.slot=0")
QUICK = [word for key in ("server.slot=0", "bounds.proof=outer", "attribute.check=false",
                          "published.least=0") for word in ("--set", key)]  # fmt: skip
WORK = {"tables": (tables, FAST), "waiting": (waiting, ()), "shared": (shared, ()),
        "memory": (memory, QUICK), "large": (memory, QUICK)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", nargs="*", default=list(WORK), choices=list(WORK))
    parser.add_argument("--source", help="the src folder of another checkout")
    given = parser.parse_args()
    for name in given.work:
        work, more = WORK[name]
        with (
            tempfile.TemporaryDirectory() as folder,
            serve(folder, given.source, *more, data=LARGE.get(name)) as server,
        ):
            work(server)


if __name__ == "__main__":
    main()

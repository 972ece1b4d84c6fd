"""The table server under load: published tables by wrk, 100 waiting decisions, 10,000 decisions.

    python benchmarks/server_load.py tables waiting shared memory worst workbook [--source SRC]

256 cells, seeded, default policy with the myopic rule, SQLite, one worker; `large` asks 10,000
times about the 2^16 cells of the NLTCS. `worst` reads while one visitor sends the worst of every
kind that is allowed, as often as the limits let them; `workbook` asks for one table of 96,100 cells
as a workbook under ever other headers. `--source` serves another checkout's `src`, to compare. The
server, the client and whoever else shares the machine share its cores: each figure is the best of
three, with the load average beside it; of `worst` and `workbook` the only one.
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
from served import Served, ask, write_specs

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


def serve(folder, source, *more, data=None, beside=False):
    given = (data,) if data else (str(write_data(folder)), "--count", "count")
    env = {"PYTHONPATH": source} if source else {}
    if beside:
        env |= LIMITED
        more = (*more, "--apart", "--datasets", str(more_data(folder)))
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


# The worst of one visitor

TOWNS, PARTS = 310, ("Town", "Work")
LIMITED = {"DISCREET_REQUESTS_PER_MINUTE": "120", "DISCREET_DECISIONS_PER_MINUTE": "30",
           "DISCREET_TRUSTED_PROXIES": "127.0.0.1"}  # fmt: skip
MINUTE, PATIENCE, PACE = 60, 60, 0.5  # seconds: 120 requests a minute
NUMBERS = itertools.count(1)
READ = ("/healthz", "/readyz", "/d/eight", f"{API}/tables/A", "/d/eight/t/A", f"{API}/frontier")


def somebody():
    """A visitor of their own."""
    return {"X-Forwarded-For": f"192.0.2.{next(NUMBERS)}"}


def write_commuters(folder):
    """96,100 cells, each of many: all of it can be published."""
    path = Path(folder) / "commuters.csv"
    rng = np.random.default_rng(310)
    counts = rng.integers(30, 60, (TOWNS, TOWNS))
    towns = [f"Municipality number {i}" for i in range(TOWNS)]
    Table.of(counts, **dict.fromkeys(PARTS, towns)).write(path)
    return path


def write_perturbed(folder, place):
    """125 cells and many people: chains take long to mix."""
    rng = np.random.default_rng(place)
    counts = rng.multinomial(10**6 + place, rng.dirichlet(np.full(125, 0.3))).reshape(5, 5, 5)
    path = Path(folder) / f"five{place}.csv"
    Table.of(counts, **{f"{name}{place}": list("vwxyz") for name in "ABC"}).write(path)
    return path


def more_data(folder):
    """Data sets beside the one of 256 cells."""
    terms = ["server.rule=myopic", "bounds.proof=outer", "attribute.check=false", "server.slot=0"]
    fives = [
        {"slug": f"five{i}", "data": str(write_perturbed(folder, i)), "count": "count",
         "apart": True, "set": [*terms, "server.perturbed=true", "published.least=0"]}
        for i in range(4)
    ]  # fmt: skip
    commuters = {"slug": "commuters", "data": str(write_commuters(folder)), "count": "count",
                 "apart": True, "set": terms}  # fmt: skip
    large = {"slug": "nltcs", "data": "example:nltcs", "apart": True, "set": terms}
    return write_specs(Path(folder) / "more.toml", [*fives, commuters, large])


def prepare(server):
    """What is read is out. Where each perturbed table is, and the variables of the NLTCS."""
    found = {}
    with httpx.Client(base_url=server.url, timeout=300, headers=somebody()) as c:
        assert ask(c, "commuters", PARTS)["outcome"] == "granted"
        for i in range(4):
            for pair in itertools.combinations("ABC", 2):
                ask(c, f"five{i}", [f"{name}{i}" for name in pair])
            refused = ask(c, f"five{i}", [f"{name}{i}" for name in "ABC"])
            found[f"five{i}"] = refused["perturbed"]
        described = c.get("/api/v1/datasets/nltcs").json()
        found["nltcs"] = [variable["name"] for variable in described["variables"]]
    return found


def worst_of(kind, turn, perturbed):
    """A request of a kind, the longest or heaviest that is allowed, always another."""
    rng = random.Random(turn)
    letters = [c for n in (3, 4) for c in itertools.combinations("Municipality_number", n)]
    patterns = [f"*{'*'.join(chosen)}*" for chosen in letters]  # each fits all codes
    codes = [f"Municipality_number_{i % TOWNS}" for i in range(1_200)]
    workbook = "/api/v1/datasets/commuters/tables/Town*Work"
    names = [v for v in "ABCDEFGH" if rng.random() < 0.6] or ["A"]
    return {
        "names": ("GET", f"{API}/status?variables={'A,' * 4_000}A", {}),
        "parts": ("GET", "/api/v2/tables/commuters.Town/data?valueCodes[Town]=" + "(," * 4_000, {}),
        "patterns": ("POST", "/api/v2/tables/commuters.Town.Work/data", {"json": {
            "selection": [{"variableCode": "Town", "valueCodes": patterns}]}}),
        "codes": ("POST", "/api/v2/tables/commuters.Town.Work/data?outputFormat=xlsx", {"json": {
            "selection": [{"variableCode": "Town", "valueCodes": codes},
                          {"variableCode": "Work", "valueCodes": codes[: 100 + turn % 200]}]}}),
        "query": ("POST", "/pxweb/api/v1/en/commuters/Town.Work", {"json": {"query": [
            {"code": "Town", "selection": {"filter": "all", "values": patterns}}]}}),
        "workbook": ("GET", f"{workbook}?format=xlsx", {"headers": {"Accept": f"a/{turn}"}}),
        "files": ("GET", f"{workbook}?format={rng.choice(['csv', 'px', 'json'])}&x={turn}", {}),
        "draw": ("GET", perturbed[f"five{turn % 4}"], {}),
        "decide": ("POST", "/api/v1/datasets/nltcs/requests", {"json": {
            "variables": rng.sample(perturbed["nltcs"], 6)}}),
        "status": ("GET", f"{API}/status?variables={','.join(names)}", {}),
    }[kind]  # fmt: skip


KINDS = ("names", "parts", "patterns", "codes", "query", "workbook", "files", "draw", "decide",
         "status")  # fmt: skip


class Peak:
    """The most memory of a process, and of those it started, looked at ten times a second."""

    def __init__(self, pid):
        self.pid, self.most, self.over = pid, 0.0, False

    async def watch(self):
        while not self.over:
            self.most = max(self.most, resident(self.pid))
            await asyncio.sleep(0.1)


async def read(client, times, end):
    """Many readers, each a little."""
    readers = itertools.cycle([somebody() for _ in range(12)])
    for path in itertools.cycle(READ):
        if time.perf_counter() > end:
            return
        begun = time.perf_counter()
        try:
            got = await client.get(path, headers=next(readers))
            assert got.status_code == 200 or path == "/readyz", (path, got.status_code)
            late = time.perf_counter() - begun
        except httpx.HTTPError:
            late = float(PATIENCE)
        times[path].append(late)
        await asyncio.sleep(0.05)


async def against(server, kinds, perturbed, seconds):
    """One visitor sends all they may, a reader reads: how long do they wait?"""
    times, told, who = {path: [] for path in READ}, {}, somebody()
    end, peak = time.perf_counter() + seconds, Peak(server.process.pid)
    limits = httpx.Limits(max_connections=200)
    async with (
        httpx.AsyncClient(base_url=server.url, limits=limits, timeout=PATIENCE) as visitor,
        httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as reader,
    ):
        watching = asyncio.create_task(peak.watch())

        async def send(kind, turn):
            method, path, more = worst_of(kind, turn, perturbed)
            more = {**more, "headers": who | more.get("headers", {})}
            try:
                got = await visitor.request(method, path, **more)
                told[got.status_code] = told.get(got.status_code, 0) + 1
            except httpx.HTTPError:
                pass

        async def attack():
            asked, turns = [], itertools.count()
            while time.perf_counter() < end:
                turn = next(turns)
                asked.append(asyncio.create_task(send(kinds[turn % len(kinds)], turn)))
                await asyncio.sleep(PACE)
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

        before = cpu(server.process.pid)
        await asyncio.gather(attack(), read(reader, times, end))
        spent = cpu(server.process.pid) - before
        peak.over = True
        await watching
    return times, told, peak.most, spent


def worst(server):
    """A minute of each kind alone, shorter, and then of all of them."""
    perturbed = prepare(server)
    print(f"at the start: {resident(server.process.pid):.0f} MiB", flush=True)
    for kinds in ((), *((kind,) for kind in KINDS), KINDS):
        seconds = MINUTE if kinds is KINDS else MINUTE / 4
        work = against(server, kinds, perturbed, seconds) if kinds else quiet(server, seconds)
        times, told, peak, spent = asyncio.run(work)
        every = sorted(late for found in times.values() for late in found)
        late = every[min(len(every) - 1, int(0.99 * len(every)))]
        print(
            f"{'+'.join(kinds) or 'nothing'}: readers' median "
            f"{statistics.median(every) * 1000:.0f} ms, 99% {late * 1000:.0f} ms, most "
            f"{every[-1] * 1000:.0f} ms of {len(every)}; answers to the visitor {told}; "
            f"{spent / seconds:.2f} cores, peak {peak:.0f} MiB; {load()}",
            flush=True,
        )


async def quiet(server, seconds):
    """Readers alone."""
    times, peak = {path: [] for path in READ}, Peak(server.process.pid)
    end, before = time.perf_counter() + seconds, cpu(server.process.pid)
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as reader:
        await read(reader, times, end)
    peak.most = resident(server.process.pid)
    return times, {}, peak.most, cpu(server.process.pid) - before


def workbook(server):
    """One table of 96,100 cells as a workbook, 40 times at once, each under another header."""
    prepare(server)
    before, who = resident(server.process.pid), somebody()

    async def go():
        peak = Peak(server.process.pid)
        watching = asyncio.create_task(peak.watch())
        limits = httpx.Limits(max_connections=100)
        async with httpx.AsyncClient(base_url=server.url, limits=limits, timeout=300) as client:
            path = "/api/v1/datasets/commuters/tables/Town*Work?format=xlsx"
            sent = [client.get(path, headers=who | {"Accept": f"a/{i}"}) for i in range(40)]
            begun = time.perf_counter()
            got = await asyncio.gather(*sent, return_exceptions=True)
            took = time.perf_counter() - begun
        peak.over = True
        await watching
        return took, [one for one in got if isinstance(one, httpx.Response)], peak.most

    spent = cpu(server.process.pid)
    took, got, peak = asyncio.run(go())
    spent = cpu(server.process.pid) - spent
    codes = {
        code: [one.status_code for one in got].count(code) for code in {o.status_code for o in got}
    }
    print(
        f"40 workbooks of 96,100 cells: {took:.1f} s, {spent:.1f} s of a core, answers {codes}; "
        f"{before:.0f} MiB before, {peak:.0f} MiB at most; {load()}",
        flush=True,
    )


LARGE = {"large": "example:nltcs"}
FAST = ("--set", "server.slot=0")
QUICK = [word for key in ("server.slot=0", "bounds.proof=outer", "attribute.check=false",
                          "published.least=0") for word in ("--set", key)]  # fmt: skip
WORK = {"tables": (tables, FAST), "waiting": (waiting, ()), "shared": (shared, ()),
        "memory": (memory, QUICK), "large": (memory, QUICK), "worst": (worst, QUICK),
        "workbook": (workbook, QUICK)}  # fmt: skip
BESIDE = ("worst", "workbook")  # with more data sets, and the usual limits


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", nargs="*", default=list(WORK), choices=list(WORK))
    parser.add_argument("--source", help="the src folder of another checkout")
    given = parser.parse_args()
    for name in given.work:
        work, more = WORK[name]
        with (
            tempfile.TemporaryDirectory() as folder,
            serve(
                folder, given.source, *more, data=LARGE.get(name), beside=name in BESIDE
            ) as server,
        ):
            work(server)


if __name__ == "__main__":
    main()

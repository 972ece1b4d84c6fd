"""The table server under real load: every claim is checked against the ledger or from scratch."""

import asyncio
import itertools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest
from served import Served, ask, status, write_specs
from server_load import KINDS, MINUTE, QUICK, against, prepare, serve

from discreet.decision.answering import Desk, Outcome
from discreet.decision.frontier.brief import Brief
from discreet.decision.law.policy import Policy
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify
from discreet.server.ledger.database import open_database
from discreet.table.table import Table

RULES = {"server.rule": "myopic", "bounds.proof": "outer", "attribute.check": False,
         "published.least": 0,
         "server.slot": 0.0}  # fmt: skip
SET = [
    item
    for key, value in RULES.items()
    for item in ("--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}")
]
ROUNDS, TABLES, CLIENTS = 200, 20, 50


def verified(url, slug):
    database = open_database(url)
    try:
        with database.read() as session:
            return verify(session, store.find_dataset(session, slug))
    finally:
        database.close()


def granted_in(url, slug):
    """The margins that the ledger says are out."""
    database = open_database(url)
    try:
        with database.read() as session:
            dataset = store.find_dataset(session, slug)
            return [tuple(e.margin) for e in store.entries(session, dataset) if e.table_hash]
    finally:
        database.close()


def named(table, margin):
    return [name for place, name in enumerate(table.names) if margin >> place & 1]


def as_set(table, names):
    return sum(1 << table.names.index(name) for name in names)


class Scratch:
    """Widths of the small counts of NLTCS, from a shuttle that is built anew each time."""

    def __init__(self, table):
        self.table = table
        self.brief = Brief(table, Policy.of(RULES))

    def narrowest(self, sets):
        shuttle = Shuttle(self.brief.release(sets))
        lower, upper = shuttle.bounds(self.brief.cells.names, self.brief.cells.codes)
        return int((upper - lower).min())


def test_nltcs_is_asked_500_times(nltcs, tmp_path):
    """Statuses at 20 points from scratch, widths never below beta, 200 possible, 200 gone."""
    url, rng = f"sqlite:///{tmp_path}/nltcs.db", np.random.default_rng(2002)
    scratch, seconds, outcomes = Scratch(nltcs), [], {"granted": 0, "refused": 0}
    out, checked = [1 << p for p in range(16)], 0

    def random_margin():
        order = int(rng.integers(2, 7))
        return sum(1 << int(p) for p in rng.choice(16, order, replace=False))

    with (
        Served("example:nltcs", *SET, database=url) as server,
        httpx.Client(base_url=server.url, timeout=120) as client,
    ):
        for turn in range(1, 501):
            margin = random_margin()
            begun = time.perf_counter()
            answer = ask(client, "nltcs", named(nltcs, margin))
            seconds.append(time.perf_counter() - begun)
            outcomes[answer["outcome"]] += 1
            if answer["outcome"] == "granted":
                out.append(margin)
            if turn % 25 == 0:
                assert scratch.narrowest(out) >= 3
                for margin in {random_margin() for _ in range(12)}:
                    said = status(client, "nltcs", named(nltcs, margin))
                    if any(margin & ~s == 0 for s in out):
                        assert said == "released"
                    else:
                        held = scratch.narrowest([*out, margin]) >= 3
                        assert said == ("possible" if held else "gone")
                    checked += 1
        seconds = np.array(seconds)
        print(
            f"\n500 requests: {outcomes}; median {np.median(seconds) * 1000:.0f} ms, 99% "
            f"{np.quantile(seconds, 0.99) * 1000:.0f} ms, at most {seconds.max():.2f} s; "
            f"{checked} statuses from scratch at 20 points; narrowest {scratch.narrowest(out)}"
        )
        called = {"possible": [], "gone": []}
        while min(map(len, called.values())) < 200:
            margin = random_margin()
            said = status(client, "nltcs", named(nltcs, margin))
            if said in called and len(called[said]) < 200 and margin not in called[said]:
                called[said].append(margin)
    assert verified(url, "nltcs").holds
    trial = Desk(nltcs, Policy.of(RULES))  # a copy of the state, made from the ledger
    trial.take(as_set(nltcs, names) for names in granted_in(url, "nltcs"))
    for said, outcome in (("possible", Outcome.GRANTED), ("gone", Outcome.REFUSED)):
        assert all(trial.ask(margin).outcome is outcome for margin in called[said])
    print("200 margins called possible were granted in a trial copy, 200 called gone refused")


def pairs(number, rng):
    """Tables of five variables with two margins that are safe alone and unsafe together."""
    fours = [0b01111, 0b10111, 0b11011, 0b11101, 0b11110]
    rules = Policy.of(RULES | {"small.width": 6})
    while number:
        counts = rng.multinomial(400, rng.dirichlet(np.full(32, 0.8))).reshape((2,) * 5)
        table = Table.of(counts, **{name: ["no", "yes"] for name in "ABCDE"})
        for first, second in itertools.combinations(fours, 2):
            desk = Desk(table, rules)
            if not all(desk.ask(s).outcome is Outcome.GRANTED for s in (first, second)):
                continue
            desk.take([first])
            if desk.ask(second).outcome is Outcome.REFUSED:
                number -= 1
                yield table, (named(table, first), named(table, second))
                break


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_of_two_requests_that_are_unsafe_together_exactly_one_is_released(kind, tmp_path, request):
    """50 clients at once, 200 rounds: on SQLite with one process, on PostgreSQL with four."""
    rounds, specs = list(pairs(TABLES, np.random.default_rng(7))) * (ROUNDS // TABLES), []
    for turn, (table, _) in enumerate(rounds):
        path = tmp_path / f"round-{turn}.csv"
        table.write(path)
        specs.append({"slug": f"round-{turn}", "data": str(path), "count": "count",
                      "apart": True, "set": [*SET[1::2], "small.width=6"]})  # fmt: skip
    if kind == "sqlite":
        url, workers = f"sqlite:///{tmp_path}/pairs.db", 1
    else:
        url, workers = request.getfixturevalue("postgres"), 4
    listed = write_specs(tmp_path / "datasets.toml", specs[:-1])
    last = specs[-1]
    arguments = [last["data"], "--count", "count", "--slug", last["slug"], "--apart", "--datasets",
                 str(listed), *SET, "--set", "small.width=6"]  # fmt: skip
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    with (
        Served(*arguments, database=url, workers=workers) as server,
        httpx.Client(base_url=server.url, timeout=120, limits=limits) as client,
        ThreadPoolExecutor(CLIENTS) as clients,
    ):
        begun, first_won = time.perf_counter(), 0
        for turn, (_, names) in enumerate(rounds):
            gate = threading.Barrier(CLIENTS)

            def one(place, turn=turn, names=names, gate=gate):
                gate.wait()
                return ask(client, f"round-{turn}", names[place % 2])["outcome"]

            outcomes = list(clients.map(one, range(CLIENTS)))
            assert len(set(outcomes[::2])) == len(set(outcomes[1::2])) == 1
            assert sorted(outcomes[:2]) == ["granted", "refused"]
            first_won += outcomes[0] == "granted"
        took = time.perf_counter() - begun
    for turn, (_, names) in enumerate(rounds):
        assert verified(url, f"round-{turn}").holds
        assert sum(list(n) in names for n in map(list, granted_in(url, f"round-{turn}"))) == 1
    print(
        f"\n{kind}, {workers} processes: {ROUNDS} rounds x {CLIENTS} clients in {took:.0f} s "
        f"({ROUNDS * CLIENTS / took:.0f} decisions a second); the first of the pair won "
        f"{first_won} times"
    )


QUIET, LATE, MOST, LAST = 2.0, 0.25, 2_500, 30  # load, seconds, MiB, seconds


def test_the_worst_of_one_visitor(tmp_path):
    """A minute of all that is allowed: readers go on, memory has an end, and so has the server."""
    before = os.getloadavg()[0]
    with serve(tmp_path, None, *QUICK, beside=True) as server:
        perturbed = prepare(server)
        times, told, peak, spent = asyncio.run(against(server, KINDS, perturbed, MINUTE))
        every = np.array([late for found in times.values() for late in found])
        begun = time.monotonic()
        server.process.terminate()
        server.process.wait(LAST)
        ended = time.monotonic() - begun
    late = np.quantile(every, 0.99)
    print(
        f"\nreaders' 99% {late * 1000:.0f} ms of {len(every)}, answers to the visitor {told}, "
        f"{spent / MINUTE:.2f} cores, peak {peak:.0f} MiB, ended in {ended:.1f} s; load before "
        f"{before:.1f}"
    )
    assert peak < MOST
    if before < QUIET:  # else others had the machine
        assert late < LATE

"""Many at once: decisions wait in a pool of their own, the same is decided once, nobody starves."""

import asyncio
import re
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from discreet.decision.law.policy import Policy
from discreet.server.deciding.counter import Counter
from discreet.server.deciding.current_desks import CurrentDesks
from discreet.server.deciding.pool import Pool
from discreet.server.deciding.requests import leaving
from discreet.server.formats import write
from discreet.server.guards.errors import Refused
from discreet.server.ledger import store
from discreet.server.showing.naming import perturbed_data
from discreet.table.table import Table
from server.sites import MYOPIC, world

API = "/api/v1/datasets/czech"
PATIENCE = 30  # seconds after which a test gives up


@pytest.fixture
def run():
    with asyncio.Runner() as runner:
        yield lambda work: runner.run(asyncio.wait_for(work, PATIENCE))


async def until(holds):
    """Let the loop turn until something holds."""
    while not holds():
        await asyncio.sleep(0.001)


class Held:
    """Work that ends when it is let go, and notes that it began."""

    def __init__(self):
        self.begun, self.gate = [], threading.Event()

    def __call__(self, name="work"):
        self.begun.append(name)
        assert self.gate.wait(PATIENCE)
        return name


# The pool


def test_the_same_is_done_once_and_all_get_it(run):
    async def go():
        pool, held = Pool(), Held()
        same = [asyncio.create_task(pool.run(held, lane="a", key="k")) for _ in range(5)]
        await until(lambda: held.begun)
        late = asyncio.create_task(pool.run(held, lane="a", key="k"))
        other = asyncio.create_task(pool.run(lambda: 7, lane="a"))
        await until(lambda: pool.waiting == 1)
        held.gate.set()
        assert await asyncio.gather(*same, late) == ["work"] * 6
        assert await other == 7
        assert held.begun == ["work"]
        assert await pool.run(held, lane="a", key="k") == "work"
        assert held.begun == ["work"] * 2  # what is over is not shared any more
        pool.close()

    run(go())


def test_what_goes_wrong_is_told_to_all(run, caplog):
    async def go():
        pool, held = Pool(), Held()

        def fail():
            held()
            raise ValueError("31337 people")

        tasks = [asyncio.create_task(pool.run(fail, lane="a", key="k")) for _ in range(3)]
        await until(lambda: held.begun)
        tasks[0].cancel()
        held.gate.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one).__name__ for one in found] == ["CancelledError", *["ValueError"] * 2]
        lonely = asyncio.create_task(pool.run(fail, lane="b"))
        await until(lambda: len(held.begun) == 2)
        lonely.cancel()
        await asyncio.gather(lonely, return_exceptions=True)
        assert await pool.run(lambda: 1, lane="b") == 1
        pool.close()

    run(go())
    assert "31337" not in caplog.text


def test_one_at_a_time_of_a_data_set_and_custodians_first(run):
    async def go():
        pool, held, done = Pool(), Held(), []
        first = asyncio.create_task(pool.run(held, lane="a"))
        await until(lambda: held.begun)
        waiting = [
            asyncio.create_task(pool.run(lambda n=n: done.append(n), lane="a", urgent=n == 3))
            for n in range(4)
        ]
        await until(lambda: pool.waiting == 4)
        assert await pool.run(lambda: "other", lane="b") == "other"  # does not wait for a
        assert done == []
        held.gate.set()
        await asyncio.gather(first, *waiting)
        assert done == [3, 0, 1, 2]
        pool.close()

    run(go())


def test_no_more_data_sets_at_once_than_threads_and_they_take_turns(run):
    async def go():
        pool, held, done = Pool(threads=1), Held(), []
        first = asyncio.create_task(pool.run(held, lane="a"))
        await until(lambda: held.begun)
        tasks = [
            asyncio.create_task(pool.run(lambda name=name: done.append(name), lane=name[0]))
            for name in ("a1", "a2", "a3", "b1", "b2")
        ]
        await until(lambda: pool.waiting == 5)
        held.gate.set()
        await asyncio.gather(first, *tasks)
        assert done == ["a1", "b1", "a2", "b2", "a3"]
        pool.close()

    run(go())


def test_the_queue_has_an_end(run):
    async def go():
        pool, held = Pool(most=2), Held()
        tasks = [asyncio.create_task(pool.run(held, lane="a"))]
        await until(lambda: held.begun)
        tasks += [asyncio.create_task(pool.run(held, lane="a", key=n)) for n in range(2)]
        await until(lambda: pool.waiting == 2)
        with pytest.raises(Refused, match="2 requests wait to be decided") as refused:
            await pool.run(held, lane="b")
        assert refused.value.status_code == 503
        assert refused.value.headers["Retry-After"] == "30"
        tasks.append(asyncio.create_task(pool.run(held, lane="a", key=1)))  # joins
        tasks.append(asyncio.create_task(pool.run(held, lane="b", urgent=True)))
        await until(lambda: len(held.begun) == 2)
        held.gate.set()
        assert await asyncio.gather(*tasks) == ["work"] * 5
        assert pool.waiting == 0
        assert len(held.begun) == 4
        pool.close()

    run(go())


def test_what_nobody_waits_for_is_not_begun(run):
    async def go():
        pool, held, done = Pool(), Held(), []
        first = asyncio.create_task(pool.run(held, lane="a"))
        await until(lambda: held.begun)
        gone = asyncio.Event()
        tasks = {
            name: asyncio.create_task(
                pool.run(lambda name=name: done.append(name), lane="a", key=key, left=left)
            )
            for name, key, left in (
                ("left", 1, gone.wait),
                ("shared", 2, gone.wait),
                ("stays", 2, None),
            )
        }
        await until(lambda: pool.waiting == 3)
        gone.set()
        await until(lambda: tasks["left"].done() and tasks["shared"].done())
        for name in ("left", "shared"):
            assert tasks[name].exception().status_code == 499
        assert pool.waiting == 1
        held.gate.set()
        await first
        await tasks["stays"]
        assert done == ["shared"]
        pool.close()

    run(go())


def test_what_has_begun_is_waited_for_though_the_client_left(run):
    async def go():
        pool, held, gone = Pool(), Held(), asyncio.Event()
        task = asyncio.create_task(pool.run(held, lane="a", left=gone.wait))
        await until(lambda: held.begun)
        gone.set()
        await asyncio.sleep(0.01)
        assert not task.done()
        held.gate.set()
        assert await task == "work"
        pool.close()

    run(go())


def test_a_client_that_hangs_up_is_noticed(run):
    class Asked:
        messages = iter([{"type": "http.request", "body": b""}, {"type": "http.disconnect"}])

        async def receive(self):
            return next(self.messages)

    run(leaving(Asked())())
    assert next(Asked.messages, None) is None  # it waited for the last of them


def test_visitors_take_turns(run):
    """Who has asked for much waits longer than who has asked for little."""

    async def go():
        pool, held, done = Pool(threads=1), Held(), []
        first = asyncio.create_task(pool.run(held, lane="a", visitor="x"))
        await until(lambda: held.begun)
        names = ["x1", "x2", "x3", "x4", "y1", "y2", "z1"]
        tasks = [
            asyncio.create_task(
                pool.run(lambda name=name: done.append(name), lane="a", visitor=name[0])
            )
            for name in names
        ]
        await until(lambda: pool.waiting == len(names))
        held.gate.set()
        await asyncio.gather(first, *tasks)
        assert done == ["y1", "z1", "x1", "y2", "x2", "x3", "x4"]
        assert not pool._queued
        assert not pool._begun
        assert not pool._turns
        pool.close()

    run(go())


def test_who_gave_up_does_not_wait_for_it(run):
    async def go():
        pool, held, done = Pool(threads=1), Held(), []
        tasks = [asyncio.create_task(pool.run(held, lane="a"))]
        await until(lambda: held.begun)
        for name in [f"x{i}" for i in range(9)]:
            work = pool.run(lambda name=name: done.append(name), lane="a", visitor="x")
            tasks.append(asyncio.create_task(work))
        await until(lambda: pool.waiting == 9)
        for task in tasks[1:]:
            task.cancel()
        await until(lambda: pool.waiting == 0)
        later = []
        for name in ("y1", "y2", "y3", "x"):
            work = pool.run(lambda name=name: done.append(name), lane="a", visitor=name[0])
            later.append(asyncio.create_task(work))
        await until(lambda: pool.waiting == 4)
        held.gate.set()
        await asyncio.gather(tasks[0], *later)
        assert done.index("x") < done.index("y3")
        pool.close()

    run(go())


def test_what_another_wants_too_comes_at_the_better_turn(run):
    async def go():
        pool, held, done = Pool(threads=1), Held(), []
        tasks = [asyncio.create_task(pool.run(held, lane="a"))]
        await until(lambda: held.begun)
        for name, visitor in (("1", "x"), ("2", "x"), ("3", "x"), ("3", "y")):
            work = pool.run(
                lambda name=name: done.append(name), lane="a", key=name, visitor=visitor
            )
            tasks.append(asyncio.create_task(work))
        await until(lambda: pool.waiting == 4)
        held.gate.set()
        await asyncio.gather(*tasks)
        assert done == ["1", "3", "2"]
        pool.close()

    run(go())


def test_one_visitor_never_has_all_threads(run):
    async def go():
        pool, held = Pool(threads=3), Held()
        tasks = [asyncio.create_task(pool.run(held, lane=lane, visitor="x")) for lane in "abcd"]
        await until(lambda: pool.waiting == 2)
        assert await pool.run(lambda: "other", lane="e", visitor="y") == "other"
        assert await pool.run(lambda: "desk", lane="e", urgent=True) == "desk"
        assert len(held.begun) == 2
        held.gate.set()
        assert await asyncio.gather(*tasks) == ["work"] * 4
        pool.close()

    run(go())


def test_one_visitor_does_not_fill_the_queue(run):
    async def go():
        pool, held = Pool(most=8), Held()
        tasks = [asyncio.create_task(pool.run(held, lane="a", visitor="x")) for _ in range(3)]
        await until(lambda: pool.waiting == 2)
        with pytest.raises(Refused, match="2 requests of yours wait") as refused:
            await pool.run(held, lane="a", visitor="x")
        assert refused.value.status_code == 429
        tasks.append(asyncio.create_task(pool.run(held, lane="a", visitor="y")))
        await until(lambda: pool.waiting == 3)
        held.gate.set()
        assert await asyncio.gather(*tasks) == ["work"] * 4
        pool.close()

    run(go())


def test_the_end_does_not_wait_for_what_takes_long(run):
    async def go():
        pool, held = Pool(), Held()
        task = asyncio.create_task(pool.run(held, lane="a"))
        await until(lambda: held.begun)
        assert not pool.close(0.0)
        held.gate.set()
        assert pool.close(PATIENCE)
        assert await task == "work"

    run(go())


# The server


@pytest.fixture
def czech(tmp_path):
    with world(tmp_path) as made:
        yield made.open("czech", data="example:czech")


@contextmanager
def held_decisions(monkeypatch):
    """Decisions that begin, and then wait."""
    held, request = Held(), Counter.request

    def slow(self, slug, names, actor="public", **more):
        held((tuple(names), actor))
        return request(self, slug, names, actor, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Counter, "request", slow)
        try:
            yield held
        finally:
            held.gate.set()


def asked(client, names):
    return asyncio.create_task(client.http.post(f"{API}/requests", json={"variables": list(names)}))


def entries(site, slug="czech"):
    with site.database.read() as session:
        return store.entries(session, store.find_dataset(session, slug))


def clients(made):
    """How many wait for a decision, begun or not."""
    return sum(job.waiters for job in made.site.pool._jobs.values())


def test_tables_pages_and_health_do_not_wait_for_decisions(czech, monkeypatch):
    """More decisions than there are threads for everybody else."""
    public, custodian = czech.client(), czech.client("custodian")
    paths = (
        "/readyz", "/healthz", "/metrics", "/", "/d/czech/t/A", f"{API}/tables/A",
        f"{API}/tables/B?format=csv", f"{API}/frontier", f"{API}/statistics", API, "/d/czech",
    )  # fmt: skip
    assert public.get(API).status_code == 200  # somebody looks at it before

    async def go():
        every = [names for names in margins() if len(names) > 1]
        asking = [asked(public, names) for names in every]
        await until(lambda: czech.site.pool.waiting == len(every) - 1 > 50)
        for path in paths:
            got = await asyncio.wait_for(public.http.get(path), PATIENCE)
            assert got.status_code == 200, path
        assert (await custodian.http.get(f"{API}/ledger")).status_code == 200
        assert len(held.begun) == 1
        told = (await public.http.get("/metrics")).text
        assert float(re.search(r"^discreet_waiting (.*)$", told, re.M)[1]) >= len(every) - 1
        held.gate.set()
        return [answer.status_code for answer in await asyncio.gather(*asking)]

    with held_decisions(monkeypatch) as held:
        assert set(czech.runner.run(asyncio.wait_for(go(), 4 * PATIENCE))) <= {200, 202}


def margins(names="ABCDEF"):
    return [
        [name for place, name in enumerate(names) if s >> place & 1]
        for s in range(1, 1 << len(names))
    ]


def test_identical_requests_are_one_entry_and_each_has_its_slot(czech, monkeypatch):
    public, paces = czech.client(), []
    monkeypatch.setattr(
        "discreet.server.deciding.slots.until_slot", lambda *_: paces.append(1) or 0.0
    )
    before = len(entries(czech.site))

    async def go():
        first = asked(public, "AB")
        await until(lambda: held.begun)
        rest = [asked(public, names) for names in ("AB", "BA") * 10]
        await until(lambda: clients(czech) == 21)
        held.gate.set()
        return [answer.json() for answer in await asyncio.gather(first, *rest)]

    with held_decisions(monkeypatch) as held:
        answers = czech.runner.run(asyncio.wait_for(go(), PATIENCE))
    assert len({answer["entry"] for answer in answers}) == 1
    assert {answer["outcome"] for answer in answers} == {"granted"}
    assert len(held.begun) == 1
    assert len(entries(czech.site)) == before + 1
    assert len(paces) == 21
    totals = public.get(f"{API}/statistics").json()["totals"]
    assert (totals["requests"], totals["grants"]) == (21, 21)


def test_accounts_are_decided_by_themselves(tmp_path, monkeypatch):
    """So that each has its own entry and its own quota; the ledger names who asked."""
    with world(tmp_path) as made:
        made.open("czech", MYOPIC | {"server.quota": 1}, "example:czech")
        analyst, custodian = made.client("analyst"), made.client("custodian")

        async def go():
            tasks = []
            for who, names in (
                (analyst, "AB"), (custodian, "AB"), (analyst, "CD"), (custodian, "CD"),
                (analyst, "AB"),
            ):  # fmt: skip
                tasks.append(asked(who, names))
                await until(lambda: clients(made) == len(tasks))
            held.gate.set()
            return [answer.json() for answer in await asyncio.gather(*tasks)]

        with held_decisions(monkeypatch) as held:
            answers = made.runner.run(asyncio.wait_for(go(), PATIENCE))
        assert [answer["why"] for answer in answers] == ["safe", "out", "quota", "safe", "safe"]
        assert answers[0]["entry"] == answers[4]["entry"]
        actors = {entry.number: entry.actor for entry in entries(made.site)}
        users = [str(made.users[role]) for role in ("analyst", "custodian")]
        assert [actors[answer["entry"]] for answer in answers[:4]] == users * 2


def test_who_hangs_up_is_not_decided_on(czech, monkeypatch):
    async def go():
        first = asked(czech.client(), "AB")
        await until(lambda: held.begun)
        hung_up, sent = asyncio.Event(), []
        body = iter([{"type": "http.request", "body": b'{"variables": ["A", "C"]}'}])

        async def receive():
            for message in body:
                return message
            await hung_up.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        path = f"{API}/requests"
        scope = {
            "type": "http", "method": "POST", "scheme": "http", "path": path, "query_string": b"",
            "raw_path": path.encode(), "root_path": "", "client": ("192.0.2.1", 1),
            "headers": [(b"host", b"test"), (b"content-type", b"application/json")],
        }  # fmt: skip
        second = asyncio.create_task(czech.app(scope, receive, send))
        await until(lambda: czech.site.pool.waiting == 1)
        hung_up.set()
        await second
        held.gate.set()
        return await first, sent[0]["status"]

    with held_decisions(monkeypatch) as held:
        answer, status = czech.runner.run(asyncio.wait_for(go(), PATIENCE))
    assert (answer.status_code, status) == (200, 499)
    assert held.begun == [(("A", "B"), "public")]


def test_a_full_queue_is_told(czech, monkeypatch):
    czech.site.pool.most = 1

    async def go():
        client = czech.client()
        tasks = [asked(client, "AB")]
        await until(lambda: held.begun)
        tasks.append(asked(client, "AC"))
        await until(lambda: czech.site.pool.waiting == 1)
        refused = await asked(client, "AD")
        status = await client.http.get(f"{API}/status", params={"variables": "A,E"})
        held.gate.set()
        return refused, status, await asyncio.gather(*tasks)

    with held_decisions(monkeypatch) as held:
        refused, status, answers = czech.runner.run(asyncio.wait_for(go(), PATIENCE))
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
    assert refused.json()["error"]["code"] == "busy"
    assert status.status_code == 503
    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.mark.parametrize(
    ("role", "method", "path", "sent"),
    [
        ("public", "POST", f"{API}/requests", {"json": {"variables": ["A", "B", "C"]}}),
        ("public", "POST", "/d/czech/ask", {"data": {"v": ["A", "B", "D"]}}),
        ("public", "GET", f"{API}/status?variables=A,B,E", {}),
        ("public", "GET", "/d/czech?v=A&v=B&v=F", {}),
        ("public", "GET", API, {}),
        ("auditor", "GET", f"{API}/space", {}),
        ("custodian", "GET", f"{API}/refusals", {}),
        ("custodian", "GET", f"{API}/pending?cost=true", {}),
        ("custodian", "POST", f"{API}/pending/{{number}}/approve", {"json": {}}),
        ("custodian", "POST", f"{API}/pending/{{number}}/reject", {"json": {}}),
        ("custodian", "POST", f"{API}/policy/dry-run", {"json": {"changes": {"small.width": 4}}}),
        ("custodian", "POST", f"{API}/policy", {"json": {"changes": {"small.width": 2}}}),
        ("custodian", "POST", f"{API}/listed", {"json": {"margins": [["A"]]}}),
        ("custodian", "POST", f"{API}/tables/A/withdraw", {"json": {"reason": "wrong"}}),
        ("custodian", "GET", "/desk/czech", {}),
        ("custodian", "GET", "/desk/czech/refusals", {}),
        ("custodian", "GET", "/desk/czech/pending/{number}", {}),
        ("custodian", "POST", "/desk/czech/pending/{number}/approve", {"data": {"note": ""}}),
        ("custodian", "POST", "/desk/czech/pending/{number}/reject", {"data": {"note": ""}}),
        ("custodian", "POST", "/desk/czech/withdraw", {"data": {"margin": "A", "reason": "x"}}),
        ("custodian", "POST", "/desk/czech/listed", {"data": {"margins": "A"}}),
        ("custodian", "POST", "/desk/czech/policy/try", {"data": {"small.width": "4"}}),
        ("custodian", "POST", "/desk/czech/policy", {"data": {"small.width": "2", "version": "1"}}),
    ],
)
def test_whatever_decides_does_so_in_the_pool(tmp_path, monkeypatch, role, method, path, sent):
    with world(tmp_path) as made:
        made.open("czech", MYOPIC | {"server.approval": "always"}, "example:czech")
        number = made.site.counter.request("czech", ["A", "B"]).number
        assert made.site.counter.request("czech", list("ABCDEF")).why == "unsafe"
        threads = []
        for owner, name in ((Counter, "desk"), (CurrentDesks, "_decide"), (CurrentDesks, "_keep")):
            real = getattr(owner, name)

            def noted(self, *args, real=real, **more):
                threads.append(threading.current_thread().name)
                return real(self, *args, **more)

            monkeypatch.setattr(owner, name, noted)
        answer = made.client(role).request(method, path.format(number=number), **sent)
        assert answer.status_code in (200, 202, 303), answer.text
        assert threads
        assert all(name.startswith("decision") for name in threads)


# Health


def test_ready_while_others_write_and_not_when_nothing_can_be_decided(czech, monkeypatch):
    client = czech.client()
    with czech.site.database.write() as session:
        session.connection()
        assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(CurrentDesks, "trouble", lambda self: "the disk of the ledger is full.")
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "the disk of the ledger is full."


def test_a_database_that_hangs_is_not_ready(czech, monkeypatch):
    held = Held()
    monkeypatch.setattr("discreet.server.operation.health.PATIENCE", 0.05)
    monkeypatch.setattr(CurrentDesks, "trouble", lambda self: held())
    try:
        for _ in range(4):  # more than there are threads for it
            answer = czech.client().get("/readyz")
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
    finally:
        held.gate.set()


def test_draws_of_visitors_leave_the_threads_to_decisions(tmp_path, monkeypatch):
    held, slugs = Held(), ("a", "b", "c", "d", "e")

    def slow(release, seed):
        held(len(held.begun))
        return "it was too slow"

    monkeypatch.setattr("discreet.server.showing.perturbed._drawn", slow)
    with world(tmp_path) as made:
        terms = Policy.of(MYOPIC | {"server.perturbed": True})
        for place, slug in enumerate(slugs):
            counts = np.random.default_rng(place).integers(20 + place, 90, (3, 3, 3))
            data = Table.of(counts, **{f"{name}{slug}": list("xyz") for name in "ABC"})
            made.site.counter.open(data, terms, slug=slug, apart=True)
        public, other = made.client(), made.client(address="192.0.2.9")
        newest = made.site.perturbed.newest

        async def go():
            draws = [
                asyncio.create_task(public.http.get(perturbed_data(slug, newest(slug), named)))
                for slug, named in ((slug, [f"{n}{slug}" for n in "ABC"]) for slug in slugs[:4])
            ]
            await until(lambda: held.begun)
            body = {"variables": ["Ae", "Be"]}
            got = await asyncio.wait_for(
                other.http.post("/api/v1/datasets/e/requests", json=body), PATIENCE
            )
            assert len(held.begun) == 1  # one at a time
            held.gate.set()
            return got, await asyncio.gather(*draws)

        got, draws = made.runner.run(asyncio.wait_for(go(), PATIENCE))
    assert got.json()["outcome"] == "granted"
    assert {one.status_code for one in draws} == {404}


def test_draws_take_turns_and_have_a_share_for_each_visitor(tmp_path, monkeypatch):
    """Whoever wants many perturbed tables waits for them after everybody else's first."""
    held, margins = (
        Held(),
        [["A"], ["B"], ["C"], ["A", "B"], ["A", "C"], ["B", "C"], ["A", "B", "C"]],
    )

    def slow(release, seed):
        return held(len(held.begun)) and "it was too slow"

    monkeypatch.setattr("discreet.server.showing.perturbed._drawn", slow)
    with world(tmp_path) as made:
        counts = np.random.default_rng(1).integers(20, 90, (3, 3, 3))
        data = Table.of(counts, **{name: list("xyz") for name in "ABC"})
        terms = MYOPIC | {"server.perturbed": True, "server.one_way": False}
        made.site.counter.open(data, Policy.of(terms), slug="a")
        for margin in margins[:3]:
            made.site.counter.request("a", margin)
        many, one = made.client(), made.client(address="192.0.2.9")
        said = ["*".join(m) for m in (*margins[3:], *[["B", "A"], ["C", "A"], ["C", "B"]])]
        spelled = [f"/api/v1/datasets/a/perturbed/{n}/{m}" for n in (2, 3, 4) for m in said]
        done = []

        async def get(client, path, who):
            status = (await client.http.get(path)).status_code
            done.append((who, status))
            return status

        async def go():
            asked = [asyncio.create_task(get(many, path, "many")) for path in spelled]
            await until(lambda: held.begun and made.site.visiting._queued)
            late = asyncio.create_task(get(one, spelled[-1], "one"))
            await until(lambda: len(made.site.visiting._queued) == 2)
            held.gate.set()
            await late
            before = [status for who, status in done if who == "many" and status != 429]
            assert len(before) <= 2  # what was being drawn, and a turn
            return await asyncio.gather(*asked)

        statuses = made.runner.run(asyncio.wait_for(go(), PATIENCE))
    assert statuses.count(429) == len(spelled) - 11  # one is drawn, ten may wait


def test_a_status_that_takes_work_counts_as_a_decision(tmp_path):
    with world(tmp_path, decisions_per_minute=2) as made:
        made.open("czech", data="example:czech")
        public, other = made.client(), made.client(address="192.0.2.9")

        def status(client, names):
            return client.get(f"{API}/status", params={"variables": names}).status_code

        other.get(API)  # the desk is there
        assert [status(public, "A") for _ in range(5)] == [200] * 5  # out
        assert [status(public, names) for names in ("A,B", "A,C", "A,D")] == [200, 200, 429]
        assert [status(public, "A,B") for _ in range(5)] == [200] * 5  # known by now
        assert public.get("/d/czech?v=A&v=E").status_code == 429
        assert public.post(f"{API}/requests", {"variables": ["A", "F"]}).status_code == 429
        assert status(other, "A,D") == 200
        assert status(public, "A,D") == 200


@pytest.fixture
def towns(tmp_path):
    """With a table of 3,000 cells that is out."""
    counts = np.full((1_500, 2), 20)
    table = Table.of(counts, Town=[f"town {i}" for i in range(1_500)], Sex=["f", "m"])
    with world(tmp_path) as made:
        made.site.counter.open(table, Policy.of(MYOPIC), slug="towns", actor="tests")
        answer = made.client().post(
            "/api/v1/datasets/towns/requests", {"variables": ["Town", "Sex"]}
        )
        assert answer.json()["outcome"] == "granted"
        yield made


TOWNS = "/api/v1/datasets/towns/tables/Town*Sex"
SAME = (  # other words for one question
    (f"{TOWNS}?format=xlsx", {}),
    (f"{TOWNS}?format=xlsx", {"accept": "text/html"}),
    (f"{TOWNS}?format=xlsx", {"accept": "*/*;q=0.1", "accept-language": "de"}),
    (f"{TOWNS}?format=xlsx", {"host": "elsewhere.example"}),
    (f"{TOWNS}?format=xlsx&x=1", {}),
    ("/api/v1/datasets/towns/tables/Sex%2ATown?format=xlsx", {}),
)


def test_a_large_file_is_made_once_in_whatever_words_it_is_asked_for(towns, monkeypatch):
    times = counted_writes(monkeypatch)
    bodies = {towns.client().get(path, headers=sent).content for path, sent in SAME}
    assert len(bodies) == len(times) == 1
    path = "/api/v2/tables/towns.Town.Sex/data?outputFormat=xlsx"
    for accept in ("a", "b"):
        assert towns.client().get(path, headers={"accept": accept}).status_code == 200
    assert len(times) == 2
    towns.client().get(f"{path}&valueCodes[Sex]=f")
    towns.client().get(f"{path}&valueCodes[Sex]=*&valueCodes[Town]=*")
    assert len(times) == 3  # a part is another table, of few cells


def counted_writes(monkeypatch):
    """Notes what is written."""
    times = []

    def noted(table, format, *more):
        times.append(format)
        return write(table, format, *more)

    monkeypatch.setattr("discreet.server.api.tables.write", noted)
    monkeypatch.setattr("discreet.server.pxweb.sending.write", noted)
    return times


def test_large_files_are_made_one_at_a_time_and_readers_go_on(towns, monkeypatch):
    held = Held()

    def slow(table, format, *more):
        held(format)
        return write(table, format, *more)

    monkeypatch.setattr("discreet.server.api.tables.write", slow)
    client = towns.client()

    async def go():
        asking = [
            asyncio.create_task(client.http.get(f"{TOWNS}?format={format}"))
            for format in ("xlsx", "csv", "px", "parquet")
        ]
        await until(lambda: held.begun)
        await until(lambda: towns.site.visiting.waiting == 3)
        for path in ("/healthz", "/", "/d/towns/t/Sex", "/api/v1/datasets/towns/frontier"):
            assert (await asyncio.wait_for(client.http.get(path), PATIENCE)).status_code == 200
        assert len(held.begun) == 1
        held.gate.set()
        return await asyncio.gather(*asking)

    answers = towns.runner.run(asyncio.wait_for(go(), PATIENCE))
    assert {one.status_code for one in answers} == {200}


def test_nothing_large_is_made_while_much_is_being_sent(towns):
    made, body = towns.site.made, bytes(1 << 20)
    made.most_sent = 1 << 19
    made.sending.begin(body)
    made.sending.begin(body)
    assert made.sending.bytes == len(body)  # the same bytes once
    refused = towns.client().get(f"{TOWNS}?format=csv")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
    assert towns.client().get("/d/towns/t/Sex").status_code == 200
    made.sending.end(body)
    made.sending.end(body)
    assert made.sending.bytes == 0
    assert towns.client().get(f"{TOWNS}?format=csv").status_code == 200

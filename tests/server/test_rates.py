"""What workers count together: rates, metrics and uses, in a database or in Redis."""

import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from discreet.errors import DataError
from discreet.server.app import create_app
from discreet.server.guards.guard import Limits, Proxies
from discreet.server.guards.rates import DatabaseRates, OwnRates, RedisRates, rates_of
from discreet.server.ledger import store
from discreet.server.ledger.schema import Meter, Rate
from discreet.server.operation.meters import DAY, QUIET, Meters
from discreet.server.operation.uses import Uses
from discreet.server.settings import Settings
from server.sites import world

SECRET = b"of these tests"
TRACT = "/api/v1/datasets/tract"


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def workers(database, clock):
    return [DatabaseRates(database, SECRET, clock) for _ in range(3)]


def allowed(rates, what, client, most, number):
    return sum(rates.hit(what, client, most) == 0 for _ in range(number))


# Rates


@pytest.mark.parametrize("what", ["decisions", "logins"])
def test_workers_count_decisions_and_logins_together(workers, clock, what):
    assert [allowed(worker, what, "a", 4, 2) for worker in workers] == [2, 2, 0]
    assert allowed(workers[0], what, "b", 4, 5) == 4
    assert workers[1].hit(what, "a", 4) == 60  # until the ten seconds it began in are over
    clock.now += 59
    assert workers[2].hit(what, "a", 4) == 1
    clock.now += 1
    assert [allowed(worker, what, "a", 4, 2) for worker in workers] == [2, 2, 0]


def test_of_many_at_once_no_more_pass(workers):
    with ThreadPoolExecutor(12) as threads:
        waits = list(
            threads.map(lambda n: workers[n % 3].hit("logins", "a", 5), range(36))
        )  # fmt: skip
    assert sum(wait == 0 for wait in waits) == 5


def test_workers_tell_each_other_of_requests(workers, clock):
    one, two, three = workers
    assert allowed(one, "requests", "a", 10, 6) == 6
    assert allowed(two, "requests", "a", 10, 3) == 3  # not yet told
    for worker in workers:
        worker.exchange(0)
    assert allowed(three, "requests", "a", 10, 5) == 1
    assert allowed(two, "requests", "a", 10, 5) == 10 - 6 - 3
    assert one.hit("requests", "b", 10) == 0
    for worker in (three, two, one):
        worker.exchange(0)
    assert one.hit("requests", "a", 10) > 0
    clock.now += 60
    for worker in workers:
        worker.exchange(0)
    assert allowed(one, "requests", "a", 10, 20) == 10


def test_few_requests_elsewhere_are_not_told(workers):
    one, two, _ = workers
    allowed(one, "requests", "a", 100, 9)
    allowed(one, "requests", "b", 100, 10)
    one.exchange(10)
    two.exchange(10)
    assert allowed(two, "requests", "a", 100, 200) == 100
    assert allowed(two, "requests", "b", 100, 200) == 90


def test_no_address_is_kept_and_nothing_for_long(workers, database, clock):
    one, two, _ = workers
    one.hit("logins", "192.0.2.77", 5)
    one.hit("requests", "192.0.2.77", 5)
    one.exchange(0)
    with database.read() as session:
        rows = session.scalars(select(Rate)).all()
    assert len(rows) == 2
    assert not any("192.0.2.77" in row.client for row in rows)
    clock.now += 121
    two.exchange(0)
    with database.read() as session:
        assert session.scalar(select(func.count()).select_from(Rate)) == 0


def test_a_limit_of_the_application_is_that_of_all_workers(tmp_path):
    with world(tmp_path, decisions_per_minute=3, logins_per_minute=1, shared="database") as made:
        made.open()
        second = create_app(made.settings, made.site, quiet=True)
        body, statuses = {"variables": ["Race"]}, []
        for _ in range(2):
            for app in (made.app, second):
                made.app = app
                statuses.append(made.client().post(f"{TRACT}/requests", body).status_code)
        assert statuses == [200, 200, 200, 429]


def test_what_can_be_shared(database):
    assert isinstance(rates_of("", database, SECRET), OwnRates)
    assert isinstance(rates_of("database", database, SECRET), DatabaseRates)
    with pytest.raises(DataError, match="'memcached' is not known; write database or redis"):
        rates_of("memcached://x", database, SECRET)
    limits = Limits(Settings(requests_per_minute=120), Proxies(""), OwnRates())
    limits.exchange()


# Redis


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    """The address of a Redis server."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    pytest.importorskip("redis")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    process = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.05)
    yield f"redis://127.0.0.1:{port}/0", process
    process.terminate()
    process.wait()


def test_redis_counts_together_and_workers_alone_without_it(redis, capsys):
    url, process = redis
    one, two = (rates_of(url, None, SECRET) for _ in range(2))
    assert isinstance(one, OwnRates)  # without a database there are no workers
    one, two = (RedisRates(url, SECRET) for _ in range(2))
    for what in ("requests", "decisions", "logins"):
        assert allowed(one, what, "a", 5, 3) == 3
        assert allowed(two, what, "a", 5, 4) == 2
        assert 0 < one.hit(what, "a", 5) <= 60
    assert allowed(two, "requests", "b", 5, 6) == 5
    process.terminate()
    process.wait()
    assert allowed(one, "logins", "a", 2, 3) == 2
    assert allowed(two, "logins", "a", 2, 3) == 2
    assert "Redis does not answer" in capsys.readouterr().err


# Metrics


def metered(database, clock):
    """A worker's counters."""
    registry = CollectorRegistry()
    answers = Counter("answers", "Answers.", ["route"], registry=registry)
    seconds = Histogram("seconds", "Seconds.", buckets=(0.1, 10.0), registry=registry)
    waiting = Gauge("waiting", "Waiting.", registry=registry)
    return answers, seconds, waiting, Meters(database, registry, clock)


def read(meters):
    """What Prometheus gets."""
    registry = CollectorRegistry()
    registry.register(meters)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def test_metrics_are_those_of_all_workers_also_of_dead_ones(database, clock):
    one, two = (metered(database, clock) for _ in range(2))
    for worker, number in ((one, 3), (two, 4)):
        answers, seconds, waiting, _ = worker
        answers.labels("/").inc(number)
        seconds.observe(number)
        waiting.set(number)
    two[0].labels('"odd"\\').inc()
    two[3].write()
    clock.now += 1
    found = read(one[3])
    assert found["answers_total", "/"] == 7
    assert found["answers_total", '"odd"\\'] == 1
    assert found["seconds_count",] == found["seconds_bucket", "+Inf"] == 2
    assert (found["seconds_bucket", "0.1"], found["seconds_sum",]) == (0, 7)
    assert found["waiting",] == 7
    clock.now += QUIET
    assert read(one[3])["waiting",] == 3  # the other is dead
    assert read(one[3])["answers_total", "/"] == 7
    one[0].labels("/").inc()
    assert read(one[3])["answers_total", "/"] == 8


def test_workers_that_ended_long_ago_become_one(database, clock):
    for _ in range(3):
        answers, seconds, _, meters = metered(database, clock)
        answers.labels("/").inc(2)
        seconds.observe(1)
        meters.write()
    clock.now += DAY + 1
    for turn in range(2):
        answers, _, _, meters = metered(database, clock)
        answers.labels("/").inc()
        found = read(meters)
        assert found["answers_total", "/"] == 6 + turn + 1
        assert found["seconds_count",] == 3
    with database.read() as session:
        assert len(set(session.scalars(select(Meter.worker)))) == 3


def test_a_scrape_tells_what_all_workers_answered(tmp_path):
    with world(tmp_path, shared="database") as made:
        made.open()
        first, second = made.app, create_app(made.settings, made.site, quiet=True)
        for app, number in ((first, 2), (second, 3)):
            made.app = app
            for _ in range(number):
                assert made.client().get(f"{TRACT}/frontier").status_code == 200
        second.state.metrics.write()
        made.app = first
        told = made.client().get("/metrics").text
        route = 'route="/api/v1/datasets/{slug}/frontier",status="200"'
        assert f"discreet_http_responses_total{{{route}}} 5.0" in told
        assert 'discreet_margins{dataset="tract",status="released"} 3.0' in told


# Uses


def totals(made):
    with made.site.database.read() as session:
        dataset = store.find_dataset(session, "tract")
        return {use.what: use.n for use in store.uses(session, dataset)}


def test_uses_are_written_together_and_at_the_end(tmp_path):
    with world(tmp_path) as made:
        made.open()
        client = made.client()

        async def serve():
            async with made.app.router.lifespan_context(made.app):
                for _ in range(5):
                    assert (await client.http.get(f"{TRACT}/tables/Race")).status_code == 200
                assert totals(made) == {}

        made.runner.run(serve())
        assert totals(made) == {"download json": 5}


def test_uses_that_cannot_be_written_are_kept(tmp_path, monkeypatch, capsys):
    with world(tmp_path) as made:
        made.open()
        uses, number = Uses(), made.site.counter.served["tract"].id

        def fail(*_):
            raise OperationalError("INSERT", {}, Exception("locked"))

        uses.add(number, "requests", "grants")
        with monkeypatch.context() as patch:
            patch.setattr(store, "use", fail)
            uses.write(made.site.database)
        assert "uses not written" in capsys.readouterr().err
        uses.add(number, "requests")
        uses.write(made.site.database)
        uses.write(made.site.database)
        assert totals(made) == {"requests": 2, "grants": 1}

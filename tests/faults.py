"""A server that is killed, or whose database fails, at random; and what must hold after it."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np
from sqlalchemy import event
from sqlalchemy import select as select_rows
from sqlalchemy.exc import OperationalError

from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DisclosureError
from discreet.server.deciding.counter import Counter
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify
from discreet.server.ledger.database import open_database
from discreet.server.ledger.schema import Publication
from discreet.table.table import Table

SECRET, SLUG, NAMES = b"of the faults", "five", "ABCDE"
RULES = {"server.rule": "myopic", "attribute.check": False, "server.slot": 0.0,
         "server.approval": "never", "bounds.witness_seconds": 0.0}  # fmt: skip


def random_table(rng):
    counts = rng.multinomial(600, rng.dirichlet(np.full(32, 0.9))).reshape((2,) * 5)
    return Table.of(counts, **{name: [0, 1] for name in NAMES})


def opened(database, table):
    counter = Counter(database, SECRET)
    counter.open(table, Policy.of(RULES | {"server.one_way": False}), slug=SLUG)
    return counter


def random_margin(chance):
    return sorted(chance.sample(NAMES, chance.randint(1, 4)))


def do_something(counter, chance):
    """A request, now and then a change of the policy or of the list; what was told, if anything."""
    lot = chance.random()
    if lot < 0.1:
        width = chance.choice([1, 3, 3, 5])
        counter.change_policy(SLUG, {"small.width": width}, "7")
        return None
    if lot < 0.15:
        counter.list_margins(SLUG, [random_margin(chance)], "7")
        return None
    margin = random_margin(chance)
    return margin, str(counter.request(SLUG, margin).outcome)


def check(url, table, told):
    """The ledger holds, has every answer that was told, and what is out keeps the policy."""
    database = open_database(url)
    try:
        with database.read() as session:
            dataset = store.find_dataset(session, SLUG)
            if dataset is None:
                assert not told
                return
            found = verify(session, dataset)
            assert found.holds, found.problems
            kept = [(e.margin, e.outcome) for e in store.entries(session, dataset) if e.outcome]
            assert all((margin, outcome) in kept for margin, outcome in told)
            loosest = min(
                Policy.loads(text).small.width
                for text in [dataset.policy, *store.policies_before(session, dataset)]
            )
            out = list(session.scalars(select_rows(Publication.margin)))
        counter = opened(database, table)
        with counter.desk(SLUG) as desk:
            assert {frozenset(m) for m in out} >= {
                frozenset(NAMES[p] for p in range(5) if s >> p & 1) for s in desk.out
            }
        if out:
            rules = Policy.of(RULES | {"small.width": loosest})
            assert decide(table, out, rules).verdict is Verdict.PASS
    finally:
        database.close()


def kills(url, number, seed):
    """So many times: a process that decides, killed at a random moment; how much was told.

    In a process of its own, whose children can be forked: no kernel runs in it.
    """
    script = f"import faults; faults.kill_children({url!r}, {number}, {seed})"
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def kill_children(url, number, seed):
    chance, told = random.Random(seed), []
    table = random_table(np.random.default_rng(seed))
    for turn in range(number):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _live(url, table, random.Random(seed * 10_000 + turn), write)
        os.close(write)
        if chance.random() < 0.8:  # or while it opens
            select.select([read], [], [], 30.0)
        time.sleep(chance.uniform(0.0, 0.4))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(read) as lines:
            whole = lines.read().rpartition("\n")[0]
        told += [tuple(json.loads(line)) for line in whole.split("\n") if line]
        if (child := os.fork()) == 0:
            try:
                check(url, table, told)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    print(len(told))


def _live(url, table, chance, pipe):
    """Until it is killed: decide, and tell."""
    try:
        database = open_database(url)
        counter = opened(database, table)
        for _ in range(10_000):
            if (said := do_something(counter, chance)) is not None:
                os.write(pipe, json.dumps(said).encode() + b"\n")
    finally:
        os._exit(1)


class Faults:
    """At the driver: the n-th statement fails, or the commit, or only what comes back of it."""

    def __init__(self, engine, chance):
        self.chance, self.left, self.lost, self.failed = chance, None, None, 0
        event.listen(engine, "before_cursor_execute", self._statement)
        event.listen(engine, "commit", self._commit)
        real = engine.dialect.do_commit

        def do_commit(connection):
            real(connection)
            if self.lost:
                self.lost = False
                self._fail()

        engine.dialect.do_commit = do_commit

    def arm(self):
        self.left, self.lost = self.chance.randint(0, 60), False
        if self.chance.random() < 0.25:
            self.left, self.lost = None, True

    def disarm(self):
        self.left, self.lost = None, False

    def _statement(self, conn, cursor, statement, parameters, context, executemany):
        self._count()

    def _commit(self, conn):
        self._count()

    def _count(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                self._fail()

    def _fail(self):
        self.failed += 1
        raise OperationalError("made to fail", {}, Exception("disk I/O error"))


def failures(url, table, number, seed):
    """So many failed statements and commits: the next decision is that of a new process."""
    chance, told = random.Random(seed), []
    database, other = open_database(url), open_database(url)
    faults = Faults(database.engine, chance)
    counter = opened(database, table)
    while faults.failed < number:
        faults.arm()
        try:
            said = do_something(counter, chance)
            told += [said] if said else []
        except DisclosureError:
            pass
        faults.disarm()
        margin = random_margin(chance)
        with opened(other, table).desk(SLUG) as fresh, counter.desk(SLUG) as desk:
            assert desk.policy.to_dict() == fresh.policy.to_dict()
            assert (set(desk.out), desk.listed) == (set(fresh.out), fresh.listed)
            assert desk.ask("*".join(margin)) == fresh.ask("*".join(margin))
    for each in (database, other):
        each.close()
    check(url, table, told)
    return faults.failed, len(told)

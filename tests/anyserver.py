"""A table server that is asked, changed, broken and restarted at random, and what is public of it.

The oracle is enumeration of all tables of whole numbers that fit (`lawcases`): at every moment all
that is public keeps the policy under which something was published last.
"""

import random
from contextlib import contextmanager, suppress
from itertools import combinations, count

import numpy as np
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

import lawcases
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError
from discreet.server.deciding.counter import Counter
from discreet.server.deciding.unready import Unready
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify_all
from discreet.server.ledger.database import migrate, open_database
from discreet.server.ledger.schema import Dataset, Publication
from discreet.server.showing.catalogue import Catalogue, Withdrawn
from discreet.table.table import Table

SHAPES = ((2, 2), (3, 2), (2, 2, 2), (3, 3))
SECRET = b"of the machine"
MOST_TABLES = 60_000
NUMBERS = count()
FIXED = {"bounds.proof": "integer", "bounds.witness_seconds": 0.0, "server.slot": 0.0}


class Broken(Exception):
    """What the driver says when the machine makes it fail."""


class FailingDriver:
    """Lets the n-th statement from now on fail, or the commit."""

    def __init__(self, engine):
        self.left, self.failed = None, 0
        event.listen(engine, "before_cursor_execute", self._statement)
        event.listen(engine, "commit", self._commit)

    def _statement(self, conn, cursor, statement, parameters, context, executemany):
        if self.left is not None and not statement.lstrip().upper().startswith("PRAGMA"):
            self._count()

    def _commit(self, conn):
        if self.left is not None:
            self._count()

    def _count(self):
        self.left -= 1
        if self.left < 0:
            self.left = None
            self.failed += 1
            raise OperationalError("made to fail", {}, Broken("disk I/O error"))


def margins_of(axes):
    return [s for n in range(1, axes + 1) for s in combinations(range(axes), n)]


def random_policy(rng):
    """Lenient enough for small tables to be granted now and then."""
    rule = rng.choice(["static", "myopic", "myopic", "simulatable"])
    return Policy.of(FIXED | {
        "server.rule": rule,
        "server.approval": rng.choice(["never", "review", "review", "always"]),
        "server.one_way": rng.random() < 0.5,
        "server.curated": rng.random() < 0.15,
        "server.approvers": rng.choice([1, 1, 2]),
        "server.delta": rng.choice([0.05, 0.5, 0.9]),
        "server.draws": 40,
        **random_thresholds(rng),
    })  # fmt: skip


def random_thresholds(rng):
    return {
        "small.most": rng.choice([1, 2]),
        "small.width": rng.choice([0, 1, 1, 1, 2, 3]),
        "published.least": rng.choice([0, 0, 0, 2, 3]),
        "attribute.check": rng.random() < 0.25,
        "attribute.share": rng.choice([0.9, 1.0]),
        "attribute.exclusion": rng.random() < 0.3,
        "attribute.order": 3,
    }


def random_table(rng, shape):
    people = rng.randint(4, 20 if len(shape) == 2 else 10)
    draws = np.random.default_rng(rng.getrandbits(32))
    shares = draws.dirichlet(np.full(int(np.prod(shape)), rng.choice([0.5, 3.0])))
    return table_of(draws.multinomial(people, shares).reshape(shape))


def table_of(array):
    names = {chr(65 + a): [f"{chr(97 + a)}{c}" for c in range(n)] for a, n in
             enumerate(array.shape)}  # fmt: skip
    return Table.of(array, **names)


def broken(table, sets, policy):
    """Which rules a release breaks, by enumeration; None if there are too many tables."""
    margins = tuple(tuple(a for a in range(len(table.names)) if s >> a & 1) for s in sets)
    case = lawcases.LawCase(table, table.dense(), margins, policy)
    before, lawcases.MOST_TABLES = lawcases.MOST_TABLES, MOST_TABLES
    try:
        return None if lawcases.fitting(case) is None else lawcases.broken(case)
    finally:
        lawcases.MOST_TABLES = before


class Server(RuleBasedStateMachine):
    """Everything that can happen to a server, in any order."""

    tally: dict = {}  # noqa: RUF012 of all of them, for whoever reports it
    different: set = set()  # noqa: RUF012 data sets

    def __init__(self, folder, run):
        super().__init__()
        self.run = run
        self.url = f"sqlite:///{folder}/{next(NUMBERS)}.db"
        migrate(self.url)
        self.database = open_database(self.url)
        self.driver = FailingDriver(self.database.engine)
        self.counter = Counter(self.database, SECRET)
        self.tables, self.seen = {}, {}
        self.rng = random.Random(0)

    @contextmanager
    def calm(self):
        """Nothing fails while the machine looks by itself."""
        left, self.driver.left = self.driver.left, None
        try:
            with self.database.read() as session:
                yield session
        finally:
            self.driver.left = left

    def count(self, what):
        self.tally[what] = self.tally.get(what, 0) + 1

    def teardown(self):
        with self.calm() as session:
            assert all(found.holds for found in verify_all(session))
        self.database.close()

    def names(self, margin):
        return [chr(65 + a) for a in margin]

    def some_margin(self, table):
        return self.names(self.rng.choice(margins_of(len(table.names))))

    @property
    def newest(self):
        return max(self.tables, key=lambda slug: int(slug[1:]), default=None)

    @initialize(number=st.integers(0, 2**32 - 1))
    def begin(self, number):
        self.rng = random.Random(f"{self.run} {number}")
        self.count("servers")
        self.different.add((self.run, number))
        for _ in range(8):
            if not self.tables:
                self.try_open("v1", random_table(self.rng, self.rng.choice(SHAPES)))

    def try_open(self, slug, table, **more):
        policy = random_policy(self.rng)
        frontier = None
        if policy.server.rule == "static" or self.rng.random() < 0.3:
            frontier = [self.some_margin(table) for _ in range(self.rng.randint(1, 2))]
        listed = [self.some_margin(table)] if policy.server.curated else None
        try:
            self.counter.open(table, policy, slug=slug, frontier=frontier, listed=listed, **more)
        except Unready:
            self.count("openings that failed in the database")
        except DisclosureError:
            self.count("openings refused")
        else:
            self.count(f"opened {policy.server.rule}")
        with self.calm() as session:
            if store.find_dataset(session, slug) is not None:
                self.tables[slug] = table
                if slug not in self.counter.served:
                    self.restart()

    # What happens

    @precondition(lambda self: not self.tables)
    @rule()
    def open_again(self):
        self.try_open("v1", random_table(self.rng, self.rng.choice(SHAPES)))

    @precondition(lambda self: self.tables)
    @rule(old=st.booleans())
    def ask(self, old):
        slug = self.rng.choice(sorted(self.tables)) if old else self.newest
        table = self.tables[slug]
        names = self.some_margin(table)
        before = self.public(slug)
        try:
            decided = self.counter.request(slug, names, self.rng.choice(["1", "2", "public"]))
        except Unready:
            self.count("requests that failed in the database")
            return
        self.count(f"requests {decided.outcome}")
        if decided.outcome == "granted":
            with self.calm(), suppress(Withdrawn):
                shown = Catalogue(self.database).published(slug, names)
                assert (shown.counts == table.margin(names).dense()).all()
        if decided.why == "unsafe":
            self.check_unsafe(slug, names, before)

    def check_unsafe(self, slug, names, before):
        """A refusal by the data is for a reason: the myopic rule does not refuse more."""
        with self.calm() as session:
            policy = Policy.loads(store.find_dataset(session, slug).policy)
        if policy.server.rule != "myopic" or policy.server.approval == "never" or slug != "v1":
            return
        table = self.tables[slug]
        wanted = sum(1 << table.names.index(name) for name in names)
        found = broken(table, [*before, wanted], policy)
        if found is not None:
            self.count("refusals checked")
            assert found, "it was refused, and breaks nothing"

    @precondition(lambda self: self.tables)
    @rule(times=st.integers(1, 4))
    def ask_more(self, times):
        for _ in range(times):
            self.ask(False)

    @precondition(lambda self: self.tables)
    @rule(approve=st.booleans(), actor=st.sampled_from(["7", "8"]))
    def decide_waiting(self, approve, actor):
        with self.calm() as session:
            dataset = store.find_dataset(session, self.newest)
            waiting = store.waiting(session, dataset.id)
        if not waiting:
            return
        one = self.rng.choice(waiting)
        if approve and one.why == "doubt":
            return  # a person's own judgement, and not the program's
        try:
            if approve:
                decided = self.counter.approve(self.newest, one.number, actor)
                self.count(f"approvals {decided.outcome}")
            else:
                self.counter.reject(self.newest, one.number, actor)
                self.count("rejections")
        except DisclosureError:
            self.count("approvals refused")

    @precondition(lambda self: self.tables)
    @rule(actor=st.sampled_from(["7", "8"]))
    def change_policy(self, actor):
        slug = self.rng.choice(sorted(self.tables))
        every = random_policy(self.rng).to_dict()
        keys = self.rng.sample(sorted(random_thresholds(self.rng)), 2) + self.rng.sample(
            ["server.rule", "server.one_way", "server.approval", "server.curated"], 2
        )
        try:
            self.counter.change_policy(slug, {key: every[key] for key in keys}, actor)
        except DisclosureError:
            self.count("policies refused")
        else:
            self.count("policies changed or proposed")

    @precondition(lambda self: self.tables)
    @rule()
    def change_list(self):
        table = self.tables[self.newest]
        try:
            self.counter.list_margins(self.newest, [self.some_margin(table)], "7")
        except Unready:
            self.count("lists that failed in the database")

    @precondition(lambda self: self.tables)
    @rule()
    def withdraw(self):
        slug = self.rng.choice(sorted(self.tables))
        try:
            self.counter.withdraw(slug, self.some_margin(self.tables[slug]), "7", "an error")
            self.count("withdrawals")
        except DisclosureError:
            pass

    @precondition(lambda self: self.tables and len(self.tables) < 4)
    @rule(grows=st.booleans())
    def new_vintage(self, grows):
        """Some came; unless the register only grows, some went or moved."""
        old = self.tables[self.newest].dense().copy()
        for _ in range(self.rng.randint(1, 6)):
            old[tuple(self.rng.randrange(n) for n in old.shape)] += 1
        if not grows:
            for cell in self.rng.sample(list(np.argwhere(old > 0).tolist()), 1):
                old[tuple(cell)] -= 1
        previous = self.rng.choice(sorted(self.tables))
        slug = f"v{int(self.newest[1:]) + 1}"
        self.count("vintages tried")
        self.try_open(slug, table_of(old), previous=previous)

    @precondition(lambda self: self.tables)
    @rule()
    def the_same_data_again(self):
        for more in ({}, {"apart": True}, {"previous": self.newest}):
            try:
                self.counter.open(self.tables[self.newest], Policy(), slug="again", **more)
            except DisclosureError:
                continue
            raise AssertionError("the same data under two names")

    @rule(left=st.integers(0, 30))
    def let_something_fail(self, left):
        self.driver.left = left

    @precondition(lambda self: self.tables)
    @rule()
    def restart(self):
        """A new process, that is told what is served and not whose vintage it is."""
        self.driver.left = None
        counter = Counter(self.database, SECRET)
        for slug in sorted(self.tables, key=lambda slug: int(slug[1:])):
            counter.open(self.tables[slug], Policy(), slug=slug, frontier=[["A"]])
        self.counter = counter
        self.count("restarts")

    # What is public

    def public(self, slug):
        with self.calm() as session:
            dataset = store.find_dataset(session, slug)
            rows = session.scalars(
                select(Publication.margin).where(Publication.dataset_id == dataset.id)
            )
            names = self.tables[slug].names
            return [sum(1 << names.index(n) for n in margin) for margin in rows]

    @invariant()
    def all_that_is_public_keeps_the_policy(self):
        for slug, table in self.tables.items():
            out = self.public(slug)
            if not out or self.seen.get(slug) == sorted(out):
                continue
            self.seen[slug] = sorted(out)
            with self.calm() as session:
                policy = Policy.loads(store.find_dataset(session, slug).policy)
            wrong = broken(table, out, policy)
            self.count("states too large to list" if wrong is None else "states checked")
            assert not wrong, (table.dense().tolist(), out, wrong)
            for other in self.tables:
                if other != slug:
                    self.check_changes(slug, other, policy)
        with self.calm() as session:
            assert set(session.scalars(select(Dataset.slug))) == set(self.tables)

    def check_changes(self, slug, other, policy):
        """Those who came and those who went, as tables that the common margins tell."""
        both = {mine & theirs for mine in self.public(slug) for theirs in self.public(other)} - {0}
        if not both:
            return
        more = self.tables[slug].dense() - self.tables[other].dense()
        for side in (np.maximum(more, 0), np.maximum(-more, 0)):
            if side.any():
                wrong = broken(table_of(side), sorted(both), policy)
                self.count("changes too large" if wrong is None else "changes checked")
                assert not wrong, (slug, other, side.tolist(), both, wrong)


def check(folder, run, number):
    """So many servers, of about half as many different data sets."""
    run_state_machine_as_test(
        seed(run)(lambda: Server(folder, run)),
        settings=settings(
            max_examples=number,
            stateful_step_count=30,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )

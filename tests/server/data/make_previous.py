"""Writes previous.sql: a database as a release leaves it, for the tests of the next one.

With the code of that release: PYTHONPATH=ITS/src python tests/server/data/make_previous.py
"""

import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

SECRET = "the secret of the previous release"
PASSWORD = "a long enough one 4 tests"
BEGIN = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)


class Clock(datetime):
    """A second passes with each look, years before any test is run."""

    looks = 0

    @classmethod
    def now(cls, tz=None):
        cls.looks += 1
        return BEGIN + timedelta(seconds=cls.looks)


def write(url):
    """Every kind of entry, a vintage, accounts; gives a custodian's key."""
    from argon2 import PasswordHasher

    import discreet.server.deciding.counter as counting
    from discreet.decision.law.policy import Policy
    from discreet.server.deciding.counter import Counter
    from discreet.server.ledger import schema
    from discreet.server.ledger.database import migrate, open_database
    from discreet.server.people.accounts import Accounts
    from discreet.table.load import load
    from discreet.table.table import Table

    schema.datetime = counting.datetime = Clock
    migrate(url)
    with closing(open_database(url)) as database:
        quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        accounts = Accounts(database, hasher=quick, clock=lambda: Clock.now(UTC))
        maria = accounts.create("maria", "custodian", PASSWORD)
        accounts.create("otto", "auditor", PASSWORD)
        key = accounts.make_key(maria.id, "nightly")
        counter = Counter(database, SECRET.encode())
        myopic = {"server.rule": "myopic", "server.slot": 0.0}
        counter.open(load("example:tract"), Policy.of(myopic), slug="tract", title="A tract")
        for margin in (["Gender", "Income"], ["Race", "Income"], ["Race", "Gender"]):
            counter.request("tract", margin)
        counter.withdraw("tract", ["Gender", "Income"], str(maria.id), "a coding error")
        counter.open(load("example:czech"), Policy.of(myopic), slug="czech", title="Workers")
        counter.request("czech", ["A", "B"], str(maria.id))
        counter.change_policy("czech", {"server.approval": "always"}, str(maria.id), "autumn")
        waiting = [counter.request("czech", list(margin)).number for margin in ("CD", "DE", "EF")]
        counter.approve("czech", waiting[0], str(maria.id), "for the yearbook")
        counter.reject("czech", waiting[1], str(maria.id))
        counter.list_margins("czech", [["A", "B", "C"], ["E", "F"]], str(maria.id))
        towns = {"Sex": ["F", "M"], "Town": ["N", "S"]}
        old, new = ([[131, 92], [118, 87]], [[163, 121], [149, 120]])
        chosen = [["Sex"], ["Town"]]
        counter.open(Table.of(old, **towns), Policy(), slug="people-2025", frontier=chosen)
        counter.open(
            Table.of(new, **towns),
            Policy(),
            slug="people-2026",
            frontier=chosen,
            previous="people-2025",
        )
    return key


if __name__ == "__main__":
    target = Path(__file__).with_name("previous.sql")
    with tempfile.TemporaryDirectory() as folder:
        key = write(f"sqlite:///{folder}/previous.db")
        with closing(sqlite3.connect(f"{folder}/previous.db")) as written:
            lines = [f"-- key: {key}", *written.iterdump()]
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")

"""Memory and ledger are one: after any failure a decision follows what is written."""

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from discreet.decision.answering import Outcome, Why
from discreet.decision.law.policy import Policy
from discreet.errors import LedgerError
from discreet.server import launch
from discreet.server.deciding import current_desks
from discreet.server.deciding.counter import Counter
from discreet.server.deciding.unready import Unready
from discreet.server.launch import DataSpec, build_services, prepare
from discreet.server.ledger import backup, store
from discreet.server.ledger.database import migrate, open_database
from discreet.server.ledger.marks import SECRET as SECRET_MARK
from discreet.server.ledger.schema import Mark
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue, NotPublished
from discreet.table.load import load
from server.sites import world

SECRET = b"of these tests"
CZECH = load("example:czech")
RULES = {"server.rule": "myopic", "bounds.proof": "outer", "attribute.check": False,
         "published.least": 0, "server.slot": 0.0}  # fmt: skip


def opened(database, **changes):
    counter = Counter(database, SECRET)
    rules = Policy.of(RULES | {key.replace("__", "."): v for key, v in changes.items()})
    counter.open(CZECH, rules, slug="czech")
    return counter


class FailingCommits:
    """The next commit does not come through, nor do reads if the database is `gone`."""

    def __init__(self, database):
        self.fails = self.gone = False
        event.listen(database.engine, "commit", self._commit)
        event.listen(database.engine, "before_cursor_execute", self._statement)

    def _commit(self, connection):
        if self.fails:
            raise OperationalError("COMMIT", {}, Exception("disk I/O error"))

    def _statement(self, conn, cursor, statement, parameters, context, executemany):
        if self.gone:
            raise OperationalError(statement, {}, Exception("server closed the connection"))


def test_a_policy_whose_commit_failed_decides_nothing(database):
    """Not even if the database cannot be asked just then."""
    counter = opened(database, small__width=250)
    driver = FailingCommits(database)
    assert counter.request("czech", list("ABC")).why is Why.UNSAFE
    driver.fails = True
    with pytest.raises(Unready, match="disk of the ledger fails"):
        counter.change_policy("czech", {"small.width": 0}, "7")
    driver.gone = True
    with pytest.raises(Unready, match="does not answer"):
        counter.request("czech", list("ABC"))
    driver.fails = driver.gone = False
    assert counter.request("czech", list("ABC")).why is Why.UNSAFE
    assert opened(database).request("czech", list("ABC")).why is Why.UNSAFE


def test_a_list_whose_commit_failed_is_none(database):
    counter = opened(database, server__curated=True)
    driver = FailingCommits(database)
    driver.fails = True
    with pytest.raises(Unready):
        counter.list_margins("czech", [list("AB")], "7")
    driver.fails = False
    assert counter.request("czech", list("AB")).why is Why.UNLISTED


def test_a_grant_whose_commit_failed_is_told_to_nobody(database):
    counter = opened(database)
    driver = FailingCommits(database)
    driver.fails = True
    with pytest.raises(Unready):
        counter.request("czech", list("ABC"))
    driver.fails = False
    with counter.desk("czech") as desk:
        assert desk.margin("A*B*C") not in desk.out
    with pytest.raises(NotPublished):
        Catalogue(database).published("czech", list("ABC"))
    assert counter.request("czech", list("ABC")).outcome is Outcome.GRANTED


# What is written is looked at before the first answer


def tampered(database, *statements):
    """As whoever can write to the file would."""
    with database.engine.connect() as connection:
        if database.sqlite:
            triggers = connection.execute(
                text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            ).all()
            for name, _ in triggers:
                connection.execute(text(f"DROP TRIGGER {name}"))
        else:
            connection.execute(text("SET session_replication_role = replica"))
        for statement in statements:
            connection.execute(text(statement))
        if database.sqlite:
            for _, sql in triggers:
                connection.execute(text(sql))
        connection.commit()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE datasets SET policy = replace(policy, 'width = 3', 'width = 0')",
        'UPDATE datasets SET listed = \'[["A","B"]]\'',
        'UPDATE datasets SET frontier = \'[["A","B","C","D","E","F"]]\'',
        "UPDATE datasets SET variables = 'no json'",
        "UPDATE datasets SET previous = id",
        "UPDATE datasets SET closed_at = '2020'",
        "UPDATE entries SET margin = 'no json' WHERE number = 3",
        "UPDATE entries SET policy_version = 2 WHERE number = 4",
        "UPDATE entries SET actor = 'nobody' WHERE number = 2",
        "DELETE FROM publications WHERE entry_number = 8",
        "UPDATE publications SET margin = '[\"A\"]' WHERE entry_number = 8",
        "UPDATE publications SET counts = table_hash::bytea WHERE entry_number = 8",
    ],
)
def test_nothing_is_served_from_a_ledger_that_does_not_hold(database, statement):
    counter = opened(database)
    assert counter.request("czech", list("ABC")).number == 8
    tampered(database, statement.replace("::bytea", "" if database.sqlite else "::bytea"))
    with pytest.raises(LedgerError, match=r"does not hold: .*restore the newest backup"):
        opened(database)


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize(
    ("table", "column", "spoilt"),
    [
        ("datasets", "policy", "replace(policy, 'width = 3', 'width = 0')"),
        ("datasets", "policy", "'no policy'"),
        ("datasets", "listed", "'[[\"Gender\"]]'"),
        ("datasets", "variables", "replace(variables, 'White', 'Black')"),
        ("datasets", "variables", "replace(variables, 'name', 'nome')"),
        ("datasets", "variables", "'no json'"),
        ("datasets", "meaning", "'{}'"),
        ("publications", "margin", '\'["Gender","Race"]\''),
        ("publications", "margin", '\'["Gender","Age"]\''),
        ("publications", "counts", "table_hash"),
        ("publications", "counts", "(SELECT max(counts) FROM publications)"),
    ],
)
def test_by_rows_that_were_changed_while_it_runs_nothing_is_told_or_decided(
    made, table, column, spoilt, anew
):
    """503, also of a worker that reads them anew; when they are as they were, all goes on."""
    client, database, at = made.client(), made.site.database, "/api/v1/datasets/tract"
    asked, address = {"variables": ["Gender", "Income"]}, f"{at}/tables/Gender*Income"
    assert client.post(f"{at}/requests", asked).json()["outcome"] == "granted"
    values, before = client.get(address).json()["values"], head(made)
    tampered(
        database,
        f"CREATE TABLE kept AS SELECT rowid AS place, {column} FROM {table}",
        f"UPDATE {table} SET {column} = {spoilt}",
    )
    if anew:
        made.site.counter.served["tract"].desk = None
    if column == "counts":
        shown = client.get(f"{address}?format=csv")  # of which no copy is kept yet
        assert (shown.status_code, shown.json()["error"]["code"]) == (503, "not_ready")
    else:
        answer = client.post(f"{at}/requests", {"variables": ["Gender", "Race"]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not_ready")
        shown = client.get(address)
        assert shown.status_code in (404, 503) or shown.json()["values"] == values
    tampered(
        database,
        f"UPDATE {table} SET {column} = "
        f"(SELECT kept.{column} FROM kept WHERE kept.place = {table}.rowid)",
        "DROP TABLE kept",
    )
    assert head(made) == before
    assert client.post(f"{at}/requests", asked).json()["outcome"] == "granted"
    assert client.get(address).json()["values"] == values
    Counter(database, b"secret").open(load("example:tract"), Policy(), slug="tract")


def test_a_file_that_is_gone_is_not_made_anew(tmp_path):
    """An empty one in its place would have a journal that the returned file does not fit."""
    file, away = tmp_path / "50% gone #1.db", tmp_path / "away.db"
    url = f"sqlite:///{file}"
    migrate(url)
    database = open_database(url)
    counter = opened(database)
    database.close()  # what is open goes on with the file, wherever it is
    file.rename(away)
    with pytest.raises(Unready, match="does not answer"):
        counter.request("czech", list("AB"))
    assert not list(tmp_path.glob("50*"))
    away.rename(file)
    assert counter.request("czech", list("AB")).outcome is Outcome.GRANTED
    database.close()


def test_an_older_copy_of_the_ledger_is_found_out_while_it_is_served(tmp_path):
    url = f"sqlite:///{tmp_path}/now.db"
    migrate(url)
    database = open_database(url)
    counter = opened(database)
    backup.backup(database, tmp_path / "old.db")
    assert counter.request("czech", list("ABC")).outcome is Outcome.GRANTED
    with (
        closing(sqlite3.connect(tmp_path / "old.db")) as old,
        closing(sqlite3.connect(tmp_path / "now.db")) as new,
    ):
        old.backup(new)
    with pytest.raises(Unready, match="not the one that this server has seen: entry 8"):
        counter.request("czech", list("DEF"))
    database.close()


# The secret


def test_without_the_secret_nothing_is_opened_anew(tmp_path, monkeypatch):
    """A restored backup, and the file with the secret left behind."""
    url = f"sqlite:///{tmp_path}/here.db"
    spec = DataSpec("czech", "example:czech", set=tuple(f"{k}={_toml(v)}" for k, v in
                                                       RULES.items()))  # fmt: skip
    settings = prepare(Settings(database=url))
    site = build_services(settings, [spec])
    backup.backup(site.database, tmp_path / "backup.db")
    site.database.close()
    there = f"sqlite:///{tmp_path}/there.db"
    backup.restore(tmp_path / "backup.db", there)
    with pytest.raises(LedgerError, match=r"secret is not the one .* Do not open the data under"):
        prepare(Settings(database=there))
    assert not (tmp_path / "there.db.secret").exists()
    other = Settings(database=there, secret="another")
    with pytest.raises(LedgerError, match="secret is not the one"):
        build_services(prepare(other), [spec])
    with pytest.raises(LedgerError, match="secret is not the one"):  # nor under another name
        build_services(prepare(other), [DataSpec("again", "example:tract")])
    (tmp_path / "there.db.secret").write_text((tmp_path / "here.db.secret").read_text())
    again = build_services(prepare(Settings(database=there)), [spec])
    assert again.counter.request("czech", ["A"]).why is Why.OUT
    again.database.close()


def test_an_older_ledger_learns_which_secret_it_has(database):
    counter = opened(database)
    with database.write() as session:
        session.delete(session.get_one(Mark, SECRET_MARK))
    stranger = Counter(database, b"another secret")
    policy = counter.served["czech"].desk.policy
    with pytest.raises(LedgerError, match="serve one of its data sets too"):
        stranger.open(load("example:tract"), policy, slug="tract", apart=True)
    opened(database)
    with pytest.raises(LedgerError, match="secret is not the one"):
        stranger.open(CZECH, Policy.of(RULES), slug="czech")


def _toml(value):
    return str(value).lower() if isinstance(value, bool) else value


def test_vintages_are_opened_in_the_order_of_the_ledger(tmp_path):
    for year, more in (("2025", 0), ("2026", 40)):
        counts = np.array([[131, 92], [118, 87]]) + more
        rows = [f"{'fm'[i]},{'ns'[j]},{counts[i, j]}" for i in (0, 1) for j in (0, 1)]
        (tmp_path / f"{year}.csv").write_text("\n".join(["Sex,Town,n", *rows]))
    old = DataSpec("p2025", str(tmp_path / "2025.csv"), count="n", frontier="Sex + Town")
    new = DataSpec("p2026", str(tmp_path / "2026.csv"), count="n", frontier="Sex + Town",
                   previous="p2025")  # fmt: skip
    settings = prepare(Settings(database=f"sqlite:///{tmp_path}/v.db"))
    build_services(settings, [old, new]).database.close()
    plain = DataSpec("p2026", str(tmp_path / "2026.csv"), count="n")
    site = build_services(settings, [plain, old])  # in any order, and without the option
    assert list(site.counter.served) == ["p2025", "p2026"]
    with site.counter.desk("p2026") as desk:
        assert [other.out for other in desk.others] == [(1, 2)]
    site.database.close()
    with pytest.raises(LedgerError, match="serve the data of 'p2025' too"):
        build_services(settings, [plain])


# Not ready


@pytest.fixture
def made(tmp_path):
    with world(tmp_path) as found:
        yield found.open()


def test_a_clock_set_back_is_said(made, monkeypatch):
    client = made.client()
    monkeypatch.setattr(current_desks, "now", lambda: "2001-01-01T00:00:00.000000+00:00")
    answer = client.post("/api/v1/datasets/tract/requests", {"variables": ["Gender", "Income"]})
    assert answer.status_code == 503
    assert "the clock says 2001-01-01T00:00:00" in answer.json()["error"]["message"]
    ready = client.get("/readyz")
    assert ready.status_code == 503
    assert "set the clock" in ready.json()["error"]["message"]
    assert client.get("/api/v1/datasets/tract/tables/Gender").status_code == 200
    monkeypatch.undo()
    assert client.get("/readyz").status_code == 200
    assert client.post(
        "/api/v1/datasets/tract/requests", {"variables": ["Gender", "Income"]}
    ).json()["outcome"] == "granted"  # fmt: skip


@pytest.mark.parametrize(
    ("pragma", "undo", "said"),
    [
        ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", "is full"),
        ("PRAGMA query_only = ON", "PRAGMA query_only = OFF", "cannot be written to"),
    ],
)
def test_a_full_or_read_only_disk_is_said(made, pragma, undo, said):
    """SQLite's own errors, as if the disk were full or could only be read."""
    client, engine = made.client(), made.site.database.engine
    now = [pragma]

    def prepare_connection(connection, record, proxy):
        connection.execute(now[0])

    event.listen(engine, "checkout", prepare_connection)
    before = head(made)
    margins = [["Gender", "Income"], ["Gender", "Race"], ["Race", "Income"]] * 40
    answers = []
    for margin in margins:  # until the last page is used up
        answers.append(client.post("/api/v1/datasets/tract/requests", {"variables": margin}))
        if answers[-1].status_code == 503:
            break
    assert answers[-1].status_code == 503
    assert said in answers[-1].json()["error"]["message"]
    told = len(answers) - 1
    assert head(made) == before + told  # what was told is kept, and nothing more
    ready = client.get("/readyz")
    assert (ready.status_code, said in ready.text) == (503, True)
    now[0] = undo
    assert client.get("/readyz").status_code == 200
    assert client.post(
        "/api/v1/datasets/tract/requests", {"variables": ["Gender"]}
    ).json()["why"] == "out"  # fmt: skip


def head(made):
    with made.site.database.read() as session:
        return store.find_dataset(session, "tract").head_number


def test_a_new_secret_is_only_for_its_owner(tmp_path):
    settings = prepare(Settings(database=f"sqlite:///{tmp_path}/a.db"))
    assert os.stat(tmp_path / "a.db.secret").st_mode & 0o777 == 0o600
    assert launch.prepare(Settings(database=settings.database)).secret == settings.secret

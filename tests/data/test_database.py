import contextlib
import gc
import sqlite3
import stat
import traceback
from pathlib import Path
from urllib.parse import unquote, urlsplit

import duckdb
import pandas as pd
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Codebook
from discreet.data.database import hidden
from discreet.data.sources import open_source
from discreet.errors import DataError, DisclosureError
from discreet.table.microdata import Microdata

RECORDS = pd.DataFrame(
    {
        "Sex": ["f", "m", "f", "f", None, "m"],
        "Age group": [30, 4, 4, 30, 4, None],
        "n": ["yes", "no", "no", "yes", "no", "no"],
    }
)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "people.csv"
    RECORDS.astype({"Age group": "Int64"}).to_csv(path, index=False)
    return path


def test_a_sqlite_table_counts_like_the_csv(tmp_path, csv):
    path = tmp_path / "survey.db"
    connection = sqlite3.connect(path)
    RECORDS.to_sql("people", connection, index=False)
    connection.close()
    assert Microdata.read(f"sqlite://{path}", table="people").table() == Microdata.read(csv).table()


def test_sqlite_values_that_are_not_of_their_type(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b DATE, c BLOB)")
        connection.execute("INSERT INTO t VALUES ('oops', 'never', x'7aff')")
    connection.close()
    people = Microdata.read(f"sqlite://{tmp_path}/x.db", table="t")
    with pytest.raises(DataError, match="column 'a' has values that are not of its type; read a"):
        people.table(["a"])
    with pytest.raises(
        DataError, match="a column has values that are not of its type; read a view"
    ):
        people.table(["b"])
    assert people.table(["c"]).variables[0].categories == ("z\\xff",)


def test_a_duckdb_table_counts_like_the_csv_and_stays_unlocked(tmp_path, csv):
    path = tmp_path / "survey.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("frame", RECORDS)
        connection.execute("CREATE SCHEMA wave; CREATE TABLE wave.people AS FROM frame")
    url = f"duckdb://{path}"
    people = Microdata.read(url, table="wave.people")
    assert people.table() == Microdata.read(csv).table()
    assert len(people) == len(Microdata.read(url, table="wave.people")) == len(RECORDS)


def test_a_relative_path_may_have_three_slashes(tmp_path, monkeypatch):
    with duckdb.connect(tmp_path / "here.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS a")
    monkeypatch.chdir(tmp_path)
    assert Microdata.read("duckdb:///here.duckdb", table="people").table().total == 1


@pytest.fixture
def people(postgres):
    """The records in PostgreSQL, in a schema and in public."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS wave CASCADE; CREATE SCHEMA wave")
        connection.execute('CREATE TABLE wave.people ("Sex" text, "Age group" int, n text)')
        for row in RECORDS.astype(object).where(RECORDS.notna(), None).to_numpy().tolist():
            connection.execute("INSERT INTO wave.people VALUES (%s, %s, %s)", row)
        connection.execute("CREATE VIEW people AS TABLE wave.people")
    yield postgres
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA wave CASCADE")  # the view with it


@pytest.mark.parametrize("table", ["people", "wave.people"])
def test_a_postgresql_table_counts_like_the_csv(people, csv, table):
    found = Microdata.read(people, table=table)
    assert found.table() == Microdata.read(csv).table()
    assert found.table("Sex*n") == Microdata.read(csv).table("Sex*n")
    assert len(found) == len(RECORDS)


def test_a_postgresql_connection_is_closed_when_no_longer_used(people):
    psycopg = pytest.importorskip("psycopg")
    source = open_source(people, table="people")
    del source
    gc.collect()
    with psycopg.connect(people) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        assert connection.execute(query).fetchone() == (1,)


def test_a_wrong_table_name_lists_those_there_are(people):
    with pytest.raises(DataError, match=r"has no table 'persons'; it has people\.") as caught:
        open_source(people, table="persons")
    _assert_silent(caught.value, people)


def test_a_wrong_password_is_not_repeated(postgres):
    wrong = postgres.replace("ann:", "ann:not")
    with pytest.raises(DataError, match="check the address, the user and the password") as caught:
        open_source(wrong, table="people")
    assert "password authentication failed" in str(caught.value)
    _assert_silent(caught.value, wrong)


def _assert_silent(error, url):
    parts = urlsplit(url)
    shown = "".join(traceback.format_exception(error)).replace("people", "")
    for secret in (parts.username, parts.password, unquote(parts.password)):
        assert f'"{secret}"' not in shown
    assert parts.password not in shown
    assert unquote(parts.password) not in shown


@settings(max_examples=40)
@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1),
    st.sampled_from(
        [
            "postgresql://ann:{}@127.0.0.1:1/db",
            "POSTGRESQL://ann:{}@127.0.0.1:1/db",
            "postgresql:/ann:{}@localhost/db",
            "mysql://ann:{}@localhost/db",
            "postgres//ann:{}@localhost/db",
            "sqlite://ann:{}@/nowhere.db",
            "duckdb:///nowhere.db?password={}",
            "host=localhost password={} dbname=db",
        ]
    ),
    st.sampled_from(["people", None]),
    st.booleans(),
)
def test_no_error_ever_shows_a_password(text, form, table, as_path):
    password = f"Xq7{text}7qX".replace(" ", "")
    url = form.format(password)
    with pytest.raises(DataError) as caught:
        open_source(Path(url) if as_path else url, table=table)
    assert "Xq7" not in "".join(traceback.format_exception(caught.value))
    assert "7qX" not in str(caught.value)


def test_a_file_name_is_shown_as_it_is():
    for name in ("data/me@home/x.csv", "/data/a?b.csv", "C:/data/x.csv", "x.csv"):
        assert hidden(name) == name


@pytest.mark.parametrize(
    ("url", "table", "message"),
    [
        ("sqlite:///no/such.db", "t", "there is no sqlite database 'no/such.db'; check the path"),
        ("mysql://h/db", "t", r"cannot open mysql://h/db: write sqlite:///FILE, duckdb:///FILE, "),
        ("postgresql://h/db", None, r"postgresql://h/db is a database; name a table in it"),
    ],
)
def test_what_cannot_be_opened(url, table, message):
    with pytest.raises(DataError, match=message):
        open_source(url, table=table)


def test_a_missing_database_is_not_created(tmp_path):
    with pytest.raises(DataError, match="there is no sqlite database"):
        open_source(f"sqlite://{tmp_path}/new.db", table="t")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_file_that_is_no_database(tmp_path, scheme):
    path = tmp_path / "notes.db"
    path.write_text("shopping list " * 100)
    with pytest.raises(DataError, match=rf"cannot open {scheme}://.*notes.db: "):
        open_source(f"{scheme}://{path}", table="t")


def test_a_table_name_without_a_database(csv):
    with pytest.raises(DataError, match=r"table name \('people'\) goes with a database URL"):
        open_source(csv, table="people")


def test_a_driver_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(DataError, match=r"pip install 'discreet\[postgres\]'"):
        open_source("postgresql://h/db", table="t")


def test_capitals_are_told_apart_whatever_the_collation(tmp_path, postgres):
    """An engine that counts A and a as one would count otherwise than a file of the same."""
    made = "CREATE TABLE loose (town {}, one int)"
    rows = "INSERT INTO loose VALUES ('A', 1), ('a', 1), ('é', 1)"
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute(made.format("varchar COLLATE nocase"))
        connection.execute(rows)
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        connection.execute(made.format("text COLLATE nocase"))
        connection.execute(rows)
        connection.commit()
    with psycopg.connect(postgres) as connection:
        kind = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
        connection.execute(f"CREATE COLLATION loosely ({kind})")
        connection.execute(made.format("text COLLATE loosely"))
        connection.execute(rows)
    try:
        for url in (f"duckdb://{tmp_path}/x.duckdb", f"sqlite://{tmp_path}/x.db", postgres):
            book = Codebook.of({"town": {"categories": ["A", "a", "é"]}})
            found = Microdata.read(url, table="loose", codebook=book).table(["town"])
            assert found.variable("town").categories == ("A", "a", "é")
            assert found.counts.tolist() == [1, 1, 1]
    finally:
        with psycopg.connect(postgres) as connection:
            connection.execute("DROP TABLE loose; DROP COLLATION loosely")


def test_memory_that_duckdb_may_use(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_MEMORY", "300 MB")
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    asked = "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
    for source in (
        open_source(f"duckdb://{tmp_path}/x.duckdb", table="t"),
        open_source(RECORDS),
    ):
        limit, folder = source.records.get_backend().con.execute(asked).fetchone()
        assert limit == "286.0 MiB"
        assert stat.S_IMODE(Path(folder).parent.stat().st_mode) == 0o700
    monkeypatch.setenv("DISCREET_MEMORY", "half")
    with pytest.raises(DisclosureError, match="DISCREET_MEMORY is 'half'; give bytes, like"):
        open_source(RECORDS)

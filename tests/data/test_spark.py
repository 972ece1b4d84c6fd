"""Spark by a URL, a session or a frame: the session of the user stays as it is."""

import gc

import ibis
import pandas as pd
import pytest

from databases import in_spark
from discreet.data import spark as engine
from discreet.data.codebook import Codebook
from discreet.data.sources import open_source
from discreet.errors import DataError
from discreet.table.load import load
from discreet.table.microdata import Microdata

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # pyspark closes no socket
KINDS = {"Sex": "text", "Age": "integer"}
ROWS = [("f", 1), ("m", 2), ("f", 1), (None, 2)]
PEOPLE = pd.DataFrame(ROWS, columns=["Sex", "Age"])


@pytest.fixture
def session(spark):
    return in_spark(spark, "people", KINDS, ROWS)


def test_the_session_of_the_user_stays_as_it_is(session):
    before = {row.key: row.value for row in session.sql("SET").collect()}
    views = {table.name for table in session.catalog.listTables()}
    people = Microdata.read(session, table="people", records=True)
    assert people.table() == load(PEOPLE, records=True)
    assert len(people) == 4
    del people
    gc.collect()
    assert {row.key: row.value for row in session.sql("SET").collect()} == before
    assert {table.name for table in session.catalog.listTables()} == views
    assert session.table("people").count() == 4


def test_frames_tables_and_expressions_are_the_same(session):
    wanted = load(PEOPLE, records=True)
    frame = session.table("people")
    assert load(frame, records=True) == wanted
    assert load(frame.select("Age"), records=True) == wanted.margin("Age")
    expression = ibis.pyspark.connect(session.newSession())
    frame.write.mode("overwrite").saveAsTable("default.kept")
    assert load(session, table="spark_catalog.default.kept", records=True) == wanted
    assert load(expression.table("kept"), records=True) == wanted
    for url in ("spark://local/default", "spark://local"):
        assert load(url, table="kept", records=True) == wanted


def test_capitals_are_told_apart_whatever_the_collation(session):
    loose = session.sql(
        "SELECT col COLLATE UTF8_LCASE AS town, 1 AS one FROM VALUES ('A'), ('a'), ('b') AS t(col)"
    )
    book = Codebook.of({"town": {"categories": ["A", "a", "b"]}})
    assert load(loose, records=True, codebook=book).margin(["town"]).counts.tolist() == [1, 1, 1]


def test_what_cannot_be_read_from_spark(session):
    for data, table, said in (
        (session, None, "a Spark session has many tables; name one"),
        (session, "nobody", "Spark has no table 'nobody'; its database has"),
        (session, "x; DROP TABLE people", "cannot read x; DROP TABLE people from Spark"),
        ("spark://local/default", None, "spark://local/default is a database; name a table"),
        ("spark://local/default", "nobody", "Spark has no table 'default.nobody'"),
        ("spark://local/?spark.x=1", "t", "settings are not changed; leave out what follows"),
        ("spark://local/?user=ann", "t", "'user' is no setting of Spark"),
        ("spark://10.0.0.1:7077/db", "t", "a Spark session with 'local.1.' already; hand over"),
        ("spark://somewhere/db", "t", "write spark://local/DATABASE or spark://HOST:PORT"),
        ("sc://127.0.0.1:15002", "t", "open Spark Connect yourself and hand over the session"),
        (session.readStream.format("rate").load(), None, "is a stream, which has no end"),
        (session.sql("SELECT 1 AS Sex, 2 AS sex"), None, "differ only in capitals; rename one"),
    ):
        with pytest.raises(DataError, match=said) as caught:
            open_source(data, table=table)
        assert "\n" not in str(caught.value)


def test_what_fails_in_spark_is_one_sentence(session, capfd):
    broken = session.sql("SELECT CAST(col AS INT) AS a, 1 AS b FROM VALUES ('x'), ('1') AS t(col)")
    with pytest.raises(DataError, match=r"cannot read the Spark frame: .*cannot be cast") as caught:
        load(broken, records=True)
    assert "\n" not in str(caught.value)
    assert "SQLQueryContextLogger" not in capfd.readouterr().err


def test_a_session_that_was_opened_here_is_closed_with_its_last_source():
    class Session:
        stopped = 0

        def stop(self):
            Session.stopped += 1

    one = engine._Opened(Session())
    two = one
    del one
    gc.collect()
    assert Session.stopped == 0
    del two
    gc.collect()
    assert Session.stopped == 1

"""Laws that every source keeps: the same records are the same table, wherever they lie."""

import sqlite3
from collections import Counter

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rdata
from deltalake import write_deltalake

import filewriters
from databases import in_spark
from discreet.data.codebook import Codebook
from discreet.data.database import SCHEMES
from discreet.data.readers import READERS, fixed, statistics
from discreet.errors import DataError, DisclosureError
from discreet.table.microdata import Microdata

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # pyspark closes no socket
RNG = np.random.default_rng(1)
PEOPLE = pd.DataFrame(
    {
        "Sex": RNG.choice(["f", "m"], 200),
        "Age group": RNG.choice(["8", "9", "10", "011"], 200),
        "Town": RNG.choice(["Dl, D", 'q"q', "ü", "=1", None], 200),
    }
)
BOOK = Codebook.of(
    {
        "Sex": {"role": "identifying"},
        "Age group": {"categories": ["10", "9", "8", "011"]},
        "Town": {"role": "sensitive"},
    }
)


def sqlite(frame, folder, request):
    with sqlite3.connect(folder / "people.db") as connection:
        frame.to_sql("people", connection, index=False)
    connection.close()
    return f"sqlite:///{folder}/people.db"


def duck(frame, folder, request):
    with duckdb.connect(folder / "people.duckdb") as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE people AS SELECT * FROM frame")
    return f"duckdb:///{folder}/people.duckdb"


def postgres(frame, folder, request):
    address = request.getfixturevalue("postgres")
    columns = ", ".join(f'"{name}" text' for name in frame.columns)
    with psycopg.connect(address) as connection:
        connection.execute("DROP TABLE IF EXISTS people")  # of other tests
        connection.execute(f"CREATE TABLE people ({columns})")
        for row in frame.itertuples(index=False):
            marks = ", ".join(["%s"] * len(row))
            known = [value if isinstance(value, str) else None for value in row]
            connection.execute(f"INSERT INTO people VALUES ({marks})", known)
    return address


def spark(frame, folder, request):
    known = frame.astype(object).where(frame.notna(), None)
    rows = [tuple(row) for row in known.itertuples(index=False)]
    session = request.getfixturevalue("spark")
    return in_spark(session, "people", dict.fromkeys(frame.columns, "text"), rows)


def in_r(frame):
    return frame.astype(pd.StringDtype("python")).reset_index(drop=True)


def text(mark):
    return lambda frame, path: frame.to_csv(path, sep=mark, index=False)


FILES = {  # how somebody else writes each kind of file
    ".xlsx": filewriters.xlsx,
    ".xlsm": filewriters.xlsx,
    ".xls": filewriters.xls,
    ".ods": filewriters.ods,
    ".rds": lambda frame, path: rdata.write_rds(path, in_r(frame)),
    ".rda": lambda frame, path: rdata.write_rda(path, {"people": in_r(frame), "n": 1}),
    ".rdata": lambda frame, path: rdata.write_rda(path, {"people": in_r(frame)}),
    ".csv": text(";"),
    ".tsv": text("\t"),
    ".txt": text("|"),
    ".tab": text("\t"),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".pq": lambda frame, path: pl.from_pandas(frame).write_parquet(path),
}
DATABASES = {
    "sqlite": sqlite,
    "duckdb": duck,
    "postgresql": postgres,
    "postgres": postgres,
    "spark": spark,
}
FOLDERS = {
    "delta": lambda frame, folder: write_deltalake(folder, pa.Table.from_pandas(frame)),
    "partitioned": lambda frame, folder: pq.write_to_dataset(
        pa.Table.from_pandas(frame), folder, partition_cols=["Town"]
    ),
}
FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
    "stream": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "ibis": ibis.memtable,
}
# see tests/data; nothing writes .xlsb, and compressed text is text
OTHERS = (*statistics.SUFFIXES, *fixed.SUFFIXES, ".xlsb")
FILED = [suffix for suffix in READERS if suffix not in OTHERS and suffix.count(".") == 1]
KINDS = [*FILED, *SCHEMES, "spark", *FRAMES, *FOLDERS]
every_source = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def read(tmp_path, request):
    """Records as a source of a kind, read with a codebook."""

    def read(frame, kind, codebook=None):
        table = None
        if kind in FRAMES:
            data = FRAMES[kind](frame)
        elif kind in DATABASES:
            data, table = DATABASES[kind](frame, tmp_path, request), "people"
            data = data.replace("postgresql:", f"{kind}:") if isinstance(data, str) else data
        elif kind in FOLDERS:
            data = tmp_path / kind
            FOLDERS[kind](frame, data)
        else:
            data = tmp_path / f"people{kind}"
            FILES[kind](frame, data)
        return Microdata.read(data, table=table, codebook=codebook)

    return read


@every_source
def test_the_same_records_are_the_same_table(kind, read):
    table = read(PEOPLE, kind, BOOK).table()
    counted = Counter(
        tuple(value if isinstance(value, str) else "(missing)" for value in row)
        for row in PEOPLE.itertuples(index=False)
    )
    found = {tuple(cell.values()): n for cell, n in zip(table.nonzero(), table.counts, strict=True)}
    assert found == counted
    assert table.variable("Age group").categories == ("10", "9", "8", "011")
    roles = [str(variable.role) for variable in table.variables]
    assert roles == ["identifying", "unstated", "sensitive"]


@every_source
def test_without_a_codebook_categories_and_their_order_are_the_same(kind, read):
    assert read(PEOPLE, kind).table() == Microdata.read(PEOPLE).table()


@every_source
def test_missing_values_are_dropped_where_the_codebook_says_so(kind, read):
    table = read(PEOPLE, kind, Codebook.of({}, missing="drop")).table()
    assert table.total == PEOPLE["Town"].notna().sum()
    assert table.dropped == PEOPLE["Town"].isna().sum()


@every_source
@pytest.mark.parametrize("book", [None, Codebook.of({"Income": {"role": "sensitive"}})])
def test_a_column_that_is_not_there_is_named_in_one_sentence(kind, read, book):
    with pytest.raises(DisclosureError, match="'Income'") as caught:
        read(PEOPLE, kind, book).table(["Sex", "Income"])
    assert "\n" not in str(caught.value)


@every_source
def test_records_are_counted_where_there_are_none(kind, read):
    """Nobody is no table: a sentence says so, now or when it is counted."""
    with pytest.raises(DataError, match=r"no rows|no record|empty|nobody|no file"):
        read(PEOPLE.astype("string").iloc[:0], kind).table()


@pytest.mark.parametrize("suffix", READERS)
def test_what_is_not_of_its_kind_is_refused_in_one_sentence(suffix, tmp_path):
    path = tmp_path / f"people{suffix}"
    for content in (b"", b"\x00\xff\xfe\x00 nothing of the kind \xff\n\x80"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"people{suffix}") as caught:
            Microdata.read(path).table()
        assert "\n" not in str(caught.value)
